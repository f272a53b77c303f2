//! What reading output costs, on a gigabyte: `cargo bench --no-default-features --bench pages`.
//!
//! `PAGES_DIR` says where the gigabyte goes, `PAGES_BYTES` how large it is. It is removed at the end.
#![expect(clippy::print_stdout, reason = "a benchmark's result is what it prints")]

use std::fs::File;
use std::hint::black_box;
use std::io::{Read as _, Seek as _, Write as _};
use std::time::{Duration, Instant};

use argvault::limits::DEFAULT_PAGE_UNITS;
use argvault::vault::text::{
    Indexer, LineRequest, SearchRequest, Tail, TextIndex, header, line_page, page, search,
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let size = std::env::var("PAGES_BYTES").ok().and_then(|text| text.parse().ok()).unwrap_or(1_u64 << 30);
    let dir = std::env::var_os("PAGES_DIR").map_or_else(std::env::temp_dir, Into::into);
    let ascii = "2026-01-01T00:00:00Z build step 42 compiled module foo::bar in 12 ms\n";
    let mixed = "zażółć gęślą jaźń ≤ 日本語のテキスト 😀 and some ASCII to go with it\n";

    println!("indexer, 256 MiB in chunks of 64 KiB from memory");
    for (name, line) in [("ascii", ascii), ("mixed", mixed), ("emoji", "😀😀😀😀😀😀😀😀\n")]
    {
        count(name, &line.repeat(64 * 1024 / line.len() + 1).into_bytes());
    }
    let mut random = vec![0; 64 * 1024];
    File::open("/dev/urandom")?.read_exact(&mut random)?;
    count("random", &random);

    for (name, line) in [("ascii", ascii), ("mixed", mixed)] {
        on_disk(name, line, size, &dir)?;
    }
    Ok(())
}

fn count(name: &str, seed: &[u8]) {
    let chunk = &seed[..64 * 1024];
    let took = best(3, || {
        let mut indexer = Indexer::new();
        for _ in 0..4096 {
            indexer.push(black_box(chunk), |entry| {
                black_box(entry);
            });
        }
        black_box(indexer.at());
    });
    println!("  {name:8} {:6.2} GB/s", rate(256 << 20, took));
}

fn on_disk(
    name: &str,
    line: &str,
    size: u64,
    dir: &std::path::Path,
) -> Result<(), Box<dyn std::error::Error>> {
    let mut stream = tempfile::tempfile_in(dir)?;
    let mut stored = tempfile::tempfile_in(dir)?;
    stored.write_all(&header())?;
    let block = line.repeat((1 << 20) / line.len());
    let mut indexer = Indexer::new();
    while indexer.seen() < size {
        stream.write_all(block.as_bytes())?;
        let mut records = Vec::new();
        indexer.push(block.as_bytes(), |entry| records.extend_from_slice(&entry.to_record()));
        stored.write_all(&records)?;
    }
    stream.write_all(b"the needle\n")?;
    let (bytes, units) = (stream.metadata()?.len(), indexer.at().units);
    println!("{name}: {bytes} bytes, {units} units, {} bytes of index", stored.metadata()?.len());

    println!("  load     {:9.1} us", micros(best(20, || drop(TextIndex::load(&stored, &stream)))));
    let counted = best(2, || drop(page(&stream, &mut TextIndex::new(), Tail::Final, 0, 1)));
    println!("  count    {:9.1} us without an index, {:.2} GB/s", micros(counted), rate(bytes, counted));
    let mut index = TextIndex::load(&stored, &stream);
    for (place, offset) in
        [("start", 0), ("middle", units / 2), ("93 %", units / 100 * 93), ("end", units - 60_000)]
    {
        // Several neighbours, since a page's cost depends on its distance from the entry before it.
        let mut worst = Duration::ZERO;
        let mut sum = Duration::ZERO;
        for step in 0..16 {
            let at = if offset == 0 { 0 } else { offset - step * 17_000 };
            let took =
                best(5, || drop(black_box(page(&stream, &mut index, Tail::Final, at, DEFAULT_PAGE_UNITS))));
            worst = worst.max(took);
            sum += took;
        }
        println!("  page     {:9.1} us mean, {:.1} worst, at the {place}", micros(sum / 16), micros(worst));
    }
    let request = LineRequest { line: bytes / line.len() as u64 / 100 * 93, lines: 500 };
    let took = best(20, || drop(black_box(line_page(&stream, &mut index, Tail::Final, request))));
    println!("  lines    {:9.1} us, 500 at 93 %", micros(took));

    let plain = best(2, || {
        stream.rewind().and_then(|()| scan(&stream)).map(black_box).ok();
    });
    println!("  memmem   {:9.1} ms, {:.2} GB/s", micros(plain) / 1000.0, rate(bytes, plain));
    for (what, pattern, before) in [
        ("literal", "needle", 0),
        ("context", "needle", 20),
        ("regex", r"n[e]+d\w+", 0),
        ("nothing", r"\d{9}-[xyz]", 0),
    ] {
        let request = SearchRequest { before, ..SearchRequest::new(pattern) };
        let took = best(2, || drop(black_box(search(&stream, &mut index, Tail::Final, &request))));
        println!("  search   {:9.1} ms, {:.2} GB/s, {what}", micros(took) / 1000.0, rate(bytes, took));
    }
    Ok(())
}

/// What a search can't beat: reading and looking for the bytes.
fn scan(mut stream: &File) -> std::io::Result<usize> {
    let finder = memchr::memmem::Finder::new("needle");
    let mut buffer = vec![0; 64 * 1024];
    let mut found = 0;
    loop {
        let read = stream.read(&mut buffer)?;
        if read == 0 {
            return Ok(found);
        }
        found += finder.find_iter(&buffer[..read]).count();
    }
}

fn best(times: u32, mut work: impl FnMut()) -> Duration {
    let mut best = Duration::MAX;
    for _ in 0..times {
        let start = Instant::now();
        work();
        best = best.min(start.elapsed());
    }
    best
}

fn micros(took: Duration) -> f64 {
    took.as_secs_f64() * 1e6
}

#[expect(clippy::cast_precision_loss, reason = "a rate to three digits")]
fn rate(bytes: u64, took: Duration) -> f64 {
    bytes as f64 / took.as_secs_f64() / 1e9
}
