//! Arguments as a tree that keeps the text of numbers beyond 64 bits.

use serde_json::{Value, json};
use toolkit_schema::tree::{Tree, is_within, pointers};

const WIDE: &str = "123456789012345678901234567890";

fn tree(text: &str) -> Tree {
    Tree::parse(text.as_bytes()).expect("the text is JSON")
}

fn text(tree: &Tree) -> String {
    String::from_utf8(tree.to_text()).expect("JSON is text")
}

#[test]
fn the_text_of_a_number_that_a_tree_rounds_is_kept() {
    let arguments = tree(&format!(r#"{{"a/b": [1, {WIDE}], "c": 1e2, "d": 0.5}}"#));
    assert_eq!((arguments.rounded("/a~1b/1"), arguments.rounded("/a~1b/0")), (Some(WIDE), None));
    assert_eq!((arguments.all_rounded(), arguments.is_rounded()), (vec!["/a~1b/1".to_owned()], true));
    assert!(arguments.is_wide("/a~1b/1") && !arguments.is_wide("/a~1b/0") && !arguments.is_wide("/c"));
    assert_eq!(text(&arguments), format!(r#"{{"a/b":[1,{WIDE}],"c":100.0,"d":0.5}}"#));
    let plain = tree(r#"{"a": [1.5, "x"], "b": {}}"#);
    assert_eq!((plain.is_rounded(), text(&plain)), (false, r#"{"a":[1.5,"x"],"b":{}}"#.to_owned()));
}

#[test]
fn a_number_is_an_integer_in_any_notation() {
    let numbers =
        tree(&format!("[7, -7.0, 1e3, 1.5, {WIDE}, 1e400, 18446744073709551615, \"7\"]").replace("1e400", "1e40"));
    let found: Vec<_> =
        (0..8).map(|idx| numbers.integer(&format!("/{idx}")).map(|number| number.to_string())).collect();
    let expected = [Some("7"), Some("-7"), Some("1000"), None, None, None, Some("18446744073709551615"), None];
    assert_eq!(found, expected.map(|text| text.map(str::to_owned)));
    let is_integer: Vec<_> = (0..9).map(|idx| numbers.is_integer(&format!("/{idx}"))).collect();
    assert_eq!(is_integer, [true, true, true, false, true, false, true, false, false]);
}

#[test]
fn texts_of_numbers_move_with_their_values() {
    let mut arguments = tree(&format!(r#"{{"a": {WIDE}, "ab": {WIDE}, "c": {{"d": {WIDE}}}}}"#));
    arguments.wrap("/a");
    arguments.wrap("/c");
    assert_eq!(text(&arguments), format!(r#"{{"a":[{WIDE}],"ab":{WIDE},"c":[{{"d":{WIDE}}}]}}"#));
    arguments.unwrap("/a");
    arguments.unwrap("/c");
    arguments.unwrap("/ab");
    assert_eq!(text(&arguments), format!(r#"{{"a":{WIDE},"ab":{WIDE},"c":{{"d":{WIDE}}}}}"#));
    arguments.put("/a", tree(&format!("[1, -{WIDE}]")));
    arguments.put("/c", Tree::plain(json!(1)));
    arguments.put("/missing", tree(WIDE));
    assert_eq!(text(&arguments), format!(r#"{{"a":[1,-{WIDE}],"ab":{WIDE},"c":1}}"#));
    assert_eq!(arguments.all_rounded(), ["/a/1", "/ab"]);
}

#[test]
fn a_place_is_within_a_pointer_at_the_end_of_a_name() {
    for (place, pointer, expected) in [
        ("/a", "/a", true),
        ("/a/b", "/a", true),
        ("/ab", "/a", false),
        ("/a", "/a/b", false),
        ("/a", "", true),
        ("", "", true),
        ("/b", "/a", false),
    ] {
        assert_eq!(is_within(place, pointer), expected, "{place} {pointer}");
    }
}

#[test]
fn numbers_are_found_by_their_offsets() {
    let json = br#"{"a": [1, 22], "b/c": 3}"#;
    assert_eq!(pointers(json, vec![22, 10]), ["/a/1", "/b~1c"]);
    assert_eq!((pointers(json, vec![]), pointers(json, vec![11])), (vec![], vec![]));
}

#[test]
fn long_keys_above_many_wide_numbers_are_refused() {
    let below = |key: usize, n: usize| format!(r#"{{"{}": [{}]}}"#, "k".repeat(key), vec![WIDE; n].join(","));
    assert!(Tree::parse(below(4000, 100).as_bytes()).is_ok());
    let error = "there are too many numbers of more than 64 bits below long keys";
    assert_eq!(Tree::parse(below(4100, 1).as_bytes()).err().as_deref(), Some(error));
    assert_eq!(Tree::parse(below(4000, 5000).as_bytes()).err().as_deref(), Some(error));
    assert_eq!(Tree::from_value(json!({ "a": 1 })).map(|tree| tree.value), Ok::<Value, _>(json!({ "a": 1 })));
}
