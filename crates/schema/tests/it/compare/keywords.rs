//! Each keyword on its own: with it, a schema accepts fewer values, and those that a list of values contains are judged one by
//! one.

use super::*;

/// Returns the verdicts of the change from the first schema to the second one, and of that back.
fn both(narrow: &Value, wide: &Value) -> [Option<Verdict>; 2] {
    [(narrow, wide), (wide, narrow)].map(|(old, new)| {
        let [old, new] = [old, new].map(|schema| object(json!({ "it": schema }), &[]));
        verdict(&inputs(&old, &new))
    })
}

#[test]
fn a_schema_with_a_keyword_accepts_fewer_values_than_one_without_it_or_with_more_room() {
    let rows = [
        (json!({ "type": "string" }), json!({})),
        (json!({ "type": "integer" }), json!({ "type": "number" })),
        (json!({ "type": "string" }), json!({ "type": ["string", "null"] })),
        (json!({ "const": 1 }), json!({})),
        (json!({ "const": 1 }), json!({ "enum": [1, 2] })),
        (json!({ "enum": ["a", "b"] }), json!({ "enum": ["c", "b", "a"] })),
        (json!({ "enum": ["a", "b"] }), json!({ "type": "string", "maxLength": 1 })),
        (json!({ "type": "number", "minimum": 2 }), json!({ "type": "number", "minimum": 1 })),
        (json!({ "type": "number", "maximum": 1 }), json!({ "type": "number", "maximum": 2 })),
        (json!({ "type": "number", "exclusiveMinimum": 2 }), json!({ "type": "number", "exclusiveMinimum": 1 })),
        (json!({ "type": "number", "exclusiveMaximum": 1 }), json!({ "type": "number", "exclusiveMaximum": 2 })),
        (json!({ "type": "integer", "multipleOf": 6 }), json!({ "type": "integer", "multipleOf": 3 })),
        (json!({ "type": "string", "minLength": 2 }), json!({ "type": "string", "minLength": 1 })),
        (json!({ "type": "string", "maxLength": 1 }), json!({ "type": "string", "maxLength": 2 })),
        (json!({ "type": "string", "pattern": "^a+$" }), json!({ "type": "string" })),
        (json!({ "type": "array", "items": { "minimum": 2 } }), json!({ "type": "array", "items": { "minimum": 1 } })),
        (json!({ "type": "array", "minItems": 2 }), json!({ "type": "array", "minItems": 1 })),
        (json!({ "type": "array", "maxItems": 1 }), json!({ "type": "array", "maxItems": 2 })),
        (json!({ "type": "array", "uniqueItems": true }), json!({ "type": "array", "uniqueItems": false })),
        (json!({ "type": "array", "prefixItems": [{ "type": "null" }] }), json!({ "type": "array" })),
        (json!({ "type": "array", "contains": { "const": 1 } }), json!({ "type": "array" })),
        (json!({ "type": "array", "prefixItems": [{}], "items": false }), json!({ "type": "array", "maxItems": 2 })),
        (json!({ "type": "object", "minProperties": 2 }), json!({ "type": "object", "minProperties": 1 })),
        (json!({ "type": "object", "maxProperties": 1 }), json!({ "type": "object", "maxProperties": 2 })),
        (json!({ "type": "object", "required": ["a", "b"] }), json!({ "type": "object", "required": ["b"] })),
        (
            json!({ "type": "object", "properties": { "a": { "type": "null" } } }),
            json!({ "type": "object", "properties": { "a": { "type": ["null", "string"] } } }),
        ),
        (
            json!({ "type": "object", "patternProperties": { "^a": { "type": "null" } } }),
            json!({ "type": "object", "patternProperties": { "^a": { "type": ["null", "string"] } } }),
        ),
        (json!({ "type": "object", "additionalProperties": false }), json!({ "type": "object" })),
        (
            json!({ "type": "object", "additionalProperties": { "type": "null" } }),
            json!({ "type": "object", "additionalProperties": { "type": ["null", "string"] } }),
        ),
        (json!({ "type": "object", "propertyNames": { "maxLength": 1 } }), json!({ "type": "object" })),
        (json!({ "type": "object", "dependentRequired": { "a": ["b"] } }), json!({ "type": "object" })),
        (json!({ "allOf": [{ "type": "string" }, { "minLength": 1 }] }), json!({ "type": "string" })),
        (json!({ "anyOf": [{ "type": "string" }] }), json!({ "anyOf": [{ "type": "string" }, { "type": "null" }] })),
        (json!({ "oneOf": [{ "const": 1 }] }), json!({ "oneOf": [{ "const": 1 }, { "const": 2 }] })),
        (json!({ "not": { "type": "string" } }), json!({})),
        (json!({ "if": { "type": "string" }, "then": { "minLength": 1 } }), json!({})),
        (json!({ "if": { "type": "string" }, "else": { "type": "null" } }), json!({})),
        (json!(false), json!({ "type": "null" })),
    ];
    // No value is found that only the wide one accepts.
    let undecided = [
        (
            json!({ "type": "object", "dependentSchemas": { "a": { "maxProperties": 1 } } }),
            json!({ "type": "object" }),
            Verdict::Unknown,
        ),
        (json!({ "type": "integer", "not": { "const": 3 } }), json!({ "type": "integer" }), Verdict::Unknown),
    ];
    let rows = rows.map(|(narrow, wide)| (narrow, wide, Verdict::Breaking));
    let mut wrong = Vec::new();
    for (narrow, wide, back) in rows.into_iter().chain(undecided) {
        let found = both(&narrow, &wide);
        if found != [Some(Verdict::Additive), Some(back)] {
            wrong.push(format!("{narrow} in {wide}: {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_listed_value_is_judged_by_each_keyword() {
    // The keyword, a value that meets it, and one that does not.
    let rows = [
        (json!({ "type": "integer" }), json!(2.0), json!(2.5)),
        (json!({ "const": [1, { "a": 1 }] }), json!([1.0, { "a": 1 }]), json!([1, { "a": 2 }])),
        (json!({ "minimum": 2 }), json!(2), json!(1.9)),
        (json!({ "maximum": 2 }), json!(2), json!(2.1)),
        (json!({ "exclusiveMinimum": 2 }), json!(2.1), json!(2)),
        (json!({ "exclusiveMaximum": 2 }), json!(1.9), json!(2)),
        (json!({ "minLength": 2 }), json!("éé"), json!("é")),
        (json!({ "maxLength": 2 }), json!("éé"), json!("ééé")),
        (json!({ "pattern": "^a" }), json!("ab"), json!("ca")),
        (json!({ "minItems": 2 }), json!([1, 1]), json!([1])),
        (json!({ "maxItems": 2 }), json!([1, 1]), json!([1, 1, 1])),
        (json!({ "uniqueItems": true }), json!([1, 2]), json!([1, 1.0])),
        (json!({ "minProperties": 1 }), json!({ "a": 1 }), json!({})),
        (json!({ "maxProperties": 1 }), json!({ "a": 1 }), json!({ "a": 1, "b": 1 })),
        (json!({ "required": ["a", "b"] }), json!({ "a": 1, "b": 1 }), json!({ "a": 1 })),
        (json!({ "properties": { "a": { "type": "null" } } }), json!({ "a": null }), json!({ "a": 1 })),
        (json!({ "additionalProperties": false }), json!({}), json!({ "a": 1 })),
        (json!({ "items": { "type": "null" } }), json!([null]), json!([null, 1])),
        (json!({ "contains": { "type": "null" } }), json!([1, null]), json!([1])),
        (json!({ "not": { "type": "null" } }), json!(1), json!(null)),
        (json!({ "multipleOf": 3 }), json!(6), json!(7)),
    ];
    for (keyword, meets, fails) in rows {
        let listed = |value: &Value| json!({ "enum": [value] });
        let [kept, _] = both(&listed(&meets), &keyword);
        assert!(kept < Some(Verdict::Unknown), "{meets} meets {keyword}: {kept:?}");
        let [lost, _] = both(&listed(&fails), &keyword);
        assert_eq!(lost, Some(Verdict::Breaking), "{fails} does not meet {keyword}");
        // Keywords of another type say nothing about a value.
        if keyword.get("type").or(keyword.get("const")).or(keyword.get("not")).is_none() {
            let [other, _] = both(&listed(&json!(true)), &keyword);
            assert!(other < Some(Verdict::Unknown), "true meets {keyword}: {other:?}");
        }
    }
}

#[test]
fn an_example_has_the_formats_of_its_schema() {
    let schema = |staff: Value| {
        let date = json!({ "type": "string", "format": "date" });
        json!({ "type": "object", "properties": { "date": date, "staff": staff }, "required": ["date", "staff"] })
    };
    let old = schema(json!({ "type": "string" }));
    let new = schema(json!({ "type": "string", "pattern": "^N-\\d{4}$" }));
    let differences = inputs(&old, &new);
    let example = differences.iter().find_map(|difference| difference.example.as_ref()).unwrap();
    assert_eq!(example["date"], "2024-05-06");
}
