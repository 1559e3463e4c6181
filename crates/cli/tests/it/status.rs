//! `status` of a server that answers with a report of the test.

use std::io::{Read, Write};
use std::net::TcpListener;

use serde_json::{Value, json};

use super::{Ran, tools};

/// Runs the command against a server with this report.
fn status(report: &Value, args: &[&str]) -> Ran {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    let body = report.to_string();
    let (heads, received) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            head.push(byte[0]);
        }
        heads.send(String::from_utf8(head).unwrap()).unwrap();
        let length = body.len();
        write!(stream, "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}")
            .unwrap();
    });
    let ran = tools(&[&["status", &*port], args].concat());
    let head = received.try_recv().unwrap_or_else(|_| panic!("no request: {ran:?}"));
    assert!(head.starts_with("GET /status HTTP/1.1\r\n"), "{head}");
    ran
}

fn backend(name: &str, state: &str) -> Value {
    json!({
        "name": name, "state": state, "since": 0.0, "next_attempt": null, "last_error": null, "restarts": 0, "tools": 1,
        "left_out": 0, "calls": { "running": 0, "ended": 0, "errors": {} },
    })
}

#[test]
fn a_server_without_others_behind_it_has_a_line_on_stderr() {
    for (n, line) in [(0, "0 tools, 0 running calls"), (1, "1 tool, 1 running call"), (2, "2 tools, 2 running calls")] {
        let report = json!({ "tools": n, "calls_running": n, "backends": [] });
        status(&report, &[]).exits(0).prints("").says(&format!("note: {line}, and no server behind it"));
    }
}

#[test]
fn each_server_behind_the_proxy_has_a_line_of_columns() {
    let mut failing = backend("notes", "failed");
    failing["last_error"] = "it ended\n\u{1b}[1m early".into();
    (failing["restarts"], failing["tools"], failing["left_out"]) = (json!(3), json!(4), json!(5));
    failing["calls"] = json!({ "running": 1, "ended": 9, "errors": { "timed_out": 2, "unavailable": 5 } });
    let report = json!({ "tools": 5, "calls_running": 1, "backends": [backend("time", "ready"), failing] });
    let expected = "time\tready\t1\t0\t0\t0\t0\t\nnotes\tfailed\t4\t5\t9\t7\t3\tit ended \\u{1b}[1m early\n";
    status(&report, &[]).exits(1).prints(expected);
    assert_eq!(status(&report, &["--json"]).exits(1).json(), report);
}

#[test]
fn a_server_that_is_not_ready_or_an_error_of_the_configuration_is_a_failure() {
    for (state, errors, code) in [
        ("ready", json!([]), 0),
        ("asleep", json!([]), 0),
        ("starting", json!([]), 1),
        ("failed", json!([]), 1),
        ("ready", json!(["mcp.json: no such key"]), 1),
    ] {
        let backends = [backend("time", "ready"), backend("notes", state)];
        let report = json!({ "tools": 2, "calls_running": 0, "configuration_errors": errors, "backends": backends });
        let ran = status(&report, &[]).exits(code);
        let n_errors = ran.err.matches("error: mcp.json: no such key").count();
        assert_eq!(n_errors, errors.as_array().unwrap().len(), "{ran:?}");
    }
}

#[test]
fn a_response_that_is_no_status_and_a_server_that_is_gone_are_errors() {
    for report in [json!({}), json!([]), json!({ "tools": 1, "calls_running": 0 })] {
        status(&report, &[]).exits(1).says("the response is not the status of a server");
    }
    tools(&["status", "1"]).exits(1).says("the server cannot be reached");
    tools(&["status", "ftp://127.0.0.1"]).exits(2);
}
