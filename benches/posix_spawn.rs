//! What the kernel itself takes, as the limit beside which runners are measured: `posix_spawn` and `wait`,
//! `cmd > file`, `pread`. `cargo bench --no-default-features --bench posix_spawn`, or through `npm run bench`.
//!
//! Arguments choose one measurement: `true N`, `many N`, `capture FILE ARGV…`, `page FILE OFFSET BYTES N`. Each prints
//! one line of JSON with the milliseconds of every repetition. Without arguments all are printed, on small sizes.
//!
//! The standard library spawns by `posix_spawn` as long as nothing is to be run between fork and exec.
#![expect(clippy::print_stdout, reason = "a benchmark's result is what it prints")]

use std::error::Error;
use std::fs::File;
use std::hint::black_box;
use std::os::unix::fs::FileExt as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result<()> {
    // `cargo bench` adds `--bench`.
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args.as_slice() {
        ["true", count] => print("true", &one_by_one(count.parse()?)?),
        ["many", count] => print("many", &[at_once(count.parse()?)?]),
        ["capture", file, command @ ..] => print("capture", &[to_file(file, command)?]),
        ["page", file, offset, bytes, count] => {
            print("page", &pages(file, offset.parse()?, bytes.parse()?, count.parse()?)?);
        }
        [] => all()?,
        other => return Err(format!("unknown measurement {other:?}").into()),
    }
    Ok(())
}

fn all() -> Result<()> {
    print("true", &one_by_one(100)?);
    print("many", &[at_once(500)?]);
    let dir = tempfile::tempdir()?;
    let file = dir.path().join("output");
    let file = file.to_str().ok_or("a temporary path that is not UTF-8")?;
    print("capture", &[to_file(file, &["head", "-c", "256M", "/dev/zero"])?]);
    print("page", &pages(file, 0, 50_000, 100)?);
    Ok(())
}

fn spawn_true() -> Result<Child> {
    Ok(Command::new("/bin/true").spawn()?)
}

fn one_by_one(count: usize) -> Result<Vec<Duration>> {
    let once = || {
        let begun = Instant::now();
        spawn_true()?.wait()?;
        Ok(begun.elapsed())
    };
    std::iter::repeat_with(once).take(count).collect()
}

fn at_once(count: usize) -> Result<Duration> {
    let begun = Instant::now();
    let mut children = std::iter::repeat_with(spawn_true).take(count).collect::<Result<Vec<_>>>()?;
    for child in &mut children {
        child.wait()?;
    }
    Ok(begun.elapsed())
}

fn to_file(file: &str, command: &[&str]) -> Result<Duration> {
    let (program, args) = command.split_first().ok_or("a program is needed")?;
    let begun = Instant::now();
    let status =
        Command::new(program).args(args).stdin(Stdio::null()).stdout(File::create(file)?).spawn()?.wait()?;
    let took = begun.elapsed();
    if status.success() { Ok(took) } else { Err(format!("{program}: {status}").into()) }
}

fn pages(file: &str, offset: u64, bytes: usize, count: usize) -> Result<Vec<Duration>> {
    let file = File::open(file)?;
    let read = || {
        let begun = Instant::now();
        // A fresh buffer each time: whoever asks for a page wants to keep it.
        let mut page = vec![0; bytes];
        file.read_exact_at(&mut page, offset)?;
        black_box(page);
        Ok(begun.elapsed())
    };
    std::iter::repeat_with(read).take(count).collect()
}

fn print(line: &str, took: &[Duration]) {
    let ms: Vec<String> = took.iter().map(|each| format!("{:.4}", each.as_secs_f64() * 1e3)).collect();
    println!(r#"{{"line":"{line}","ms":[{}]}}"#, ms.join(","));
}
