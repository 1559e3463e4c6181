//! Single schemas for which the laws had found an unreported loss, or a value that could not be sent.

use super::*;

#[test]
fn a_branch_of_the_root_that_is_a_map_cannot_be_sent_and_a_loss_reports_it() {
    let branch = json!({ "type": "object", "properties": { "a": { "type": "null" } } });
    let original = json!({ "type": "object", "anyOf": [branch, { "type": "object", "required": ["b"] }] });
    for seed in 0..8 {
        check_complete(original.clone(), seed).unwrap();
    }
    assert!(has(&input(&original, &Dialect::OPENAI_STRICT), Effect::Narrowed));
    // Nothing is lost if the root declares the properties that the branches require.
    let named = json!({ "type": "object", "properties": { "a": { "type": "string" }, "b": { "type": "string" } }, "anyOf": [{ "required": ["a"] }, { "required": ["b"] }] });
    assert!(!has(&input(&named, &Dialect::GEMINI), Effect::Narrowed));
}

#[test]
fn a_property_that_only_a_branch_of_the_root_requires_cannot_be_sent_and_a_loss_reports_it() {
    let narrows = |original: &Value| {
        for seed in 0..8 {
            check_complete(original.clone(), seed).unwrap();
        }
        has(&input(original, &Dialect::OPENAI_STRICT), Effect::Narrowed)
    };
    let declared = json!({ "properties": { "b": { "type": "string" } }, "required": ["b"] });
    let requires = |name: &str| json!({ "properties": { "b": { "type": "string" } }, "required": [name] });
    assert!(narrows(&json!({ "anyOf": [requires("c"), declared] })));
    // Another branch may reject what this one accepts.
    let integer = json!({ "properties": { "b": { "type": "string" }, "c": { "type": "integer" } }, "required": ["c"] });
    assert!(narrows(&json!({ "anyOf": [requires("c"), integer] })));
    // Nothing is lost if the root declares the property, or if no object can have it.
    let root = json!({ "properties": { "c": { "type": "integer" } }, "anyOf": [requires("c"), declared] });
    assert!(!narrows(&root));
    let closed = json!({ "properties": { "b": { "type": "string" } }, "additionalProperties": false, "anyOf": [requires("c"), declared] });
    assert!(!narrows(&closed));
}

#[test]
fn a_property_that_a_branch_of_the_root_evaluates_can_be_sent_beside_unevaluated_ones() {
    let branch = json!({ "properties": { "b": {} }, "additionalProperties": { "type": "integer" } });
    for choice in ["anyOf", "allOf"] {
        let original = json!({ "type": "object", "unevaluatedProperties": { "type": "string" }, choice: [branch] });
        let sent = json!({ "c": 1 });
        assert!(jsonschema::validator_for(&original).unwrap().is_valid(&sent));
        let lowered = input(&original, &Dialect::OPENAI);
        assert!(jsonschema::validator_for(&lowered.schema).unwrap().is_valid(&sent), "{:#}", lowered.schema);
        assert!(has(&lowered, Effect::Widened));
    }
}

#[test]
fn a_branch_that_accepts_no_object_is_lost_with_its_other_types_and_a_loss_reports_it() {
    let choice = json!([{ "required": ["c"] }, { "type": "null" }]);
    for closes in ["additionalProperties", "unevaluatedProperties"] {
        let it = json!({ "anyOf": choice, closes: false });
        let original = json!({ "type": "object", "properties": { "it": it }, "required": ["it"] });
        assert!(jsonschema::validator_for(&original).unwrap().is_valid(&json!({ "it": [] })));
        for seed in 0..8 {
            check_complete(original.clone(), seed).unwrap();
        }
        assert!(has(&input(&original, &Dialect::OPENAI_STRICT), Effect::Narrowed));
    }
}

#[test]
fn null_beside_an_unsatisfiable_object_or_list_can_still_be_sent() {
    let object = json!({ "type": ["object", "null"], "properties": { "x": false }, "required": ["x"] });
    let mut listed = object.clone();
    listed["enum"] = json!([{ "y": 1 }, null]);
    let list = json!({ "type": ["array", "null"], "items": false, "minItems": 1 });
    for schema in [object, listed, list] {
        null_can_be_sent(&json!({ "anyOf": [schema, { "type": "integer" }] }));
        null_can_be_sent(&schema);
    }
}

