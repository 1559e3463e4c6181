//! Small values that a schema accepts.

use serde_json::{Value, json};
use toolkit_schema::{Schema, example};

fn of(schema: &Value) -> Option<Value> {
    Schema::from_value(json!({ "type": "object", "properties": { "it": schema }, "required": ["it"] }))
        .expect("a schema")
        .example()
        .map(|mut value| value["it"].take())
}

#[test]
fn an_example_is_what_the_author_gives_or_the_smallest_value() {
    for (schema, expected) in [
        (json!({ "const": 7, "default": 8 }), json!(7)),
        (json!({ "type": "integer", "examples": [5, 6], "default": 8 }), json!(5)),
        (json!({ "type": "integer", "default": 8 }), json!(8)),
        (json!({ "type": ["integer", "null"], "default": null }), json!(1)),
        (json!({ "enum": ["b", "a"] }), json!("b")),
        (json!({ "type": "null" }), json!(null)),
        (json!({ "type": "boolean" }), json!(true)),
        (json!({ "type": "integer" }), json!(1)),
        (json!({ "type": "integer", "minimum": 5 }), json!(5)),
        (json!({ "type": "integer", "exclusiveMinimum": 5 }), json!(6)),
        (json!({ "type": "integer", "minimum": -5 }), json!(1)),
        (json!({ "type": "integer", "maximum": -5 }), json!(-5)),
        (json!({ "type": "integer", "exclusiveMaximum": 0 }), json!(-1)),
        (json!({ "type": "string" }), json!("a")),
        (json!({ "type": "string", "minLength": 3 }), json!("aaa")),
        (json!({ "type": "string", "pattern": "^[A-Z]{2}-[0-9]+$" }), json!("AA-1")),
        (json!({ "type": "string", "pattern": "^(on|off)$" }), json!("on")),
        (json!({ "type": "string", "format": "date" }), json!("2024-05-06")),
        (json!({ "type": "array", "items": { "type": "null" } }), json!([])),
        (json!({ "type": "array", "items": { "type": "null" }, "minItems": 2 }), json!([null, null])),
        (json!({ "type": "object", "additionalProperties": { "type": "null" } }), json!({})),
        (
            json!({ "type": "object", "properties": { "a": { "type": "null" }, "b": {} }, "required": ["a"] }),
            json!({ "a": null }),
        ),
        (json!({ "anyOf": [{ "type": "string" }, { "type": "null" }] }), json!("a")),
        (json!({ "type": "string", "minLength": 64 }), json!("a".repeat(64))),
        (json!({ "type": "array", "items": { "const": 1 }, "minItems": 16 }), json!(vec![1; 16])),
    ] {
        assert_eq!(of(&schema), Some(expected), "{schema}");
    }
    for large in [
        json!({ "type": "string", "minLength": 65 }),
        json!({ "type": "array", "items": { "const": 1 }, "minItems": 17 }),
        json!({ "type": "string", "pattern": "^a{65}$" }),
        json!({ "type": "integer", "multipleOf": 5, "minimum": 6 }),
    ] {
        assert_eq!(of(&large), None, "{large}");
    }
}

#[test]
fn an_example_of_a_part_is_that_of_the_value_there() {
    let schema = json!({
        "properties": { "list": { "type": "array", "items": { "$ref": "#/$defs/D" } }, "map": { "additionalProperties": { "const": 2 } } },
        "$defs": { "D": { "type": "object", "properties": { "n": { "const": 3 } }, "required": ["n"] } },
    });
    assert_eq!(example::at(&schema, "/list/4/n"), Some(json!(3)));
    assert_eq!(example::at(&schema, "/list/0"), Some(json!({ "n": 3 })));
    assert_eq!(example::at(&schema, "/map/any"), Some(json!(2)));
    assert_eq!(example::at(&schema, "/other"), None);
}
