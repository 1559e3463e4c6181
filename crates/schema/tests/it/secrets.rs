//! A value that a schema marks as secret is never shown, whatever the violation.

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use toolkit_schema::Schema;

/// A marker that does not occur in any schema.
const SECRET: &str = "hunter2hunter2";

/// The ways to mark the property `secret`. Each schema rejects every value of these tests.
fn schemas() -> Vec<Value> {
    let never = json!({ "not": {} });
    let secret = json!({ "writeOnly": true, "type": "boolean" });
    let of = |schema: Value| json!({ "properties": { "secret": schema } });
    vec![
        of(secret.clone()),
        of(json!({ "writeOnly": true, "enum": ["Hunter2hunter3", "a"] })),
        of(json!({ "writeOnly": true, "const": 1 })),
        of(json!({ "writeOnly": true, "pattern": "^$", "maxLength": 3, "type": "string" })),
        of(json!({ "allOf": [{ "writeOnly": true }, { "type": "boolean" }] })),
        of(json!({ "anyOf": [secret, { "type": "null" }] })),
        of(json!({ "oneOf": [secret, { "pattern": "^$", "type": "string" }] })),
        of(json!({ "if": { "writeOnly": true }, "then": never })),
        of(
            json!({ "writeOnly": true, "propertyNames": { "maxLength": 3 }, "items": never, "maxItems": 0, "type": ["object", "array"] }),
        ),
        of(
            json!({ "writeOnly": true, "additionalProperties": false, "items": { "type": "boolean" }, "type": ["object", "array"] }),
        ),
        of(
            json!({ "writeOnly": true, "patternProperties": { "": never }, "contains": never, "type": ["object", "array"] }),
        ),
        of(
            json!({ "writeOnly": true, "unevaluatedProperties": false, "unevaluatedItems": false, "type": ["object", "array"] }),
        ),
        json!({ "properties": { "secret": { "$ref": "#/$defs/a%20secret" } }, "$defs": { "a secret": secret } }),
        json!({ "properties": { "secret": { "$ref": "#s" } }, "$defs": { "s": { "$anchor": "s", "writeOnly": true, "type": "boolean" } } }),
        json!({ "properties": { "secret": { "$dynamicRef": "#s" } }, "$defs": { "s": { "$dynamicAnchor": "s", "writeOnly": true, "type": "boolean" } } }),
        json!({ "$schema": "http://json-schema.org/draft-07/schema#", "properties": { "secret": { "$ref": "#/definitions/s" } }, "definitions": { "s": secret } }),
        json!({ "additionalProperties": secret }),
        json!({ "patternProperties": { "^s": secret } }),
        json!({ "unevaluatedProperties": secret }),
        // One schema marks it as secret, and another one rejects it.
        json!({ "allOf": [of(json!({ "writeOnly": true })), of(json!({ "type": "boolean" }))] }),
        json!({ "anyOf": [of(json!({ "writeOnly": true, "type": "boolean" })), of(json!({ "type": "null" }))] }),
        json!({ "properties": { "secret": { "type": "boolean" } }, "if": of(json!({ "writeOnly": true })) }),
        json!({ "properties": { "secret": { "type": "boolean" } }, "dependentSchemas": { "secret": of(json!({ "writeOnly": true })) } }),
        json!({ "$ref": "#/$defs/all", "properties": { "secret": { "type": "boolean" } }, "$defs": { "all": of(json!({ "writeOnly": true })) } }),
    ]
}

/// A value that contains the secret, and is not a boolean, `null` or shorter than four characters.
fn holding() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        4 => Just(json!(SECRET)),
        1 => Just(json!(SECRET.to_uppercase())),
        1 => Just(json!({ SECRET: 1 })),
        1 => Just(json!({ SECRET: SECRET })),
    ];
    leaf.prop_recursive(3, 8, 2, |inner| {
        prop_oneof![
            inner.clone().prop_map(|value| json!([value])),
            inner.clone().prop_map(|value| json!([1, value])),
            (".{0,5}", inner).prop_map(|(key, value)| Value::Object(Map::from_iter([(key, value)]))),
        ]
    })
}

