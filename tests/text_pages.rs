//! What pages promise, over random bytes: they add up to the whole, whatever the page, the chunks and the index.

#![expect(
    clippy::unwrap_used,
    reason = "a test may fail by panicking; helpers are no test functions to clippy"
)]

use std::fs::File;
use std::io::Write as _;
use std::os::unix::fs::FileExt as _;

use argvault::limits::INDEX_STEP_BYTES;
use argvault::vault::text::{
    HEADER_BYTES, Indexer, LineRequest, RECORD_BYTES, SearchRequest, Tail, TextIndex, header, line_page,
    page, search, tail_preview,
};
use proptest::prelude::*;

fn file(bytes: &[u8]) -> File {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    file
}

fn append(mut file: &File, bytes: &[u8]) {
    file.write_all(bytes).unwrap();
}

/// The whole as Node decodes it: `from_utf8_lossy` replaces maximal subparts, as the Encoding Standard does.
fn decoded(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn units(text: &str) -> u64 {
    text.encode_utf16().count() as u64
}

/// Reads from the start, page after page, as far as `has_more` says.
fn read_all(stream: &File, index: &mut TextIndex, tail: Tail, limit: u64) -> String {
    let mut whole = String::new();
    let mut offset = 0;
    loop {
        let page = page(stream, index, tail, offset, limit).unwrap();
        assert_eq!(page.offset, offset);
        let size = units(&page.content);
        assert_eq!(page.next_offset, offset + size);
        assert!(size <= limit.max(2), "{size} units in a page of {limit}");
        if limit >= 2 {
            assert!(size <= limit);
        }
        assert_eq!(page.has_more, page.next_offset < page.total_size);
        whole.push_str(&page.content);
        if !page.has_more {
            assert_eq!(page.total_size, units(&whole));
            return whole;
        }
        assert!(size > 0, "a page that leads nowhere");
        offset = page.next_offset;
    }
}

/// Pieces of streams, each around an edge of the encoding.
fn fragment() -> impl Strategy<Value = Vec<u8>> {
    let fixed = |bytes: &'static [u8]| Just(bytes.to_vec()).boxed();
    prop_oneof![
        4 => "[a-z \n]{0,40}".prop_map(String::into_bytes),
        4 => "\\PC{0,12}".prop_map(String::into_bytes),
        2 => prop::collection::vec(any::<u8>(), 0..24),
        1 => prop::collection::vec(0x80_u8..=0xBF, 1..6),
        1 => fixed("😀".as_bytes()),
        1 => fixed("≤".as_bytes()),
        1 => fixed(b"\xF0\x9F\x98"),
        1 => fixed(b"\xF0\x9F"),
        1 => fixed(b"\xE2\x89"),
        1 => fixed(b"\xC3"),
        1 => fixed(b"\xC0\x80\xE0\x80\x80\xF0\x80\x80\x80"),
        1 => fixed(b"\xED\xA0\xBD\xED\xB8\x80"),
        1 => fixed(b"\xF4\x90\x80\x80\xF8\x88\x80\x80\x80"),
        1 => fixed(b"\xEF\xBB\xBF"),
        1 => fixed(b"\0\0\n\0"),
        1 => fixed(b"\r\n\r\r\n"),
        1 => (1_usize..5000).prop_map(|long| vec![b'x'; long]),
    ]
}

fn stream() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(fragment(), 0..40).prop_map(|fragments| fragments.concat())
}

/// A stream that seventy sizes of page can be tried on.
fn short_stream() -> impl Strategy<Value = Vec<u8>> {
    (stream(), 0_usize..2000).prop_map(|(mut bytes, most)| {
        bytes.truncate(most);
        bytes
    })
}

/// A stream of several index steps, whose fragments lie across the steps.
fn long_stream() -> impl Strategy<Value = Vec<u8>> {
    (stream(), 1_u64..4, 0_u64..8).prop_map(|(seed, steps, shift)| {
        let seed = if seed.is_empty() { "😀".as_bytes().to_vec() } else { seed };
        let size = usize::try_from(INDEX_STEP_BYTES * steps + shift + 64).unwrap();
        let skip = usize::try_from(shift).unwrap() % seed.len();
        seed.iter().copied().cycle().skip(skip).take(size).collect()
    })
}

/// `bytes` in chunks of sizes taken from `sizes` in turn.
fn chunks<'b>(mut bytes: &'b [u8], sizes: &[usize]) -> Vec<&'b [u8]> {
    let mut chunks = Vec::new();
    for size in sizes.iter().cycle() {
        if bytes.is_empty() {
            break;
        }
        let (chunk, rest) = bytes.split_at(bytes.len().min(*size));
        chunks.push(chunk);
        bytes = rest;
    }
    chunks
}

