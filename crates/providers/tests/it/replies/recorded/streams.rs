//! Recorded streams, as events and as bytes in pieces of any size.

use std::collections::BTreeMap;

use serde_json::Value;
use test_support::replies::api;
use toolkit::catalog::ExportedNames;
use toolkit_providers::reply::Reply;

use super::echo::first_missing;
use super::exchange::{events, for_each_file, stream};

#[test]
fn a_stream_of_bytes_is_the_same_reply_as_its_events() {
    let mut n_streams: BTreeMap<&str, usize> = BTreeMap::new();
    for_each_file(|exchanges| {
        for exchange in exchanges.values().filter(|exchange| exchange.has_calls() && !exchange.is_whole()) {
            let Some(api) = api(exchange.api) else { continue };
            let (events, names) = (events(exchange.reply()), ExportedNames::default());
            let expected = stream(api, &events, &names).unwrap_or_else(|error| panic!("{}: {error}", exchange.name));
            let bytes: String = events.iter().map(|event| frame(exchange.api, event)).collect();
            // Short streams arrive byte by byte.
            let piece = if bytes.len() < 50_000 { 1 } else { 997 };
            let mut stream = api.stream(&names);
            for bytes in bytes.as_bytes().chunks(piece) {
                stream.push(bytes).unwrap();
            }
            let reply = stream.finish().unwrap();
            assert_eq!(parts(&reply), parts(&expected), "{}", exchange.name);
            *n_streams.entry(exchange.api).or_default() += 1;
        }
    });
    println!("{n_streams:?}");
    test_support::ran(n_streams.values().sum());
}

/// Returns the bytes of a recorded event of an API.
fn frame(api: &str, event: &Value) -> String {
    match api {
        "bedrock" | "ollama" => format!("{event}\n"),
        _ => format!("event: x\r\ndata: {event}\r\n\r\n"),
    }
}

#[test]
fn an_empty_event_changes_nothing_at_any_place_of_a_recorded_stream() {
    let mut n_places = 0;
    for_each_file(|exchanges| {
        for exchange in exchanges.values().filter(|exchange| exchange.has_calls() && !exchange.is_whole()) {
            let Some(api) = api(exchange.api) else { continue };
            let (events, names) = (events(exchange.reply()), ExportedNames::default());
            let expected = stream(api, &events, &names).unwrap_or_else(|error| panic!("{}: {error}", exchange.name));
            let empty = if matches!(exchange.api, "bedrock" | "ollama") { "\n" } else { "event: x\ndata:\n\n" };
            // One pass with an empty event at each place, since some streams have thousands of events.
            let mut stream = api.stream(&names);
            stream.push(empty.as_bytes()).unwrap();
            for event in &events {
                stream.push(frame(exchange.api, event).as_bytes()).unwrap();
                stream.push(empty.as_bytes()).unwrap();
            }
            assert_eq!(parts(&stream.finish().unwrap()), parts(&expected), "{}", exchange.name);
            n_places += events.len() + 1;
        }
    });
    test_support::ran(n_places);
}

/// The last event of a stream of Responses contains the complete reply.
#[test]
fn a_stream_of_responses_is_the_reply_of_its_last_event() {
    let (mut n_streams, mut others) = (0, Vec::new());
    for_each_file(|exchanges| {
        for exchange in exchanges.values().filter(|exchange| exchange.api == "responses" && !exchange.is_whole()) {
            let Some(api) = api(exchange.api) else { continue };
            let (events, names) = (events(exchange.reply()), ExportedNames::default());
            let last = events.last().filter(|event| event["type"] == "response.completed");
            // Some servers leave the items out.
            let Some(last) = last.filter(|event| event["response"]["output"] != Value::Array(Vec::new())) else {
                continue;
            };
            let expected = api.read(&last["response"], &names).unwrap();
            let reply = stream(api, &events, &names).unwrap();
            if let Some(place) = first_missing(&items(&expected), &items(&reply)) {
                others.push(format!("{}: {place}", exchange.name));
            }
            assert_eq!((reply.calls(), reply.text()), (expected.calls(), expected.text()), "{}", exchange.name);
            n_streams += 1;
        }
    });
    assert!(others.is_empty(), "{} of {n_streams} differ:\n{}", others.len(), others.join("\n"));
    test_support::ran(n_streams);
}

fn items(reply: &Reply) -> Value {
    let mut items = reply.messages().to_vec();
    for item in items.iter_mut().filter_map(Value::as_object_mut) {
        // Each event is encrypted with another key.
        item.shift_remove("encrypted_content");
    }
    items.into()
}

fn parts(reply: &Reply) -> (&[Value], &Value, &[toolkit_providers::reply::ToolCall], &str, String) {
    (reply.messages(), reply.metadata(), reply.calls(), reply.text(), reply.stop_reason().to_string())
}
