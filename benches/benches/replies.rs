//! A model's reply in, tool results out, compared to the same work with types of serde for exactly this reply.
//!
//! The typed program reads the reply, calls the functions without any check, and writes the results. It repeats nothing
//! of the reply, and it knows the shape of one provider. The calls are of a tool with 300 bytes of arguments, and of one
//! with 15.

use std::hint::black_box;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use toolkit::catalog::{ExportedNames, Naming};
use toolkit::{Context, Dispatcher, catalog, tool};
use toolkit_benches::allocations::Counting;
use toolkit_benches::measure::Table;
use toolkit_plot::results::Recorder;
use toolkit_providers::anthropic::{MESSAGES, Options, tools};
use toolkit_providers::openai::RESPONSES;
use toolkit_providers::reply::Api;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Adds two integers.
#[tool(namespace = "math")]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

/// Books a seat.
#[tool(namespace = "rail")]
fn book(from: String, to: String, date: String, seats: Vec<u32>, note: String) -> String {
    black_box((&date, &note));
    format!("{} seats from {from} to {to}", seats.len())
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    content: Vec<Block<'a>>,
}

#[derive(Deserialize)]
struct Block<'a> {
    r#type: &'a str,
    #[serde(default)]
    id: String,
    #[serde(default)]
    name: String,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Response {
    output: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    r#type: String,
    #[serde(default)]
    call_id: String,
    #[serde(default)]
    name: String,
    #[serde(default)]
    arguments: String,
}

/// The arguments of a tool, which the typed program knows.
trait Arguments: DeserializeOwned {
    /// The name that the model calls.
    const NAME: &str;

    fn example() -> Value;

    /// Calls the function.
    fn run(self) -> String;
}

#[derive(Deserialize)]
struct Terms {
    a: i64,
    b: i64,
}

impl Arguments for Terms {
    const NAME: &str = "math_add";

    fn example() -> Value {
        json!({ "a": 17, "b": 25 })
    }

    fn run(self) -> String {
        add(self.a, self.b).to_string()
    }
}

#[derive(Deserialize)]
struct Booking {
    from: String,
    to: String,
    date: String,
    seats: Vec<u32>,
    note: String,
}

impl Arguments for Booking {
    const NAME: &str = "rail_book";

    fn example() -> Value {
        let note = "A window seat near the restaurant car, please, and a place for a bicycle. ".repeat(3);
        json!({ "from": "Zürich", "to": "Lugano", "date": "2026-11-23", "seats": [1, 2, 3], "note": note })
    }

    fn run(self) -> String {
        let Self { from, to, date, seats, note } = self;
        book(from, to, date, seats, note)
    }
}

#[derive(Serialize)]
struct Results {
    role: &'static str,
    content: Vec<ToolResult>,
}

#[derive(Serialize)]
struct ToolResult {
    r#type: &'static str,
    tool_use_id: String,
    content: String,
}

#[derive(Serialize)]
struct Output {
    r#type: &'static str,
    call_id: String,
    output: String,
}

fn main() -> std::io::Result<()> {
    let mut recorder = Recorder::new("cargo bench -p toolkit-benches --bench replies");
    let dispatcher = Dispatcher::new(catalog![add, book].expect("the names differ")).expect("no state is needed");
    let export = tools(dispatcher.catalog(), Naming::default(), Options::default()).expect("the names are portable");
    for n_calls in [1, 4, 16] {
        measure::<Booking>(&mut recorder, n_calls, &dispatcher, &export.names);
        measure::<Terms>(&mut recorder, n_calls, &dispatcher, &export.names);
    }
    recorder.finish()
}

/// Measures replies of both providers with that many calls of one tool.
fn measure<A: Arguments>(recorder: &mut Recorder, n_calls: usize, dispatcher: &Dispatcher, names: &ExportedNames) {
    let title = |api: &str| format!("{api}, calls of `{}`: {n_calls}", A::NAME);
    let message = message::<A>(n_calls);
    print(
        recorder,
        title("Anthropic"),
        &message,
        || anthropic_typed::<A>(&message),
        || respond(MESSAGES, &message, dispatcher, names),
    );
    let response = response::<A>(n_calls);
    print(
        recorder,
        title("Responses"),
        &response,
        || responses_typed::<A>(&response),
        || respond(RESPONSES, &response, dispatcher, names),
    );
}

