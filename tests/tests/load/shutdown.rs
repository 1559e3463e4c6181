//! The end of a process.

use serde_json::json;

use super::server::{BOTH, until};
use super::*;

#[test]
fn a_second_signal_ends_the_grace_period() {
    let mut server = Server::start(Protocol::Mcp, "shutdown_timeout=3600 call_timeout=3600");
    let _held = server.begin("sleep", json!({ "ms": 3_600_000 }));
    server.wait_until_noted("sleep", 1);
    server.terminate();
    // It listens no more, and waits for the call.
    until("no new connection", || std::net::TcpStream::connect(server.address).is_err());
    server.terminate();
    server.assert_ends();
}

#[test]
fn a_call_that_ends_in_time_is_answered() {
    for protocol in BOTH {
        let mut server = Server::start(protocol, "");
        let held = server.begin("sleep", json!({ "ms": 300 }));
        server.wait_until_noted("sleep", 1);
        server.terminate();
        let answer = server::Response::read(held);
        assert!(answer.status == 200 && answer.text.contains("300"), "{answer:?}");
        server.assert_ends();
    }
}
