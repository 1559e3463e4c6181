//! The types of schemas.

use expect_test::expect;
use serde_json::{Value, json};
use toolkit::{Catalog, Tool};
use toolkit_providers::typescript::{Detail, declarations};

use super::{declared, ty};

#[track_caller]
fn is(schema: Value, expected: &str) {
    assert_eq!(ty(schema.clone()).0, expected, "{schema}");
}

#[track_caller]
fn loses(schema: Value, expected: &[&str]) {
    assert_eq!(ty(schema.clone()).1, expected, "{schema}");
}

#[test]
fn values_have_their_types() {
    is(json!({}), "unknown");
    is(json!({ "not": {} }), "never");
    is(json!({ "type": "string" }), "string");
    is(json!({ "type": ["null", "integer", "string"] }), "string|number|null");
    is(
        json!({ "enum": ["a\"b", 1, null, true, [1], { "a": {} }] }),
        r#""a\"b"|1|true|[1]|{ a: Record<string, never> }|null"#,
    );
    is(json!({ "const": "x", "type": "string" }), r#""x""#);
    is(json!({ "enum": ["a", 1], "type": "integer" }), "1");
}

#[test]
fn arrays_and_tuples_have_the_types_of_their_items() {
    is(json!({ "type": "array" }), "unknown[]");
    is(json!({ "type": "array", "items": { "type": ["string", "null"] } }), "(string|null)[]");
    is(json!({ "type": "array", "items": false }), "[]");
    let pair = json!([{ "type": "string" }, { "type": "number" }]);
    is(json!({ "type": "array", "prefixItems": pair, "items": false, "minItems": 1 }), "[string, number?]");
    is(json!({ "type": "array", "prefixItems": pair, "minItems": 2 }), "[string, number, ...unknown[]]");
    let old = "http://json-schema.org/draft-07/schema#";
    is(json!({ "$schema": old, "type": "array", "items": pair, "additionalItems": false }), "[string?, number?]");
}

#[test]
fn objects_have_required_optional_and_other_properties() {
    is(json!({ "type": "object" }), "Record<string, unknown>");
    is(json!({ "type": "object", "additionalProperties": false }), "Record<string, never>");
    is(json!({ "type": "object", "additionalProperties": { "type": "number" } }), "{ [key: string]: number }");
    let properties = json!({ "a-b": { "type": "string" }, "class": {}, "n": false });
    let schema = json!({ "type": "object", "properties": properties, "required": ["class", "other"] });
    is(schema, r#"{ "a-b"?: string; class: unknown; n?: never; other: unknown }"#);
    let mixed = json!({ "type": "object", "properties": { "a": {} }, "additionalProperties": { "type": "number" } });
    is(mixed.clone(), "{ a?: unknown; [key: string]: unknown }");
    loses(mixed, &["output root: `additionalProperties` accepts any value, since the type has other properties"]);
}

#[test]
fn choices_are_unions_and_conjunctions_are_intersections() {
    is(json!({ "anyOf": [{ "type": "null" }, { "type": "string" }] }), "string|null");
    is(json!({ "anyOf": [{ "type": "string" }, {}] }), "unknown");
    is(json!({ "type": "string", "anyOf": [{ "type": "number" }, { "minLength": 1 }] }), "string");
    let either = json!({
        "type": "object",
        "properties": { "a": { "type": "string" }, "b": { "type": "string" } },
        "anyOf": [{ "required": ["a"] }, { "required": ["b"] }],
    });
    is(either, "{ a?: string; b?: string }&({ a: unknown }|{ b: unknown })");
    is(json!({ "allOf": [{ "type": "string" }, { "maxLength": 3 }] }), "string");
}

#[test]
fn what_a_type_accepts_beyond_its_schema_is_a_loss() {
    loses(
        json!({ "type": "integer", "minimum": 1 }),
        &["output root: `type` accepts all numbers, not only integers", "output root: `minimum` is not expressed"],
    );
    loses(
        json!({ "oneOf": [{ "type": "string" }, { "const": "a" }] }),
        &["output root: `oneOf` also accepts values that match several branches"],
    );
    loses(json!({ "properties": {} }), &["output root: `type` is missing; values of other types are not declared"]);
    loses(json!({ "enum": [{ "a": 1 }] }), &["output root: `enum` also accepts objects with other properties"]);
    loses(
        json!({ "type": "object", "required": ["toString"] }),
        &["output root: `required` has a name that every object of JavaScript inherits"],
    );
}

#[test]
fn a_recursive_definition_has_a_name_and_a_short_one_has_none() {
    let tree = json!({ "type": "object", "properties": { "next": { "$ref": "#/$defs/tree" } } });
    let schema = json!({
        "type": "object",
        "properties": { "id": { "$ref": "#/$defs/id" }, "tree": { "$ref": "#/$defs/tree" } },
        "$defs": { "tree": tree, "id": { "type": "string" } },
    });
    let text = declared(Tool::builder("t").output(schema).build().unwrap(), Detail::Compact).text;
    expect![[r#"
        declare namespace tools {
        type Tree = { next?: Tree }
        function t(): Promise<{ id?: string; tree?: Tree }>
        }
    "#]]
    .assert_eq(&text);
}

#[test]
fn a_schema_that_refers_to_its_root_is_a_named_type() {
    let input = json!({
        "type": "object",
        "properties": { "children": { "type": "array", "items": { "$ref": "#" } } },
    });
    let text = declared(Tool::builder("t").input(input).build().unwrap(), Detail::Compact).text;
    expect![[r#"
        declare namespace tools {
        type Root = { children?: Root[] }
        function t(args?: Root): Promise<unknown>
        }
    "#]]
    .assert_eq(&text);
}

#[test]
fn tools_share_equal_types_and_different_ones_get_numbers() {
    let tool = |name: &'static str, ty: &str| {
        let point =
            json!({ "type": "object", "properties": { "x": { "type": ty }, "near": { "$ref": "#/$defs/Point" } } });
        let properties = json!({ "at": { "$ref": "#/$defs/Point" } });
        let input = json!({ "type": "object", "properties": properties, "$defs": { "Point": point } });
        Tool::builder(name).namespace("map").input(input).build().unwrap()
    };
    let catalog = Catalog::new([tool("a", "number"), tool("b", "string"), tool("c", "number")]).unwrap();
    expect![[r#"
        declare namespace tools {
        type Point = { x?: number; near?: Point }
        type Point2 = { x?: string; near?: Point2 }
        }
        declare namespace tools.map {
        function a(args?: { at?: Point }): Promise<unknown>
        function b(args?: { at?: Point2 }): Promise<unknown>
        function c(args?: { at?: Point }): Promise<unknown>
        }
    "#]]
    .assert_eq(&declarations(&catalog, Detail::Signatures).text);
}

#[test]
fn a_number_is_not_that_of_a_type_with_its_own_name() {
    let tool = |name: &'static str, ty: &str| {
        let point = |next: &str| json!({ "type": "object", "properties": { "x": { "type": ty }, "next": { "$ref": format!("#/$defs/{next}") } } });
        let defs = json!({ "P": point("P"), "P2": point("P2") });
        let properties = json!({ "a": { "$ref": "#/$defs/P" }, "b": { "$ref": "#/$defs/P2" } });
        let input = json!({ "type": "object", "properties": properties, "$defs": defs });
        Tool::builder(name).input(input).build().unwrap()
    };
    let catalog = Catalog::new([tool("a", "number"), tool("b", "string")]).unwrap();
    let text = declarations(&catalog, Detail::Signatures).text;
    let names: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("type ")?.split(' ').next()).collect();
    let distinct: std::collections::BTreeSet<&str> = names.iter().copied().collect();
    assert_eq!((names.len(), distinct.len()), (4, 4), "{text}");
    assert!(distinct.contains("P") && distinct.contains("P2") && distinct.contains("P3"), "{text}");
}
