//! Optional fields that a server leaves out.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use toolkit::catalog::ExportedNames;
use toolkit_providers::reply::StopReason;

use super::{Outcome, Recorded, dispatcher, outcome, replies, stream};

/// The fields that make a value a reply, or a part of one: without them nothing of it is left. Ollama's `done`
/// distinguishes its replies from those of other APIs.
const REQUIRED: [&str; 27] = [
    "type",
    "event_type",
    "choices",
    "candidates",
    "output",
    "outputs",
    "steps",
    "message",
    "delta",
    "content",
    "parts",
    "content_block",
    "item",
    "step",
    "response",
    "interaction",
    "start",
    "text",
    "tool_calls",
    "function",
    "functionCall",
    "toolUse",
    "arguments",
    "args",
    "input",
    "partial_json",
    "done",
];

/// The types of the events of Bedrock, and the arguments of the calls.
const OTHERS: [&str; 8] = [
    "messageStart",
    "contentBlockStart",
    "contentBlockDelta",
    "contentBlockStop",
    "messageStop",
    "metadata",
    "thinking",
    "n",
];

fn add_fields(json: &Value, fields: &mut BTreeSet<String>) {
    match json {
        Value::Object(object) => object.iter().for_each(|(field, value)| {
            fields.insert(field.clone());
            add_fields(value, fields);
        }),
        Value::Array(items) => items.iter().for_each(|item| add_fields(item, fields)),
        _ => {}
    }
}

/// Replaces a field everywhere, or removes it.
fn replace(json: &mut Value, field: &str, with: Option<&Value>) {
    match json {
        Value::Object(object) => {
            match (object.get_mut(field), with) {
                (Some(value), Some(with)) => *value = with.clone(),
                (Some(_), None) => drop(object.shift_remove(field)),
                (None, _) => {}
            }
            object.values_mut().for_each(|value| replace(value, field, with));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| replace(item, field, with)),
        _ => {}
    }
}

/// Removes a field everywhere.
pub(in crate::replies) fn remove(json: &mut Value, field: &str) {
    replace(json, field, None);
}

impl Recorded {
    fn optional_fields(&self) -> BTreeSet<String> {
        let mut fields = BTreeSet::new();
        add_fields(&self.body, &mut fields);
        self.events.iter().for_each(|event| add_fields(event, &mut fields));
        fields.retain(|field| ![&REQUIRED[..], &OTHERS].concat().contains(&field.as_str()));
        fields
    }

    fn with(mut self, field: &str, value: Option<&Value>) -> Self {
        replace(&mut self.body, field, value);
        self.events.iter_mut().for_each(|event| replace(event, field, value));
        self
    }
}

#[test]
fn body_and_stream_agree_about_each_field_that_is_absent_or_null() {
    let (dispatcher, names) = dispatcher();
    let n_replies = replies::all().len();
    for number in 0..n_replies {
        let recorded = || replies::all().swap_remove(number);
        let fields = recorded().optional_fields();
        assert!(fields.len() > 5, "{}: {fields:?}", recorded().name);
        for field in &fields {
            for value in [None, Some(Value::Null)] {
                let changed = recorded().with(field, value.as_ref());
                let body = outcome(changed.read(&names), &dispatcher);
                let streamed = outcome(changed.stream(&names), &dispatcher);
                assert_eq!(body, streamed, "{} {field} {value:?}", changed.name);
            }
        }
    }
}

/// The fields with the position of the piece of an event.
const OF_PLACE: [&str; 6] =
    ["index", "output_index", "content_index", "contentBlockIndex", "item_id", "sequence_number"];

#[test]
fn any_single_event_may_lack_the_field_that_says_where_its_piece_belongs() {
    let (dispatcher, names) = dispatcher();
    for recorded in replies::all() {
        let expected = outcome(recorded.stream(&names), &dispatcher).unwrap();
        for (place, field) in (0..recorded.events.len()).flat_map(|place| OF_PLACE.map(|field| (place, field))) {
            let mut events = recorded.events.clone();
            replace(&mut events[place], field, None);
            let frames: Vec<String> = events.iter().map(|event| recorded.frame(event)).collect();
            let found = outcome(stream(recorded.api, &frames, &names), &dispatcher).unwrap();
            let parts = |outcome: Outcome| (outcome.text, outcome.calls, outcome.stop, outcome.ran);
            assert_eq!(parts(found), parts(expected.clone()), "{} {}", recorded.name, events[place]);
        }
    }
}

/// Returns the outcomes of both forms of each reply of an API without a field.
fn without(name: &str, field: &str, value: Option<&Value>, names: &ExportedNames) -> [Outcome; 2] {
    let recorded = replies::all().into_iter().find(|recorded| recorded.name == name).unwrap().with(field, value);
    let (dispatcher, _) = dispatcher();
    [recorded.read(names), recorded.stream(names)].map(|reply| outcome(reply, &dispatcher).unwrap())
}

