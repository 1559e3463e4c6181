//! Schemas that are merged with the parts of their `allOf`.

use serde_json::{Map, Value, json};
use toolkit_schema::merge;

fn object(value: &Value) -> &Map<String, Value> {
    value.as_object().expect("an object")
}

/// Returns the schema with the part, or `None` if they cannot be one.
fn joined(schema: &Value, part: &Value) -> Option<Value> {
    let mut keywords = object(schema).clone();
    merge::join(&mut keywords, object(part)).then(|| keywords.into())
}

/// Returns objects with each choice of these keywords.
fn combined(keywords: &[(&str, &[Value])]) -> Vec<Value> {
    keywords.iter().fold(vec![json!({})], |all, (keyword, values)| {
        let with = |schema: &Value, value: &Value| {
            let mut schema = schema.clone();
            schema[keyword] = value.clone();
            schema
        };
        let more = all.iter().flat_map(|schema| values.iter().map(|value| with(schema, value)));
        let more: Vec<Value> = more.collect();
        [all, more].concat()
    })
}

#[test]
fn a_merged_schema_accepts_what_both_accept() {
    let properties = [json!({ "a": {} }), json!({ "a": { "type": "integer" }, "b": {} })];
    let additional = [json!(false), json!({ "type": "string" })];
    let part_keywords: [(&str, &[Value]); 3] =
        [("properties", &properties), ("additionalProperties", &additional), ("required", &[json!(["a"])])];
    let parts = combined(&part_keywords);
    let schemas = combined(&[&part_keywords[..], &[("unevaluatedProperties", &[json!(false)])]].concat());
    let values = [json!(1), json!("x")];
    let instances = combined(&[("a", &values), ("b", &values), ("c", &values)]);
    let mut n_joined = 0;
    for schema in &schemas {
        for part in &parts {
            let Some(joined) = joined(schema, part) else { continue };
            n_joined += 1;
            let mut both = schema.clone();
            both["allOf"] = json!([part]);
            let [joined, both] = [&joined, &both].map(|schema| jsonschema::validator_for(schema).expect("a schema"));
            for instance in &instances {
                assert_eq!(joined.is_valid(instance), both.is_valid(instance), "{schema} and {part}: {instance}");
            }
        }
    }
    assert!(n_joined > 0);
}

#[test]
fn schemas_that_close_other_objects_are_not_merged() {
    let open = |names: &[&str]| {
        let properties: Map<String, Value> = names.iter().map(|name| ((*name).to_owned(), json!({}))).collect();
        json!({ "properties": properties })
    };
    let closed = |names: &[&str]| {
        let mut schema = open(names);
        schema["additionalProperties"] = json!(false);
        schema
    };
    let unevaluated = json!({ "properties": { "a": {} }, "unevaluatedProperties": false });
    for (schema, part, is_joined) in [
        (open(&["a"]), open(&["b"]), true),
        (closed(&["a", "b"]), open(&["a"]), true),
        (closed(&["a"]), open(&["a", "b"]), false),
        (open(&["a"]), closed(&["a", "b"]), true),
        (open(&["a", "b"]), closed(&["a"]), false),
        (closed(&["a"]), closed(&["a"]), true),
        (closed(&["a"]), closed(&["a", "b"]), false),
        (closed(&["a", "b"]), closed(&["a"]), false),
        (json!({ "additionalProperties": {} }), json!({ "additionalProperties": false }), false),
        (unevaluated.clone(), open(&["a"]), true),
        (unevaluated, closed(&["a"]), false),
    ] {
        assert_eq!(joined(&schema, &part).is_some(), is_joined, "{schema} and {part}");
    }
}

#[test]
fn a_merged_schema_has_the_types_that_both_have() {
    for (a, b, expected) in [
        (json!(["string", "null"]), json!("string"), json!("string")),
        (json!("number"), json!("integer"), json!("integer")),
        (json!("integer"), json!(["number", "string"]), json!("integer")),
        (json!(["object", "array", "null"]), json!(["array", "null"]), json!(["array", "null"])),
    ] {
        assert_eq!(joined(&json!({ "type": a }), &json!({ "type": b })), Some(json!({ "type": expected })));
    }
    assert_eq!(joined(&json!({ "type": "string" }), &json!({ "type": "null" })), None);
}