fn print(
    recorder: &mut Recorder,
    title: String,
    reply: &[u8],
    typed: impl Fn() -> Vec<u8>,
    ours: impl Fn() -> Vec<u8>,
) {
    let tree = |json: &[u8]| serde_json::from_slice::<Value>(json).expect("it is JSON");
    assert_eq!(tree(&typed()), tree(&ours()), "both do the same");
    let mut table = Table::new(title);
    table.row("typed serde", "nothing", typed);
    table.row("a JSON tree of the reply", "nothing", || tree(black_box(reply)));
    table.row("`toolkit`", "in and out", ours);
    table.measure().report(recorder);
}

fn respond(api: Api, reply: &[u8], dispatcher: &Dispatcher, names: &ExportedNames) -> Vec<u8> {
    let reply = api.read(black_box(reply), names).expect("it is a reply");
    let results = reply.run_sync(dispatcher, &Context::new());
    serde_json::to_vec(&results.messages().expect("all calls are answered")).expect("it is JSON")
}

fn anthropic_typed<A: Arguments>(reply: &[u8]) -> Vec<u8> {
    let message: Message<'_> = serde_json::from_slice(black_box(reply)).expect("it is a message");
    let calls = message.content.into_iter().filter(|block| block.r#type == "tool_use");
    let content = calls.map(|block| {
        let arguments = serde_json::from_str(block.input.map_or("{}", RawValue::get)).expect("the arguments fit");
        ToolResult { r#type: "tool_result", tool_use_id: block.id, content: run::<A>(&block.name, arguments) }
    });
    let results = Results { role: "user", content: content.collect() };
    serde_json::to_vec(&[results]).expect("it is JSON")
}

fn responses_typed<A: Arguments>(reply: &[u8]) -> Vec<u8> {
    let response: Response = serde_json::from_slice(black_box(reply)).expect("it is a response");
    let calls = response.output.into_iter().filter(|item| item.r#type == "function_call");
    let outputs = calls.map(|item| {
        let arguments = serde_json::from_str(&item.arguments).expect("the arguments fit");
        Output { r#type: "function_call_output", call_id: item.call_id, output: run::<A>(&item.name, arguments) }
    });
    serde_json::to_vec(&outputs.collect::<Vec<Output>>()).expect("it is JSON")
}

fn run<A: Arguments>(name: &str, arguments: A) -> String {
    assert_eq!(name, A::NAME);
    arguments.run()
}

fn message<A: Arguments>(n_calls: usize) -> Vec<u8> {
    let thinking =
        json!({ "type": "thinking", "thinking": "The user wants seats. ".repeat(20), "signature": "EqQB".repeat(50) });
    let text = json!({ "type": "text", "text": "I will book the seats now." });
    let call = |n| json!({ "type": "tool_use", "id": format!("toolu_{n}"), "name": A::NAME, "input": A::example() });
    let content: Vec<Value> = [thinking, text].into_iter().chain((0..n_calls).map(call)).collect();
    let usage = json!({ "input_tokens": 812, "output_tokens": 311, "cache_read_input_tokens": 0 });
    let message = json!({ "id": "msg_1", "type": "message", "role": "assistant", "model": "claude", "content": content,
        "stop_reason": "tool_use", "stop_sequence": null, "usage": usage });
    serde_json::to_vec(&message).expect("it is JSON")
}

fn response<A: Arguments>(n_calls: usize) -> Vec<u8> {
    let reasoning =
        json!({ "type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA".repeat(100) });
    let text = json!({ "type": "output_text", "text": "I will book the seats now.", "annotations": [] });
    let message = json!({ "type": "message", "id": "msg_1", "role": "assistant", "content": [text] });
    let call = |n| {
        json!({ "type": "function_call", "id": format!("fc_{n}"), "call_id": format!("call_{n}"), "name": A::NAME,
            "arguments": A::example().to_string(), "status": "completed" })
    };
    let output: Vec<Value> = [reasoning, message].into_iter().chain((0..n_calls).map(call)).collect();
    let response = json!({ "id": "resp_1", "object": "response", "status": "completed", "model": "gpt", "output": output,
        "error": null, "incomplete_details": null, "usage": { "input_tokens": 812, "output_tokens": 311 } });
    serde_json::to_vec(&response).expect("it is JSON")
}
