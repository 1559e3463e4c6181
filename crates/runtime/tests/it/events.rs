use proptest::prelude::*;
use toolkit_runtime::{EventReader, LineSplitter, ServerEvent};

/// Reads the events of a stream in pieces that end at `ends`, and what the end cuts off.
fn read(stream: &[u8], ends: &[usize], max_bytes: usize) -> Option<Vec<ServerEvent>> {
    let mut reader = EventReader::new(max_bytes);
    let mut found = Vec::new();
    let mut ends: Vec<usize> = ends.iter().map(|end| end % (stream.len() + 1)).chain([stream.len()]).collect();
    ends.sort_unstable();
    let mut start = 0;
    for end in ends {
        let mut bytes = &stream[start..end];
        while let Some(event) = reader.next_event(&mut bytes).ok()? {
            found.push(event);
        }
        assert!(bytes.is_empty());
        start = end;
    }
    found.extend(reader.finish().ok()?);
    Some(found)
}

fn data(text: &str) -> ServerEvent {
    ServerEvent { data: Some(text.as_bytes().to_vec()), ..ServerEvent::default() }
}

#[test]
fn events_are_those_of_the_standard() {
    let one = |stream: &str| read(stream.as_bytes(), &[], 1_000).unwrap();
    assert_eq!(one("data: a\n\ndata:b\r\n\r\ndata:  c\r\r"), [data("a"), data("b"), data(" c")]);
    assert_eq!(one("\u{feff}data: a\ndata\ndata: b\n\n"), [data("a\n\nb")]);
    assert_eq!(one(": comment\n\n:\n\n\n\n"), []);
    // Unknown fields, other cases, and the byte order mark of a later line are no fields.
    assert_eq!(one("Data: a\nunknown: b\nno colon\n\u{feff}data: c\n\n"), []);
    assert_eq!(one("data: a"), [data("a")]);
    let id = ServerEvent { id: Some(b"7".to_vec()), ..ServerEvent::default() };
    assert_eq!(one("id: 7\n\n"), std::slice::from_ref(&id));
    assert_eq!(one("id: 7\nid: 8\0\nretry: soon\n\n"), [id]);
    let full =
        ServerEvent { name: Some(b"y".to_vec()), data: Some(b"".to_vec()), id: Some(b"".to_vec()), retry: Some(1500) };
    assert_eq!(one("event: x\nevent: y\ndata:\nid:\nretry: 1500\n\n"), [full]);
    let invalid = read(b"data: \xff\n\n", &[], 100).unwrap();
    assert_eq!(invalid[0].data.as_deref(), Some(&b"\xff"[..]));
}

#[test]
fn long_events_are_errors() {
    let line = format!("data: {}\n", "x".repeat(44));
    assert!(read(format!("{line}{line}\n{line}\n").as_bytes(), &[], 100).is_some());
    assert!(read(format!("{line}{line}\n").as_bytes(), &[], 99).is_none());
    // The limit applies to a line without an end, and to comments.
    assert!(read("x".repeat(100).as_bytes(), &[], 99).is_none());
    assert!(read(":a\n".repeat(51).as_bytes(), &[], 100).is_none());
    assert!(read(":a\n\n".repeat(51).as_bytes(), &[], 100).is_some());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn pieces_do_not_matter(
        lines in prop::collection::vec(prop::sample::select(vec!["data: a", "data", "id: 1", "event: e", ":", "x: y", "", ""]), 0..20),
        ends in prop::collection::vec(prop::sample::select(vec!["\n", "\r", "\r\n"]), 20),
        cuts in prop::collection::vec(any::<usize>(), 0..8),
    ) {
        let stream: String = lines.iter().zip(&ends).flat_map(|(line, end)| [*line, *end]).collect();
        prop_assert_eq!(read(stream.as_bytes(), &cuts, 1_000), read(stream.as_bytes(), &[], 1_000));
    }
}

#[test]
fn lines_end_with_cr_lf_or_both_wherever_the_stream_is_cut() {
    let lines = |pieces: &[&str]| {
        let mut splitter = LineSplitter::default();
        let mut found = Vec::new();
        for piece in pieces {
            let mut bytes = piece.as_bytes();
            while let Some(line) = splitter.next_line(&mut bytes) {
                found.push(String::from_utf8(line.to_vec()).unwrap());
            }
        }
        found.push(String::from_utf8(splitter.rest().to_vec()).unwrap());
        found
    };
    assert_eq!(lines(&["a\r", "\nb\n", "\nc\r", "\rd"]), ["a", "b", "", "c", "", "d"]);
    assert_eq!(lines(&["a\r", "", "\nb"]), ["a", "b"]);
    assert_eq!(lines(&["a\r", "b\nc", "d\n"]), ["a", "b", "cd", ""]);
    assert_eq!(lines(&["\u{feff}a\n\u{feff}b"]), ["a", "\u{feff}b"]);
    assert_eq!(lines(&["\u{feff}a"]), ["a"]);
    let mut splitter = LineSplitter::default();
    assert_eq!(splitter.next_line(&mut &b"ab"[..]), None);
    assert_eq!(splitter.rest(), b"ab");
    assert_eq!(splitter.rest(), b"");
}

#[test]
fn an_event_has_as_many_bytes_as_the_limit_however_it_ends() {
    for (stream, n_bytes) in [("data: 5", 7), ("data: 5\n", 7), ("data: 5\ndata:3\n\n", 13), ("data: 5\n:2", 9)] {
        assert!(read(stream.as_bytes(), &[], n_bytes).is_some(), "{stream:?}");
        assert!(read(stream.as_bytes(), &[], n_bytes - 1).is_none(), "{stream:?}");
    }
    let error = EventReader::new(3).next_event(&mut &b"data"[..]).unwrap_err();
    assert_eq!(error.to_string(), "an event exceeds the limit of 3 bytes");
}
