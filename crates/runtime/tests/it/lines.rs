use toolkit_runtime::LineReader;

#[tokio::test]
async fn lines_are_read_in_parts_if_they_are_long() {
    let mut lines = LineReader::new(&b"\nab\nabcd\nabcdefgh\nend"[..]);
    let mut parts = Vec::new();
    while let Some(part) = lines.next(4).await.unwrap() {
        parts.push(String::from_utf8(part.to_vec()).unwrap());
    }
    assert_eq!(parts, ["\n", "ab\n", "abcd", "\n", "abcd", "efgh", "\n", "end"]);
    assert!(!lines.has_more());
}

#[tokio::test]
async fn a_reader_has_more_as_long_as_it_holds_bytes_after_the_line() {
    let mut lines = LineReader::new(&b"a\nb"[..]);
    assert!(!lines.has_more());
    assert_eq!(lines.next(2).await.unwrap(), Some(&b"a\n"[..]));
    assert!(lines.has_more());
    assert_eq!(lines.next(2).await.unwrap(), Some(&b"b"[..]));
    assert!(!lines.has_more());
    for _ in 0..2 {
        assert_eq!(lines.next(2).await.unwrap(), None);
    }
}

#[tokio::test]
async fn a_line_that_arrives_in_parts_is_one() {
    let mut lines = LineReader::new(tokio::io::AsyncReadExt::chain(&b"ab"[..], &b"cd\nef"[..]));
    assert_eq!(lines.next(100).await.unwrap(), Some(&b"abcd\n"[..]));
    assert_eq!(lines.next(100).await.unwrap(), Some(&b"ef"[..]));
}
