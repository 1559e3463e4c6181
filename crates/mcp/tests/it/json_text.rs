//! Texts of JSON values.

use std::borrow::Cow;

use toolkit_mcp::{is_id, text};

#[test]
fn an_id_is_a_string_or_an_integer() {
    for id in ["\"\"", "\"a\"", "\"1.5\"", "0", "12", "-3"] {
        assert!(is_id(id), "{id}");
    }
    for other in ["null", "true", "1.5", "1e3", "{}", "[1]"] {
        assert!(!is_id(other), "{other}");
    }
}

#[test]
fn the_text_of_a_string_is_borrowed_unless_it_has_escapes() {
    for (json, inner) in [("\"\"", ""), ("\"a b\"", "a b"), ("\"größe\"", "größe")] {
        assert!(matches!(text(json), Some(Cow::Borrowed(read)) if read == inner), "{json}");
    }
    for (json, inner) in [(r#""a\u0062""#, "ab"), (r#""\"\n""#, "\"\n"), (r#""\ud83d\ude00""#, "😀")] {
        assert!(matches!(text(json), Some(Cow::Owned(read)) if read == inner), "{json}");
    }
    for other in ["", "\"", "1", "null", "{\"a\":\"b\"}", "[\"a\"]", r#""\x""#, r#""\ud83d""#] {
        assert_eq!(text(other), None, "{other}");
    }
}
