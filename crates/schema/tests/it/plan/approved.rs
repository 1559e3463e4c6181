//! Values that were validated by other means are read as `serde_json` reads a tree, with the same errors at the same
//! places.

use std::any::type_name;
use std::collections::BTreeMap;
use std::fmt::{self, Debug};
use std::num::NonZeroU8;

use proptest::prelude::*;
use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use serde_path_to_error::Segment;
use toolkit_schema::plan::{Plan, TypeError, into_slot};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(dead_code)]
struct Point {
    a: i64,
    #[serde(default, alias = "x")]
    b: Option<u8>,
}

#[derive(Debug, Deserialize)]
#[allow(dead_code)]
enum External {
    A,
    B(i64),
    C(bool, String),
    D { a: Box<External> },
}

#[derive(Debug, Deserialize)]
#[serde(tag = "a")]
#[allow(dead_code)]
enum Internal {
    A,
    B { b: Point },
    C(BTreeMap<String, Value>),
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
#[allow(dead_code)]
enum Untagged {
    A(i64),
    B { a: String },
    C(Vec<Untagged>),
}

#[derive(Debug, Deserialize)]
#[allow(dead_code)]
struct Flat {
    a: Untagged,
    #[serde(flatten)]
    rest: BTreeMap<String, i16>,
}

#[derive(Debug, Deserialize)]
#[allow(dead_code)]
struct Unit;

/// A rule that no schema has.
#[derive(Debug, Deserialize)]
#[serde(try_from = "i64")]
#[allow(dead_code)]
struct Even(i64);

impl TryFrom<i64> for Even {
    type Error = String;

    fn try_from(value: i64) -> Result<Self, String> {
        if value % 2 == 0 { Ok(Self(value)) } else { Err(format!("{value} is odd")) }
    }
}

/// The parts that can be read. The errors of the others, and of their keys, are swallowed.
#[derive(Debug)]
#[allow(dead_code)]
struct Readable(Vec<Point>);

impl<'de> Deserialize<'de> for Readable {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Skip;
        impl<'de> Visitor<'de> for Skip {
            type Value = Vec<Point>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("items")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Vec<Point>, A::Error> {
                let mut read = Vec::new();
                loop {
                    match items.next_element() {
                        Ok(Some(item)) => read.push(item),
                        Ok(None) => return Ok(read),
                        Err(_) => {}
                    }
                }
            }

            fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Vec<Point>, A::Error> {
                let mut read = Vec::new();
                loop {
                    match entries.next_key::<Letter>() {
                        Ok(Some(_)) => read.extend(entries.next_value().ok()),
                        Ok(None) => return Ok(read),
                        Err(_) => {}
                    }
                }
            }
        }
        deserializer.deserialize_any(Skip).map(Readable)
    }
}

/// A type that does not look at its value.
#[derive(Debug)]
struct Ignorant;

impl<'de> Deserialize<'de> for Ignorant {
    fn deserialize<D: Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
        Ok(Self)
    }
}

/// A type that replaces the message of an error, and quotes the original.
#[derive(Debug)]
#[allow(dead_code)]
struct Quoting(u8);

impl<'de> Deserialize<'de> for Quoting {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        u8::deserialize(deserializer).map(Quoting).map_err(|error| D::Error::custom(format!("no byte: {error}")))
    }
}

fn approved<T: DeserializeOwned>(json: &[u8], whole: &mut Vec<usize>) -> Result<T, TypeError> {
    let mut value = None;
    Plan::read_approved(json, None, whole, &mut into_slot(&mut value))?;
    Ok(value.expect("the value was read"))
}

/// Reads a value both ways and compares what was read, or the errors. Returns true if both succeeded.
#[track_caller]
fn check<T: DeserializeOwned + Debug>(value: &Value) -> bool {
    let text = value.to_string();
    let ours = approved::<T>(text.as_bytes(), &mut Vec::new());
    let of_tree = serde_path_to_error::deserialize::<_, T>(value);
    match (ours, of_tree) {
        (Ok(ours), Ok(of_tree)) => {
            assert_eq!(format!("{ours:?}"), format!("{of_tree:?}"), "{text}");
            true
        }
        (Err(ours), Err(of_tree)) => {
            let message = of_tree.inner().to_string();
            // The number of items or entries is known before they are read.
            if message.contains("fewer elements in") || message.contains("map with a single key") {
                return false;
            }
            // A key is a text of its own, in which the error has a position.
            let message = message.split(" at line ").next().unwrap_or_default();
            // That of the text names the enum.
            let is_of_variant = [message, &ours.message].iter().all(|message| message.contains(" variant"));
            assert!(is_of_variant || ours.message == message, "{text} as {}: {ours}, {message}", type_name::<T>());
            // A key that is rejected is a location of its own.
            let (place, pointer) = (ours.pointer(text.as_bytes()), pointer(of_tree.path(), value));
            let key = place.strip_prefix(&pointer).and_then(|rest| rest.strip_prefix('/'));
            let is_number = |key: &str| key.parse::<f64>().is_ok();
            let is_of_key =
                |key: &str| message.contains(key) || is_number(key) || message.contains("key to be a number");
            assert!(
                place == pointer || key.is_some_and(is_of_key),
                "{text} as {}: {message}, at {} and {pointer}",
                type_name::<T>(),
                place,
            );
            false
        }
        (ours, of_tree) => panic!("{text} as {}: {ours:?}, {of_tree:?}", type_name::<T>()),
    }
}

