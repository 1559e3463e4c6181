//! Workers that break the protocol.

use std::time::Duration;

use serde_json::{Value, json};
use toolkit_code::sandbox::{CommandLine, Process, Sandbox, SandboxError};
use toolkit_code::{FailureKind, Limits, Program};

use super::{in_the_end, opened};

const READY: &str = r#"read -r hello; echo '{"ready":{"version":1,"enforced":[]}}'; read -r start; "#;

/// A worker that is a shell script.
fn script(script: &str) -> Process {
    let command = CommandLine::new("/bin/sh").args(["-c", script]).inherit_environment();
    Process::command("script", command).start_timeout(Duration::from_secs(20))
}

/// A worker that answers the start with this message.
fn answering(message: &Value) -> Process {
    script(&format!("{READY} echo '{message}'; read -r resume; exec cat"))
}

fn limits() -> Limits {
    Limits::default().message_bytes(1000).value_bytes(1000).output_bytes(1000).code_bytes(1000)
}

async fn start(sandbox: &Process) -> Result<(), SandboxError> {
    let mut session = in_the_end(sandbox.open(&limits())).await?;
    in_the_end(session.start(&Program::javascript("return 1"))).await.map(drop)
}

fn waiting(calls: &Value) -> Value {
    json!({ "step": { "state": { "waiting": calls }, "usage": { "steps": 1, "memory_bytes": 1 } } })
}

fn done(outcome: &Value, shown: &Value) -> Value {
    let state = json!({ "done": { "outcome": outcome, "shown": shown } });
    json!({ "step": { "state": state, "usage": { "steps": 1, "memory_bytes": 1 } } })
}

