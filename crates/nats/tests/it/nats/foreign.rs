//! Callers and workers of other authors: the official Python client, which `tests/nats/run` installs.

use std::process::Stdio;

use serde_json::json;
use tokio::process::{Child, Command};

use super::processes::Process;
use super::*;

/// Runs `tests/nats/peer.py`, or returns `None` if the client is not installed.
fn peer(arguments: &[&str]) -> Option<Command> {
    let Some(python) = std::env::var_os("TOOLKIT_NATS_PYTHON") else {
        println!("SKIPPED: TOOLKIT_NATS_PYTHON is not set");
        return None;
    };
    let mut command = Command::new(python);
    command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/nats/peer.py")).args(arguments).kill_on_drop(true);
    Some(command)
}

#[tokio::test]
#[ignore = "needs nats-server"]
async fn a_client_of_nats_finds_and_calls_the_tools_of_a_worker() {
    let server = Server::start();
    let _worker = Process::start(&server, "");
    let backend = NatsBackend::new("fleet", connect(&server));
    until(async || backend.members().await.is_ok_and(|members| members.len() == 1)).await;
    let call = async |arguments: &str| -> Option<Value> {
        let output = soon(peer(&["call", &server.url(), "diary.record._", arguments])?.output()).await.unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Some(serde_json::from_slice(&output.stdout).unwrap())
    };
    let Some(reply) = call(r#"{"id": 3, "ms": 0}"#).await else { return };
    assert_eq!(reply, json!({ "headers": {}, "body": 3 }));
}

#[tokio::test]
#[ignore = "needs nats-server"]
async fn an_error_has_the_headers_of_nats_services() {
    let server = Server::start();
    let _worker = Process::start(&server, "");
    let backend = NatsBackend::new("fleet", connect(&server));
    until(async || backend.members().await.is_ok_and(|members| members.len() == 1)).await;
    let Some(mut peer) = peer(&["call", &server.url(), "diary.record._", r#"{"id": "three", "ms": 0}"#]) else {
        return;
    };
    let output = soon(peer.output()).await.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let reply: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(reply["headers"]["Nats-Service-Error-Code"], "400", "{reply}");
    assert_eq!(
        (&reply["headers"]["Tk-Ran"], &reply["headers"]["Tk-Error"]),
        (&json!("no"), &json!("invalid_arguments"))
    );
    assert_eq!(reply["body"]["isError"], true);
}

#[tokio::test]
#[ignore = "needs nats-server"]
async fn a_tool_of_another_program_is_called() {
    let server = Server::start();
    let Some(mut serving) = peer(&["serve", &server.url()]) else { return };
    let _serving: Child = serving.stdin(Stdio::piped()).spawn().unwrap();
    let dispatcher = dispatcher(&NatsBackend::new("fleet", connect(&server)), 1).await;
    assert_eq!(call(&dispatcher, "python:shout", json!({ "text": "hello" })).await.unwrap(), "HELLO");
    let error = call(&dispatcher, "python:shout", json!({ "text": 1 })).await.unwrap_err();
    assert_eq!(error.violations()[0].pointer, "/text");
}
