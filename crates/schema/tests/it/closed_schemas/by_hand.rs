//! The rewrites on schemas written by hand, each with its answer.

use serde_json::{Value, json};
use toolkit_schema::portable;
use toolkit_schema::{close, inline};

#[track_caller]
fn check_close(mut schema: Value, expect: Value) {
    close::close(&mut schema);
    assert_eq!(schema, expect, "{schema:#}");
}

#[track_caller]
fn check_portable(mut schema: Value, expect: Value) {
    portable::make(&mut schema);
    assert_eq!(schema, expect, "{schema:#}");
}

#[track_caller]
fn check_inline(mut schema: Value, expect: Value) {
    inline::inline(&mut schema);
    assert_eq!(schema, expect, "{schema:#}");
}

#[test]
fn a_tighter_bound_of_the_author_stays_and_a_looser_one_goes() {
    check_portable(
        json!({ "type": "integer", "format": "uint8", "minimum": 1, "maximum": 1000 }),
        json!({ "type": "integer", "minimum": 1, "maximum": 255 }),
    );
    check_portable(
        json!({ "type": "integer", "format": "int8", "exclusiveMinimum": 0 }),
        json!({ "type": "integer", "exclusiveMinimum": 0, "maximum": 127 }),
    );
}

#[test]
fn properties_named_like_keywords_are_properties() {
    check_portable(
        json!({
            "properties": {
                "properties": true,
                "format": { "const": { "format": "int8", "type": "integer" } },
                "oneOf": { "default": true, "examples": [{ "items": true }] },
            },
            "additionalProperties": true,
            "items": false,
        }),
        json!({
            "properties": {
                "properties": {},
                "format": { "const": { "format": "int8", "type": "integer" } },
                "oneOf": { "default": true, "examples": [{ "items": true }] },
            },
            "additionalProperties": true,
            "items": { "not": {} },
        }),
    );
}

#[test]
fn nothing_is_closed_where_closing_would_accept_more() {
    check_close(
        json!({
            "type": "object",
            "properties": { "a": { "not": { "$ref": "#/$defs/A" } }, "b": { "$ref": "#/$defs/A" } },
            "$defs": { "A": { "type": "object", "properties": { "x": {} } } },
        }),
        json!({
            "type": "object",
            "properties": { "a": { "not": { "$ref": "#/$defs/A_as_is" } }, "b": { "$ref": "#/$defs/A" } },
            "additionalProperties": false,
            "$defs": {
                "A": { "type": "object", "properties": { "x": {} }, "additionalProperties": false },
                "A_as_is": { "type": "object", "properties": { "x": {} } },
            },
        }),
    );
}

#[test]
fn a_property_that_two_parts_describe_is_closed_for_both_together() {
    check_close(
        json!({ "allOf": [
            { "type": "object", "properties": { "a": { "type": "object", "properties": { "x": {} } } } },
            { "type": "object", "properties": { "a": { "type": "object", "properties": { "y": {} } } } },
        ] }),
        json!({
            "type": "object",
            "properties": { "a": {
                "type": "object",
                "properties": { "x": {}, "y": {} },
                "additionalProperties": false,
            } },
            "additionalProperties": false,
        }),
    );
}

#[test]
fn a_schema_that_joins_itself_is_guarded() {
    check_close(
        json!({
            "$ref": "#/$defs/A",
            "properties": { "b": {} },
            "$defs": { "A": { "type": "object", "properties": { "a": {} }, "anyOf": [{}, { "$ref": "#/$defs/A" }] } },
        }),
        json!({
            "$ref": "#/$defs/A_part",
            "properties": { "b": {} },
            "unevaluatedProperties": false,
            "$defs": { "A_part": {
                "type": "object",
                "properties": { "a": {} },
                "anyOf": [{}, { "$ref": "#/$defs/A_part" }],
            } },
        }),
    );
}

#[test]
fn where_two_choices_disagree_about_a_property_it_stays_open_for_both() {
    let part = |inner: &str| {
        let a = json!({ "type": "object", "properties": { inner: {} } });
        json!({ "oneOf": [{ "type": "object", "properties": { "a": a } }, { "type": "string" }] })
    };
    let mut schema = json!({ "allOf": [part("x"), part("y")] });
    close::close(&mut schema);
    let schema = jsonschema::validator_for(&schema).unwrap();
    assert!(schema.is_valid(&json!({ "a": { "x": 1, "y": 1 } })));
    assert!(!schema.is_valid(&json!({ "a": {}, "b": 1 })));
}

