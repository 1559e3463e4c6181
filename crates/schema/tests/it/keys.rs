//! The order of keys, and the bounds that models do not need.

use serde_json::json;
use toolkit_schema::{order, width};

#[test]
fn keywords_are_sorted_and_names_and_instances_are_not() {
    let mut schema = json!({
        "type": "object",
        "required": ["z", "unknown", "a", "other"],
        "properties": { "z": { "type": "string", "default": { "b": 1, "a": 2 } }, "a": { "minimum": 1, "enum": [{ "b": 1, "a": 2 }] } },
        "examples": [{ "z": 1, "a": 2 }],
        "anyOf": [{ "type": "null", "const": { "b": 1, "a": 2 } }],
    });
    order::sort(&mut schema);
    assert_eq!(
        schema.to_string(),
        concat!(
            r#"{"anyOf":[{"const":{"b":1,"a":2},"type":"null"}],"examples":[{"z":1,"a":2}],"#,
            r#""properties":{"z":{"default":{"b":1,"a":2},"type":"string"},"a":{"enum":[{"b":1,"a":2}],"minimum":1}},"#,
            r#""required":["z","a","unknown","other"],"type":"object"}"#,
        )
    );
}

#[test]
fn only_the_bounds_of_wide_types_are_removed() {
    for (bound, is_removed) in [
        (json!(i32::MIN), true),
        (json!(i32::MAX), true),
        (json!(u32::MAX), true),
        (json!(i64::MIN), true),
        (json!(i64::MAX), true),
        (json!(u64::MAX), true),
        (json!(9_007_199_254_740_991_i64), true),
        (json!(-9_007_199_254_740_991_i64), true),
        (json!(f64::from(f32::MAX)), true),
        (json!(-f64::from(f32::MAX)), true),
        (json!(0), false),
        (json!(255), false),
        (json!(-32768), false),
        (json!(i32::MAX - 1), false),
        (json!(1.5), false),
        (json!(9_007_199_254_740_992_i64), false),
    ] {
        for keyword in ["minimum", "maximum", "exclusiveMaximum"] {
            let mut schema = json!({ "items": { "type": "number", (keyword): bound } });
            width::remove(&mut schema);
            let is_left = schema["items"].get(keyword).is_some();
            assert_eq!(is_left, !is_removed || keyword == "exclusiveMaximum", "{keyword} {bound}");
        }
    }
}
