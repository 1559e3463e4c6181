//! Defaults that do not match their schema, and bounds that exclude every value.

use serde_json::{Value, json};
use toolkit_schema::contradiction::contradictions;

/// Returns the contradictions of an object with this property.
fn found(property: Value) -> Vec<(bool, String)> {
    let schema = json!({
        "type": "object",
        "properties": { "it": property },
        "$defs": { "Small": { "type": "integer", "maximum": 9 } },
    });
    contradictions(&schema).into_iter().map(|found| (found.is_default, found.message)).collect()
}

#[test]
fn a_lower_bound_above_the_upper_one_excludes_every_value() {
    for [least, most] in [
        ["minimum", "maximum"],
        ["minLength", "maxLength"],
        ["minItems", "maxItems"],
        ["minProperties", "maxProperties"],
    ] {
        assert_eq!(found(json!({ (least): 2, (most): 2 })), []);
        assert_eq!(found(json!({ (least): 3 })), []);
        let message = format!("/it accepts no value: its `{least}` 3 is above its `{most}` 2");
        assert_eq!(found(json!({ (least): 3, (most): 2 })), [(false, message)]);
    }
}

#[test]
fn a_default_matches_its_own_schema() {
    for property in [
        json!({ "type": "integer", "default": 1 }),
        // Lists omit the default of an optional argument.
        json!({ "type": "integer", "default": null }),
        json!({ "$ref": "#/$defs/Small", "default": 9 }),
        json!({ "not": { "type": "integer", "default": "x" } }),
        json!({ "if": { "type": "integer", "default": "x" } }),
    ] {
        assert_eq!(found(property.clone()), [], "{property}");
    }
    for (property, message) in [
        (json!({ "type": "integer", "default": "x" }), "the default of /it must be an integer, got \"x\""),
        (json!({ "$ref": "#/$defs/Small", "default": 10 }), "the default of /it must be at most 9, got 10"),
        (
            json!({ "type": "array", "items": { "type": "integer" }, "default": ["x"] }),
            "the default of /it /0: must be an integer, got \"x\"",
        ),
    ] {
        assert_eq!(found(property.clone()), [(true, message.to_owned())], "{property}");
    }
}

#[test]
fn a_contradiction_has_the_place_of_its_value() {
    let wrong = json!({ "minimum": 2, "maximum": 1 });
    for (schema, place) in [
        (wrong.clone(), "the input"),
        (json!({ "items": wrong }), "/*"),
        (json!({ "additionalProperties": { "items": wrong } }), "/*/*"),
        (json!({ "properties": { "a/b": { "anyOf": [wrong] } } }), "/a~1b"),
        (json!({ "properties": { "a": { "$defs": { "D": wrong } } } }), "/D"),
    ] {
        let messages: Vec<_> = contradictions(&schema).into_iter().map(|found| found.message).collect();
        assert_eq!(messages, [format!("{place} accepts no value: its `minimum` 2 is above its `maximum` 1")]);
    }
}

#[test]
fn of_the_defaults_of_a_schema_the_first_256_are_checked() {
    let properties = |n: usize| -> Value {
        let names = (0..n).map(|n| (n.to_string(), json!({ "type": "string", "default": 1 })));
        json!({ "properties": names.collect::<serde_json::Map<_, _>>() })
    };
    assert_eq!([255, 256, 257].map(|n| contradictions(&properties(n)).len()), [255, 256, 256]);
}
