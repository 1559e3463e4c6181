//! Tools that keep their threads: more of them than there are cores, and than the server has threads for I/O.

use std::net::TcpStream;

use serde_json::json;

use super::pipe::Pipe;
use super::server::{BOTH, Protocol};
use super::*;

/// An hour: longer than any test.
const FOREVER: u64 = 3_600_000;

/// The number of calls of each kind. Few of them spin, so that other tests get CPU time.
const HOLD: [(&str, usize); 5] =
    [("sleep", 24), ("sleep_in_future", 24), ("sleep_blocking", 8), ("busy", 2), ("busy_in_future", 2)];

fn hold_every_thread(server: &Server) -> Vec<TcpStream> {
    let held: Vec<TcpStream> = HOLD
        .into_iter()
        .flat_map(|(tool, n)| (0..n).map(move |_| tool))
        .map(|tool| server.begin(tool, json!({ "ms": FOREVER })))
        .collect();
    for (tool, n) in HOLD {
        server.wait_until_noted(tool, n);
    }
    held
}

#[test]
fn tools_that_block_all_threads_do_not_block_the_server() {
    for protocol in BOTH {
        let mut server = Server::start(protocol, "shutdown_timeout=1 call_timeout=3600");
        let held = hold_every_thread(&server);
        server.assert_serves();
        // Timeouts are measured.
        let overdue = server.call("overdue", json!({ "ms": FOREVER }));
        assert!(overdue.text.contains("took longer"), "{overdue:?}");
        // A disconnected client cancels its call.
        let watched = server.begin("watch", json!({}));
        server.wait_until_noted("watching", 1);
        drop(watched);
        server.wait_until_noted("cancelled", 1);
        server.assert_serves();
        server.terminate();
        server.assert_ends();
        drop(held);
    }
}

#[test]
fn the_timeout_of_the_server_ends_calls_that_keep_their_threads() {
    for protocol in BOTH {
        let server = Server::start(protocol, "call_timeout=1");
        let calls: Vec<TcpStream> = HOLD.map(|(tool, _)| server.begin(tool, json!({ "ms": FOREVER }))).into();
        for call in calls {
            let response = super::server::Response::read(call);
            assert!(response.text.contains("took longer"), "{response:?}");
        }
        server.assert_serves();
    }
}

#[test]
fn calls_of_one_slow_tool_leave_permits_for_others() {
    for protocol in BOTH {
        let server = Server::start(protocol, "concurrency=8 call_timeout=3600");
        let held: Vec<TcpStream> = (0..40).map(|_| server.begin("sleep", json!({ "ms": FOREVER }))).collect();
        server.wait_until_noted("sleep", 6);
        server.assert_serves();
        drop(held);
    }
}

/// A tool that blocks its thread after its timeout keeps its permit. Otherwise its calls would take all threads.
#[test]
fn timed_out_calls_keep_their_permit_until_the_tool_ends() {
    let server = Server::start(Protocol::Otc, "concurrency=4 call_timeout=1");
    for _ in 0..3 {
        let given_up = server.call("sleep", json!({ "ms": FOREVER }));
        assert!(given_up.text.contains("took longer"), "{given_up:?}");
    }
    let refused = server.call("sleep", json!({ "ms": FOREVER }));
    assert_eq!(refused.status, 503, "{refused:?}");
    assert!(refused.text.to_lowercase().contains("\r\nretry-after: 1\r\n"), "{refused:?}");
    server.assert_serves();
}

#[test]
fn tools_that_block_all_threads_do_not_block_the_pipe() {
    let mut pipe = Pipe::start("shutdown_timeout=1 call_timeout=3600");
    for (tool, n) in HOLD {
        for _ in 0..n {
            pipe.begin(tool, json!({ "ms": FOREVER }));
        }
        pipe.wait_until_noted(tool, n);
    }
    let quick = pipe.begin("quick", json!({}));
    assert!(pipe.answer_to(quick).contains("\"isError\":false"));
    let overdue = pipe.begin("overdue", json!({ "ms": FOREVER }));
    assert!(pipe.answer_to(overdue).contains("took longer"));
    let watched = pipe.begin("watch", json!({}));
    pipe.wait_until_noted("watching", 1);
    pipe.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": watched } }));
    pipe.wait_until_noted("cancelled", 1);
    pipe.terminate();
    pipe.assert_ends();
}
