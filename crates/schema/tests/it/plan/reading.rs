//! Values and types that are not generated, and that would mislead a deserializer which trusts the type.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use toolkit_schema::plan::{Plan, PlanError, UnwritableError, Write};

#[track_caller]
pub(crate) fn plan(schema: Value) -> Plan {
    Plan::compile(&schema).unwrap_or_else(|| panic!("no plan for {schema}"))
}

#[track_caller]
pub(crate) fn refuses<T: DeserializeOwned>(plan: &Plan, json: &str) {
    assert!(plan.decode::<T>(json.as_bytes()).is_err(), "accepted {json}");
}

#[track_caller]
pub(crate) fn accepts<T: DeserializeOwned>(plan: &Plan, json: &str) -> T {
    plan.decode(json.as_bytes()).unwrap_or_else(|_| panic!("refused {json}"))
}

#[derive(Deserialize)]
#[allow(dead_code)]
struct Point {
    x: i64,
    y: i64,
}

fn point() -> Value {
    json!({
        "type": "object",
        "properties": { "x": { "type": "integer" }, "y": { "type": "integer" } },
        "required": ["x", "y"],
        "additionalProperties": false
    })
}

#[test]
fn a_struct_is_not_read_from_an_array() {
    let plan = plan(point());
    accepts::<Point>(&plan, r#"{"x":1,"y":2}"#);
    refuses::<Point>(&plan, "[1,2]");
}

#[test]
fn a_unit_variant_is_a_string() {
    #[derive(Deserialize)]
    enum Unit {
        A,
    }
    let plan = plan(json!({ "type": "string", "enum": ["A"] }));
    accepts::<Unit>(&plan, r#""A""#);
    refuses::<Unit>(&plan, r#"{"A":null}"#);
}

#[test]
fn values_that_the_type_ignores_are_validated() {
    #[derive(Deserialize)]
    struct Nothing {}
    let plan = plan(point());
    accepts::<Nothing>(&plan, r#"{"x":1,"y":2}"#);
    accepts::<IgnoredAny>(&plan, r#"{"x":1,"y":2}"#);
    for wrong in [r#"{"x":1}"#, r#"{"x":1,"y":"2"}"#, r#"{"x":1,"y":2,"z":3}"#, r#"{"x":1,"y":2,"y":3}"#] {
        refuses::<Nothing>(&plan, wrong);
        refuses::<IgnoredAny>(&plan, wrong);
    }
}

#[test]
fn trailing_text_and_duplicate_keys_are_refused_at_any_depth() {
    let any = plan(json!({}));
    accepts::<Value>(&any, r#" [{"a":{"b":[1]}}] "#);
    refuses::<Value>(&any, "1 2");
    refuses::<Value>(&any, "");
    refuses::<Value>(&any, r#"[[{"a":1,"a":1}]]"#);
    refuses::<IgnoredAny>(&any, r#"[[{"a":1,"\u0061":1}]]"#);
    refuses::<IgnoredAny>(&any, r#"[[{"\u0061":1,"a":1}]]"#);
    refuses::<IgnoredAny>(&any, r#"[[{"\u0061":1,"\u0061":1}]]"#);
    for repeated in [0, 7, 8, 40] {
        let keys = (0..50).chain([repeated]).map(|n| format!("\"k{n}\":{n}"));
        refuses::<BTreeMap<String, i64>>(&any, &format!("{{{}}}", keys.collect::<Vec<_>>().join(",")));
    }
    let keys = (0..50).map(|n| format!("\"k{n}\":{n}")).collect::<Vec<_>>();
    accepts::<BTreeMap<String, i64>>(&any, &format!("{{{}}}", keys.join(",")));
}

/// Reads nothing.
struct Blind;

impl<'de> Deserialize<'de> for Blind {
    fn deserialize<D: Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
        Ok(Blind)
    }
}

#[test]
fn a_type_that_reads_nothing_is_refused() {
    let any = plan(json!({}));
    for json in ["", " ", "1", "{}", "[]"] {
        refuses::<Blind>(&any, json);
    }
    refuses::<(Blind, i64)>(&any, "[,1]");
    refuses::<Option<Blind>>(&any, "");
}

/// Reads a fixed number of entries or items and does not request the end.
struct Two;

impl<'de> Deserialize<'de> for Two {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_any(Two)
    }
}

impl<'de> Visitor<'de> for Two {
    type Value = Two;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("two")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Two, A::Error> {
        seq.next_element::<IgnoredAny>()?;
        seq.next_element::<IgnoredAny>()?;
        Ok(Two)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Two, A::Error> {
        map.next_entry::<String, IgnoredAny>()?;
        map.next_entry::<String, IgnoredAny>()?;
        Ok(Two)
    }
}

#[test]
fn a_type_that_stops_early_is_refused() {
    let three = plan(json!({ "minItems": 3, "required": ["a", "b", "c"] }));
    refuses::<Two>(&three, "[1,2]");
    refuses::<Two>(&three, "[1,2,3]");
    refuses::<Two>(&three, r#"{"a":1,"b":2}"#);
    let two = plan(json!({ "minItems": 2, "required": ["a", "b"] }));
    accepts::<Two>(&two, "[1,2]");
    accepts::<Two>(&two, r#"{"a":1,"b":2}"#);
}

/// Swallows every error.
struct Lenient<T>(Option<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Lenient<T> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        Ok(Lenient(T::deserialize(d).ok()))
    }
}

#[test]
fn a_swallowed_error_stays_an_error() {
    let numbers = plan(json!({ "items": { "type": "integer" }, "additionalProperties": { "type": "integer" } }));
    let read = accepts::<Vec<Lenient<i64>>>(&numbers, "[1,2]");
    assert!(read.iter().all(|item| item.0.is_some()));
    for wrong in [r#"[1,"two"]"#, "[1,[2]]", r#"{"a":"b"}"#] {
        refuses::<Lenient<Value>>(&numbers, wrong);
        refuses::<Vec<Lenient<i64>>>(&numbers, wrong);
        refuses::<BTreeMap<String, Lenient<i64>>>(&numbers, wrong);
    }
    let any = plan(json!({}));
    refuses::<Vec<Lenient<Two>>>(&any, "[[1,2,3]");
    refuses::<Lenient<Two>>(&any, "[1,2,3");
}

#[test]
fn keys_are_accepted_in_any_order() {
    let plan = plan(json!({
        "properties": { "a": { "type": "integer" }, "bb": {}, "a longer name": { "type": "null" }, "x\"y": {} },
        "required": ["a"],
        "additionalProperties": false
    }));
    let orders = [
        r#"{"a":1,"bb":2,"a longer name":null,"x\"y":3}"#,
        r#"{"x\"y":3,"a longer name":null,"bb":2,"a":1}"#,
        r#"{ "a" : 1 , "x\u0022y" : 3 , "bb" : 2 }"#,
        r#"{"bb":2,"a":1}"#,
        r#"{"a":1}"#,
    ];
    for json in orders.iter().chain(orders.iter().rev()).chain(&orders) {
        assert_eq!(accepts::<Value>(&plan, json), serde_json::from_str::<Value>(json).expect("it is JSON"));
    }
    for wrong in [
        r#"{"a":1,"bb":2,"a":1}"#,
        r#"{"a":1,"bb":2,"bb":2}"#,
        r#"{"a":1,"bb":2,"a longer nama":null}"#,
        r#"{"a":1,"bb":2,"a longer name":3}"#,
        r#"{"a":1,,"bb":2}"#,
        r#"{"a":1 "bb":2}"#,
        r#"{,"a":1}"#,
        r#"{"a":1,}"#,
        r#"{"a"1}"#,
        r#"{"bb":2}"#,
        "{}",
    ] {
        refuses::<Value>(&plan, wrong);
    }
}

/// Fails without reading the value.
struct Fails;

impl<'de> Deserialize<'de> for Fails {
    fn deserialize<D: Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
        Err(serde::de::Error::custom("always"))
    }
}

/// Reads everything and ignores all errors.
struct Careless;

impl<'de> Deserialize<'de> for Careless {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_any(Careless)
    }
}

impl<'de> Visitor<'de> for Careless {
    type Value = Careless;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Careless, A::Error> {
        let _ = seq.next_element::<Fails>();
        while let Ok(Some(IgnoredAny)) = seq.next_element() {}
        Ok(Careless)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Careless, A::Error> {
        let _ = map.next_entry::<String, Fails>();
        while let Ok(Some((IgnoredAny, IgnoredAny))) = map.next_entry() {}
        Ok(Careless)
    }
}

#[test]
fn a_value_that_failed_unread_is_not_skipped() {
    for schema in [json!({}), json!({ "properties": { "a": {}, "b": {} }, "items": {} })] {
        let plan = plan(schema);
        for json in ["[,1]", "[1,1]", "[]", r#"{"a":,"b":1}"#, r#"{"a":1,"b":1}"#, r#"{"c":,"b":1}"#] {
            // The second time, the order of the keys is predicted.
            for _ in 0..2 {
                accepts::<IgnoredAny>(&plan, r#"{"a":1,"b":1}"#);
                let refused = plan.decode::<Careless>(json.as_bytes()).is_err();
                assert!(refused || json == "[]", "accepted {json}");
            }
        }
    }
}

#[test]
fn bytes_are_strings_to_the_schema() {
    struct Bytes;
    impl<'de> Deserialize<'de> for Bytes {
        fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
            d.deserialize_bytes(Bytes)
        }
    }
    impl<'de> Visitor<'de> for Bytes {
        type Value = Bytes;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("bytes")
        }
        fn visit_bytes<E>(self, _: &[u8]) -> Result<Bytes, E> {
            Ok(Bytes)
        }
    }
    let short = plan(json!({ "type": "string", "maxLength": 2 }));
    accepts::<Bytes>(&short, r#""ab""#);
    accepts::<Bytes>(&short, r#""\u00e9""#);
    for wrong in [r#""abc""#, "[1]", r#""\ud800""#, "\"\n\""] {
        refuses::<Bytes>(&short, wrong);
    }
    assert!(short.decode::<Bytes>(b"\"\xff\"").is_err());
    assert!(plan(json!({})).decode::<IgnoredAny>(b"[\"\xff\"]").is_err());
}

#[test]
fn the_depth_limit_is_that_of_serde_json() {
    let any = plan(json!({}));
    for (depth, fits) in [(127, true), (128, false)] {
        let json = "[".repeat(depth) + &"]".repeat(depth);
        assert_eq!(any.decode::<IgnoredAny>(json.as_bytes()).is_ok(), fits);
        let mut value = json!([]);
        for _ in 1..depth {
            value = Value::Array(vec![value]);
        }
        assert_eq!(any.encode(&value, &mut Vec::new()).is_ok(), fits);
    }
}

#[test]
fn raw_json_is_left_to_the_slow_path() {
    let any = plan(json!({}));
    refuses::<Box<RawValue>>(&any, "[1]");
    refuses::<Value>(&any, r#"{"$serde_json::private::RawValue":"[1]"}"#);
    let raw = RawValue::from_string("[1]".into()).expect("it is JSON");
    assert_eq!(any.encode(&raw, &mut Vec::new()), Err(PlanError));
    let disguised = BTreeMap::from([("$serde_json::private::RawValue", "[1]")]);
    assert_eq!(any.encode(&disguised, &mut Vec::new()), Err(PlanError));
}

#[test]
fn numbers_are_compared_exactly_at_the_limits() {
    let max = plan(json!({ "maximum": 9_223_372_036_854_775_807_i64 }));
    accepts::<Value>(&max, "9223372036854775807");
    refuses::<Value>(&max, "9223372036854775808");
    refuses::<Value>(&max, "9223372036854775808.0");
    accepts::<Value>(&max, "9223372036854774784.0");
    refuses::<i128>(&plan(json!({})), "18446744073709551616");
    assert_eq!(accepts::<i128>(&max, "-5"), -5);
    let half = plan(json!({ "type": "number", "exclusiveMinimum": 0.5, "maximum": 2.5 }));
    accepts::<Value>(&half, "1");
    refuses::<Value>(&half, "0");
    refuses::<Value>(&half, "0.5");
    accepts::<Value>(&half, "2.5");
    refuses::<Value>(&half, "3");
    assert_eq!(half.encode(&2.5_f64, &mut Vec::new()), Ok(()));
    assert_eq!(half.encode(&0.5_f64, &mut Vec::new()), Err(PlanError));
    assert_eq!(half.encode(&2.5_f32, &mut Vec::new()), Ok(()));
}

#[test]
fn a_tag_selects_its_branch_if_it_is_the_first_key() {
    let branch = |tag: &str, kind: &str| {
        json!({
            "type": "object",
            "properties": { "tag": { "const": tag, "type": "string" }, "value": { "type": kind } },
            "required": ["tag", "value"],
            "additionalProperties": false
        })
    };
    let plan = plan(json!({ "oneOf": [branch("n", "integer"), branch("s", "string")] }));
    accepts::<Value>(&plan, r#"{"tag":"n","value":1}"#);
    accepts::<Value>(&plan, r#"{"tag":"\u0073","value":"1"}"#);
    for wrong in [
        r#"{"tag":"s","value":1}"#,
        r#"{"tag":"x","value":1}"#,
        r#"{"tag":"n"}"#,
        r#"{"tag":1,"value":1}"#,
        r#"{"tag":"n","tag":"n","value":1}"#,
        "{}",
    ] {
        refuses::<Value>(&plan, wrong);
    }
}

/// Values that a plan refuses, since it cannot validate them.
#[derive(serde::Serialize)]
struct Unplanned {
    raw: Box<RawValue>,
    wide: u128,
    low: i128,
    after: &'static str,
}

#[test]
fn values_that_no_plan_admits_are_written_without_rules_as_serde_json_writes_them() {
    let raw = |text: &str| RawValue::from_string(text.to_owned()).unwrap();
    let value = Unplanned { raw: raw(r#"{ "b": 1, "b": "\"\u00e9" }"#), wide: u128::MAX, low: i128::MIN, after: "x" };
    let values = (value, vec![raw("[1]"), raw("\"a\"")], i128::MAX);
    assert_eq!(Plan::anything().encode(&values, &mut Vec::new()), Err(PlanError));
    let mut out = Vec::new();
    assert_eq!(Plan::write_unchecked(&mut out, usize::MAX, &mut |sink| values.serialize(sink)), Ok(Vec::new()));
    assert_eq!(String::from_utf8(out).unwrap(), serde_json::to_string(&values).unwrap());
}

#[test]
fn a_value_of_any_depth_is_written_without_rules() {
    let deep = (0..300).fold(json!(1), |inner, _| json!([inner]));
    assert_eq!(Plan::anything().encode(&deep, &mut Vec::new()), Err(PlanError));
    let mut out = Vec::new();
    assert_eq!(Plan::write_unchecked(&mut out, usize::MAX, &mut |sink| deep.serialize(sink)), Ok(Vec::new()));
    assert_eq!(out, serde_json::to_vec(&deep).unwrap());
}

#[test]
fn the_reason_why_a_value_has_no_json_is_known() {
    struct Refusing;

    impl Serialize for Refusing {
        fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
            Err(serde::ser::Error::custom("the disk is gone"))
        }
    }

    let outcome = |write: &mut Write<'_>| Plan::write_unchecked(&mut Vec::new(), 20, write);
    let floats = [1.0, f64::NAN, f64::INFINITY];
    let known = outcome(&mut |sink| floats.serialize(sink)).unwrap();
    assert_eq!(known.iter().map(|(pointer, _)| &**pointer).collect::<Vec<_>>(), ["/1", "/2"]);
    let keys = [BTreeMap::from([((1, 2), 3)])];
    assert_eq!(outcome(&mut |sink| keys.serialize(sink)), Err(UnwritableError::Key("/0".to_owned())));
    assert_eq!(outcome(&mut |sink| "x".repeat(21).serialize(sink)), Err(UnwritableError::TooLong));
    let refused = Err(UnwritableError::Type("the disk is gone".to_owned()));
    assert_eq!(outcome(&mut |sink| [Refusing].serialize(sink)), refused);
}

#[test]
fn a_text_has_so_many_characters_however_many_bytes_these_have() {
    for (least, most) in [(0, 0), (1, 1), (2, 3), (4, 5), (0, 8)] {
        let plan = plan(json!({ "type": "string", "minLength": least, "maxLength": most }));
        for c in ["a", "é", "€", "😀"] {
            for n in 0..10 {
                let text = json!(c.repeat(n)).to_string();
                if (least..=most).contains(&n) {
                    accepts::<String>(&plan, &text);
                } else {
                    refuses::<String>(&plan, &text);
                }
            }
        }
    }
}
