//! Values that match the schema and that their types reject.

use std::net::IpAddr;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use toolkit::{Dispatcher, catalog, tool};

/// A text with a rule that its schema lacks.
#[derive(Deserialize, JsonSchema)]
#[serde(try_from = "String")]
#[schemars(with = "String", example = "seat-1")]
#[allow(dead_code)]
struct Seat(String);

impl TryFrom<String> for Seat {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        if text.starts_with("seat-") { Ok(Self(text)) } else { Err(format!("{text} is no seat")) }
    }
}

#[derive(Deserialize, JsonSchema)]
#[allow(dead_code)]
struct Trip {
    on: chrono::NaiveDate,
    seats: Vec<Seat>,
}

/// Books a trip.
#[tool(namespace = "rejected")]
#[allow(unused_variables)]
fn book(from: IpAddr, id: uuid::Uuid, trip: Trip, back: Option<Trip>) {}

/// Books a seat whose schema has no example that its type reads.
#[derive(Deserialize, JsonSchema)]
#[serde(try_from = "String")]
#[schemars(with = "String")]
#[allow(dead_code)]
struct Hidden(String);

impl TryFrom<String> for Hidden {
    type Error = &'static str;

    fn try_from(_: String) -> Result<Self, &'static str> {
        Err("no text is accepted")
    }
}

/// Takes a value that is always rejected.
#[tool(namespace = "rejected")]
#[allow(unused_variables)]
fn always(a: Hidden, b: Hidden) {}

fn places(name: &str, arguments: serde_json::Value) -> Vec<String> {
    let dispatcher = Dispatcher::new(catalog![book, always].unwrap()).unwrap();
    let error = dispatcher.call_sync(name, arguments).unwrap_err();
    error.violations().iter().map(|violation| violation.pointer.clone()).collect()
}

#[test]
fn each_value_that_its_type_rejects_is_reported() {
    let bad = json!({ "on": "2026-02-30", "seats": ["seat-1", "chair", "seat-2", "bench"] });
    let found = places("book", json!({ "from": "here", "id": "7", "trip": bad, "back": bad }));
    let mut sorted = found.clone();
    sorted.sort();
    let expect =
        ["/back/on", "/back/seats/1", "/back/seats/3", "/from", "/id", "/trip/on", "/trip/seats/1", "/trip/seats/3"];
    assert_eq!(sorted, expect, "{found:?}");
}

#[test]
fn a_value_that_its_type_rejects_is_reported_beside_those_that_violate_the_schema() {
    let trip = json!({ "on": "2026-02-30", "seats": ["chair"] });
    let found = places("book", json!({ "from": "here", "id": 7, "trip": trip, "back": { "on": 1 }, "other": true }));
    let mut sorted = found.clone();
    sorted.sort();
    assert_eq!(sorted, found, "violations are sorted by their places");
    assert_eq!(found, ["/back/on", "/back/seats", "/from", "/id", "/other", "/trip/on", "/trip/seats/0"]);
}

#[test]
fn a_value_without_an_example_hides_no_other() {
    assert_eq!(places("always", json!({ "a": "x", "b": "y" })), ["/a", "/b"]);
}

#[test]
fn the_number_of_reported_values_is_bounded() {
    let id = "67e55044-10b1-426f-9247-bb680e5f0c8d";
    let seats: Vec<String> = (0..50).map(|n| format!("chair-{n}")).collect();
    let found = places("book", json!({ "from": "::1", "id": id, "trip": { "on": "2026-02-28", "seats": seats } }));
    assert_eq!(found.len(), 16);
}
