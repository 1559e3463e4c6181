//! Servers that end while a question waits for its answer.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use test_support::client::answered;

/// Starts a server over stdio with these keys.
fn started(keys: &str) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fixture_mcp"));
    command.arg("serve").env("SERVE_STATE_KEYS", keys).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap()
}

/// Sends a call of the later era, which needs no connection of its own, and returns the response.
fn exchanged(server: &mut Child, mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": { "elicitation": { "form": {}, "url": {} } },
    });
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    writeln!(server.stdin.as_mut().unwrap(), "{request}").unwrap();
    let mut line = String::new();
    BufReader::new(server.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    serde_json::from_str(&line).unwrap()
}

fn accept(content: Value) -> Value {
    json!({ "action": "accept", "content": content })
}

/// Returns the text of a tool's result.
#[track_caller]
fn text(response: &Value) -> &str {
    response["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {response}"))
}

fn answer(params: &Value) -> Value {
    match params["message"].as_str().unwrap() {
        "Step 1: What is your name?" => accept(json!({ "name": "Ada" })),
        "Step 2: What is your favorite color?" => accept(json!({ "color": "blue" })),
        other => panic!("{other}"),
    }
}

#[test]
fn a_call_continues_after_its_server_was_killed_between_all_rounds() {
    let mut params = json!({ "name": "test_input_required_result_multi_round", "arguments": {} });
    let mut asked = Vec::new();
    let response = loop {
        let mut server = started(&"k".repeat(32));
        let response = exchanged(&mut server, params.clone());
        server.kill().unwrap();
        server.wait().unwrap();
        if response["result"]["resultType"] != "input_required" {
            break response;
        }
        params["inputResponses"] = answered(&response["result"], &mut |question| {
            asked.push(question["message"].as_str().unwrap().to_owned());
            answer(question)
        });
        params["requestState"] = response["result"]["requestState"].clone();
    };
    assert_eq!(text(&response), "Ada likes blue");
    assert_eq!(asked, ["Step 1: What is your name?", "Step 2: What is your favorite color?"], "nothing is asked twice");
}

#[test]
fn without_a_common_key_a_call_starts_anew() {
    let mut params = json!({ "name": "test_input_required_result_multi_round", "arguments": {} });
    let mut first = started("");
    let response = exchanged(&mut first, params.clone());
    params["inputResponses"] = answered(&response["result"], &mut answer);
    params["requestState"] = response["result"]["requestState"].clone();
    for keys in ["", &"k".repeat(32)] {
        let mut other = started(keys);
        assert_eq!(exchanged(&mut other, params.clone())["error"]["code"], -32602);
        other.kill().unwrap();
        other.wait().unwrap();
    }
    first.kill().unwrap();
    first.wait().unwrap();
}

#[test]
fn a_weak_key_is_an_error_that_does_not_contain_it() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fixture_mcp"));
    let output = command.arg("serve").env("SERVE_STATE_KEYS", "hunter2").stdin(Stdio::null()).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(error.contains("SERVE_STATE_KEYS: a state key needs a secret of at least 32 bytes, got 7"), "{error}");
    assert!(!error.contains("hunter2"), "{error}");
}
