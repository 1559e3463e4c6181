//! The law of trimmed histories: the rest is a history that the API accepts.

use proptest::prelude::*;
use serde_json::{Value, json};
use toolkit_providers::reply::Api;
use toolkit_providers::request::Request;
use toolkit_providers::{anthropic, gemini, openai};

/// An event of a conversation.
#[derive(Clone, Debug)]
enum Event {
    User(usize),
    /// A reply with reasoning or a text, and a number of calls with their results.
    Reply {
        length: usize,
        n_calls: usize,
        has_reasoning: bool,
    },
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let event = prop_oneof![
        1 => (1_usize..60).prop_map(Event::User),
        3 => (1_usize..60, 0_usize..4, any::<bool>())
            .prop_map(|(length, n_calls, has_reasoning)| Event::Reply { length, n_calls, has_reasoning }),
    ];
    prop::collection::vec(event, 1..25)
}

/// Writes a conversation, which begins with the user, in the format of an API.
fn history(api: Api, events: &[Event]) -> Vec<Value> {
    let mut messages = Request::new(api, "model-1").user("Begin.").messages().to_vec();
    if api == openai::CHAT_COMPLETIONS {
        messages.insert(0, json!({ "role": "system", "content": "Be brief." }));
    }
    let mut n_calls_before = 0;
    for event in events {
        match event {
            Event::User(length) => {
                let text = "word ".repeat(*length);
                messages.extend_from_slice(Request::new(api, "model-1").user(&text).messages());
            }
            Event::Reply { length, n_calls, has_reasoning } => {
                let ids: Vec<String> = (0..*n_calls).map(|nth| format!("call_{}", n_calls_before + nth)).collect();
                n_calls_before += n_calls;
                messages.extend(reply(api, &"word ".repeat(*length), &ids, *has_reasoning));
            }
        }
    }
    messages
}

fn reply(api: Api, text: &str, ids: &[String], has_reasoning: bool) -> Vec<Value> {
    if api == openai::RESPONSES {
        let reasoning = has_reasoning.then(|| json!({ "type": "reasoning", "id": "rs_1", "summary": [] }));
        let message = json!({ "type": "message", "role": "assistant",
            "content": [{ "type": "output_text", "text": text }] });
        let call = |id: &String| json!({ "type": "function_call", "call_id": id, "name": "f", "arguments": "{}" });
        let output = |id: &String| json!({ "type": "function_call_output", "call_id": id, "output": text });
        let calls = ids.iter().map(call).chain(ids.iter().map(output));
        return reasoning.into_iter().chain([message]).chain(calls).collect();
    }
    let (reply, results) = if api == anthropic::MESSAGES {
        let thinking = has_reasoning.then(|| json!({ "type": "thinking", "thinking": "Hm.", "signature": "c2ln" }));
        let calls = ids.iter().map(|id| json!({ "type": "tool_use", "id": id, "name": "f", "input": {} }));
        let text_block = json!({ "type": "text", "text": text });
        let content: Vec<Value> = thinking.into_iter().chain([text_block]).chain(calls).collect();
        let results: Vec<Value> =
            ids.iter().map(|id| json!({ "type": "tool_result", "tool_use_id": id, "content": text })).collect();
        (json!({ "role": "assistant", "content": content }), vec![json!({ "role": "user", "content": results })])
    } else if api == gemini::GENERATE_CONTENT {
        let calls = ids.iter().map(|id| json!({ "functionCall": { "id": id, "name": "f", "args": {} } }));
        let parts: Vec<Value> = [json!({ "text": text })].into_iter().chain(calls).collect();
        let results: Vec<Value> =
            ids.iter().map(|id| json!({ "functionResponse": { "id": id, "name": "f", "response": {} } })).collect();
        (json!({ "role": "model", "parts": parts }), vec![json!({ "role": "user", "parts": results })])
    } else {
        let calls: Vec<Value> = ids
            .iter()
            .map(|id| json!({ "id": id, "type": "function", "function": { "name": "f", "arguments": "{}" } }))
            .collect();
        let results = ids.iter().map(|id| json!({ "role": "tool", "tool_call_id": id, "content": text })).collect();
        let mut message = json!({ "role": "assistant", "content": text });
        if !calls.is_empty() {
            message["tool_calls"] = calls.into();
        }
        (message, results)
    };
    if ids.is_empty() { vec![reply] } else { [reply].into_iter().chain(results).collect() }
}

