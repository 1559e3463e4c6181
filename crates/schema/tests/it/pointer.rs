//! JSON Pointers, and those of references.

use toolkit_schema::pointer::{child, last_token, pointer, push_child, tokens, unescaped};

#[test]
fn a_token_is_escaped_in_a_pointer_and_read_back() {
    for (name, token) in
        [("", ""), ("a", "a"), ("a/b", "a~1b"), ("a~b", "a~0b"), ("~1", "~01"), ("/~", "~1~0"), ("é %", "é %")]
    {
        assert_eq!(child("/x", name), format!("/x/{token}"));
        let mut appended = String::new();
        push_child(&mut appended, name);
        assert_eq!(appended, format!("/{token}"));
        assert_eq!(unescaped(token), name);
        assert_eq!(tokens(&child("/x", name)).collect::<Vec<_>>(), ["x", name]);
        assert_eq!(last_token(&child("/x", name)).as_deref(), Some(name).filter(|name| !name.is_empty()));
    }
    assert_eq!((tokens("").count(), tokens("/").count(), tokens("a/b").count()), (0, 1, 0));
    assert_eq!(last_token(""), None);
}

#[test]
fn a_reference_within_its_document_has_a_pointer() {
    for (reference, expected) in [
        ("#", Some("")),
        ("#/$defs/A", Some("/$defs/A")),
        ("#/$defs/A%20B", Some("/$defs/A B")),
        ("#/$defs/%C3%A9", Some("/$defs/é")),
        ("#/a~1b", Some("/a~1b")),
        // An anchor, another document, and escapes that are none.
        ("#anchor", None),
        ("other#/a", None),
        ("", None),
        ("#/%4", None),
        ("#/%zz", None),
        ("#/%FF", None),
    ] {
        assert_eq!(pointer(reference).as_deref(), expected, "{reference}");
    }
}
