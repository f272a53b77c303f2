//! Tables over small streams, and the bounds.

use std::io::{Seek as _, Write as _};

use super::super::page;
use super::*;

fn file(bytes: &[u8]) -> File {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    file
}

fn find(bytes: &[u8], request: &SearchRequest) -> SearchResult {
    let stream = file(bytes);
    let mut index = TextIndex::new();
    let result = search(&stream, &mut index, Tail::Final, request).unwrap();
    for found in &result.matches {
        // What the offset promises.
        let text = found.text.strip_prefix('…').unwrap_or(&found.text);
        let text = text.strip_suffix('…').unwrap_or(text);
        let units = decode::units(text).max(1) as u64;
        let page = page(&stream, &mut index, Tail::Final, found.offset, units).unwrap();
        assert!(page.content.starts_with(text) && page.offset == found.offset, "{found:?}");
    }
    result
}

fn lines(bytes: &[u8], request: &SearchRequest) -> Vec<(u64, u64, String)> {
    find(bytes, request).matches.into_iter().map(|found| (found.line, found.offset, found.text)).collect()
}

fn regex(pattern: &str) -> SearchRequest {
    SearchRequest::new(pattern)
}

#[test]
fn lines_are_found_by_expression_or_plain_text() {
    let literal = |pattern: &str| SearchRequest { literal: true, ..regex(pattern) };
    let any_case = |pattern: &str| SearchRequest { ignore_case: true, ..regex(pattern) };
    for (bytes, request, expected) in [
        (&b"one\ntwo\nthree"[..], regex("t"), vec![(2, 4, "two"), (3, 8, "three")]),
        (b"one\ntwo\n", regex("^t.o$"), vec![(2, 4, "two")]),
        (b"one\r\ntwo\r\n", regex("^one$"), vec![(1, 0, "one")]),
        (b"10%\r20%\rdone\n", regex("^20%$"), vec![(1, 0, "10%\r20%\rdone")]),
        (b"a.c\nabc\n", literal("a.c"), vec![(1, 0, "a.c")]),
        (b"(x\n", literal("(x"), vec![(1, 0, "(x")]),
        (b"cr\rx\n", literal("r\rx"), vec![(1, 0, "cr\rx")]),
        (b"ERROR\nerror\n", regex("error"), vec![(2, 6, "error")]),
        (b"ERROR\n", any_case("error"), vec![(1, 0, "ERROR")]),
        ("ÄRGER\n".as_bytes(), any_case("ärger"), vec![(1, 0, "ÄRGER")]),
        (b"a\0b\nc\0needle\n", regex("needle"), vec![(2, 4, "c\0needle")]),
        (b"\x00\xFFneedle\xE2\x82\n", regex("needle"), vec![(1, 0, "\0\u{FFFD}needle\u{FFFD}")]),
        ("😀😀\nx\n".as_bytes(), regex("x"), vec![(2, 5, "x")]),
        (b"\xFF\xFEn\0\n", regex("n"), vec![(1, 0, "\u{FFFD}\u{FFFD}n\0")]),
        ("\u{FEFF}bom\n".as_bytes(), regex("bom"), vec![(1, 0, "\u{FEFF}bom")]),
        (b"\n\nx\n", regex("^$"), vec![(1, 0, ""), (2, 1, "")]),
        (b"", regex("x"), vec![]),
        (b"a\nb", regex(""), vec![(1, 0, "a"), (2, 2, "b")]),
        (b"(a+)+b\naaaa\n", regex("(a+)+$"), vec![(2, 7, "aaaa")]),
    ] {
        let got = lines(bytes, &request);
        let got: Vec<_> = got.iter().map(|(line, offset, text)| (*line, *offset, text.as_str())).collect();
        assert_eq!(got, expected, "{request:?}");
    }
}

#[test]
fn each_match_carries_its_own_context() {
    let text = "x1\n2\n3\nx4\n5\n6\nx7\n8\n9\n";
    let request = SearchRequest { before: 2, after: 3, ..regex("x") };
    let result = find(text.as_bytes(), &request);
    let got: Vec<_> = result
        .matches
        .iter()
        .map(|found| format!("{} > {} > {}", found.before.join(" "), found.text, found.after.join(" ")))
        .collect();
    assert_eq!(got, [" > x1 > 2 3 x4", "2 3 > x4 > 5 6 x7", "5 6 > x7 > 8 9"]);
    assert!(!result.truncated);
}

#[test]
fn more_matches_than_asked_for_are_said_and_the_last_keeps_its_context() {
    let request = |max_matches| SearchRequest { max_matches, after: 2, ..regex("x") };
    let result = find(b"x1\nx2\n3\nx4\n", &request(1));
    assert_eq!(result.matches.len(), 1);
    assert_eq!(result.matches[0].after, ["x2", "3"]);
    assert!(result.truncated);
    assert!(!find(b"x1\nx2\n3\nx4\n", &request(3)).truncated);
    assert_eq!(find(b"x1\nx2\n", &request(0)).matches.len(), 1);

    let many = "x\n".repeat(3_000);
    let result = find(many.as_bytes(), &request(u64::MAX));
    assert_eq!(result.matches.len() as u64, limits::MAX_SEARCH_MATCHES);
    assert!(result.truncated);
}

