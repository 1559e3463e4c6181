//! The schemas within a schema.

use serde_json::{Value, json};
use toolkit_schema::walk::{self, anchored, each, each_mut, is_tractable, rebuild, reference, resolve, size, type_of};

/// Every keyword that holds schemas, with a marker for each.
fn every_keyword() -> Value {
    let mark = |n: u32| json!({ "title": n.to_string() });
    json!({
        "additionalProperties": mark(1),
        "unevaluatedProperties": mark(2),
        "propertyNames": mark(3),
        "items": mark(4),
        "additionalItems": mark(5),
        "unevaluatedItems": mark(6),
        "contains": mark(7),
        "contentSchema": mark(8),
        "not": mark(9),
        "if": mark(10),
        "then": mark(11),
        "else": mark(12),
        "allOf": [mark(13)],
        "anyOf": [mark(14), mark(15)],
        "oneOf": [mark(16)],
        "prefixItems": [mark(17)],
        "properties": { "items": mark(18), "default": mark(19) },
        "patternProperties": { "^a": mark(20) },
        "dependentSchemas": { "a": mark(21) },
        "dependencies": { "a": mark(22), "b": ["c"] },
        "$defs": { "A": mark(23) },
        "definitions": { "B": mark(24) },
        "default": mark(0),
        "const": mark(0),
        "enum": [mark(0)],
        "examples": [mark(0)],
        "x-other": mark(0),
    })
}

#[test]
fn every_subschema_is_visited_and_no_instance() {
    let mut schema = every_keyword();
    let mut seen = Vec::new();
    each(schema.as_object().unwrap(), |_, sub| seen.extend(sub["title"].as_str().unwrap().parse::<u32>()));
    seen.sort_unstable();
    assert_eq!(seen, (1..=24).collect::<Vec<_>>());
    let rebuilt: serde_json::Map<_, _> = (schema.as_object().unwrap().iter())
        .map(|(keyword, value)| (keyword.clone(), rebuild(keyword, value, |sub| json!({ "was": sub["title"] }))))
        .collect();
    each_mut(schema.as_object_mut().unwrap(), |_, sub| *sub = json!({ "was": sub["title"].take() }));
    assert_eq!(Value::from(rebuilt), schema);
    assert_eq!(schema["dependencies"]["b"], json!(["c"]));
    assert_eq!((&schema["default"], &schema["anyOf"][1]), (&json!({ "title": "0" }), &json!({ "was": "15" })));
    // Before draft 2020-12, a list of `items` had the meaning of `prefixItems`.
    let mut n_items = 0;
    each(json!({ "items": [{}, true] }).as_object().unwrap(), |_, _| n_items += 1);
    assert_eq!(n_items, 2);
}

#[test]
fn a_reference_leads_to_a_schema_of_its_document() {
    let document = json!({
        "$defs": { "A": { "title": "a" }, "a b": { "title": "ab" }, "x/y": true, "List": ["no schema"] },
        "anyOf": [{ "title": "first" }],
        "items": { "$anchor": "here", "title": "anchored" },
    });
    for (reference, title) in [
        ("#/$defs/A", Some("a")),
        ("#/$defs/a%20b", Some("ab")),
        ("#/anyOf/0", Some("first")),
        ("#/$defs/B", None),
        ("#/anyOf/1", None),
        ("#/$defs/List", None),
        ("#/$defs/A/title", None),
        ("#here", None),
        ("other", None),
    ] {
        let found = resolve(&document, reference);
        assert_eq!(found.and_then(|schema| schema["title"].as_str()), title, "{reference}");
    }
    assert_eq!(resolve(&document, "#/$defs/x~1y"), Some(&json!(true)));
    assert_eq!(resolve(&document, "#"), Some(&document));
    assert_eq!(anchored(&document, "here").map(|schema| &schema["title"]), Some(&json!("anchored")));
    assert_eq!(anchored(&document, "there"), None);
    // A schema with an `$id` has anchors of its own.
    assert_eq!(anchored(&json!({ "items": { "$id": "x", "$anchor": "here" } }), "here"), None);
    assert!(anchored(&json!({ "$id": "x", "items": { "$dynamicAnchor": "here" } }), "here").is_some());
}

#[test]
fn the_reference_to_a_definition_resolves_to_it_whatever_its_name() {
    for (name, expected) in [
        ("A.b-c_1~$", "#/$defs/A.b-c_1~0$"),
        ("a b", "#/$defs/a%20b"),
        ("x/y", "#/$defs/x~1y"),
        ("é%", "#/$defs/%C3%A9%25"),
        ("Vec<T>", "#/$defs/Vec%3CT%3E"),
    ] {
        assert_eq!(reference("$defs", name), expected);
        let document = json!({ "$defs": { (name): { "title": name } } });
        assert_eq!(resolve(&document, expected), Some(&json!({ "title": name })));
    }
}

#[test]
fn a_document_is_rewritten_within_its_limits_only() {
    let nested = |n: usize| (0..n).fold(json!({}), |inner, _| json!({ "items": inner }));
    assert!(is_tractable(&nested(128)) && !is_tractable(&nested(129)));
    let list = |n: usize| json!({ "enum": (0..n).collect::<Vec<_>>() });
    assert!(is_tractable(&list(99_998)) && !is_tractable(&list(99_999)));
    assert_eq!((size(&list(3)), size(&json!({ "a": { "b": 1 }, "c": [] })), size(&json!(1))), (5, 4, 1));
    assert!(is_tractable(&json!({ "$id": "x", "properties": { "$anchor": {} } })));
    for keyword in ["$anchor", "$dynamicAnchor", "$dynamicRef", "$recursiveRef", "$id"] {
        assert!(!is_tractable(&json!({ "items": { (keyword): "x" } })), "{keyword}");
    }
}

#[test]
fn keywords_are_annotations_or_constraints() {
    for annotation in ["title", "description", "default", "examples", "example", "deprecated", "readOnly", "x-any"] {
        assert!(walk::is_annotation(annotation), "{annotation}");
    }
    for keyword in ["type", "format", "enum", "const", "$ref", "properties", "x"] {
        assert!(!walk::is_annotation(keyword) && !walk::depends_on_siblings(keyword), "{keyword}");
    }
    for keyword in ["additionalProperties", "items", "minContains", "else", "unevaluatedItems"] {
        assert!(walk::depends_on_siblings(keyword), "{keyword}");
    }
    for (value, name) in [(json!(1), "integer"), (json!(1.0), "number"), (json!({}), "object"), (json!(null), "null")] {
        assert_eq!(type_of(&value), name);
    }
}
