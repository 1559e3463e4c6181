//! Calls with lists, objects, numbers and booleans as JSON text, and with one value for a list of it.

use serde_json::{Value, json};
use test_support::block_on;
use toolkit::catalog::Naming;
use toolkit::{Coercion, Context, Dispatcher, catalog, tool};
use toolkit_providers::reply::{Api, Reply};
use toolkit_providers::{Export, anthropic, gemini, ollama, openai};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Item {
    sku: String,
    count: u8,
}

/// Orders items.
#[tool]
fn order(items: Vec<Item>, express: bool) -> String {
    let items: Vec<String> = items.iter().map(|item| format!("{} {}", item.count, item.sku)).collect();
    format!("{} {express}", items.join(", "))
}

fn dispatcher(coercion: Option<Coercion>) -> Dispatcher {
    let builder = Dispatcher::builder(catalog![order].unwrap());
    coercion.into_iter().fold(builder, toolkit::dispatch::DispatcherBuilder::coercion).build().unwrap()
}

/// The arguments of a call, as a client sends them.
fn sent() -> Value {
    json!({ "items": json!({ "sku": "7", "count": "2" }).to_string(), "express": "true" })
}

const ORDERED: &str = "2 7 true";

/// Returns each API with its export, a body with the call, and the same as events of a stream.
fn replies() -> Vec<(Api, Export, Value, Vec<Value>)> {
    let dispatcher = dispatcher(None);
    let (tools, naming) = (dispatcher.catalog(), Naming::default());
    let text = sent().to_string();
    let (first, second) = text.split_at(20);

    let block = json!({ "type": "tool_use", "id": "toolu_1", "name": "order", "input": sent() });
    let delta = |part: &str| json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "input_json_delta", "partial_json": part } });
    let message = json!({ "id": "msg_1", "type": "message", "role": "assistant", "content": [], "stop_reason": null });
    let empty = json!({ "type": "tool_use", "id": "toolu_1", "name": "order", "input": {} });
    let anthropic = (
        anthropic::MESSAGES,
        anthropic::tools(tools, naming, anthropic::Options::default()).unwrap(),
        json!({ "content": [block], "stop_reason": "tool_use" }),
        vec![
            json!({ "type": "message_start", "message": message }),
            json!({ "type": "content_block_start", "index": 0, "content_block": empty }),
            delta(first),
            delta(second),
            json!({ "type": "content_block_stop", "index": 0 }),
            json!({ "type": "message_delta", "delta": { "stop_reason": "tool_use" } }),
            json!({ "type": "message_stop" }),
        ],
    );

    let function = |id: Option<&str>, arguments: &str| {
        let name = id.map(|_| "order");
        json!({ "index": 0, "id": id, "type": "function", "function": { "name": name, "arguments": arguments } })
    };
    let chunk = |delta: Value, reason: Option<&str>| json!({ "object": "chat.completion.chunk", "choices": [{ "index": 0, "delta": delta, "finish_reason": reason }] });
    let chat = (
        openai::CHAT_COMPLETIONS,
        openai::tools(tools, naming, openai::Options::chat_completions()).unwrap(),
        json!({ "choices": [{ "index": 0, "finish_reason": "tool_calls",
            "message": { "role": "assistant", "content": null, "tool_calls": [function(Some("call_1"), &text)] } }] }),
        vec![
            chunk(json!({ "role": "assistant", "tool_calls": [function(Some("call_1"), first)] }), None),
            chunk(json!({ "tool_calls": [function(None, second)] }), None),
            chunk(json!({}), Some("tool_calls")),
        ],
    );

    let candidate = json!({ "content": { "role": "model",
        "parts": [{ "functionCall": { "name": "order", "args": sent() } }] }, "finishReason": "STOP", "index": 0 });
    let gemini = (
        gemini::GENERATE_CONTENT,
        gemini::tools(tools, naming, gemini::Options::default()).unwrap(),
        json!({ "candidates": [candidate] }),
        vec![json!({ "candidates": [candidate] })],
    );

    let called = json!({ "role": "assistant", "content": "",
        "tool_calls": [{ "function": { "name": "order", "arguments": sent() } }] });
    let ollama = (
        ollama::CHAT,
        openai::tools(tools, naming, openai::Options::chat_completions()).unwrap(),
        json!({ "model": "m", "message": called, "done": true, "done_reason": "stop" }),
        vec![
            json!({ "model": "m", "message": called, "done": false }),
            json!({ "model": "m", "message": { "role": "assistant", "content": "" }, "done": true, "done_reason": "stop" }),
        ],
    );
    vec![anthropic, chat, gemini, ollama]
}

fn streamed(api: Api, export: &Export, events: Vec<Value>) -> Reply {
    let mut stream = api.stream(&export.names);
    for event in events {
        stream.push_event(event).unwrap();
    }
    stream.finish().unwrap()
}

#[test]
fn calls_of_models_have_json_text_and_single_values_in_whole_and_in_streamed_replies() {
    for (api, export, body, events) in replies() {
        let turn = block_on(api.respond(&dispatcher(None), &export, body)).unwrap();
        let streamed = streamed(api, &export, events);
        let run_sync = streamed.run_sync(&dispatcher(None), &Context::new());
        let run = block_on(streamed.run(&dispatcher(None)));
        for results in [&turn.results, &run_sync, &run] {
            let outcomes: Vec<_> = results.iter().map(|(_, outcome)| outcome.as_ref().unwrap()).collect();
            assert_eq!((outcomes.len(), outcomes[0].value()), (1, json!(ORDERED)), "{api:?}");
            let changes: Vec<String> = outcomes[0].changes().iter().map(ToString::to_string).collect();
            assert_eq!(
                changes,
                [
                    "/express: text read as a boolean",
                    "/items: taken as a list of one",
                    "/items/0: text read as an object",
                    "/items/0/count: text read as an integer",
                ],
                "{api:?}"
            );
        }
    }
}

#[test]
fn one_setting_of_the_dispatcher_makes_replies_strict() {
    for (api, export, body, _) in replies() {
        for coercion in [Coercion::Off, Coercion::NullAsAbsent] {
            let turn = block_on(api.respond(&dispatcher(Some(coercion)), &export, body.clone())).unwrap();
            let errors: Vec<String> =
                turn.results.iter().map(|(_, outcome)| outcome.as_ref().unwrap_err().to_string()).collect();
            assert!(errors[0].contains("/items must be an array"), "{errors:?}");
        }
    }
}