#[test]
fn the_result_as_a_whole_is_bounded() {
    let line = "x".repeat(3_000) + "\n";
    let request = SearchRequest { before: 99, after: 99, max_matches: 1_000, ..regex("x") };
    let result = find(line.repeat(1_000).as_bytes(), &request);
    assert!(result.truncated);
    let units: usize = result
        .matches
        .iter()
        .flat_map(|found| found.before.iter().chain(&found.after).chain([&found.text]))
        .map(|text| decode::units(text))
        .sum();
    assert!(units as u64 <= limits::MAX_SEARCH_UNITS && units > 190_000, "{units}");
    let most = result.matches.iter().map(|found| found.before.len().max(found.after.len())).max();
    assert!(most.is_some_and(|most| most as u64 <= limits::MAX_SEARCH_CONTEXT));
}

#[test]
fn bad_patterns_are_told_on_one_line() {
    let refusal = |request: SearchRequest| {
        let error = search(&file(b"x"), &mut TextIndex::new(), Tail::Final, &request).unwrap_err();
        let message = error.to_string();
        assert!(!message.contains('\n') && message.ends_with('.'), "{message}");
        assert!(error.recovery().ends_with('.') && error.details().is_object());
        (message, error)
    };
    for (pattern, said) in [
        ("foo(", "unclosed group"),
        ("*", "repetition operator missing expression"),
        ("(?=x)", "look-around"),
        (r"(x)\1", "backreferences are not supported"),
        ("a\\nb", "line feed"),
    ] {
        let (message, error) = refusal(regex(pattern));
        assert!(message.contains(said) && matches!(error, SearchError::BadPattern { .. }), "{message}");
    }
    let (message, _) = refusal(SearchRequest { literal: true, ..regex("a\nb") });
    assert!(message.contains("line feed"), "{message}");
    let (_, error) = refusal(regex(r"(\w{100}){100}"));
    assert!(matches!(error, SearchError::PatternTooBig { .. }));
    let (_, error) = refusal(regex(&"(".repeat(limits::MAX_PATTERN_BYTES)));
    assert!(matches!(error, SearchError::BadPattern { .. }), "{error}");
    let (_, error) = refusal(regex(&"x".repeat(limits::MAX_PATTERN_BYTES + 1)));
    assert!(matches!(error, SearchError::PatternTooLong { .. }));
}

#[test]
fn a_line_without_end_is_searched_in_pieces() {
    const MIB: u64 = 1024 * 1024;
    let mut stream = file(b"first\n");
    stream.set_len(64 * MIB).unwrap();
    stream.seek(std::io::SeekFrom::Start(63 * MIB + 100)).unwrap();
    stream.write_all("needle ≤".as_bytes()).unwrap();
    stream.seek(std::io::SeekFrom::Start(64 * MIB)).unwrap();
    stream.write_all(b"\nlast needle\n").unwrap();

    let mut index = TextIndex::new();
    let request = SearchRequest { before: 20, after: 20, ..regex("needle") };
    // A build without optimization takes long for what is 10 ms of work.
    let patient = Instant::now() + Duration::from_secs(600);
    let result = search_until(&stream, &mut index, Tail::Final, &request, patient).unwrap();
    let [inside, last] = &result.matches[..] else { panic!("{} matches", result.matches.len()) };
    assert_eq!(inside.line, 2);
    assert!(inside.text.contains("\0needle ≤\0"));
    let page_there = page(&stream, &mut index, Tail::Final, inside.offset, 1_900).unwrap();
    assert!(page_there.content.contains("needle ≤"));
    assert_eq!((last.line, last.offset, last.text.as_str()), (3, 64 * MIB + 1 - 2, "last needle"));
    assert!(!result.truncated);
}

#[test]
fn pieces_end_at_characters_and_never_empty() {
    let piece = usize::try_from(limits::SEARCH_PIECE_BYTES).unwrap();
    for lead in 0..4 {
        let text = format!("{}{}\nnext\n", "x".repeat(lead), "😀".repeat(piece / 2));
        let got = lines(text.as_bytes(), &regex("."));
        assert!(got.iter().all(|(_, _, text)| !text.contains('\u{FFFD}') && !text.is_empty()));
        assert_eq!(got.last().map(|(line, _, text)| (*line, text.as_str())), Some((2, "next")));
    }
    let exact = "x".repeat(piece) + "\nnext\n";
    assert_eq!(lines(exact.as_bytes(), &regex("")).len(), 2);
}

#[test]
fn a_growing_stream_is_searched_without_its_unfinished_character() {
    let stream = file(b"needle \xE2\x89");
    let text = |tail| {
        let result = search(&stream, &mut TextIndex::new(), tail, &regex("needle")).unwrap();
        result.matches[0].text.clone()
    };
    assert_eq!(text(Tail::Growing), "needle ");
    assert_eq!(text(Tail::Final), "needle \u{FFFD}");
}

#[test]
fn a_search_out_of_time_gives_what_it_has() {
    let stream = file(b"needle\n");
    let result =
        search_until(&stream, &mut TextIndex::new(), Tail::Final, &regex("n"), Instant::now()).unwrap();
    assert_eq!(result, SearchResult { matches: vec![], truncated: true });
}
