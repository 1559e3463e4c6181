//! The end of a process: SIGTERM lets calls that run come to their end, within a time that a second signal ends.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;

use super::pipe::Pipe;
use super::server::{BOTH, Response, until};
use super::*;

/// An hour: longer than any test.
const FOREVER: u64 = 3_600_000;

/// A file that does not exist yet, for which a call waits.
struct Gate(PathBuf);

impl Gate {
    fn new() -> Self {
        static N: AtomicUsize = AtomicUsize::new(0);
        let name = format!("load-{}-{}.gate", std::process::id(), N.fetch_add(1, Ordering::Relaxed));
        Self(PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name))
    }

    fn open(&self) {
        std::fs::write(&self.0, "").unwrap();
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[track_caller]
fn wait_until_ending(server: &Server) {
    until("no new connection", || std::net::TcpStream::connect(server.address).is_err());
}

#[test]
fn a_call_that_never_ends_does_not_keep_the_process() {
    for protocol in BOTH {
        let mut server = Server::start(protocol, "shutdown_timeout=1 call_timeout=3600");
        let _held = server.begin("sleep", json!({ "ms": FOREVER }));
        server.wait_until_noted("sleep", 1);
        server.terminate();
        server.assert_ends();
    }
    let mut pipe = Pipe::start("shutdown_timeout=1 call_timeout=3600");
    pipe.begin("sleep", json!({ "ms": FOREVER }));
    pipe.wait_until_noted("sleep", 1);
    pipe.terminate();
    pipe.assert_ends();
}

#[test]
fn a_call_that_ends_within_the_grace_period_is_answered() {
    for protocol in BOTH {
        let mut server = Server::start(protocol, "shutdown_timeout=3600 call_timeout=3600");
        let gate = Gate::new();
        let held = server.begin("await_file", json!({ "path": gate.0 }));
        server.wait_until_noted("await_file", 1);
        server.terminate();
        wait_until_ending(&server);
        gate.open();
        let answer = Response::read(held);
        assert!(answer.status == 200 && answer.text.contains("true"), "{answer:?}");
        server.assert_ends();
    }
    let mut pipe = Pipe::start("shutdown_timeout=3600 call_timeout=3600");
    let gate = Gate::new();
    let held = pipe.begin("await_file", json!({ "path": gate.0 }));
    pipe.wait_until_noted("await_file", 1);
    pipe.terminate();
    pipe.wait_until_ending();
    gate.open();
    assert!(pipe.answer_to(held).contains("true"));
    pipe.assert_ends();
}

#[test]
fn a_second_signal_ends_the_grace_period() {
    for protocol in BOTH {
        let mut server = Server::start(protocol, "shutdown_timeout=3600 call_timeout=3600");
        let _held = server.begin("sleep", json!({ "ms": FOREVER }));
        server.wait_until_noted("sleep", 1);
        server.terminate();
        wait_until_ending(&server);
        server.terminate();
        server.assert_ends();
    }
}

#[test]
fn a_second_signal_ends_the_grace_period_over_a_pipe() {
    let mut pipe = Pipe::start("shutdown_timeout=3600 call_timeout=3600");
    pipe.begin("sleep", json!({ "ms": FOREVER }));
    pipe.wait_until_noted("sleep", 1);
    pipe.terminate();
    pipe.wait_until_ending();
    pipe.terminate();
    pipe.assert_ends();
}
