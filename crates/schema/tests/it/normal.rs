//! Schemas in draft 2020-12 whose references lead to definitions of the root.

use serde_json::{Value, json};
use toolkit_schema::normal::normalized;

fn normal(schema: &Value) -> Value {
    normalized(schema, |_| true).schema
}

#[test]
fn references_lead_to_definitions_wherever_their_targets_are() {
    assert_eq!(
        normal(&json!({
            "properties": {
                "a": { "$ref": "#/definitions/A" },
                "b": { "$ref": "#/properties/a" },
                "c": { "$ref": "#here" },
                "d": { "$ref": "#/properties/missing" },
                "e": { "$ref": "#" },
                "f": { "$anchor": "here", "type": "null" },
            },
            "definitions": { "A": { "type": "string", "$id": 1 } },
            "$defs": { "A": { "type": "integer" } },
        })),
        json!({
            "properties": {
                "a": { "$ref": "#/$defs/A2" },
                "b": { "$ref": "#/$defs/a" },
                "c": { "$ref": "#/$defs/f" },
                "d": { "$ref": "#/properties/missing" },
                "e": { "$ref": "#" },
                "f": { "type": "null" },
            },
            "$defs": {
                "A": { "type": "integer" },
                "A2": { "type": "string" },
                "a": { "$ref": "#/$defs/A2" },
                "f": { "type": "null" },
            },
        })
    );
}

#[test]
fn the_root_is_what_its_reference_leads_to() {
    let definitions = json!({ "A": { "type": "object", "title": "A" }, "B": { "$ref": "#/$defs/A", "title": "B" } });
    let root = |schema: Value| {
        let mut schema = normal(&schema);
        schema.as_object_mut().unwrap().shift_remove("$defs");
        schema
    };
    assert_eq!(root(json!({ "$ref": "#/$defs/A", "$defs": definitions })), json!({ "type": "object", "title": "A" }));
    assert_eq!(root(json!({ "$ref": "#/$defs/B", "$defs": definitions })), json!({ "type": "object", "title": "B" }));
    assert_eq!(
        root(json!({ "$ref": "#/$defs/A", "required": ["a"], "$defs": definitions })),
        json!({ "required": ["a"], "allOf": [{ "type": "object", "title": "A" }] })
    );
    assert_eq!(root(json!({ "$ref": "#/$defs/C", "$defs": definitions })), json!({ "$ref": "#/$defs/C" }));
}

#[test]
fn draft_07_is_rewritten_in_the_words_of_draft_2020_12() {
    let schema = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "properties": {
            "tuple": { "items": [{ "type": "null" }], "additionalItems": false },
            "list": { "items": { "type": "null" }, "additionalItems": false },
            "empty": { "items": [], "additionalItems": { "type": "null" } },
            "needs": { "dependencies": { "a": ["b"], "c": { "required": ["d"] } } },
            "ref": { "$ref": "#/definitions/A", "minimum": 1, "title": "T" },
            "later": { "prefixItems": [{}], "dependentRequired": {}, "minContains": 1, "type": "array" },
        },
        "definitions": { "A": { "type": "integer" } },
    });
    let properties = &normal(&schema)["properties"];
    assert_eq!(properties["tuple"], json!({ "items": false, "prefixItems": [{ "type": "null" }] }));
    assert_eq!(properties["list"], json!({ "items": { "type": "null" } }));
    assert_eq!(properties["empty"], json!({ "items": { "type": "null" } }));
    assert_eq!(
        properties["needs"],
        json!({ "dependentSchemas": { "c": { "required": ["d"] } }, "dependentRequired": { "a": ["b"] } })
    );
    assert_eq!(properties["ref"], json!({ "$ref": "#/$defs/A", "title": "T" }));
    assert_eq!(properties["later"], json!({ "type": "array" }));
    let modern = json!({ "prefixItems": [{}], "minContains": 1, "dependencies": { "a": ["b"] } });
    assert_eq!(normal(&modern), modern);
}

#[test]
fn a_nested_id_makes_references_opaque_and_anchors_have_their_places() {
    let opaque = json!({ "items": { "$id": "x", "$ref": "#/a" } });
    let found = normalized(&opaque, |_| true);
    assert!(found.is_opaque && found.schema == opaque);
    let found = normalized(
        &json!({ "$id": "root", "anyOf": [{ "$anchor": "a" }], "properties": { "b/c": { "$dynamicAnchor": "d" } } }),
        |_| true,
    );
    assert!(!found.is_opaque);
    assert_eq!(found.anchors, [("/anyOf/0".to_owned(), "$anchor"), ("/properties/b~1c".to_owned(), "$dynamicAnchor")]);
}

#[test]
fn a_root_that_is_not_kept_is_a_definition_too() {
    let schema = json!({ "type": "object", "properties": { "next": { "$ref": "#" } } });
    assert_eq!(normal(&schema), schema);
    let found = normalized(&schema, |_| false).schema;
    assert_eq!(found["properties"]["next"], json!({ "$ref": "#/$defs/root" }));
    assert_eq!(found["$defs"]["root"]["properties"]["next"], json!({ "$ref": "#/$defs/root" }));
}