#[test]
fn null_that_a_choice_and_the_schema_beside_it_allow_can_still_be_sent() {
    let choice = json!([{ "type": "string" }, { "type": "null" }]);
    let beside = [json!({ "type": "null" }), json!({ "enum": ["a", null] }), json!({ "enum": [null] })];
    for mut schema in beside {
        schema["anyOf"] = choice.clone();
        null_can_be_sent(&schema);
    }
}

#[test]
fn a_null_branch_that_accepts_nothing_is_not_the_null_of_the_choice() {
    let never = json!({ "type": "null", "oneOf": [{ "type": "number" }] });
    null_can_be_sent(&json!({ "anyOf": [never, { "type": "null" }] }));
    let original = json!({ "type": "object", "properties": { "it": { "anyOf": [never, { "type": "string" }] } } });
    for seed in 0..8 {
        check_sound(original.clone(), seed).unwrap();
        check_complete(original.clone(), seed).unwrap();
    }
}

#[test]
fn a_required_property_that_a_referenced_object_leaves_unevaluated_cannot_be_sent() {
    let original = json!({
        "$defs": { "A": { "properties": { "a": { "type": "array", "maxItems": 0 } }, "required": ["c"] } },
        "type": "object",
        "properties": { "it": { "$ref": "#/$defs/A", "unevaluatedProperties": false } },
        "required": ["it"],
        "additionalProperties": false,
    });
    for seed in 0..8 {
        check_sound(original.clone(), seed).unwrap();
        check_complete(original.clone(), seed).unwrap();
    }
}

#[test]
fn a_property_behind_a_lost_reference_can_be_sent_beside_unevaluated_ones() {
    let original = json!({
        "type": "object",
        "properties": { "it": { "oneOf": [{ "type": "integer" }, { "$ref": "#" }], "unevaluatedProperties": false } },
        "required": ["it"],
        "additionalProperties": false,
    });
    for seed in 0..8 {
        check_sound(original.clone(), seed).unwrap();
        check_complete(original.clone(), seed).unwrap();
    }
}

fn null_can_be_sent(schema: &Value) {
    let original = json!({ "type": "object", "properties": { "it": schema }, "required": ["it"] });
    let sent = json!({ "it": null });
    assert!(case(original.clone(), 0).unwrap().judge.is_valid(&sent));
    for dialect in &DIALECTS {
        let lowered = input(&original, dialect);
        let accepts = jsonschema::validator_for(&lowered.schema).unwrap();
        let declares_it = lowered.schema["properties"]["it"].is_object();
        assert!(declares_it && accepts.is_valid(&sent), "{}: {:#}", dialect.name, lowered.schema);
    }
}

#[test]
fn null_for_an_absent_property_inside_unevaluated_ones_is_reported_as_rejected() {
    let inner = json!({ "type": "object", "properties": { "c": { "type": "object" } } });
    let original = json!({ "type": "object", "required": ["c"], "unevaluatedProperties": inner });
    for seed in 0..8 {
        check_sound(original.clone(), seed).unwrap();
    }
    assert!(has(&input(&original, &Dialect::OPENAI_STRICT), Effect::Widened));
}

#[test]
fn an_absent_property_behind_a_chain_of_references_is_sent_as_null() {
    let original = json!({
        "$defs": {
            "A": { "$ref": "#/$defs/B" },
            "B": { "$ref": "#/$defs/C%20D" },
            "C D": {
                "type": "object",
                "properties": { "1": { "$ref": "#/$defs/A" }, "c": { "type": ["integer", "null"] } },
                "additionalProperties": false,
            },
        },
        "type": "object",
        "properties": { "it": { "$ref": "#/$defs/A" } },
        "required": ["it"],
        "additionalProperties": false,
    });
    let case = case(original.clone(), 0).unwrap();
    let lowered = input(&original, &Dialect::OPENAI_STRICT);
    assert_eq!(lowered.losses, [], "{:#}", lowered.schema);
    let accepts = jsonschema::validator_for(&lowered.schema).unwrap();
    for (value, sent) in [
        (json!({ "it": {} }), json!({ "it": { "1": null, "c": null } })),
        (json!({ "it": { "1": {} } }), json!({ "it": { "1": { "1": null, "c": null }, "c": null } })),
    ] {
        assert!(case.judge.is_valid(&value) && !accepts.is_valid(&value), "{value}");
        assert!(accepts.is_valid(&sent) && case.judge.is_valid(&restore(&case.checked, sent.clone())), "{sent}");
        assert!(held_to(&lowered.schema, &value).contains(&sent), "{:?}", held_to(&lowered.schema, &value));
    }
}