fn index_file(bytes: &[u8], sizes: &[usize]) -> (Vec<u8>, Indexer) {
    let mut indexer = Indexer::new();
    let mut stored = header().to_vec();
    for chunk in chunks(bytes, sizes) {
        indexer.push(chunk, |entry| stored.extend_from_slice(&entry.to_record()));
    }
    (stored, indexer)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn pages_of_any_size_add_up_to_the_whole(bytes in short_stream()) {
        let stream = file(&bytes);
        let whole = decoded(&bytes);
        let mut index = TextIndex::new();
        for limit in (1..=64).chain([100, 4095, 4096, 50_000, u64::MAX]) {
            prop_assert_eq!(&read_all(&stream, &mut index, Tail::Final, limit), &whole, "pages of {}", limit);
        }
    }

    #[test]
    fn a_page_anywhere_is_that_part_of_the_whole(
        bytes in long_stream(),
        places in prop::collection::vec((any::<prop::sample::Index>(), 1_u64..3000), 8),
    ) {
        let stream = file(&bytes);
        let whole: Vec<u16> = decoded(&bytes).encode_utf16().collect();
        let (stored, _) = index_file(&bytes, &[1000]);
        let mut index = TextIndex::load(&file(&stored), &stream);
        for (place, limit) in places {
            let offset = place.index(whole.len());
            let page = page(&stream, &mut index, Tail::Final, offset as u64, limit).unwrap();
            let inside_pair = (0xDC00..0xE000).contains(&whole[offset]);
            prop_assert_eq!(page.offset, offset as u64 - u64::from(inside_pair));
            let start = usize::try_from(page.offset).unwrap();
            let end = usize::try_from(page.next_offset).unwrap();
            prop_assert_eq!(String::from_utf16(&whole[start..end]).unwrap(), page.content);
            prop_assert_eq!(page.total_size, whole.len() as u64);
            let full = end == whole.len() || end - start + 1 >= usize::try_from(limit).unwrap();
            prop_assert!(full, "{} units of {}", end - start, limit);
        }
    }

    #[test]
    fn what_was_read_of_a_growing_stream_never_changes(
        bytes in stream(),
        sizes in prop::collection::vec(1_usize..50, 1..20),
        limit in 1_u64..40,
    ) {
        let whole = decoded(&bytes);
        let stream = file(b"");
        let mut index = TextIndex::new();
        let mut read = String::new();
        let mut offset = 0;
        let mut total = 0;
        for chunk in chunks(&bytes, &sizes) {
            append(&stream, chunk);
            let page = page(&stream, &mut index, Tail::Growing, offset, limit).unwrap();
            prop_assert!(page.total_size >= total);
            total = page.total_size;
            offset = page.next_offset;
            read.push_str(&page.content);
            prop_assert!(whole.starts_with(&read));
            // A reader that comes fresh sees the same.
            let fresh = read_all(&stream, &mut TextIndex::new(), Tail::Growing, 4096);
            prop_assert!(whole.starts_with(&fresh) && units(&fresh) == total);
        }
        loop {
            let page = page(&stream, &mut index, Tail::Final, offset, limit).unwrap();
            prop_assert!(page.total_size >= total);
            offset = page.next_offset;
            read.push_str(&page.content);
            if !page.has_more {
                break;
            }
        }
        prop_assert_eq!(read, whole);
    }

    #[test]
    fn an_index_does_not_depend_on_the_chunks(
        bytes in long_stream(),
        sizes in prop::collection::vec(1_usize..70_000, 1..20),
    ) {
        let (at_once, indexer) = index_file(&bytes, &[usize::MAX]);
        let (in_chunks, again) = index_file(&bytes, &sizes);
        prop_assert_eq!(&at_once, &in_chunks);
        prop_assert_eq!((indexer.at(), indexer.held()), (again.at(), again.held()));
        let whole = decoded(&bytes[..bytes.len() - usize::try_from(indexer.held()).unwrap()]);
        prop_assert_eq!(indexer.at().units, units(&whole));
        prop_assert_eq!(indexer.at().lines, whole.matches('\n').count() as u64);
    }

    #[test]
    fn a_damaged_index_changes_nothing(
        bytes in long_stream(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        torn in any::<prop::sample::Index>(),
        more in prop::collection::vec(any::<u8>(), 0..100),
    ) {
        let (mut stored, _) = index_file(&bytes, &[4096]);
        for (place, byte) in damage {
            let place = place.index(stored.len());
            stored[place] = byte;
        }
        stored.truncate(torn.index(stored.len() + 1));
        stored.extend_from_slice(&more);
        let stream = file(&bytes);
        let mut index = TextIndex::load(&file(&stored), &stream);
        prop_assert_eq!(read_all(&stream, &mut index, Tail::Final, 70_000), decoded(&bytes));
    }

    #[test]
    fn an_index_that_lies_well_breaks_nothing(
        bytes in long_stream(),
        lies in prop::collection::vec((0_u64..4, 0_u64..300_000, 0_u64..300_000), 1..5),
        offset in any::<u64>(),
    ) {
        let stream = file(&bytes);
        let (mut stored, _) = index_file(b"", &[1]);
        let mut honest = Indexer::new();
        let mut marks = Vec::new();
        honest.push(&bytes, |entry| marks.push(entry));
        for ((over, units, lines), mark) in lies.into_iter().zip(&marks) {
            let mut lie = *mark;
            lie.bytes = lie.bytes / INDEX_STEP_BYTES * INDEX_STEP_BYTES + over;
            lie.units = lie.units.saturating_sub(units);
            lie.lines = lines;
            stored.extend_from_slice(&lie.to_record());
        }
        prop_assert_eq!((stored.len() - HEADER_BYTES) % RECORD_BYTES, 0);
        for offset in [0, offset % (2 * bytes.len() as u64), offset] {
            let mut index = TextIndex::load(&file(&stored), &stream);
            let page = page(&stream, &mut index, Tail::Final, offset, 1000).unwrap();
            prop_assert!(units(&page.content) <= 1000);
            let lines = LineRequest { line: offset.max(1), lines: 10 };
            line_page(&stream, &mut index, Tail::Final, lines).unwrap();
            search(&stream, &mut index, Tail::Final, &SearchRequest::new("x")).unwrap();
        }
    }

    #[test]
    fn line_pages_are_the_lines_with_their_numbers(bytes in stream(), line in 1_u64..60, lines in 1_u64..30) {
        let whole = decoded(&bytes);
        let all: Vec<&str> = whole.split_inclusive('\n').collect();
        let first = usize::try_from(line - 1).unwrap();
        let page = line_page(&file(&bytes), &mut TextIndex::new(), Tail::Final, LineRequest { line, lines }).unwrap();
        let expected = all
            .iter()
            .zip(1_u64..)
            .skip(first)
            .take(usize::try_from(lines).unwrap())
            .fold(String::new(), |text, (line, number)| text + &number.to_string() + "	" + line);
        prop_assert_eq!(page.content, expected);
        prop_assert_eq!(page.total_lines, all.len() as u64);
        prop_assert_eq!(page.offset, units(&all[..first.min(all.len())].concat()));
        prop_assert_eq!(page.has_more, page.next_line <= page.total_lines);
    }

    #[test]
    fn a_search_for_all_finds_every_line_where_it_is(bytes in stream()) {
        let stream = file(&bytes);
        let mut index = TextIndex::new();
        let request = SearchRequest { max_matches: 1000, ..SearchRequest::new("") };
        let result = search(&stream, &mut index, Tail::Final, &request).unwrap();
        let whole = decoded(&bytes);
        let mut offset = 0;
        for (number, (line, found)) in (1_u64..).zip(whole.split_inclusive('\n').zip(&result.matches)) {
            prop_assert_eq!((found.line, found.offset), (number, offset));
            let text = line.strip_suffix('\n').unwrap_or(line);
            let text = text.strip_suffix('\r').unwrap_or(text);
            prop_assert!(text == found.text || found.text.ends_with('…') && units(text) > 2000);
            offset += units(line);
        }
        prop_assert_eq!(result.matches.len(), whole.split_inclusive('\n').count().min(1000));
    }

    #[test]
    fn a_tail_is_the_end_of_the_whole(bytes in long_stream(), cut in 0_usize..9) {
        let bytes = &bytes[..bytes.len() - cut];
        let preview = tail_preview(&file(bytes), &file(b""), Tail::Final, 2000).unwrap();
        let tail = preview.strip_prefix("[stdout tail]\n").unwrap();
        prop_assert!(decoded(bytes).ends_with(tail));
        prop_assert!(units(&preview) >= 1999 && units(&preview) <= 2000);
    }
}

#[test]
fn a_page_reads_no_more_than_a_step_and_itself() {
    // A sparse gigabyte with an index that was counted elsewhere: reading it whole would take seconds in a test build.
    const STEPS: u64 = 8192;
    let stream = file(b"");
    stream.set_len(STEPS * INDEX_STEP_BYTES).unwrap();
    stream.write_all_at("≤ end".as_bytes(), STEPS * INDEX_STEP_BYTES - 7).unwrap();
    let (mut stored, _) = index_file(b"", &[1]);
    let zeros = vec![0; usize::try_from(INDEX_STEP_BYTES).unwrap()];
    let mut first = None;
    Indexer::new().push(&zeros, |entry| first = Some(entry));
    let first = first.unwrap();
    for step in 1..STEPS {
        let mut entry = first;
        (entry.bytes, entry.units) = (step * first.bytes, step * first.units);
        stored.extend_from_slice(&entry.to_record());
    }
    let mut index = TextIndex::load(&file(&stored), &stream);
    let total = STEPS * INDEX_STEP_BYTES - 2;
    let page = page(&stream, &mut index, Tail::Final, total - 5, 50).unwrap();
    assert_eq!((page.content.as_str(), page.total_size), ("≤ end", total));
}
