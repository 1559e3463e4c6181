//! Questions of tools to the user of an MCP client, in both eras and over both transports. Each message of the server
//! matches the official schema of its revision.

mod answers;
mod approval;
mod attacks;
mod forms;
mod raw;
mod rounds;
mod tools;
mod waiting;

use serde_json::{Value, json};

use test_support::client::{Client, EACH_WAY, Era, Way};

/// The capability of a client that can show forms and open URLs.
fn forms_and_urls() -> Value {
    json!({ "elicitation": { "form": {}, "url": {} } })
}

fn accept(content: Value) -> Value {
    json!({ "action": "accept", "content": content })
}

/// Returns the text of a tool's result.
#[track_caller]
fn text(response: &Value) -> &str {
    response["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {response}"))
}
