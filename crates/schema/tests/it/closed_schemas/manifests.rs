//! The rewrites over the schemas of servers that exist.

use std::path::Path;

use jsonschema::Validator;
use serde_json::{Value, json};
use toolkit_schema::{close, inline, portable, root, values};

use crate::real::real_schemas;

#[test]
fn schemas_of_real_servers_survive_every_rewrite() {
    let Some(schemas) = real_schemas() else { return };
    let mut n_schemas = 0;
    for (file, schema) in schemas {
        // What no validator takes has no verdict to keep.
        if let Ok(original) = jsonschema::validator_for(&schema) {
            check(&schema, &original, &file);
            n_schemas += 1;
        }
    }
    assert!(n_schemas > 100, "only {n_schemas} schemas found");
    test_support::ran(n_schemas);
}

fn check(schema: &Value, original: &Validator, file: &Path) {
    let mut inlined = schema.clone();
    inline::inline(&mut inlined);
    let mut again = inlined.clone();
    inline::inline(&mut again);
    assert_eq!(again, inlined, "inlining twice changes {}", file.display());
    let of_inlined = compiled(&inlined, file);

    let mut closed = schema.clone();
    close::close(&mut closed);
    let of_closed = compiled(&closed, file);
    let mut portable = schema.clone();
    portable::make(&mut portable);
    compiled(&portable, file);
    let mut listed = schema.clone();
    root::list(&mut listed);
    let of_listed = compiled(&listed, file);
    for keyword in ["allOf", "anyOf", "oneOf", "not", "if", "enum", "const", "$ref"] {
        let is_plain = !values::is_object(schema) || listed.get(keyword).is_none();
        assert!(is_plain, "{}: {schema:#} is listed with `{keyword}`", file.display());
    }

    for instance in instances(schema) {
        assert_eq!(
            original.is_valid(&instance),
            of_inlined.is_valid(&instance),
            "{}: {instance} against {schema:#} and {inlined:#}",
            file.display()
        );
        let is_accepted = of_listed.is_valid(&instance) || !original.is_valid(&instance);
        assert!(is_accepted, "{}: {instance} does not match {listed:#}, listed for {schema:#}", file.display());
        // A choice may lose an open branch, so only where there is none must the closed schema be the stricter.
        let chooses = schema.to_string().contains("oneOf");
        assert!(
            chooses || !of_closed.is_valid(&instance) || original.is_valid(&instance),
            "{}: closing {schema:#} lets {instance} in",
            file.display()
        );
    }
}

#[track_caller]
fn compiled(schema: &Value, file: &Path) -> Validator {
    jsonschema::validator_for(schema).unwrap_or_else(|e| panic!("{}: {e} in {schema:#}", file.display()))
}

/// Arguments that are likely to meet what the schema says, and some that are not.
fn instances(schema: &Value) -> Vec<Value> {
    let mut all = vec![json!({}), json!([]), json!(null), json!({ "nobody knows": 1 })];
    let mut full = serde_json::Map::new();
    let properties = schema["properties"].as_object().cloned().unwrap_or_default();
    for (name, property) in &properties {
        let mut values = vec![json!("text"), json!(1), json!(true), json!([]), json!({}), json!(["a"]), json!([{}])];
        values.extend(property["enum"].as_array().into_iter().flatten().cloned());
        values.extend(property.get("default").cloned());
        for value in values {
            all.push(json!({ name: value }));
        }
        full.insert(name.clone(), example(schema, property, 0));
        all.push(full.clone().into());
    }
    all
}

/// A value that a schema probably accepts.
fn example(root: &Value, schema: &Value, depth: usize) -> Value {
    if depth > 8 {
        return Value::Null;
    }
    if let Some(to) = schema["$ref"].as_str().and_then(|to| to.strip_prefix('#')) {
        return root.pointer(to).map_or(Value::Null, |to| example(root, to, depth + 1));
    }
    if let Some(first) = schema["enum"].get(0).or(schema.get("const")) {
        return first.clone();
    }
    if let Some(first) = ["anyOf", "oneOf", "allOf"].iter().find_map(|k| schema[k].get(0)) {
        return example(root, first, depth + 1);
    }
    match schema["type"].as_str().or(schema["type"][0].as_str()) {
        Some("string") => json!("2024-01-01"),
        Some("integer" | "number") => schema.get("minimum").cloned().unwrap_or(json!(1)),
        Some("boolean") => json!(true),
        Some("array") => json!([example(root, &schema["items"], depth + 1)]),
        Some("object") => schema["properties"]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(name, property)| (name.clone(), example(root, property, depth + 1)))
            .collect(),
        _ => Value::Null,
    }
}
