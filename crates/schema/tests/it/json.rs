//! JSON text that is read with an error for duplicate keys, within a limit of nesting.

use serde_json::{Value, json};
use toolkit_schema::json::{TextScan, length, parse};
use toolkit_schema::{is_too_deep, is_too_deep_below};

#[test]
fn a_value_has_at_most_127_levels_with_those_that_contain_it() {
    let lists = |levels: usize| (0..levels).fold(json!(1), |inner, _| json!([inner]));
    let objects = |levels: usize| (0..levels).fold(json!(1), |inner, _| json!({ "a": 0, "b": inner }));
    for nested in [&lists as &dyn Fn(usize) -> Value, &objects] {
        for (levels, n_around, is_deep) in [
            (0, 0, false),
            (127, 0, false),
            (128, 0, true),
            (27, 100, false),
            (28, 100, true),
            (0, 127, false),
            (1, 127, true),
        ] {
            assert_eq!(is_too_deep_below(&nested(levels), n_around), is_deep, "{levels} within {n_around}");
            assert_eq!(is_too_deep(&nested(levels)), levels > 127, "{levels}");
            assert_eq!(parse(nested(levels).to_string().as_bytes()).is_err(), levels > 127, "{levels}");
        }
    }
    assert!(is_too_deep_below(&json!(1), 128), "there is no room for any value");
}

#[test]
fn the_length_of_a_value_is_that_of_its_text_up_to_the_maximum() {
    for value in
        [json!(null), json!(""), json!("a\n\u{1}ä"), json!({ "a": [1, 2.5, { "b": [] }] }), json!(["x".repeat(99)])]
    {
        let expected = value.to_string().len();
        for max in [expected, expected + 1, usize::MAX] {
            assert_eq!(length(&value, max), expected, "{value}");
        }
        for max in [0, 1, expected - 1] {
            assert!(length(&value, max) > max, "{value}");
        }
    }
    // A map whose keys are not texts.
    let not_json = std::collections::BTreeMap::from([([1], 1)]);
    assert_eq!(length(&not_json, 100), usize::MAX);
}

#[test]
fn an_error_of_syntax_names_what_is_wrong() {
    for (text, error) in [
        ("", "not valid JSON: the text is empty; use `{}` for an empty object"),
        (" \n", "not valid JSON: the text is empty; use `{}` for an empty object"),
        ("\u{feff}{}", "not valid JSON: it starts with a byte order mark"),
        (r#"{"a":1,"b":2,"a":3}"#, "not valid JSON: duplicate key `a` in an object at line 1 column 16"),
        ("[nurse]", "not valid JSON: expected a value, of which a text has double quotes, at line 1 column 4"),
        ("[1,]", "not valid JSON: trailing comma at line 1 column 4"),
        ("{} x", "not valid JSON: trailing characters at line 1 column 4"),
        ("1e999", "not valid JSON: number out of range at line 1 column 5"),
    ] {
        assert_eq!(parse(text.as_bytes()), Err(error.to_owned()), "{text}");
    }
    let deep = parse("[".repeat(128).as_bytes()).unwrap_err();
    assert!(deep.starts_with("the JSON is nested deeper than 127 levels at line 1 column "), "{deep}");
    assert_eq!(parse(br#" {"a": [1, -2.5, true, null, "x"]} "#), Ok(json!({ "a": [1, -2.5, true, null, "x"] })));
}

#[test]
fn a_scan_counts_values_and_keys() {
    for (text, n_values) in
        [("1", 1), ("[]", 1), ("[1, -2.5e3, \"a,b\", true, false, null]", 7), (r#"{"a": {"b": [1]}}"#, 6)]
    {
        assert_eq!(TextScan::new(text).n_values, n_values, "{text}");
    }
}