/// A variant is a location if it is the key of an object.
fn pointer(path: &serde_path_to_error::Path, value: &Value) -> String {
    path.iter().fold(String::new(), |pointer, segment| match segment {
        Segment::Seq { index } => format!("{pointer}/{index}"),
        Segment::Enum { .. } if value.pointer(&pointer).is_some_and(Value::is_string) => pointer,
        Segment::Map { key } | Segment::Enum { variant: key } => format!("{pointer}/{key}"),
        Segment::Unknown => pointer,
    })
}

#[track_caller]
fn check_all(value: &Value) -> usize {
    let checks: &[fn(&Value) -> bool] = &[
        check::<Point>,
        check::<External>,
        check::<Internal>,
        check::<Untagged>,
        check::<Flat>,
        check::<Unit>,
        check::<()>,
        check::<Even>,
        check::<Quoting>,
        check::<Readable>,
        check::<Ignorant>,
        check::<Vec<Even>>,
        check::<(i64, String)>,
        check::<Option<Vec<Option<bool>>>>,
        check::<BTreeMap<String, Point>>,
        check::<BTreeMap<u8, i64>>,
        check::<BTreeMap<i128, IgnoredAny>>,
        check::<BTreeMap<bool, Value>>,
        check::<BTreeMap<Letter, Value>>,
        check::<Vec<NonZeroU8>>,
        check::<(u128, i128)>,
        check::<f32>,
        check::<char>,
        check::<Box<RawValue>>,
        check::<BTreeMap<char, Box<RawValue>>>,
        check::<Value>,
    ];
    checks.iter().filter(|check| check(value)).count()
}

/// A key with a fixed set of values.
#[derive(Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "lowercase")]
enum Letter {
    A,
    B,
}

/// Values whose numbers a tree holds exactly, with the keys and variants of the types.
fn values() -> impl Strategy<Value = Value> {
    let key = prop_oneof![
        Just("a"),
        Just("b"),
        Just("x"),
        Just("1"),
        Just("-7"),
        Just("true"),
        Just("A"),
        Just("B"),
        Just("C"),
        Just("D"),
        Just("é")
    ];
    let text = prop_oneof![key.clone().prop_map(str::to_owned), "[a-z\"\\\\é]{0,3}"];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-3_i64..300).prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-3_i64..3).prop_map(|whole| json!(whole as f64 + 0.5)),
        text.prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((key.clone(), inner), 0..4)
                .prop_map(|entries| { entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect() }),
        ]
    })
}

proptest! {
    #![proptest_config(test_support::random(4_000))]

    #[test]
    fn an_approved_value_is_read_as_from_a_tree(value in values()) {
        check_all(&value);
    }
}

#[test]
fn what_only_a_tree_could_be_read_from_is_read() {
    for value in [
        json!([1, 2]),
        json!({ "a": 1, "b": 2 }),
        json!({ "D": { "a": { "D": { "a": { "B": 3 } } } } }),
        json!({ "a": "C", "1": [] }),
        json!({ "170141183460469231731687303715884105727": 1 }),
        json!([{ "a": 1 }, "no point", { "a": [] }, [3, 4], { "a": 1, "b": 2, "c": [[{}]] }, { "a": 5 }]),
        json!({ "a": { "raw": [1, "\\\"", null] } }),
        json!({ "a": [] , "b": 300 }),
    ] {
        assert!(check_all(&value) > 2, "{value}");
    }
}

#[test]
fn a_whole_float_is_an_integer_and_another_is_an_error() {
    let mut whole = Vec::new();
    let read = approved::<(i64, u128, f64)>(b"[1.0, 2e30, 3.0]", &mut whole);
    assert_eq!(read.unwrap(), (1, 2_000_000_000_000_000_000_000_000_000_000, 3.0));
    assert_eq!(whole, [1, 6]);

    let error = approved::<Vec<u8>>(b"[1, 2.5]", &mut whole).unwrap_err();
    assert_eq!(error.message, "invalid type: floating point `2.5`, expected u8");
    assert_eq!(error.pointer(b"[1, 2.5]"), "/1");
    assert_eq!(whole, [1, 6]);
}
