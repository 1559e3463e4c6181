//! One reply in both forms of each API: the body of a response, and the events of its stream.
//!
//! The laws hold at every place of each of them: an empty event changes nothing, both forms agree about a field that is
//! absent, and nothing of a reply runs that was cut.

mod absent;
mod cut;
mod empty;
mod pieces;
mod replies;
mod shared;

pub(super) use self::absent::remove;
pub(super) use self::pieces::{empty_events, shown};
use serde_json::Value;
use toolkit::Context;
use toolkit::catalog::ExportedNames;
use toolkit::{Dispatcher, catalog, tool};
use toolkit_providers::reply::{Api, InvalidReply, Reply, StopReason, TokenUsage, ToolCall};

/// Doubles a number.
#[tool]
fn double(n: i64) -> i64 {
    n * 2
}

/// Negates a number.
#[tool]
fn negate(n: i64) -> i64 {
    -n
}

/// A reply with a text and two calls.
struct Recorded {
    /// Distinguishes replies of the same API.
    name: &'static str,
    api: Api,
    body: Value,
    events: Vec<Value>,
    /// True if the stream ends with `[DONE]`.
    is_done: bool,
}

impl Recorded {
    /// Returns the bytes of each event of the stream.
    fn frames(&self) -> Vec<String> {
        let done = self.is_done.then(|| "data: [DONE]\n\n".to_owned());
        self.events.iter().map(|event| self.frame(event)).chain(done).collect()
    }

    fn frame(&self, event: &Value) -> String {
        if self.has_lines() { format!("{event}\n") } else { format!("event: x\ndata: {event}\n\n") }
    }

    /// Returns true if each line of the stream is an event.
    fn has_lines(&self) -> bool {
        matches!(self.api.name(), "Bedrock Converse" | "Ollama")
    }

    fn read(&self, names: &ExportedNames) -> Result<Reply, InvalidReply> {
        self.api.read(&self.body, names)
    }

    fn stream(&self, names: &ExportedNames) -> Result<Reply, InvalidReply> {
        stream(self.api, &self.frames(), names)
    }
}

fn stream(api: Api, frames: &[String], names: &ExportedNames) -> Result<Reply, InvalidReply> {
    let mut stream = api.stream(names);
    for frame in frames {
        stream.push(frame.as_bytes())?;
    }
    stream.finish()
}

fn dispatcher() -> (Dispatcher, ExportedNames) {
    let catalog = catalog![double, negate].unwrap();
    let options = toolkit_providers::openai::Options::chat_completions();
    let names = toolkit_providers::openai::tools(&catalog, Default::default(), options).unwrap().names;
    (Dispatcher::new(catalog).unwrap(), names)
}

/// The steps of a host with a reply: it shows, counts, finds the end and the calls, runs them, and sends results back.
#[derive(Clone, Debug, PartialEq)]
struct Outcome {
    text: String,
    reasoning: String,
    usage: Option<TokenUsage>,
    messages: Vec<Value>,
    stop: StopReason,
    calls: Vec<ToolCall>,
    ran: Vec<bool>,
}

/// Returns the outcome of a reply; `None` if it cannot be read.
fn outcome(reply: Result<Reply, InvalidReply>, dispatcher: &Dispatcher) -> Option<Outcome> {
    let reply = reply.ok()?;
    let results = reply.run_sync(dispatcher, &Context::new());
    Some(Outcome {
        text: reply.text().to_owned(),
        reasoning: reply.reasoning().to_owned(),
        usage: reply.usage(),
        messages: reply.messages().iter().cloned().map(without_nulls).collect(),
        stop: reply.stop_reason().clone(),
        calls: reply.calls().to_vec(),
        ran: results.iter().map(|(_, result)| result.is_ok()).collect(),
    })
}

/// Removes what a stream does not repeat: null, and the constant `object` of an entry.
fn without_nulls(json: Value) -> Value {
    match json {
        Value::Object(fields) => {
            let fields = fields.into_iter().filter(|(_, value)| !value.is_null() && value != "entry");
            fields.map(|(name, value)| (name, without_nulls(value))).collect()
        }
        Value::Array(items) => items.into_iter().map(without_nulls).collect(),
        value => value,
    }
}

#[test]
fn both_forms_of_each_reply_run_both_calls() {
    let (dispatcher, names) = dispatcher();
    for recorded in replies::all() {
        let body = outcome(recorded.read(&names), &dispatcher);
        assert_eq!(body, outcome(recorded.stream(&names), &dispatcher), "{}", recorded.name);
        let body = body.unwrap();
        assert_eq!((body.stop, body.ran), (StopReason::ToolCalls, vec![true, true]), "{}", recorded.name);
        assert_eq!(body.text, "I calculate.", "{}", recorded.name);
    }
}
