//! Types whose output differs from their schema, and schemas without a plan.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Value, json};
use toolkit_schema::Schema;
use toolkit_schema::plan::{Plan, PlanError};

use crate::plan::reading::{accepts, plan, refuses};

#[test]
fn a_non_finite_float_is_checked_as_null() {
    let number = plan(json!({ "type": "number" }));
    let nullable = plan(json!({ "type": ["number", "null"] }));
    for float in [f64::NAN, f64::INFINITY] {
        assert_eq!(number.encode(&float, &mut Vec::new()), Err(PlanError));
        let mut out = Vec::new();
        assert_eq!(nullable.encode(&float, &mut out), Ok(()));
        assert_eq!(out, b"null");
        assert_eq!(number.encode(&(float as f32), &mut Vec::new()), Err(PlanError));
    }
}

#[test]
fn keys_are_checked_as_text() {
    let closed = plan(
        json!({ "properties": { "1": { "type": "integer" }, "x\"y": { "type": "null" } }, "additionalProperties": false }),
    );
    let mut out = Vec::new();
    assert_eq!(closed.encode(&BTreeMap::from([(1, 5)]), &mut out), Ok(()));
    assert_eq!(out, br#"{"1":5}"#);
    assert_eq!(closed.encode(&BTreeMap::from([(2, 5)]), &mut out), Err(PlanError));
    assert_eq!(closed.encode(&BTreeMap::from([("x\"y", ())]), &mut Vec::new()), Ok(()));
    assert_eq!(closed.encode(&BTreeMap::from([("x\"y", 1)]), &mut Vec::new()), Err(PlanError));
    assert_eq!(accepts::<BTreeMap<u8, u8>>(&closed, r#"{"1":2}"#), BTreeMap::from([(1, 2)]));
    refuses::<BTreeMap<u8, u8>>(&closed, r#"{"1":2,"1":2}"#);
}

#[test]
fn a_serialize_that_swallows_errors_or_omits_a_value_is_refused() {
    use serde::ser::{SerializeMap, SerializeSeq, Serializer};
    struct Careless;
    impl Serialize for Careless {
        fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
            let mut seq = s.serialize_seq(None)?;
            let _ = seq.serialize_element("wrong");
            seq.end()
        }
    }
    struct Forgetful;
    impl Serialize for Forgetful {
        fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
            let mut map = s.serialize_map(None)?;
            map.serialize_key("a")?;
            map.end()
        }
    }
    let plan = plan(json!({ "items": { "type": "integer" } }));
    assert_eq!(plan.encode(&Careless, &mut Vec::new()), Err(PlanError));
    assert_eq!(plan.encode(&Forgetful, &mut Vec::new()), Err(PlanError));
}

#[test]
fn a_key_written_twice_does_not_count_twice() {
    struct Twice;
    impl Serialize for Twice {
        fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
            s.collect_map([("a", 1), ("a", 2)])
        }
    }
    let two = plan(json!({ "minProperties": 2 }));
    assert_eq!(two.encode(&Twice, &mut Vec::new()), Err(PlanError));
    let two = plan(json!({ "properties": { "a": {}, "b": {} }, "minProperties": 2 }));
    assert_eq!(two.encode(&Twice, &mut Vec::new()), Err(PlanError));
    assert_eq!(two.encode(&BTreeMap::from([("a", 1), ("b", 2)]), &mut Vec::new()), Ok(()));
}

#[test]
fn a_schema_with_many_patterns_has_no_plan_and_validates() {
    let patterns = |n: usize| {
        let items = (0..n).map(|nth| json!({ "pattern": format!("^(?i){nth}\\b.ä") }));
        json!({ "prefixItems": items.collect::<Vec<_>>() })
    };
    assert!(Plan::compile(&patterns(128)).is_some());
    assert!(Plan::compile(&patterns(129)).is_none());
    let schema = Schema::from_value(patterns(129)).unwrap();
    let texts =
        |last: &str| json!((0..128).map(|nth| format!("{nth}-Äx")).chain([last.to_owned()]).collect::<Vec<_>>());
    assert!(schema.is_valid(&texts("128 ä")));
    assert!(!schema.is_valid(&texts("128 a")));
}

#[test]
fn a_schema_that_needs_the_whole_value_has_no_plan() {
    for schema in [
        json!({ "not": {} }),
        json!({ "if": {}, "then": {} }),
        json!({ "patternProperties": { "a": {} } }),
        json!({ "propertyNames": { "maxLength": 1 } }),
        json!({ "unevaluatedProperties": false }),
        json!({ "contains": {} }),
        json!({ "dependentRequired": { "a": ["b"] } }),
        json!({ "$id": "https://example.com/a" }),
        json!({ "$anchor": "a" }),
        json!({ "$dynamicRef": "#a" }),
        json!({ "$ref": "https://example.com/a" }),
        json!({ "$ref": "#/properties/a", "$defs": {} }),
        json!({ "$ref": "#" }),
        json!({ "$ref": "#/$defs/a", "minimum": 1, "$defs": { "a": {} } }),
        json!({ "$schema": "http://json-schema.org/draft-07/schema#", "prefixItems": [false] }),
        json!({ "$schema": "http://json-schema.org/draft-06/schema#" }),
        json!({ "const": [1] }),
        json!({ "enum": [1.5] }),
        json!({ "multipleOf": 0.5 }),
        json!({ "pattern": "(?=a)b" }),
        json!({ "pattern": "(word)\\1" }),
        json!({ "oneOf": [{ "minimum": 1 }, { "maximum": 5 }] }),
        json!({ "oneOf": [{ "const": "a" }, { "const": "a" }] }),
        json!({ "allOf": [{ "minimum": 1 }, { "maximum": 5 }] }),
    ] {
        assert!(Plan::compile(&schema).is_none(), "{schema}");
        assert!(Plan::obstacle(&schema).is_some(), "{schema}");
    }
}

#[test]
fn a_schema_without_a_plan_reports_the_keyword() {
    let nested = json!({
        "properties": { "a/b": { "items": { "anyOf": [{ "type": "null" }, { "$ref": "#/$defs/odd" }] } } },
        "$defs": { "odd": { "type": "object", "patternProperties": { "x": {} } } }
    });
    for (schema, reason) in [
        (nested, "`patternProperties` at /$defs/odd"),
        (json!({ "not": {} }), "`not`"),
        (json!({ "properties": { "a/b": { "multipleOf": 0.5 } } }), "`multipleOf` at /properties/a~1b"),
        (json!({ "items": { "enum": [1.5] } }), "`enum` at /items"),
        (json!({ "items": { "$ref": "#/properties/a" } }), "`$ref` at /items"),
        (json!({ "anyOf": [{ "minimum": 1 }, { "maximum": 5 }] }), "`anyOf`"),
        (json!({ "$schema": "https://example.com" }), "`$schema`"),
    ] {
        assert_eq!(Plan::obstacle(&schema).map(|reason| reason.to_string()).as_deref(), Some(reason), "{schema}");
    }
    assert_eq!(Plan::obstacle(&json!({ "type": "string" })), None);
}

#[test]
fn unique_items_are_compared_if_they_are_strings_or_integers() {
    let unique = plan(json!({ "uniqueItems": true }));
    for differ in ["[]", "[1.5]", r#"["a","b"]"#, "[1,-1]", r#"[ "a" , "\u0062" ]"#] {
        accepts::<Value>(&unique, differ);
        let value: Value = serde_json::from_str(differ).expect("it is JSON");
        assert_eq!(unique.encode(&value, &mut Vec::new()), Ok(()), "{differ}");
    }
    for unsure in [r#"["a","a"]"#, r#"["b","\u0062"]"#, "[1,1]", "[1,1.0]", "[1.5,2.5]", r#"[1,"1"]"#, "[{},{}]"] {
        refuses::<Value>(&unique, unsure);
        let value: Value = serde_json::from_str(unsure).expect("it is JSON");
        assert_eq!(unique.encode(&value, &mut Vec::new()), Err(PlanError), "{unsure}");
    }
    let nested = plan(json!({ "items": { "uniqueItems": true } }));
    accepts::<Value>(&nested, "[[1,2],[1,2]]");
    #[derive(Serialize)]
    enum Variant {
        Pair(u8, u8),
    }
    let variant = plan(json!({ "additionalProperties": { "uniqueItems": true } }));
    assert_eq!(variant.encode(&Variant::Pair(1, 2), &mut Vec::new()), Ok(()));
    assert_eq!(variant.encode(&Variant::Pair(1, 1), &mut Vec::new()), Err(PlanError));
}

#[test]
fn a_schema_made_to_be_expensive_has_no_plan_and_takes_no_time() {
    let mut doubling = serde_json::Map::new();
    let mut chain = serde_json::Map::new();
    for n in 0..3000 {
        let next = json!({ "$ref": format!("#/$defs/{}", n + 1) });
        doubling.insert(n.to_string(), json!({ "anyOf": [next, next] }));
        chain.insert(n.to_string(), json!({ "items": next }));
    }
    doubling.insert("28".to_owned(), json!({ "type": "string", "minLength": 1 }));
    for defs in [doubling, chain] {
        let schema = json!({ "$ref": "#/$defs/0", "$defs": defs });
        assert!(Plan::compile(&schema).is_none());
    }
}

#[test]
fn a_limited_text_is_as_long_as_its_limit() {
    use std::io::Write;
    use toolkit_schema::plan::Limited;

    for (written, parts, max_bytes, is_exceeded) in [
        (&b""[..], [&b"abc"[..], b"de"], 5, false),
        (b"", [b"abc", b"de"], 4, true),
        (b"12", [b"abc", b""], 5, false),
        (b"12", [b"abc", b""], 4, true),
        (b"12", [b"", b""], 1, false),
        (b"12", [b"a", b""], 1, true),
    ] {
        let mut json = written.to_vec();
        let mut limited = Limited::new(&mut json, max_bytes);
        let outcome = parts.iter().try_for_each(|part| limited.write_all(part));
        assert_eq!((outcome.is_err(), limited.is_exceeded()), (is_exceeded, is_exceeded), "{max_bytes}");
        assert!(is_exceeded || json.len() == written.len() + parts.concat().len());
    }
}
