//! References replaced by what they refer to.

use serde_json::{Map, Value, json};
use toolkit_schema::inline::inline;

fn inlined(mut schema: Value) -> Value {
    inline(&mut schema);
    schema
}

/// Returns the property `it` of an object, after references to these definitions were inlined.
fn property(it: Value, definitions: Value) -> Value {
    let mut schema = inlined(json!({ "properties": { "it": it }, "$defs": definitions }));
    schema["properties"]["it"].take()
}

#[test]
fn keywords_beside_a_reference_apply_with_its_target() {
    let integer = json!({ "D": { "type": "integer", "description": "Of the definition.", "minimum": 1 } });
    for (beside, expected) in [
        (json!({}), json!({ "type": "integer", "description": "Of the definition.", "minimum": 1 })),
        (json!({ "description": "Own." }), json!({ "description": "Own.", "type": "integer", "minimum": 1 })),
        (
            json!({ "default": 7 }),
            json!({ "default": 7, "type": "integer", "description": "Of the definition.", "minimum": 1 }),
        ),
        (
            json!({ "maximum": 9 }),
            json!({ "maximum": 9, "type": "integer", "description": "Of the definition.", "minimum": 1 }),
        ),
        // Both constraints apply.
        (
            json!({ "minimum": 5 }),
            json!({ "minimum": 5, "allOf": [{ "type": "integer", "description": "Of the definition.", "minimum": 1 }] }),
        ),
    ] {
        let mut it = beside.clone();
        it["$ref"] = json!("#/$defs/D");
        assert_eq!(property(it, integer.clone()), expected, "{beside}");
    }
}

#[test]
fn keywords_that_look_around_are_kept_apart_from_those_of_the_definition() {
    let with = |definition: Value, beside: Value| {
        let mut it = beside;
        it["$ref"] = json!("#/$defs/D");
        property(it, json!({ "D": definition }))
    };
    for keyword in ["additionalProperties", "unevaluatedProperties", "items", "prefixItems", "contains", "if", "then"] {
        let value = if keyword == "prefixItems" { json!([{}]) } else { json!({}) };
        let closing = json!({ (keyword): value });
        let other = json!({ "required": ["a"] });
        assert_eq!(with(closing.clone(), other.clone()), json!({ "required": ["a"], "allOf": [closing] }));
        assert_eq!(with(other.clone(), closing.clone())["allOf"], json!([other]), "{keyword}");
        // Alone, it is the schema.
        assert_eq!(with(closing.clone(), json!({ "title": "T" }))[keyword], closing[keyword]);
    }
    assert_eq!(with(json!(true), json!({ "title": "T" })), json!({ "title": "T" }));
    assert_eq!(with(json!(false), json!({ "title": "T" })), json!({ "title": "T", "not": {} }));
}

#[test]
fn draft_07_ignores_what_is_beside_a_reference() {
    let schema = inlined(json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "properties": { "it": { "$ref": "#/definitions/D", "minimum": 5, "title": "T" } },
        "definitions": { "D": { "minimum": 1 } },
    }));
    assert_eq!(schema["properties"]["it"], json!({ "title": "T", "minimum": 1 }));
    assert_eq!(schema.get("definitions"), None);
}

#[test]
fn references_that_cannot_be_inlined_keep_their_definitions() {
    let node = json!({ "type": "object", "properties": { "next": { "$ref": "#/$defs/Node" } } });
    let schema = inlined(json!({
        "properties": { "a": { "$ref": "#/$defs/Node" }, "b": { "$ref": "#/$defs/Uses" }, "c": { "$ref": "#/properties/a" } },
        "$defs": { "Node": node, "Uses": { "items": { "$ref": "#/$defs/Node" } }, "Unused": { "type": "null" } },
    }));
    assert_eq!(
        schema,
        json!({
            "properties": {
                "a": { "$ref": "#/$defs/Node" },
                "b": { "items": { "$ref": "#/$defs/Node" } },
                "c": { "$ref": "#/properties/a" },
            },
            "$defs": { "Node": node },
        })
    );
    for kept in [
        json!({ "properties": { "a": { "$ref": "#/$defs/A" } }, "$defs": { "A": { "$anchor": "x" } } }),
        json!({ "properties": { "a": { "$ref": "#/$defs/A" } }, "$defs": { "A": { "$id": "x" } } }),
        json!({ "properties": { "a": { "type": "string" } } }),
        json!(true),
    ] {
        assert_eq!(inlined(kept.clone()), kept);
    }
}

#[test]
fn definitions_are_inlined_up_to_64_levels_and_100_000_values() {
    let levels = |value: &Value| -> usize {
        fn of(value: &Value) -> usize {
            match value {
                Value::Object(object) => 1 + object.values().map(of).max().unwrap_or(0),
                Value::Array(items) => 1 + items.iter().map(of).max().unwrap_or(0),
                _ => 1,
            }
        }
        of(value)
    };
    // A chain of definitions, each of which nests the next one.
    let definitions: Map<String, Value> =
        (0..100).map(|n| (n.to_string(), json!({ "items": { "$ref": format!("#/$defs/{}", n + 1) } }))).collect();
    let mut schema = json!({ "$ref": "#/$defs/0", "$defs": definitions });
    schema["$defs"]["100"] = json!({ "type": "null" });
    inline(&mut schema);
    let mut definitions = schema["$defs"].take();
    assert!(definitions.as_object_mut().is_some_and(|left| !left.is_empty()), "{schema}");
    assert!(levels(&schema) <= 64 + 2, "{}", levels(&schema));

    // A definition of 1,003 values, used as often as the limit permits.
    let large: Vec<Value> = (0..1000).map(Value::from).collect();
    let uses: Map<String, Value> = (0..200).map(|n| (format!("p{n:03}"), json!({ "$ref": "#/$defs/L" }))).collect();
    let schema = inlined(json!({ "properties": uses, "$defs": { "L": { "enum": large } } }));
    let left = schema["properties"].as_object().unwrap().values().filter(|it| it.get("$ref").is_some()).count();
    assert!((100..=102).contains(&left), "{left}");
}