/// Returns the number of messages and calls in which the id of each call occurs.
fn occurrences(messages: &[Value]) -> Vec<usize> {
    let text = Value::from(messages.to_vec()).to_string();
    (0..100).map(|nth| text.matches(&format!("\"call_{nth}\"")).count()).collect()
}

fn is_user(message: &Value) -> bool {
    let text = message.to_string();
    message["role"] == "user" && !text.contains("tool_result") && !text.contains("functionResponse")
}

/// Counts bytes.
fn bytes(text: &str) -> usize {
    text.len()
}

fn size(messages: &[Value]) -> usize {
    messages.iter().map(|message| message.to_string().len()).sum()
}

const APIS: [Api; 4] = [anthropic::MESSAGES, openai::RESPONSES, openai::CHAT_COMPLETIONS, gemini::GENERATE_CONTENT];

proptest! {
    #[test]
    fn a_trimmed_history_keeps_calls_with_results_and_reasoning_with_what_follows(
        events in events(),
        max in 0_usize..6000,
        api in prop::sample::select(APIS.to_vec()),
    ) {
        let messages = history(api, &events);
        let trimmed = Request::new(api, "model-1").history(messages.clone()).trim(max, &bytes);
        let trimmed = trimmed.messages();

        // Messages are removed, and neither changed nor moved.
        let mut rest = messages.iter();
        prop_assert!(trimmed.iter().all(|message| rest.any(|other| other == message)));
        // Each call has all its results or is gone with them.
        for (before, after) in occurrences(&messages).into_iter().zip(occurrences(trimmed)) {
            prop_assert!(after == 0 || after == before);
        }
        // A system message stays, and a message of the user comes first.
        let is_system = |message: &&Value| message["role"] == "system";
        prop_assert_eq!(messages.iter().filter(is_system).count(), trimmed.iter().filter(is_system).count());
        prop_assert!(trimmed.iter().find(|message| !is_system(message)).is_some_and(is_user));
        // Reasoning is before what followed it.
        for (place, message) in trimmed.iter().enumerate().filter(|(_, message)| message["type"] == "reasoning") {
            prop_assert_eq!(&trimmed[place + 1]["type"], "message", "{}", message);
        }
        // The last message and the last one of the user stay.
        prop_assert_eq!(trimmed.last(), messages.last());
        prop_assert!(trimmed.contains(messages.iter().rfind(|message| is_user(message)).unwrap()));
        // It fits, or only the last turn's last reply is left.
        if size(trimmed) > max {
            let n_of_user = trimmed.iter().filter(|message| is_user(message)).count();
            let last_user = trimmed.iter().rposition(is_user).unwrap();
            prop_assert!(trimmed[..=last_user].iter().all(|message| is_user(message) || is_system(&message)), "{n_of_user}");
        }
        // What fits is not trimmed, and trimming twice is trimming once.
        if size(&messages) <= max {
            prop_assert_eq!(trimmed, &messages[..]);
        }
        let again = Request::new(api, "model-1").history(trimmed.to_vec()).trim(max, &bytes);
        prop_assert_eq!(again.messages(), trimmed);
    }
}

#[test]
fn a_summary_of_the_provider_stays_as_it_came() {
    let summary = json!({ "type": "compaction", "id": "cmp_1", "encrypted_content": "gAAAA" });
    let long = |role: &str| json!({ "role": role, "content": "word ".repeat(50) });
    let messages = [long("user"), long("assistant"), long("user"), summary.clone(), long("user"), long("assistant")];
    let request = Request::new(openai::RESPONSES, "gpt").history(messages).trim(100, &bytes);
    assert_eq!(request.messages(), [long("user"), summary, long("user"), long("assistant")]);
}
