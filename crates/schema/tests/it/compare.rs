//! Comparison of two schemas by the values that they accept.

mod attacks;
mod dialects;
mod edits;
mod keywords;
mod laws;
mod numbers;
mod random;

use serde_json::{Value, json};
use toolkit_schema::Schema;
use toolkit_schema::compare::{Comparer, Difference, Verdict};

fn inputs(old: &Value, new: &Value) -> Vec<Difference> {
    let [old, new] = [old, new].map(|schema| Schema::from_value(schema.clone()).unwrap());
    Comparer::run(|comparer| comparer.inputs(&old, &new))
}

fn outputs(old: &Value, new: &Value) -> Vec<Difference> {
    let [old, new] = [old, new].map(|schema| Schema::from_value(schema.clone()).unwrap());
    Comparer::run(|comparer| comparer.outputs(Some(&old), Some(&new)))
}

/// Returns the verdict on the whole change. `None` if there is no difference.
fn verdict(differences: &[Difference]) -> Option<Verdict> {
    differences.iter().map(|difference| difference.verdict).max()
}

/// Creates the schema of an object with these properties, some of them required.
fn object(properties: Value, required: &[&str]) -> Value {
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

#[test]
fn changes_of_input_schemas_are_reported_at_their_location() {
    use Verdict::{Additive, Breaking, Cosmetic};
    let n = |more: Value| {
        let mut schema = json!({ "type": "integer" });
        schema.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        object(json!({ "n": schema }), &["n"])
    };
    let plain = n(json!({}));
    for (old, new, verdict, said) in [
        (&plain, &n(json!({ "description": "A number." })), Cosmetic, "/properties/n is described differently"),
        (&plain, &n(json!({ "minimum": 1 })), Breaking, "/properties/n rejects values that it accepted"),
        (&n(json!({ "minimum": 1 })), &plain, Additive, "/properties/n accepts more values"),
        (
            &n(json!({ "exclusiveMinimum": 0 })),
            &n(json!({ "minimum": 1 })),
            Cosmetic,
            "/properties/n is expressed differently",
        ),
        (&plain, &n(json!({ "type": "number" })), Additive, "/properties/n accepts more values"),
        (&plain, &n(json!({ "type": "string" })), Breaking, "/properties/n rejects values that it accepted"),
        (&plain, &object(json!({ "n": { "type": "integer" } }), &[]), Additive, "/properties/n is optional now"),
        (&object(json!({ "n": { "type": "integer" } }), &[]), &plain, Breaking, "/properties/n is required now"),
        (&plain, &object(json!({ "n": { "type": "integer" }, "m": {} }), &["n"]), Additive, "/properties/m is new"),
        (
            &plain,
            &object(json!({ "n": { "type": "integer" }, "m": {} }), &["n", "m"]),
            Breaking,
            "/properties/m is new and required",
        ),
        (
            &object(json!({ "n": { "type": "integer" }, "m": {} }), &["n"]),
            &plain,
            Breaking,
            "/properties/m is no longer accepted",
        ),
        (
            &object(json!({ "e": { "enum": ["a", "b"] } }), &[]),
            &object(json!({ "e": { "enum": ["a"] } }), &[]),
            Breaking,
            "/properties/e rejects values that it accepted",
        ),
        (
            &object(json!({ "l": { "type": "array", "items": { "type": "string" } } }), &[]),
            &object(json!({ "l": { "type": "array", "items": { "type": "string", "minLength": 1 } } }), &[]),
            Breaking,
            "/properties/l/items rejects values that it accepted",
        ),
        (
            &json!({ "type": "object", "properties": { "a": { "$ref": "#/$defs/A" } }, "$defs": { "A": { "type": "string" } } }),
            &json!({ "type": "object", "properties": { "a": { "type": "string" } } }),
            Cosmetic,
            "",
        ),
    ] {
        let differences = inputs(old, new);
        let found: Vec<_> =
            differences.iter().map(|found| (found.verdict, format!("{} {}", found.pointer, found.what))).collect();
        if said.is_empty() {
            assert_eq!(found, [], "{old} to {new}");
            continue;
        }
        assert_eq!(found, [(verdict, said.to_owned())], "{old} to {new}");
    }
}
