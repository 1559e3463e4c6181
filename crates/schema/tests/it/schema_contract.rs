//! The public behavior of `Schema`: valid and invalid documents, diagnostics, and validation.

use expect_test::{Expect, expect};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use toolkit_schema::{Schema, SchemaDiagnostic, SchemaErrorKind, ValidationError, Violations};

/// Checks the diagnostics of a schema, one per line.
#[track_caller]
fn check(schema: Value, expect: Expect) {
    let before = schema.clone();
    let error = Schema::from_value(schema.clone()).expect_err("the schema is refused");
    assert_eq!(schema, before);
    let diagnostics = error.diagnostics();
    assert_eq!((error.kind(), error.pointer()), (diagnostics[0].kind(), diagnostics[0].pointer()));
    for diagnostic in diagnostics {
        let place = diagnostic.pointer();
        let parent = place.rsplit_once('/').map_or("", |(parent, _)| parent);
        assert!(schema.pointer(parent).is_some(), "{place} is in the schema");
        assert!(error.to_string().contains(&diagnostic.to_string()));
    }
    let line = |diagnostic: &SchemaDiagnostic| {
        format!("{:?} {:?}: {}", diagnostic.kind(), diagnostic.pointer(), diagnostic.message())
    };
    expect.assert_eq(&diagnostics.iter().map(line).collect::<Vec<_>>().join("\n"));
}

