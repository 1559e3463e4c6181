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