#[test]
fn calls_run_without_an_end_where_servers_leave_it_out_and_the_stream_has_its_terminator() {
    let (_, names) = dispatcher();
    let optional = [
        ("chat", "finish_reason"),
        ("mistral", "finish_reason"),
        ("openrouter", "finish_reason"),
        ("ollama", "done_reason"),
        ("responses", "status"),
        ("responses of a gateway", "status"),
    ];
    for (name, field) in optional {
        for value in [None, Some(json!(null)), Some(json!(""))] {
            for outcome in without(name, field, value.as_ref(), &names) {
                assert_eq!((outcome.stop, outcome.ran), (StopReason::ToolCalls, vec![true, true]), "{name} {value:?}");
            }
        }
    }
}

#[test]
fn no_call_runs_without_an_end_where_the_api_requires_it() {
    let (_, names) = dispatcher();
    let required = [
        ("anthropic", "stop_reason"),
        ("bedrock", "stopReason"),
        ("cohere", "finish_reason"),
        ("gemini", "finishReason"),
        ("interactions", "status"),
    ];
    for (name, field) in required {
        for value in [None, Some(json!(null)), Some(json!(""))] {
            for outcome in without(name, field, value.as_ref(), &names) {
                assert_eq!(
                    (outcome.stop, outcome.ran),
                    (StopReason::Truncated, vec![false, false]),
                    "{name} {value:?}"
                );
            }
        }
    }
}

#[test]
fn calls_without_an_index_stay_apart() {
    let (_, names) = dispatcher();
    let fields = [
        ("anthropic", "index"),
        ("bedrock", "contentBlockIndex"),
        ("chat", "index"),
        ("cohere", "index"),
        ("conversations", "output_index"),
        ("conversations", "id"),
        ("interactions", "index"),
        ("ollama", "index"),
        ("responses", "output_index"),
        ("responses of a gateway", "output_index"),
    ];
    for (name, field) in fields {
        for outcome in without(name, field, None, &names) {
            assert_eq!((&*outcome.text, outcome.ran), ("I calculate.", vec![true, true]), "{name}");
        }
    }
}

/// The type of the last event states the end as well as the field.
#[test]
fn an_event_that_states_that_a_response_is_incomplete_or_failed_needs_no_status() {
    let (dispatcher, names) = dispatcher();
    let responses = || replies::all().into_iter().find(|recorded| recorded.name == "responses").unwrap();
    let failed = StopReason::Failed("the response failed".to_owned());
    for (kind, expected) in [("response.incomplete", StopReason::Truncated), ("response.failed", failed)] {
        for response in [json!(null), json!({}), responses().body] {
            let mut recorded = responses();
            let last = recorded.events.last_mut().unwrap();
            *last = json!({ "type": kind, "response": response });
            let outcome = outcome(recorded.with("status", None).stream(&names), &dispatcher).unwrap();
            assert_eq!((outcome.stop, outcome.ran), (expected.clone(), vec![false, false]), "{kind} {response}");
        }
    }
}

#[test]
fn the_arguments_of_a_call_stay_if_the_event_of_their_end_does_not_repeat_them() {
    let (dispatcher, names) = dispatcher();
    let mut recorded = replies::all().into_iter().find(|recorded| recorded.name == "responses of a gateway").unwrap();
    recorded.events.retain(|event| event["type"] != "response.output_item.done");
    for event in recorded.events.iter_mut().filter(|event| event["type"] == "response.function_call_arguments.done") {
        event.as_object_mut().unwrap().shift_remove("arguments");
    }
    let outcome = outcome(recorded.stream(&names), &dispatcher).unwrap();
    assert_eq!(outcome.ran, [true, true]);
}

/// Another choice is not the first one, also if neither has an index.
#[test]
fn the_first_of_several_choices_without_an_index_is_read_in_both_forms() {
    let (dispatcher, names) = dispatcher();
    let mut recorded = replies::all().into_iter().find(|recorded| recorded.name == "chat").unwrap();
    let add = |json: &mut Value| {
        let choices = json["choices"].as_array_mut().unwrap();
        let other = json!({ "index": 1, "delta": { "content": "No." }, "message": { "content": "No." } });
        choices.extend((!choices.is_empty()).then_some(other));
    };
    add(&mut recorded.body);
    recorded.events.iter_mut().for_each(add);
    let recorded = recorded.with("index", None);
    let body = outcome(recorded.read(&names), &dispatcher).unwrap();
    assert_eq!((&*body.text, &body.ran), ("I calculate.", &vec![true, true]));
    assert_eq!(Some(body), outcome(stream(recorded.api, &recorded.frames(), &names), &dispatcher));
}

#[test]
fn a_response_without_candidates_has_not_ended_in_either_form() {
    let (dispatcher, names) = dispatcher();
    let api = toolkit_providers::gemini::GENERATE_CONTENT;
    let empty = json!({ "usageMetadata": { "promptTokenCount": 3 }, "responseId": "r1" });
    let streamed = stream(api, &[format!("data: {empty}\n\n")], &names);
    for reply in [api.read(&empty, &names), streamed] {
        assert_eq!(outcome(reply, &dispatcher).unwrap().stop, StopReason::Truncated);
    }
}