#[test]
fn a_schema_is_an_object() {
    for schema in [json!(true), json!(null), json!("{}"), json!([{}]), json!(3)] {
        check(schema, expect![[r#"InvalidSchema "": a schema must be a JSON object; use `{}` to accept every value"#]]);
    }
}

#[test]
fn an_unsupported_dialect_is_rejected_at_any_location() {
    check(
        json!({ "$schema": "http://json-schema.org/draft-04/schema#", "type": "strin" }),
        expect![[
            r#"UnsupportedDialect "/$schema": the dialect `http://json-schema.org/draft-04/schema#` is not supported; use draft 2020-12 or draft-07"#
        ]],
    );
    check(json!({ "$schema": 7 }), expect![[r#"InvalidSchema "/$schema": `$schema` must be a string"#]]);
    check(
        json!({ "$defs": { "a": { "$id": "urn:a", "$schema": "https://json-schema.org/draft/2019-09/schema" } } }),
        expect![[
            r#"UnsupportedDialect "/$defs/a/$schema": the dialect `https://json-schema.org/draft/2019-09/schema` is not supported; use draft 2020-12 or draft-07"#
        ]],
    );
    check(
        json!({ "properties": { "a": { "$schema": "http://json-schema.org/draft-07/schema#" } } }),
        expect![[
            r#"UnsupportedDialect "/properties/a/$schema": the dialect `http://json-schema.org/draft-07/schema` differs from that of the document, `https://json-schema.org/draft/2020-12/schema`; a document must use a single dialect"#
        ]],
    );
    for schema in [
        json!({ "$schema": "https://json-schema.org/draft/2020-12/schema" }),
        json!({ "$schema": "https://json-schema.org/draft/2020-12/schema#" }),
        json!({ "$schema": "http://json-schema.org/draft-07/schema" }),
        json!({ "$schema": "http://json-schema.org/draft-07/schema#", "items": { "$schema": "http://json-schema.org/draft-07/schema" } }),
        json!({ "properties": { "$schema": { "const": "urn:other" } }, "default": { "$schema": "urn:other" } }),
    ] {
        assert!(Schema::from_value(schema.clone()).is_ok(), "{schema}");
    }
}

#[test]
fn draft_07_is_read_by_its_own_rules() {
    let of = |schema: Value| {
        let mut schema = schema;
        schema["$schema"] = json!("http://json-schema.org/draft-07/schema#");
        Schema::from_value(schema).unwrap()
    };
    let tuple = of(json!({ "items": [{ "type": "string" }], "additionalItems": false }));
    assert!(tuple.is_valid(&json!(["a"])) && !tuple.is_valid(&json!([1])) && !tuple.is_valid(&json!(["a", 1])));
    let beside =
        of(json!({ "properties": { "a": { "$ref": "#/definitions/s", "maxLength": 1 } }, "definitions": { "s": {} } }));
    assert!(beside.is_valid(&json!({ "a": "long" })));
    let later =
        of(json!({ "prefixItems": [false], "unevaluatedProperties": false, "dependentRequired": { "a": ["b"] } }));
    assert!(later.is_valid(&json!([1])) && later.is_valid(&json!({ "a": 1 })));
}

#[test]
fn every_diagnostic_has_its_location() {
    check(
        json!({
            "type": "objet",
            "properties": {
                "a": { "$ref": "https://example.com/a.json" },
                "b": { "$ref": "#/$defs/Adress" },
                "c/d": { "pattern": "(" , "minLength": -1 },
            },
            "required": "a",
            "$defs": { "Address": { "enum": 3 } },
        }),
        expect![[r#"
            InvalidSchema "/$defs/Address/enum": must be an array, got 3
            ExternalReference "/properties/a/$ref": the reference `https://example.com/a.json` points outside the document, and nothing is fetched; copy the schema into `$defs` and refer to it there
            UnresolvedReference "/properties/b/$ref": the reference `#/$defs/Adress` does not resolve; did you mean `#/$defs/Address`?
            InvalidSchema "/properties/c~1d/minLength": must be at least 0, got -1
            InvalidSchema "/properties/c~1d/pattern": the pattern `(` is invalid, or too large to compile
            InvalidSchema "/required": must be an array, got "a"
            InvalidSchema "/type": must be one of "array", "boolean", "integer", "null", "number", "object", "string", got "objet"; did you mean `object`?"#]],
    );
}

#[test]
fn a_reference_to_another_document_is_rejected_even_if_unreachable() {
    let away = json!({ "$ref": "https://example.com/other.json#/a" });
    for schema in [
        json!({ "$defs": { "unused": away } }),
        json!({ "definitions": { "unused": { "items": away } } }),
        json!({ "anyOf": [true, away] }),
        json!({ "if": false, "then": away }),
        json!({ "properties": { "a": { "not": away } } }),
        json!({ "then": away }),
        json!({ "contentSchema": away }),
        json!({ "$ref": "other.json" }),
        json!({ "$ref": "/other" }),
        json!({ "$ref": "file:///etc/passwd" }),
        json!({ "$ref": "urn:uuid:deadbeef-4321-4321-4321-1234567890ab" }),
        json!({ "$dynamicRef": "https://example.com/#a" }),
        json!({ "$id": "https://example.com/root", "items": { "$ref": "other" } }),
        json!({ "$defs": { "a": { "$id": "https://example.com/a", "items": { "$ref": "b" } } } }),
        json!({ "$ref": "#/x-hidden/a", "x-hidden": { "a": { "items": away } } }),
        json!({ "$schema": "http://json-schema.org/draft-07/schema#", "$ref": "#/definitions/a", "definitions": { "a": {} }, "items": away }),
        json!({ "$ref": "https://json-schema.org/draft/2019-09/schema" }),
    ] {
        let error = Schema::from_value(schema.clone()).expect_err("a reference leaves");
        assert_eq!(error.kind(), SchemaErrorKind::ExternalReference, "{schema}: {error}");
        assert_eq!(error.diagnostics().len(), 1, "{schema}: {error}");
        assert!(schema.pointer(error.pointer()).is_some_and(Value::is_string), "{schema}: {error}");
    }
}

#[test]
fn an_unresolved_reference_is_rejected_even_if_unreachable() {
    for schema in [
        json!({ "$ref": "#/$defs/a" }),
        json!({ "$defs": { "a": { "$ref": "#/$defs/b" } } }),
        json!({ "items": { "$ref": "#a" } }),
        json!({ "items": { "$dynamicRef": "#a" }, "$anchor": "b" }),
        json!({ "items": { "$ref": "#/required/0" }, "required": ["a"] }),
        json!({ "items": { "$ref": "#/items/0" } }),
        json!({ "$ref": "#/$defs/%" }),
        json!({ "$id": "https://example.com/root", "items": { "$ref": "root#/nowhere" } }),
    ] {
        let error = Schema::from_value(schema.clone()).expect_err("a reference leads nowhere");
        assert_eq!(error.kind(), SchemaErrorKind::UnresolvedReference, "{schema}: {error}");
        assert!(schema.pointer(error.pointer()).is_some_and(Value::is_string), "{schema}: {error}");
    }
}

#[test]
fn references_in_values_are_ignored_and_others_are_followed() {
    let data = json!({ "$ref": "https://example.com/", "$schema": "urn:other", "$id": "::", "$anchor": 3 });
    for schema in [
        json!({ "default": data, "examples": [data], "const": data }),
        json!({ "enum": [data, { "in": [data] }] }),
        json!({ "x-unknown": { "items": data } }),
        json!({ "properties": { "$ref": { "type": "string" }, "$schema": {}, "default": {} } }),
        json!({ "$ref": "#/$defs/a%20b~1c", "$defs": { "a b/c": {} } }),
        json!({ "$ref": "#a", "$defs": { "x": { "$anchor": "a" } } }),
        json!({ "$ref": "#/x-hidden/a", "x-hidden": { "a": {} } }),
        json!({ "items": { "$ref": "#/prefixItems/0" }, "prefixItems": [{}] }),
        json!({ "$id": "https://example.com/root", "items": { "$ref": "https://example.com/root" } }),
        json!({ "items": { "$ref": "https://example.com/b#/$defs/c" }, "$defs": { "b": { "$id": "https://example.com/b", "$defs": { "c": {} } } } }),
        json!({ "properties": { "schema": { "$ref": "https://json-schema.org/draft/2020-12/schema" } } }),
        json!({ "$schema": "http://json-schema.org/draft-07/schema#", "items": { "$ref": "http://json-schema.org/draft-07/schema#" } }),
    ] {
        if let Err(error) = Schema::from_value(schema.clone()) {
            panic!("{schema}: {error}");
        }
    }
    // The target of a reference in an unknown location is a schema like any other.
    check(
        json!({ "$ref": "#/x-hidden/a", "x-hidden": { "a": { "type": "strin" } } }),
        expect![[
            r#"InvalidSchema "/x-hidden/a/type": must be one of "array", "boolean", "integer", "null", "number", "object", "string", got "strin"; did you mean `string`?"#
        ]],
    );
    check(
        json!({ "$defs": { "unused": { "patternProperties": { "[": {} } } } }),
        expect![[
            r#"InvalidSchema "/$defs/unused/patternProperties/[": the pattern `[` is invalid, or too large to compile"#
        ]],
    );
}

#[test]
fn names_of_schemas_are_unique() {
    let twice = |keyword: &str, name: &str| json!({ "$defs": { "a": { keyword: name }, "b": { keyword: name } } });
    for keyword in ["$id", "$anchor", "$dynamicAnchor"] {
        let error = Schema::from_value(twice(keyword, "n")).unwrap_err();
        assert_eq!((error.kind(), error.pointer()), (SchemaErrorKind::InvalidSchema, &*format!("/$defs/b/{keyword}")));
    }
    let mut in_7 = twice("$id", "#n");
    in_7["$schema"] = json!("http://json-schema.org/draft-07/schema#");
    assert_eq!(Schema::from_value(in_7).unwrap_err().pointer(), "/$defs/b/$id");
    // A schema with an `$id` has a namespace of its own.
    let apart = json!({ "$anchor": "n", "$defs": { "a": { "$id": "urn:a", "$anchor": "n", "$dynamicAnchor": "n" } } });
    assert!(Schema::from_value(apart).is_ok());
    check(
        json!({ "$id": "urn:a", "$defs": { "a": { "$id": "urn:a" }, "b": { "$id": "x y" } } }),
        expect![[
            r#"InvalidSchema "": invalid identifier: `Invalid URI reference 'x y': unexpected character at index 1`"#
        ]],
    );
}

#[test]
fn parsing_text_reports_the_location_of_the_error() {
    let schema: Schema = r#"{ "type": "string" }"#.parse().unwrap();
    assert_eq!(schema, Schema::try_from(json!({ "type": "string" })).unwrap());
    assert_eq!(serde_json::to_value(&schema).unwrap(), json!({ "type": "string" }));
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    for (text, message) in [
        ("", "invalid schema: cannot parse the text: not valid JSON: the text is empty; use `{}` for an empty object"),
        (
            "{\n  \"type\" 3\n}",
            "invalid schema: cannot parse the text: not valid JSON: expected `:` at line 2 column 10",
        ),
        (
            r#"{"type": "object""#,
            "invalid schema: cannot parse the text: not valid JSON: EOF while parsing an object at line 1 column 17",
        ),
        (
            r#"{"a": {"b": 1, "b": 2}}"#,
            "invalid schema: cannot parse the text: not valid JSON: duplicate key `b` in an object at line 1 column 18",
        ),
        (
            &deep,
            "invalid schema: cannot parse the text: the JSON is nested deeper than 127 levels at line 1 column 128",
        ),
        ("[]", "invalid schema: a schema must be a JSON object; use `{}` to accept every value"),
    ] {
        let error = text.parse::<Schema>().unwrap_err();
        assert_eq!((error.kind(), error.pointer()), (SchemaErrorKind::InvalidSchema, ""));
        assert_eq!(error.to_string(), message);
    }
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only its schema is of interest")]
struct Sent {
    name: String,
    #[serde(default)]
    times: u8,
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only its schema is of interest")]
struct Misspelt {
    #[schemars(regex(pattern = "("))]
    name: String,
}

#[test]
fn a_schema_is_generated_from_a_rust_type() {
    let input = Schema::input::<Sent>().unwrap();
    assert!(input.is_valid(&json!({ "name": "a" })) && !input.is_valid(&json!({ "name": "a", "more": 1 })));
    let output = Schema::output::<Sent>().unwrap();
    assert!(
        output.is_valid(&json!({ "name": "a", "times": 3, "more": 1 })) && !output.is_valid(&json!({ "name": "a" }))
    );
    let error = Schema::input::<Misspelt>().unwrap_err();
    assert_eq!((error.kind(), error.pointer()), (SchemaErrorKind::InvalidSchema, "/properties/name/pattern"));
}

fn many_mistakes() -> (Value, Value) {
    let schema = json!({
        "type": "object",
        "properties": {
            "a": { "type": "array", "items": { "anyOf": [{ "type": "integer", "minimum": 3 }, { "type": "null" }] } },
            "b": { "oneOf": [{ "required": ["x"] }, { "required": ["y"] }], "minProperties": 3 },
            "c": { "pattern": "^[a-z]$", "maxLength": 1, "enum": ["a", "b"] },
        },
        "patternProperties": { "^d": { "multipleOf": 7 } },
        "required": ["z", "y", "x"],
        "additionalProperties": false,
    });
    let value = json!({ "a": [1, null, "x", 2.5], "b": {}, "c": "QQ", "d1": 1, "d2": 7, "d3": 8, "q": 1, "p": 2 });
    (schema, value)
}

#[test]
fn the_order_of_violations_is_deterministic() {
    let (schema, value) = many_mistakes();
    let told = |schema: &Schema| -> (Violations, String) {
        let first = schema.first_violation(&value).unwrap();
        (schema.validate(&value).unwrap_err(), first.to_string())
    };
    let schema = Schema::from_value(schema).unwrap();
    let (expected, first) = told(&schema);
    let places: Vec<&str> = expected.iter().map(|violation| violation.pointer.as_str()).collect();
    assert!(places.len() > 10 && places.is_sorted(), "{places:?}");
    assert!(expected.iter().any(|violation| violation.to_string() == first), "{first} is one of them");
    for _ in 0..50 {
        assert_eq!(told(&schema), (expected.clone(), first.clone()));
        let again = Schema::from_value(schema.as_value().clone()).unwrap();
        assert_eq!(told(&again), (expected.clone(), first.clone()));
    }
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| (0..50).for_each(|_| assert_eq!(told(&schema), (expected.clone(), first.clone()))));
        }
    });
    assert_eq!((schema.as_value(), &value), (&many_mistakes().0, &many_mistakes().1), "neither is changed");
}

#[test]
fn first_violation_stops_at_the_first() {
    let (schema, value) = many_mistakes();
    let schema = Schema::from_value(schema).unwrap();
    assert!(schema.first_violation(&json!({ "x": 1 })).is_some());
    assert!(schema.validate(&value).unwrap_err().len() > 1);
    let fits = Schema::from_value(json!({ "minProperties": 3 })).unwrap();
    assert_eq!(fits.first_violation(&value), None);
}

#[test]
fn a_schema_is_shared_between_threads() {
    fn shared<T: Send + Sync + 'static>() {}
    shared::<Schema>();
    shared::<ValidationError>();
}

#[test]
fn an_invalid_schema_and_an_invalid_value_are_one_error_type() {
    fn check(schema: &str, value: &Value) -> Result<(), ValidationError> {
        schema.parse::<Schema>()?.validate(value)?;
        Ok(())
    }
    assert_eq!(check("{}", &json!(1)), Ok(()));
    let broken = check("{", &json!(1)).unwrap_err();
    assert!(matches!(&broken, ValidationError::Schema(error) if error.kind() == SchemaErrorKind::InvalidSchema));
    assert!(broken.to_string().starts_with("invalid schema: cannot parse"));
    let misfit = check(r#"{"type": "string"}"#, &json!(1)).unwrap_err();
    assert!(matches!(&misfit, ValidationError::Instance(violations) if violations.len() == 1));
    assert_eq!(misfit.to_string(), "the value must be a string, got 1");
}

#[test]
fn a_large_value_is_validated_to_its_end() {
    let integers = Schema::from_value(json!({ "items": { "type": "integer" } })).unwrap();
    let mut items: Vec<Value> = (0..30_000).map(Value::from).collect();
    assert!(integers.validate(&json!(items)).is_ok());
    items.push("one".into());
    assert_eq!(integers.validate(&json!(items)).unwrap_err().to_string(), r#"/30000 must be an integer, got "one""#);

    // Without its last key, the value would not match.
    let closed = Schema::from_value(json!({ "required": ["last"] })).unwrap();
    let mut object: serde_json::Map<String, Value> = (0..30_000).map(|nth| (format!("k{nth}"), nth.into())).collect();
    assert_eq!(closed.validate(&json!(object)).unwrap_err().to_string(), "/last is required");
    object.insert("last".to_owned(), Value::Null);
    assert!(closed.validate(&json!(object)).is_ok());
}
