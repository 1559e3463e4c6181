//! Pagination.

use toolkit_search::{CursorError, Query};

use super::{ids, index, tool};

#[test]
fn all_pages_together_are_the_whole_result() {
    let names: Vec<String> = (0..37).map(|n| format!("tool_{n}")).collect();
    let tools: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "Reads some file.")).collect();
    let index = index(&tools);
    for query in ["", "read the file", "tool 7"] {
        let whole = index.search(query, usize::MAX);
        let (mut pages, mut cursor) = (Vec::new(), None);
        loop {
            let page = index.page(query, 5, cursor.as_deref()).unwrap();
            pages.extend(page.items);
            cursor = page.next_cursor;
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(ids(&pages), ids(&whole), "{query}");
        assert_eq!(pages.len(), 37);
    }
}

#[test]
fn a_cursor_is_invalid_for_other_queries_versions_and_indexes() {
    let tools = [("a:x", "One file."), ("a:y", "Two files."), ("b:z", "Three files.")];
    let index = index(&tools);
    let cursor = index.page("file", 1, None).unwrap().next_cursor.unwrap();
    assert!(index.page("file", 2, Some(&cursor)).is_ok());

    assert_eq!(index.page("files", 1, Some(&cursor)).unwrap_err(), CursorError::Unknown);
    let filtered = Query::new("file").namespace("a");
    assert_eq!(index.page(filtered, 1, Some(&cursor)).unwrap_err(), CursorError::Unknown);
    assert_eq!(index.namespaces_page(1, Some(&cursor)).unwrap_err(), CursorError::Unknown);
    let twin = super::index(&tools);
    assert_eq!(twin.page("file", 1, Some(&cursor)).unwrap_err(), CursorError::Unknown);
    for broken in ["", "x", "not-base64", &cursor[1..], &format!("{cursor}A")] {
        assert_eq!(index.page("file", 1, Some(broken)).unwrap_err(), CursorError::Unknown, "{broken}");
    }
    // To change the case is not enough: the random part may have no lowercase letter.
    for (at, character) in cursor.char_indices() {
        let other = if character == 'A' { 'B' } else { 'A' };
        let broken = format!("{}{other}{}", &cursor[..at], &cursor[at + 1..]);
        assert_eq!(index.page("file", 1, Some(&broken)).unwrap_err(), CursorError::Unknown, "{broken}");
    }
    assert_eq!(index.page("file", 0, None).unwrap_err(), CursorError::NoLimit);

    index.update(tool("a:x", "Another file.")).unwrap();
    let stale = index.page("file", 1, Some(&cursor)).unwrap_err();
    assert_eq!(stale.to_string(), "the tools have changed since the last page; start again without a cursor");
}

#[test]
fn namespaces_are_paginated() {
    let index = index(&[("a:x", ""), ("b:x", ""), ("c:x", ""), ("x", "")]);
    let first = index.namespaces_page(3, None).unwrap();
    assert_eq!(first.items, ["", "a", "b"]);
    let last = index.namespaces_page(3, first.next_cursor.as_deref()).unwrap();
    assert_eq!((last.items, last.next_cursor), (vec!["c".to_owned()], None));
}
