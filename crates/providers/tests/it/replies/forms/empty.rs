//! Events without content: heartbeats of servers and of proxies.

use serde_json::{Value, json};

use super::{dispatcher, outcome, replies, stream};

/// Frames of server-sent events without data, among them those of the standard that a browser does not dispatch.
const EVENTS: [&str; 13] = [
    "data:\n\n",
    "data: \n\n",
    "data\n\n",
    "data:\r\n\r\n",
    "data: \t \n\n",
    "data:\ndata:\n\n",
    "event: ping\n\n",
    "event: ping\ndata:\n\n",
    "id: 7\ndata:\n\n",
    ": keep-alive\n\n",
    "retry: 3000\n\n",
    "data: null\n\n",
    "data: {}\n\n",
];

/// Lines without an event.
const LINES: [&str; 6] = ["\n", "\r\n", " \t\n", "\n\n\n", "null\n", "{}\n"];

#[test]
fn an_event_without_content_changes_nothing_at_any_place_of_any_stream() {
    let (dispatcher, names) = dispatcher();
    for recorded in replies::all() {
        let frames = recorded.frames();
        let expected = outcome(stream(recorded.api, &frames, &names), &dispatcher).unwrap();
        for empty in if recorded.has_lines() { &LINES[..] } else { &EVENTS[..] } {
            for place in 0..=frames.len() {
                let mut frames = frames.clone();
                frames.insert(place, (*empty).to_owned());
                let found = stream(recorded.api, &frames, &names);
                let found = found.unwrap_or_else(|error| panic!("{} {empty:?} at {place}: {error}", recorded.name));
                assert_eq!(outcome(Ok(found), &dispatcher).as_ref(), Some(&expected), "{} {empty:?}", recorded.name);
            }
        }
    }
}

#[test]
fn an_event_without_content_that_another_reader_passes_on_changes_nothing() {
    let (dispatcher, names) = dispatcher();
    for recorded in replies::all() {
        let done = recorded.is_done.then(|| Value::from("[DONE]"));
        let events: Vec<Value> = recorded.events.iter().cloned().chain(done).collect();
        let expected = outcome(recorded.stream(&names), &dispatcher).unwrap();
        for empty in [Value::Null, json!({}), json!(""), json!("\n")] {
            for place in 0..=events.len() {
                let mut events = events.clone();
                events.insert(place, empty.clone());
                let mut stream = recorded.api.stream(&names);
                for event in events {
                    assert!(stream.push_event(event).is_ok(), "{} {empty} at {place}", recorded.name);
                }
                assert_eq!(
                    outcome(stream.finish(), &dispatcher).as_ref(),
                    Some(&expected),
                    "{} {empty}",
                    recorded.name
                );
            }
        }
    }
}

#[test]
fn a_stream_of_nothing_but_empty_events_has_no_reply() {
    let (_, names) = dispatcher();
    for recorded in replies::all() {
        let empty = if recorded.has_lines() { "\n" } else { "data:\n\n" };
        assert!(stream(recorded.api, &[empty.to_owned()], &names).is_err(), "{}", recorded.name);
    }
}
