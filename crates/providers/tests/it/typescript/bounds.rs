//! Hostile schemas take bounded time and give bounded texts.

use serde_json::{Map, Value, json};
use toolkit::Tool;
use toolkit::catalog::ExportedName;
use toolkit_providers::typescript::{Detail, describe};

use super::ty;

fn text(input: Value) -> String {
    let tool = Tool::from_json(json!({ "name": "t", "inputSchema": input })).unwrap();
    let name = ExportedName::new("t", tool.id().clone());
    describe([(&name, &tool)], Detail::Full).text
}

fn definitions(n: usize, definition: impl Fn(usize) -> Value) -> Value {
    let definitions: Map<String, Value> = (0..n).map(|idx| (format!("d{idx}"), definition(idx))).collect();
    json!({ "type": "object", "properties": { "x": { "$ref": "#/$defs/d0" } }, "$defs": definitions })
}

#[test]
fn references_that_double_at_each_step_are_named() {
    let text = text(definitions(60, |idx| {
        let next = json!({ "$ref": format!("#/$defs/d{}", idx + 1) });
        json!({ "type": "object", "properties": { "a": next, "b": next } })
    }));
    assert!(text.len() < 4_000, "{}", text.len());
}

#[test]
fn a_long_chain_of_references_is_not_nested() {
    let text = text(definitions(
        3_000,
        |idx| json!({ "type": "object", "properties": { "a": { "$ref": format!("#/$defs/d{}", idx + 1) } } }),
    ));
    let deepest = text.lines().map(|line| line.len() - line.trim_start().len()).max();
    assert!(deepest < Some(70), "{deepest:?}");
}

#[test]
fn definitions_that_all_refer_to_each_other_take_bounded_time() {
    let n = 100;
    let all: Map<String, Value> =
        (0..n).map(|idx| (format!("p{idx}"), json!({ "$ref": format!("#/$defs/d{idx}") }))).collect();
    let text = text(definitions(n, |_| json!({ "type": "object", "properties": all })));
    assert!(text.len() < 1_000_000, "{}", text.len());
}

#[test]
fn deep_schemas_end_in_unknown() {
    let mut schema = json!({ "type": "string" });
    for _ in 0..60 {
        schema = json!({ "type": "object", "properties": { "a": schema } });
    }
    let text = text(schema);
    assert!(text.contains("a?: unknown") && text.len() < 5_000, "{text}");
}

#[test]
fn definitions_that_are_aliases_of_themselves_are_unknown() {
    for definitions in [
        json!({ "a": { "$ref": "#/$defs/a" } }),
        json!({ "a": { "$ref": "#/$defs/b" }, "b": { "anyOf": [{ "$ref": "#/$defs/a" }, { "type": "string" }] } }),
        json!({
            "a": { "properties": { "p": { "$ref": "#/$defs/b" } }, "$ref": "#/$defs/b" },
            "b": { "allOf": [{ "$ref": "#/$defs/a" }] },
        }),
    ] {
        let input = json!({ "type": "object", "properties": { "x": { "$ref": "#/$defs/a" } }, "$defs": definitions });
        let text = text(input);
        for line in text.lines().filter(|line| line.starts_with("type ")) {
            let (name, ty) = line["type ".len()..].split_once(" = ").unwrap();
            assert!(!ty.split(['|', '&']).any(|part| part == name), "{text}");
        }
        assert!(text.contains("unknown"), "{text}");
    }
}

#[test]
fn thousands_of_values_are_all_listed() {
    let values: Vec<String> = (0..5_000).map(|n| n.to_string()).collect();
    assert_eq!(ty(json!({ "enum": values })).0.split('|').count(), 5_000);
}
