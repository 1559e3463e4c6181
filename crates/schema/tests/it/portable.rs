//! Schemas in the keywords that more readers support.

use serde_json::{Value, json};
use toolkit_schema::portable;

fn made(mut schema: Value) -> Value {
    portable::make(&mut schema);
    schema
}

#[test]
fn the_format_of_a_number_is_its_bounds() {
    for (format, bounds) in [
        ("int8", json!({ "minimum": -128, "maximum": 127 })),
        ("int16", json!({ "minimum": -32768, "maximum": 32767 })),
        ("int32", json!({ "minimum": i32::MIN, "maximum": i32::MAX })),
        ("int64", json!({})),
        ("int128", json!({})),
        ("int", json!({})),
        ("uint8", json!({ "minimum": 0, "maximum": 255 })),
        ("uint16", json!({ "minimum": 0, "maximum": 65535 })),
        ("uint32", json!({ "minimum": 0, "maximum": u32::MAX })),
        ("uint64", json!({ "minimum": 0 })),
        ("uint128", json!({ "minimum": 0 })),
        ("uint", json!({ "minimum": 0 })),
        ("double", json!({})),
    ] {
        for kind in [json!("integer"), json!(["integer", "null"])] {
            let mut expected = bounds.clone();
            expected["type"] = kind.clone();
            assert_eq!(made(json!({ "type": kind, "format": format })), expected, "{format}");
        }
        // Digits in a string are no number, and a number with a fraction has no such bounds.
        let text = json!({ "type": "string", "format": format });
        assert_eq!(made(text.clone()), text);
    }
    for format in ["float", "double"] {
        assert_eq!(made(json!({ "type": "number", "format": format })), json!({ "type": "number" }));
    }
    assert_eq!(made(json!({ "type": "number", "format": "int32" })), json!({ "type": "number" }));
    for kept in [json!({ "type": "number", "format": "int64" }), json!({ "type": "integer", "format": "other" })] {
        assert_eq!(made(kept.clone()), kept);
    }
}

#[test]
fn a_bound_of_the_author_stays_if_it_is_narrower_than_the_type() {
    let byte = |more: Value| {
        let mut schema = json!({ "type": "integer", "format": "uint8" });
        schema.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let mut schema = made(schema);
        schema.as_object_mut().unwrap().shift_remove("type");
        schema
    };
    for (written, expected) in [
        (json!({ "minimum": 1, "maximum": 9 }), json!({ "minimum": 1, "maximum": 9 })),
        (json!({ "minimum": -1, "maximum": 256 }), json!({ "minimum": 0, "maximum": 255 })),
        (
            json!({ "exclusiveMinimum": 0, "exclusiveMaximum": 255 }),
            json!({ "exclusiveMinimum": 0, "exclusiveMaximum": 255 }),
        ),
        (
            json!({ "exclusiveMinimum": -1, "exclusiveMaximum": 256 }),
            json!({ "exclusiveMinimum": -1, "exclusiveMaximum": 256, "minimum": 0, "maximum": 255 }),
        ),
    ] {
        assert_eq!(byte(written.clone()), expected, "{written}");
    }
}

#[test]
fn booleans_are_schemas_except_where_readers_expect_them() {
    assert_eq!(
        made(json!({
            "properties": { "any": true, "none": false },
            "items": false,
            "additionalProperties": false,
            "unevaluatedProperties": true,
            "default": false,
        })),
        json!({
            "properties": { "any": {}, "none": { "not": {} } },
            "items": { "not": {} },
            "additionalProperties": false,
            "unevaluatedProperties": true,
            "default": false,
        })
    );
    assert_eq!((made(json!(true)), made(json!(false))), (json!({}), json!({ "not": {} })));
    assert_eq!(made(json!({ "description": "See [`Vec`]." })), json!({ "description": "See `Vec`." }));
}

#[test]
fn a_choice_of_strings_is_an_enum_with_the_texts_of_its_branches() {
    let branches = json!([
        { "const": "a", "description": "The  first\n one." },
        { "type": "string", "enum": ["b", "c"], "description": "Others." },
        { "const": "d" },
    ]);
    let enum_of =
        |description: &str| json!({ "type": "string", "enum": ["a", "b", "c", "d"], "description": description });
    let lines = "- `a`: The first one.\n- `b`, `c`: Others.";
    for keyword in ["oneOf", "anyOf"] {
        assert_eq!(made(json!({ (keyword): branches })), enum_of(lines));
        let described = made(json!({ (keyword): branches, "description": "It.", "type": "string" }));
        assert_eq!(described, enum_of(&format!("It.\n\n{lines}")));
    }
    assert_eq!(
        made(json!({ "anyOf": [{ "const": "a" }, { "enum": ["a"] }] })),
        json!({ "type": "string", "enum": ["a"] })
    );
    for kept in [
        // Both branches together reject `a`.
        json!({ "oneOf": [{ "const": "a" }, { "enum": ["a"] }] }),
        json!({ "oneOf": [{ "const": "a" }, { "const": 1 }] }),
        json!({ "oneOf": [{ "const": "a" }, { "type": "null" }] }),
        json!({ "oneOf": [{ "const": "a", "type": "integer" }] }),
        json!({ "oneOf": [{ "const": "a", "minLength": 1 }] }),
        json!({ "oneOf": [{ "const": "a" }], "anyOf": [{ "const": "a" }] }),
        json!({ "oneOf": [{ "const": "a" }], "type": "object" }),
        json!({ "oneOf": [{ "const": "a" }], "enum": ["a"] }),
        json!({ "oneOf": [{ "const": "a" }], "const": "a" }),
        json!({ "oneOf": [] }),
        // A reference leads to a branch.
        json!({ "properties": { "a": { "oneOf": [{ "const": "a" }] }, "b": { "$ref": "#/properties/a/oneOf/0" } } }),
    ] {
        assert_eq!(made(kept.clone()), kept);
    }
}
