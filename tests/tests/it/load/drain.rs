//! The time between SIGTERM and the end of the listener, in which a balancer finds other replicas.

use std::io::Write;

use serde_json::json;

use super::server::{BOTH, Response, until};
use super::*;

/// Calls a tool on a connection that the client would keep.
fn call_and_keep(server: &Server) -> Response {
    let body = server.protocol.call("quick", json!({}));
    let head = server.head("POST", server.protocol.path(), body.len(), "").replace("connection: close\r\n", "");
    let mut stream = server.connect();
    stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
    Response::read(stream)
}

#[test]
fn health_checks_fail_while_calls_are_still_accepted() {
    for protocol in BOTH {
        let mut server = Server::start(protocol, "drain_delay=2");
        server.assert_serves();
        server.terminate();
        until("failing health checks", || server.get(protocol.health(), "").status == 503);
        let response = call_and_keep(&server);
        assert_eq!(response.status, 200, "{protocol:?}: {response:?}");
        assert!(response.text.to_lowercase().contains("connection: close"), "{protocol:?}: {response:?}");
        server.assert_ends();
    }
}

#[test]
fn a_second_signal_ends_the_delay_and_running_calls_are_answered() {
    let mut server = Server::start(Protocol::Mcp, "drain_delay=3600");
    let held = server.begin("sleep", json!({ "ms": 300 }));
    server.wait_until_noted("sleep", 1);
    server.terminate();
    until("failing health checks", || server.get("/healthz", "").status == 503);
    server.terminate();
    let answer = Response::read(held);
    assert_eq!(answer.status, 200, "{answer:?}");
    server.assert_ends();
}

#[test]
fn subscriptions_end_with_the_first_signal() {
    let mut server = Server::start(Protocol::Mcp, "drain_delay=3600");
    let mut stream = server.connect();
    let headers = "accept: text/event-stream\r\nmcp-protocol-version: 2025-11-25\r\n";
    stream.write_all(server.head("GET", "/mcp", 0, headers).as_bytes()).unwrap();
    server.assert_serves();
    server.terminate();
    let ended = Response::read(stream);
    assert_eq!(ended.status, 200, "{ended:?}");
    assert_eq!(server.get("/healthz", "").status, 503);
    server.terminate();
    server.assert_ends();
}
