//! Arguments of any name: a parameter that is the whole input, or all of it that other parameters do not name.

use std::collections::{BTreeMap, HashMap};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use toolkit::{Dispatcher, catalog, tool};

#[derive(Serialize, Deserialize, JsonSchema)]
struct Record {
    #[serde(flatten)]
    fields: Map<String, Value>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Query {
    text: String,
}

/// Declares one tool per type, which takes a value of it as the whole input and gives it back.
macro_rules! echoes {
    ($($name:ident: $ty:ty;)*) => {
        $(
            /// Gives back what it was given.
            #[tool(namespace = "free")]
            fn $name(#[serde(flatten)] input: $ty) -> Value {
                serde_json::to_value(&input).expect("it was read from JSON")
            }
        )*

        fn echoes() -> Dispatcher {
            Dispatcher::new(catalog![$($name),*].expect("each of them is a tool")).unwrap()
        }
    };
}

echoes! {
    any: Map<String, Value>;
    value: Value;
    texts: HashMap<String, String>;
    by_number: BTreeMap<u32, u8>;
    record: Record;
    query: Query;
}

#[test]
fn a_flattened_parameter_is_the_whole_input() {
    let dispatcher = echoes();
    dispatcher.catalog().check(Default::default()).unwrap();
    for (name, arguments) in [
        ("any", json!({ "a": 1, "b": [null] })),
        ("any", json!({})),
        ("value", json!({ "a": { "b": 2.5 } })),
        ("texts", json!({ "a": "b" })),
        ("by_number", json!({ "7": 8 })),
        ("record", json!({ "a": [1] })),
        ("query", json!({ "text": "a" })),
    ] {
        assert_eq!(dispatcher.call_sync(name, arguments.to_string()).unwrap().value(), arguments, "{name}");
        assert_eq!(dispatcher.call_sync(name, &arguments).unwrap().value(), arguments, "{name}");
    }
}

#[test]
fn the_values_of_a_flattened_map_are_validated() {
    let dispatcher = echoes();
    for (name, arguments, place) in [
        ("texts", json!({ "a": "b", "c": 1 }), "/c"),
        ("by_number", json!({ "7": 300 }), "/7"),
        ("by_number", json!({ "seven": 1 }), "/seven"),
        ("query", json!({ "text": "a", "other": 1 }), "/other"),
    ] {
        let error = dispatcher.call_sync(name, arguments).unwrap_err();
        assert_eq!(error.violations()[0].pointer, place, "{name}");
    }
    assert!(dispatcher.call_sync("value", "[1]").is_err(), "arguments are an object");
}

/// Describes a record.
#[tool(namespace = "free")]
fn describe(
    name: String,
    /// The fields of the record.
    #[serde(flatten)]
    rest: HashMap<String, u32>,
) -> String {
    format!("{name}: {}", rest.values().sum::<u32>())
}

/// Counts the fields of a record.
#[tool(namespace = "free")]
fn count(
    /// The record, by the names of its fields.
    #[serde(flatten)]
    record: Map<String, Value>,
) -> usize {
    record.len()
}

#[test]
fn a_flattened_parameter_beside_others_has_the_properties_that_they_do_not_name() {
    let dispatcher = Dispatcher::new(catalog![describe].unwrap()).unwrap();
    let sum = dispatcher.call_sync("describe", r#"{"name": "total", "a": 1, "b": 2}"#).unwrap();
    assert_eq!(sum.value(), "total: 3");
    let error = dispatcher.call_sync("describe", r#"{"a": "1"}"#).unwrap_err();
    let places: Vec<&str> = error.violations().iter().map(|violation| &*violation.pointer).collect();
    assert_eq!(places, ["/a", "/name"]);
}

#[test]
fn the_doc_comment_of_the_whole_input_describes_its_schema() {
    let schema = catalog![count].unwrap().resolve("count").unwrap().input().as_value().clone();
    let expect = json!({
        "type": "object",
        "additionalProperties": true,
        "description": "The record, by the names of its fields.",
    });
    assert_eq!(schema, expect);
}