#[test]
fn what_stands_beside_a_reference_wins_or_is_joined() {
    check_inline(
        json!({
            "properties": {
                "said": { "$ref": "#/$defs/A", "description": "mine", "default": {} },
                "merged": { "$ref": "#/$defs/T", "maxLength": 3 },
                "joined": { "$ref": "#/$defs/A", "properties": { "y": {} } },
                "elsewhere": { "$ref": "#/properties/said" },
            },
            "$defs": {
                "A": { "description": "its", "properties": { "x": {} }, "additionalProperties": false },
                "T": { "type": "string" },
                "unused": {},
            },
        }),
        json!({ "properties": {
            "said": { "description": "mine", "default": {}, "properties": { "x": {} }, "additionalProperties": false },
            "merged": { "type": "string", "maxLength": 3 },
            "joined": {
                "properties": { "y": {} },
                "allOf": [{ "description": "its", "properties": { "x": {} }, "additionalProperties": false }],
            },
            "elsewhere": { "$ref": "#/properties/said" },
        } }),
    );
}

#[test]
fn a_definition_that_refuses_unknown_keys_does_not_refuse_its_neighbours() {
    let denying = json!({ "type": "object", "properties": { "a": {} }, "additionalProperties": false });
    check_close(
        json!({
            "$ref": "#/$defs/Denying",
            "properties": { "tag": { "const": "it" }, "lone": { "$ref": "#/$defs/Denying" } },
            "required": ["tag"],
            "$defs": { "Denying": denying },
        }),
        json!({
            "type": "object",
            "properties": { "a": {}, "tag": { "const": "it" }, "lone": { "$ref": "#/$defs/Denying" } },
            "required": ["tag"],
            "additionalProperties": false,
            "$defs": { "Denying": denying },
        }),
    );
}

#[test]
fn what_the_author_left_open_or_closed_stays_so() {
    let schema = json!({
        "type": "object",
        "properties": {
            "open": { "type": "object", "properties": { "a": {} }, "additionalProperties": true },
            "map": { "type": "object", "additionalProperties": { "type": "string" } },
            "rules": { "type": "object", "propertyNames": { "maxLength": 3 } },
            "value": { "type": "object", "enum": [{ "a": 1 }] },
            "late": { "type": "object", "unevaluatedProperties": false, "properties": {} },
        },
        "additionalProperties": false,
    });
    check_close(schema.clone(), schema);
}

#[test]
fn the_copies_of_a_definition_have_one_name_for_each_mode_that_no_other_definition_has() {
    check_close(
        json!({
            "type": "object",
            "properties": {
                "a": { "not": { "$ref": "#/$defs/A" } },
                "b": { "not": { "$ref": "#/$defs/A" } },
                "c": { "$ref": "#/$defs/A" },
                "d": { "$ref": "#/$defs/A_as_is" },
            },
            "$defs": { "A": { "type": "object", "properties": { "x": {} } }, "A_as_is": { "type": "string" } },
        }),
        json!({
            "type": "object",
            "properties": {
                "a": { "not": { "$ref": "#/$defs/A_as_is2" } },
                "b": { "not": { "$ref": "#/$defs/A_as_is2" } },
                "c": { "$ref": "#/$defs/A" },
                "d": { "$ref": "#/$defs/A_as_is" },
            },
            "additionalProperties": false,
            "$defs": {
                "A": { "type": "object", "properties": { "x": {} }, "additionalProperties": false },
                "A_as_is": { "type": "string" },
                "A_as_is2": { "type": "object", "properties": { "x": {} } },
            },
        }),
    );
}

#[test]
fn inlining_stops_at_the_size_and_the_depth_that_its_documentation_names() {
    fn n_values(value: &Value) -> usize {
        1 + children(value).map(n_values).sum::<usize>()
    }
    fn depth(value: &Value) -> usize {
        1 + children(value).map(depth).max().unwrap_or(0)
    }
    fn children(value: &Value) -> impl Iterator<Item = &Value> {
        let items = value.as_array().into_iter().flatten();
        items.chain(value.as_object().into_iter().flat_map(|object| object.values()))
    }
    let chain = |n: usize, uses: fn(Value) -> Value| {
        let next = |idx: usize| json!({ "$ref": format!("#/$defs/D{idx}") });
        let mut definitions: serde_json::Map<_, _> =
            (0..n).map(|idx| (format!("D{idx}"), json!({ "properties": uses(next(idx + 1)) }))).collect();
        definitions.insert(format!("D{n}"), json!({ "type": "string" }));
        let mut schema = json!({ "properties": { "root": next(0) }, "$defs": definitions });
        inline::inline(&mut schema);
        schema
    };
    // Each definition uses the next one eight times: 8^6 uses of the last.
    let wide = chain(6, |next| (0..8).map(|idx| (format!("p{idx}"), next.clone())).collect());
    assert!((50_000..=100_000).contains(&n_values(&wide)), "{} values", n_values(&wide));
    assert!(wide.to_string().contains("$ref"));
    let shallow = chain(10, |next| [("a".to_owned(), next)].into_iter().collect());
    assert!(!shallow.to_string().contains("$ref") && depth(&shallow) > 20, "{} levels", depth(&shallow));
    let deep = chain(60, |next| [("a".to_owned(), next)].into_iter().collect());
    assert!(deep.to_string().contains("$ref") && depth(&deep) <= 66, "{} levels", depth(&deep));
}
