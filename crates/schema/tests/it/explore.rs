//! Inputs that a type reads and its derived schema lacks.

use std::collections::{BTreeMap, HashMap};

use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use toolkit_schema::explore::{Explored, completed, explore, reads};
use toolkit_schema::plan::{Plan, ProbeOutcome, discard};
use toolkit_schema::{Schema, generate};

fn probe<T: DeserializeOwned>(front: &[u8]) -> ProbeOutcome {
    Plan::probe(front, None, &mut discard::<T>)
}

fn found<T: DeserializeOwned + JsonSchema>() -> Explored {
    explore(&generate::input::<T>(), &probe::<T>)
}

/// Returns the schema with what the type reads, after it was checked with values that the type reads, and others.
fn checked<T: DeserializeOwned + JsonSchema>(read: &[Value], others: &[Value]) -> Value {
    let schema = completed(generate::input::<T>(), &probe::<T>);
    let compiled = Schema::from_value(schema.clone()).expect("a schema");
    for (values, is_read) in [(read, true), (others, false)] {
        for value in values {
            assert_eq!(serde_json::from_value::<T>(value.clone()).is_ok(), is_read, "{value}");
            assert_eq!(reads(&value.to_string(), &probe::<T>), is_read, "{value}");
            assert_eq!(compiled.is_valid(value), is_read, "{value} for {schema:#}");
        }
    }
    schema
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only what is read is looked at")]
struct Place {
    #[serde(alias = "town", alias = "village")]
    city: String,
    #[serde(default, alias = "no")]
    number: Option<u8>,
}

#[test]
fn aliases_of_fields_are_accepted_at_any_depth() {
    let schema = checked::<Place>(
        &[json!({ "city": "a" }), json!({ "town": "a" }), json!({ "village": "a", "no": 1 })],
        &[
            json!({}),
            json!({ "town": "a", "city": "a" }),
            json!({ "town": "a", "no": 1, "number": 1 }),
            json!({ "town": 1 }),
        ],
    );
    let names: Vec<_> = schema["properties"].as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(names, ["city", "number", "town", "village", "no"]);

    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only what is read is looked at")]
    struct Route {
        #[serde(alias = "via")]
        stops: Vec<Place>,
        named: HashMap<String, (u8, Place)>,
    }
    let place = json!({ "town": "a" });
    checked::<Route>(
        &[json!({ "stops": [place], "named": {} }), json!({ "via": [], "named": { "a": [1, place] } })],
        &[json!({ "stops": [{ "twon": "a" }], "named": {} }), json!({ "stops": [], "named": { "a": [1, {}] } })],
    );
}

#[test]
fn aliases_of_variants_and_other_variants_are_accepted() {
    #[derive(Deserialize, JsonSchema)]
    enum Size {
        #[serde(alias = "S", alias = "tiny")]
        Small,
        Large,
    }
    checked::<Vec<Size>>(&[json!(["Small", "S", "tiny", "Large"])], &[json!(["L"]), json!([1])]);

    #[derive(Deserialize, JsonSchema)]
    enum Level {
        Low,
        #[serde(other)]
        Other,
    }
    checked::<Vec<Level>>(&[json!(["Low", "Other", "whatever"])], &[json!([1])]);

    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only what is read is looked at")]
    enum Shape {
        #[serde(alias = "disc")]
        Circle {
            #[serde(alias = "r")]
            radius: u8,
        },
        Square(u8),
    }
    checked::<Shape>(
        &[json!({ "disc": { "r": 1 } }), json!({ "Circle": { "radius": 1 } }), json!({ "Square": 2 })],
        &[json!({ "disk": { "r": 1 } }), json!({ "disc": { "x": 1 } }), json!({ "square": 2 })],
    );

    #[derive(Deserialize, JsonSchema)]
    #[serde(tag = "kind")]
    #[expect(dead_code, reason = "only what is read is looked at")]
    enum Tagged {
        #[serde(alias = "A")]
        First {
            n: u8,
        },
        Second,
    }
    checked::<Tagged>(
        &[json!({ "kind": "A", "n": 1 }), json!({ "kind": "First", "n": 1 }), json!({ "kind": "Second" })],
        &[json!({ "kind": "A" }), json!({ "kind": "B" }), json!({ "n": 1 })],
    );

    #[derive(Deserialize, JsonSchema)]
    #[serde(tag = "kind")]
    #[expect(dead_code, reason = "only what is read is looked at")]
    enum Open {
        First {
            n: u8,
        },
        #[serde(other)]
        Rest,
    }
    checked::<Open>(
        &[json!({ "kind": "First", "n": 1 }), json!({ "kind": "Rest" }), json!({ "kind": "more", "m": 1 })],
        &[json!({ "kind": "First" }), json!({ "kind": 1 }), json!({})],
    );
}

#[test]
fn a_map_whose_keys_no_text_is_has_its_place() {
    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only what is read is looked at")]
    struct Maps {
        texts: BTreeMap<String, u8>,
        numbers: BTreeMap<u8, u8>,
        pairs: BTreeMap<(u8, u8), u8>,
        inner: Vec<BTreeMap<Option<Vec<u8>>, u8>>,
    }
    assert_eq!(found::<Maps>().impossible_maps, ["/pairs", "/inner/0"]);
    assert!(found::<Place>().impossible_maps.is_empty() && found::<Place>().unlisted.is_empty());
}
