//! Enums that a property of an object distinguishes.

#![expect(dead_code, reason = "the fields are printed")]

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use toolkit::{Coercion, Dispatcher, catalog, tool};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(tag = "op", rename_all = "snake_case")]
enum Action {
    #[serde(alias = "plus", alias = "sum")]
    Add { number: i64 },
    #[serde(alias = "clean")]
    Clear,
    #[serde(alias = "empty")]
    Reset,
    #[serde(alias = "cut")]
    Trim { at: Option<u8> },
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(tag = "kind")]
enum Event {
    #[serde(alias = "Insert")]
    Added { id: u8 },
    #[serde(other)]
    Unknown,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(tag = "t", content = "c")]
enum Part {
    #[serde(alias = "txt")]
    Text(String),
    #[serde(alias = "pos")]
    Place(Spot),
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Spot {
    #[serde(alias = "x_pos")]
    x: u8,
}

/// Takes one action.
#[tool(namespace = "tags")]
fn act(action: Action) -> String {
    format!("{action:?}")
}

/// Takes tagged values inside others.
#[tool(namespace = "tags")]
fn inside(
    #[serde(flatten)] action: Action,
    #[serde(default)] events: Vec<Event>,
    #[serde(default)] part: Option<Part>,
) -> String {
    format!("{action:?} {events:?} {part:?}")
}

#[test]
fn aliases_and_other_names_of_tagged_enums_are_accepted_and_no_model_reads_them() {
    let catalog = catalog![act, inside].unwrap();
    catalog.check(Default::default()).unwrap();
    let dispatcher = Dispatcher::builder(catalog.clone()).coercion(Coercion::Off).build().unwrap();
    for (tool, arguments, expect) in [
        ("act", json!({ "op": "add", "number": 1 }), "Add { number: 1 }"),
        ("act", json!({ "op": "sum", "number": 1 }), "Add { number: 1 }"),
        ("act", json!({ "number": 1, "op": "plus" }), "Add { number: 1 }"),
        ("act", json!({ "op": "clean" }), "Clear"),
        ("act", json!({ "op": "empty" }), "Reset"),
        ("act", json!({ "op": "cut", "at": 3 }), "Trim { at: Some(3) }"),
        ("inside", json!({ "op": "sum", "number": 2 }), "Add { number: 2 } [] None"),
        (
            "inside",
            json!({ "op": "clear", "events": [{ "kind": "Insert", "id": 1 }, { "kind": "Gone", "why": [1] }] }),
            "Clear [Added { id: 1 }, Unknown] None",
        ),
        ("inside", json!({ "op": "clear", "part": { "t": "txt", "c": "a" } }), "Clear [] Some(Text(\"a\"))"),
        (
            "inside",
            json!({ "op": "clear", "part": { "t": "pos", "c": { "x_pos": 4 } } }),
            "Clear [] Some(Place(Spot { x: 4 }))",
        ),
    ] {
        let result = dispatcher.call_sync(tool, arguments.to_string());
        assert_eq!(result.unwrap().value(), expect, "{arguments}");
    }
    for (tool, arguments) in [
        ("act", json!({ "op": "sum", "number": "one" })),
        ("act", json!({ "op": "clean", "number": 1 })),
        ("act", json!({ "op": "other" })),
        ("inside", json!({ "op": "clear", "events": [{ "kind": "Added" }] })),
        ("inside", json!({ "op": "clear", "part": { "t": "text", "c": "a" } })),
    ] {
        let error = dispatcher.call_sync(tool, arguments.to_string()).unwrap_err();
        assert_eq!(error.violations().len(), 1, "{arguments}: {error}");
    }
    for tool in &catalog {
        assert_eq!(tool.explored().unlisted, [], "{}", tool.id());
        let mut listed = tool.input().as_value().clone();
        toolkit::schema::root::list(&mut listed);
        let listed = listed.to_string();
        for hidden in ["plus", "sum", "clean", "cut", "Insert", "txt", "x_pos", "Any other", "Alias"] {
            assert!(!listed.contains(hidden), "{hidden}: {listed}");
        }
    }
}
