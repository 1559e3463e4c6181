//! Messages that are read without judging them.

use crate::texts;
use toolkit_mcp::Fields;

/// Returns the id, the method, the parameters, the result and the error of each message.
fn read(json: &str) -> Result<Vec<[Option<String>; 5]>, usize> {
    let all = |fields: Fields<'_>| {
        let Fields { id, method, params, result, error } = fields;
        let [id, params, result, error] = texts([id, params, result, error]).map(|text| text.map(str::to_owned));
        [id, method.map(Into::into), params, result, error]
    };
    match Fields::read(json) {
        Ok(messages) => Ok(messages.into_iter().map(all).collect()),
        Err(before) => Err(before.len()),
    }
}

fn message(fields: [&str; 5]) -> [Option<String>; 5] {
    fields.map(|field| (!field.is_empty()).then(|| field.to_owned()))
}

#[test]
fn each_field_is_read_as_its_text() {
    let request = r#"{"jsonrpc": "2.0", "id": "a", "method": "ping", "params": [1, 2]}"#;
    assert_eq!(read(request), Ok(vec![message(["\"a\"", "ping", "[1, 2]", "", ""])]));
    let both = r#" {"id": 1.5, "result": {"a": null}, "error": "failed"} "#;
    assert_eq!(read(both), Ok(vec![message(["1.5", "", "", "{\"a\": null}", "\"failed\""])]));
}

#[test]
fn null_counts_as_absent_and_the_last_of_duplicate_fields_counts() {
    let json = r#"{"id": null, "result": null, "error": {}, "method": null, "params": null}"#;
    assert_eq!(read(json), Ok(vec![message(["", "", "", "", "{}"])]));
    assert_eq!(read(r#"{"id": 1, "id": 2, "\u0069d": 3}"#), Ok(vec![message(["3", "", "", "", ""])]));
    assert_eq!(read(r#"{"method": "p\u0069ng"}"#), Ok(vec![message(["", "ping", "", "", ""])]));
    assert_eq!(read(r#"{"method": 7, "id": 1}"#), Ok(vec![message(["1", "", "", "", ""])]));
}

#[test]
fn a_text_may_hold_several_messages_and_batches() {
    let id = |id: &str| message([id, "", "", "", ""]);
    assert_eq!(read(""), Ok(vec![]));
    assert_eq!(read("[]"), Ok(vec![]));
    assert_eq!(read(r#"{"id": 1}{"id": 2} [{"id": 3}, {"id": 4}]"#), Ok(["1", "2", "3", "4"].map(id).to_vec()));
}

#[test]
fn the_messages_before_a_malformed_part_are_returned() {
    for (json, before) in [("x", 0), ("1", 0), (r#"{"id": 1} 7"#, 1), (r#"[{"id": 1}, 2]"#, 1), (r#"{"id": 1} {"#, 1)] {
        assert_eq!(read(json), Err(before), "{json}");
    }
}