#[tokio::test]
async fn a_process_that_is_no_worker_is_unavailable() {
    let cases = [
        ("exit 3", "the worker ended before it was ready: exit status: 3"),
        ("echo begin >&2; echo 'no such image' >&2; exit 4", "exit status: 4: no such image"),
        ("echo 'Listening on port 80'; exec cat", "it is not a worker: invalid message"),
        ("echo '{}'; exec cat", "it is not a worker: invalid message"),
        ("head -c 100000 /dev/zero | tr '\\0' a; exec cat", "a message is longer than 65536 bytes"),
        (r#"echo '{"ready":{"version":7}}'; exec cat"#, "it speaks version 7 of the protocol, expected 1"),
        (r#"echo '{"ready":{"version":1}}'; exec cat"#, "missing field `enforced`"),
        (r#"echo '{"error":"there is no kernel"}'; exec cat"#, "not available: there is no kernel"),
        (r#"echo '{"step":{}}'; exec cat"#, "it is not a worker"),
        ("exec 1>&-; exec sleep 60", "it closed its output and did not exit"),
    ];
    for (worker, expected) in cases {
        let error = start(&script(worker)).await.unwrap_err();
        assert!(matches!(error, SandboxError::Unavailable { .. }), "{worker}: {error:?}");
        assert!(error.to_string().contains(expected), "{worker}: {error}");
    }
}

#[tokio::test]
async fn a_worker_that_says_nothing_is_given_up() {
    let sandbox = script("exec sleep 60").start_timeout(Duration::from_millis(100));
    let error = start(&sandbox).await.unwrap_err();
    assert!(matches!(&error, SandboxError::Unavailable { reason, .. } if reason == "no worker in 100ms"), "{error:?}");
}

#[tokio::test]
async fn messages_that_break_the_protocol_end_the_session() {
    let call = |id: u32| json!({ "id": id, "request": { "run_tool": { "id": "a", "args": {} } } });
    let mut printing = done(&json!({ "Ok": 1 }), &json!([]));
    printing["step"]["printed"] = json!([{ "text": "a".repeat(5000) }]);
    let cases = [
        (json!("no object"), "invalid message"),
        (json!({ "ready": { "version": 1, "enforced": [] } }), "expected `step`"),
        (json!({ "error": "out of order" }), "out of order"),
        (json!({ "step": { "state": "waiting" } }), "invalid message"),
        (waiting(&json!([call(0)])), "call 0 follows call 0"),
        (waiting(&json!([call(2)])), "call 2 follows call 0"),
        (waiting(&json!([call(1), call(1)])), "call 1 follows call 1"),
        (waiting(&json!([{ "id": 1, "request": { "open_file": {} } }])), "unknown variant `open_file`"),
        (waiting(&json!([])), "it waits for nothing"),
        (done(&json!({ "Ok": 1 }), &json!([{ "call": 1, "block": 0 }])), "the result of an unknown call"),
        (printing, "it printed more than its limit"),
    ];
    for (message, expected) in cases {
        let error = start(&answering(&message)).await.unwrap_err();
        assert!(matches!(error, SandboxError::Protocol { .. }), "{message}: {error:?}");
        assert!(error.to_string().contains(expected), "{message}: {error}");
    }
}

#[tokio::test]
async fn sizes_beyond_the_limits_are_failures_of_the_program() {
    let long = "a".repeat(5000);
    let calls = json!([{ "id": 1, "request": { "run_tool": { "id": "a", "args": { "a": long } } } }]);
    let many: Vec<Value> = (1..=2000).map(|id| json!({ "id": id, "request": { "sleep": { "ms": 1 } } })).collect();
    let cases = [
        (waiting(&calls), FailureKind::Size),
        (done(&json!({ "Ok": long }), &json!([])), FailureKind::Size),
        (waiting(&json!(many)), FailureKind::Calls),
    ];
    for (message, expected) in cases {
        let error = start(&answering(&message)).await.unwrap_err();
        assert!(matches!(error, SandboxError::Ended(kind, _) if kind == expected), "{error:?}");
    }
}

#[tokio::test]
async fn a_line_without_end_is_not_read_to_its_end() {
    let endless = script(&format!("{READY} exec tr '\\0' a </dev/zero"));
    let SandboxError::Protocol { reason, .. } = start(&endless).await.unwrap_err() else { panic!() };
    assert!(reason.starts_with("a message is longer than "), "{reason}");
}

#[tokio::test]
async fn messages_out_of_turn_end_the_session() {
    let step = waiting(&json!([{ "id": 1, "request": { "sleep": { "ms": 1 } } }]));
    let sandbox = script(&format!("{READY} printf '%s\\n%s\\n' '{step}' '{step}'; exec cat"));
    let mut session = opened(&sandbox).await;
    in_the_end(session.start(&Program::javascript(""))).await.unwrap();
    let error = in_the_end(session.resume(Vec::new())).await.unwrap_err();
    assert!(error.to_string().contains("a message out of turn"), "{error}");
    let error = in_the_end(session.resume(Vec::new())).await.unwrap_err();
    assert!(
        matches!(&error, SandboxError::Unavailable { reason, .. } if reason == "the session has ended"),
        "{error:?}"
    );
}

#[tokio::test]
async fn the_end_of_a_worker_is_reported_with_its_last_words() {
    let cases = [
        ("exit 7", "the worker ended: exit status: 7"),
        ("echo 'bad day\u{1b}[2J' >&2; exit 7", "the worker ended: exit status: 7: bad day\\u{1b}[2J"),
        ("printf '{'; exit 0", "the worker ended: exit status: 0"),
        ("kill -TERM $$", "the worker ended: signal: 15 (SIGTERM)"),
    ];
    for (worker, expected) in cases {
        let error = start(&script(&format!("{READY} {worker}"))).await.unwrap_err();
        assert!(matches!(&error, SandboxError::Protocol { reason, .. } if reason == expected), "{worker}: {error:?}");
    }
}

#[tokio::test]
async fn the_statuses_of_containers_are_those_of_signals() {
    let cases = [
        (159, FailureKind::Violation),
        (152, FailureKind::Time),
        (134, FailureKind::Memory),
        (137, FailureKind::Memory),
        (139, FailureKind::Violation),
    ];
    for (status, expected) in cases {
        let error = start(&script(&format!("{READY} exit {status}"))).await.unwrap_err();
        assert!(matches!(error, SandboxError::Ended(kind, _) if kind == expected), "{status}: {error:?}");
    }
}
