//! What holds for every type and every value.

use proptest::prelude::*;
use serde_json::{Value, json};
use toolkit_schema::{inline, portable, root, values};

use super::case::{hold, validator};
use super::zoo::zoo;

#[test]
fn whatever_serde_writes_the_closed_schema_accepts() {
    hold(&zoo(), |case| {
        let closed = validator(&case.closed);
        case.for_all(|written, _| {
            let refusals: Vec<_> = closed.iter_errors(&written).map(|e| e.to_string()).collect();
            prop_assert!(refusals.is_empty(), "{refusals:#?} in {written:#}");
            Ok(())
        })
    });
}

#[test]
fn whatever_serde_writes_the_listed_schema_accepts() {
    hold(&zoo(), |case| {
        let mut listed = case.closed.clone();
        root::list(&mut listed);
        let choices = ["allOf", "anyOf", "oneOf", "not", "enum", "const", "$ref"];
        if values::is_object(&case.closed) && choices.iter().any(|keyword| listed.get(keyword).is_some()) {
            return Err(format!("{}: {listed}", case.name));
        }
        let accepts = validator(&listed);
        case.for_all(|written, _| {
            prop_assert!(accepts.is_valid(&written), "{written:#} is not accepted by {listed:#}");
            Ok(())
        })
    });
}

#[test]
fn an_unknown_key_is_refused_wherever_the_type_is_not_open() {
    hold(&zoo(), |case| {
        let closed = validator(&case.closed);
        case.for_all(|written, _| {
            for place in places(&written) {
                if written.pointer(&place).is_some_and(Value::is_object) && !case.is_open(&place) {
                    let mut changed = written.clone();
                    changed.pointer_mut(&place).unwrap()["nobody knows"] = json!(1);
                    prop_assert!(!closed.is_valid(&changed), "accepted at {place:?}: {changed:#}");
                }
            }
            Ok(())
        })
    });
}

#[test]
fn rewriting_keeps_every_verdict_that_serde_shares() {
    hold(&zoo(), |case| {
        let mut portable = case.raw.clone();
        portable::make(&mut portable);
        let mut inlined = portable.clone();
        inline::inline(&mut inlined);
        let mut closed_inlined = case.closed.clone();
        inline::inline(&mut closed_inlined);
        let [raw, portable, inlined, closed, closed_inlined] =
            [&case.raw, &portable, &inlined, &case.closed, &closed_inlined].map(validator);
        case.for_all(|written, changes| {
            for value in [written.clone(), mutated(written, changes)] {
                let verdict = portable.is_valid(&value);
                // The bounds of an integer move from its format, which validators do not assert, into the schema.
                // A flattened `Option` hides the resulting errors of serde: an unreadable value is `None`.
                let hidden = case.name.starts_with("FlatOption");
                let tightened = !verdict && (hidden || !(case.serde_reads)(&value));
                prop_assert!(raw.is_valid(&value) == verdict || tightened, "portable: {value:#}");
                prop_assert_eq!(verdict, inlined.is_valid(&value), "inline: {:#}", value);
                let verdict = closed.is_valid(&value);
                prop_assert_eq!(verdict, closed_inlined.is_valid(&value), "closed: {:#}", value);
            }
            Ok(())
        })
    });
}

#[test]
fn what_a_closed_schema_accepts_the_open_one_accepts_too() {
    hold(&zoo(), |case| {
        let (raw, closed) = (validator(&case.raw), validator(&case.closed));
        case.for_all(|written, changes| {
            let value = mutated(written, changes);
            // Two open branches of a `oneOf` may both accept what only one of the closed branches does.
            let ambiguous = case.raw.to_string().contains("oneOf");
            let kept = !closed.is_valid(&value) || raw.is_valid(&value) || ambiguous;
            prop_assert!(kept, "{value:#}");
            Ok(())
        })
    });
}

/// The pointers of all values in `value`.
fn places(value: &Value) -> Vec<String> {
    let mut found = vec![String::new()];
    let mut inside = |key: &str, value: &Value| {
        let key = key.replace('~', "~0").replace('/', "~1");
        found.extend(places(value).into_iter().map(|p| format!("/{key}{p}")));
    };
    match value {
        Value::Object(map) => map.iter().for_each(|(k, v)| inside(k, v)),
        Value::Array(list) => list.iter().enumerate().for_each(|(i, v)| inside(&i.to_string(), v)),
        _ => {}
    }
    found
}

/// `value` with something changed, by which it may or may not become wrong.
fn mutated(mut value: Value, changes: &[u8]) -> Value {
    let all = places(&value);
    let place = value.pointer_mut(&all[usize::from(changes[0]) % all.len()]).unwrap();
    let others = [
        json!(null),
        json!(300),
        json!(-1),
        json!(2_147_483_648_i64),
        json!(1.5),
        json!("Red"),
        json!([]),
        json!({}),
        json!({ "x": 1 }),
        json!("Low"),
        json!(u64::MAX),
        json!([1, 2]),
        json!({ "type": "Unit" }),
    ];
    let other = others[usize::from(changes[1]) % others.len()].clone();
    match (place, changes[2] % 3) {
        (Value::Object(map), 0) if !map.is_empty() => {
            let key = map.keys().nth(usize::from(changes[3]) % map.len()).unwrap().clone();
            map.shift_remove(&key);
        }
        (Value::Object(map), 1) => {
            map.insert(["x", "type", "a", "other"][usize::from(changes[3]) % 4].to_owned(), other);
        }
        (Value::Array(list), 0) => {
            list.pop();
        }
        (Value::Array(list), 1) => list.push(other),
        (place, _) => *place = other,
    }
    value
}