fn assert_silent(schema: &Schema, value: &Value) {
    let violations = schema.validate(value).expect_err("every schema refuses it");
    let first = schema.first_violation(value).expect("it is refused");
    let told = format!("{violations}\n{first}\n{}", serde_json::to_string(&violations.to_vec()).unwrap());
    assert!(!told.to_lowercase().contains(SECRET), "{value} under {schema:?}: {told}");
}

#[test]
fn a_secret_is_never_repeated() {
    let schemas: Vec<Schema> = schemas().into_iter().map(|schema| Schema::from_value(schema).unwrap()).collect();
    for schema in &schemas {
        assert_silent(schema, &json!({ "secret": SECRET }));
    }
    let mut runner = proptest::test_runner::TestRunner::new(test_support::random(200));
    let nested: Vec<Schema> = self::schemas()
        .into_iter()
        .filter(|schema| !schema.to_string().contains("\"#"))
        .map(|schema| Schema::from_value(json!({ "items": { "properties": { "in": schema } } })).unwrap())
        .collect();
    let run = runner.run(&holding(), |value| {
        for schema in &schemas {
            if schema.is_valid(&json!({ "secret": value })) {
                continue;
            }
            assert_silent(schema, &json!({ "secret": value }));
        }
        for schema in &nested {
            let value = json!([{ "in": { "secret": value } }]);
            if !schema.is_valid(&value) {
                assert_silent(schema, &value);
            }
        }
        Ok(())
    });
    run.unwrap();
}

#[test]
fn a_masked_value_holds_no_secret() {
    let schemas: Vec<Schema> = schemas().into_iter().map(|schema| Schema::from_value(schema).unwrap()).collect();
    let mut runner = proptest::test_runner::TestRunner::new(test_support::random(200));
    let run = runner.run(&holding(), |value| {
        for schema in &schemas {
            let masked = schema.masked(&json!({ "secret": value })).to_string();
            assert!(!masked.to_lowercase().contains(SECRET), "{masked} under {schema:?}");
        }
        Ok(())
    });
    run.unwrap();
}

#[test]
fn masking_leaves_what_is_no_secret() {
    let schema = json!({
        "properties": { "users": { "items": { "properties": { "pin": { "writeOnly": true }, "name": {} } } } },
        "additionalProperties": { "writeOnly": true },
    });
    let schema = Schema::from_value(schema).unwrap();
    assert!(schema.holds_secret());
    let value = json!({ "users": [{ "pin": [1, 2], "name": "ann" }, 3], "user…": "ann", "other": { "pin": 1 } });
    let masked = json!({ "users": [{ "pin": "…", "name": "ann" }, 3], "user…": "…", "other": "…" });
    assert_eq!(schema.masked(&value), masked);

    let open = Schema::from_value(json!({ "properties": { "a": {} } })).unwrap();
    assert_eq!((open.masked(&value), open.holds_secret()), (value, false));
}

#[test]
fn a_value_too_deep_to_follow_is_masked() {
    let deep = (0..300).fold(json!(SECRET), |value, _| json!([value]));
    let masked = Schema::from_value(json!({ "properties": { "pin": { "writeOnly": true } } })).unwrap().masked(&deep);
    assert!(!masked.to_string().contains(SECRET));
}

#[test]
fn a_key_within_a_secret_is_named_only_if_its_schema_names_it() {
    let schema = json!({
        "properties": {
            "login": {
                "writeOnly": true,
                "properties": { "password": { "minLength": 6 } },
                "additionalProperties": { "type": "integer" },
            },
            "user": { "minLength": 6 },
        },
    });
    let schema = Schema::from_value(schema).unwrap();
    let violations =
        schema.validate(&json!({ "login": { "password": "abc", "s3cret": "" }, "user": "ann" })).unwrap_err();
    let lines: Vec<String> = violations.iter().map(ToString::to_string).collect();
    assert_eq!(
        lines,
        [
            "/login/password must have at least 6 characters",
            "/login/… must be an integer, not a string",
            r#"/user must have at least 6 characters, got "ann""#
        ]
    );
}
