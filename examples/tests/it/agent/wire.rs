//! An API as its provider documents it: what a request must contain, and the bytes of a reply.

use serde_json::Value;
use toolkit::Catalog;
use toolkit::catalog::Naming;
use toolkit_examples as _;

use super::script::Turn;
use super::{anthropic, bedrock, chat, cohere, conversations, gemini, interactions, ollama, openai};

pub(crate) const WIRES: [&Wire; 10] = [
    &anthropic::MESSAGES,
    &openai::RESPONSES,
    &chat::CHAT_COMPLETIONS,
    &gemini::GENERATE_CONTENT,
    &bedrock::CONVERSE,
    &chat::MISTRAL,
    &ollama::CHAT,
    &cohere::CHAT,
    &conversations::CONVERSATIONS,
    &interactions::INTERACTIONS,
];

/// The question of each test.
pub(crate) const QUESTION: &str = "What are 2 + 3 and 2 + 4?";

/// The key that each server accepts.
pub(crate) const KEY: &str = "key-of-the-test";

/// The model in each request.
pub(crate) const MODEL: &str = "model-1";

pub(crate) struct Wire {
    /// The value of `--api`.
    pub(crate) api: &'static str,
    /// The target of a request.
    pub(crate) path: &'static str,
    /// The environment variable of the key.
    pub(crate) key: Option<&'static str>,
    /// The headers of a request.
    pub(crate) headers: &'static [(&'static str, &'static str)],
    /// The type of the body of a reply.
    pub(crate) content_type: &'static str,
    /// The field with the messages.
    pub(crate) messages: &'static str,
    /// Returns the fields of a request beside the messages and the tools.
    pub(crate) fields: fn() -> Value,
    /// Returns the name and the schema of each tool, and removes the tools from the request.
    pub(crate) take_tools: fn(&mut Value) -> Vec<(Value, Value)>,
    /// Returns the message with the question.
    pub(crate) question: fn() -> Value,
    /// Returns the messages that repeat a reply.
    pub(crate) echo: fn(&Turn) -> Vec<Value>,
    /// Returns the messages with the results of its calls.
    pub(crate) results: fn(&Turn) -> Vec<Value>,
    /// Returns the body of a reply, in which every turn counts 30 tokens.
    pub(crate) reply: fn(&Turn) -> Vec<u8>,
    /// Returns the body of an error with a message.
    pub(crate) error: fn(&str) -> Value,
}

impl Wire {
    /// Returns the reason why the provider rejects a request after some replies.
    pub(crate) fn check(&self, mut body: Value, replies: &[Turn]) -> Result<(), String> {
        let tools = (self.take_tools)(&mut body);
        let catalog = Catalog::linked().unwrap();
        expect(
            "the number of tools",
            &tools.len().into(),
            &catalog.listed(Naming::default()).unwrap().iter().count().into(),
        )?;
        if !tools.iter().any(|(name, _)| name == "math_add") {
            return Err("no tool is named `math_add`".to_owned());
        }
        if let Some((name, schema)) = tools.iter().find(|(_, schema)| schema["type"] != "object") {
            return Err(format!("the schema of {name} is {schema}"));
        }
        let messages = body[self.messages].take();
        body.as_object_mut().ok_or("no object")?.shift_remove(self.messages);
        expect("the other fields", &body, &(self.fields)())?;
        let mut expected = vec![(self.question)()];
        for turn in replies.iter().filter(|turn| !turn.is_dropped) {
            expected.extend((self.echo)(turn));
            if !turn.calls.is_empty() {
                expected.extend((self.results)(turn));
            }
        }
        expect("the messages", &messages, &expected.into())
    }
}

fn expect(what: &str, found: &Value, expected: &Value) -> Result<(), String> {
    if found == expected { Ok(()) } else { Err(format!("{what}:\nfound    {found}\nexpected {expected}")) }
}

/// Returns server-sent events without names.
pub(crate) fn events(events: Vec<Value>) -> String {
    events.into_iter().map(|event| format!("data: {event}\n\n")).collect()
}

/// Returns server-sent events, which have their types as names.
pub(crate) fn named_events(events: Vec<Value>) -> String {
    let event = |event: Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap());
    events.into_iter().map(event).collect()
}

/// Returns the two halves of a text, which arrive in two events.
pub(crate) fn halves(text: &str) -> [&str; 2] {
    let middle = (text.len() / 2..).find(|&idx| text.is_char_boundary(idx)).unwrap_or(text.len());
    text.split_at(middle).into()
}
