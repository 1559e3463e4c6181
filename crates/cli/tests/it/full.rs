//! Servers with an unread pipe as stderr.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use test_support::full::Full;
use test_support::{free_port, until_it_listens};

use super::{SERVE, TOOLS, command};

/// The configuration of a server that writes to its stderr before it serves.
struct Chatty(PathBuf);

impl Chatty {
    fn new(name: &str, n_bytes: u32) -> Self {
        let file = std::env::temp_dir().join(format!("toolkit-full-{}-{name}.json", std::process::id()));
        let script = format!("yes 'a server writes this' | head -c {n_bytes} >&2; exec \"$0\"");
        let server = json!({ "command": "sh", "args": ["-c", script, *SERVE] });
        std::fs::write(&file, json!({ "mcpServers": { "chatty": server } }).to_string()).unwrap();
        Self(file)
    }

    fn serve(&self, arguments: &[&str]) -> Command {
        let proxy = ["serve", "--proxy-wait", "60s", "--proxy", self.0.to_str().unwrap()];
        let mut command = command(&TOOLS, &[&proxy, arguments].concat());
        // Tools print to stderr.
        command.env("FIXTURE_TELLS", "1");
        command
    }
}

impl Drop for Chatty {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn call(id: usize, name: &str, arguments: &Value) -> String {
    let params = json!({ "name": name, "arguments": arguments });
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }).to_string()
}

/// Calls of a local tool, of one that prints to stderr, of one that panics, and of the server that writes to its stderr,
/// with a text of each response.
fn calls() -> Vec<(String, &'static str)> {
    let calls = [
        ("math_add", json!({ "a": 1, "b": 2 }), r#""result":3}"#),
        ("slow_walk", json!({ "steps": 1 }), "arrived"),
        ("bad_panics", json!({}), r#""isError":true"#),
        ("chatty_echo", json!({ "message": "still here" }), "still here"),
        ("math_add", json!({ "a": 20, "b": 3 }), r#""result":23}"#),
    ];
    calls.iter().enumerate().map(|(id, (name, arguments, text))| (call(id, name, arguments), *text)).collect()
}

/// Sends a request and returns the response.
fn ask(port: u16, method: &str, path: &str, body: &str) -> String {
    ask_with(port, method, path, "", body)
}

/// Sends a request with further headers, each with its line end, as soon as the server listens.
pub(crate) fn ask_with(port: u16, method: &str, path: &str, headers: &str, body: &str) -> String {
    until_it_listens(("127.0.0.1", port));
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nconnection: close\r\ncontent-type: application/json\r\n\
         {headers}content-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    response
}

#[test]
fn a_full_stderr_stops_nothing_over_stdio() {
    let chatty = Chatty::new("stdio", 200_000);
    let mut serving = chatty.serve(&[]);
    serving.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut server = Full::start(serving);
    let mut to = server.child.stdin.take().unwrap();
    let mut from = BufReader::new(server.child.stdout.take().unwrap());
    for (request, text) in calls() {
        writeln!(to, "{request}").unwrap();
        let mut response = String::new();
        from.read_line(&mut response).unwrap();
        assert!(response.contains(text), "{request}: {response:?}");
    }
    // stdin stays open, so only the signal ends the server.
    assert!(server.terminate().success());
    drop(to);
}

#[test]
fn output_of_a_tool_does_not_stop_a_server_over_stdio() {
    let mut serving = command(&SERVE, &["serve"]);
    serving.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut server = Full::start(serving);
    let mut to = server.child.stdin.take().unwrap();
    let mut from = BufReader::new(server.child.stdout.take().unwrap());
    for id in 0..3 {
        writeln!(to, "{}", call(id, "prints", &json!({}))).unwrap();
        let mut response = String::new();
        from.read_line(&mut response).unwrap();
        assert!(response.contains(r#""isError":false"#), "{response:?}");
    }
    drop(to);
    assert!(server.child.wait().unwrap().success(), "the end of stdin");
}

#[test]
fn a_full_stderr_stops_nothing_over_http() {
    let chatty = Chatty::new("http", 200_000);
    let port = free_port();
    let server = Full::start(chatty.serve(&["--http", &port.to_string(), "--explorer"]));
    assert!(ask(port, "GET", "/healthz", "").starts_with("HTTP/1.1 200"));
    for (request, text) in calls() {
        let response = ask(port, "POST", "/mcp", &request);
        assert!(response.contains(text), "{request}: {response:?}");
        assert!(ask(port, "GET", "/healthz", "").starts_with("HTTP/1.1 200"));
    }
    assert!(server.terminate().success());
}

#[test]
fn a_full_stderr_stops_no_other_server() {
    let port = free_port();
    let server = Full::start(command(&TOOLS, &["serve", "--otc", &port.to_string()]));
    assert!(ask(port, "GET", "/tools", "").starts_with("HTTP/1.1 200"));
    assert!(server.terminate().success());

    let mut sandbox = command(&TOOLS, &["serve-sandbox", &port.to_string(), "--profile", "standard"]);
    sandbox.env("SANDBOX_TOKEN", "s3cr3t");
    let sandbox = Full::start(sandbox);
    assert!(ask(port, "GET", "/healthz", "").starts_with("HTTP/1.1 200"));
    assert!(sandbox.terminate().success());
}

#[test]
fn a_server_that_cannot_start_ends_with_a_full_stderr() {
    let mut server = Full::start(command(&TOOLS, &["serve", "--http", "nowhere.invalid:1"]));
    assert_eq!(server.child.wait().unwrap().code(), Some(1));
}

#[test]
fn dropped_lines_are_counted_and_reported_when_stderr_is_read_again() {
    let port = free_port();
    let mut server = Full::start(command(&TOOLS, &["serve", "--http", &port.to_string()]));
    let dropped = || {
        let metrics = ask(port, "GET", "/metrics", "");
        let count = metrics.lines().find_map(|line| line.strip_prefix("toolkit_mcp_log_lines_dropped_total "));
        count.unwrap_or_else(|| panic!("{metrics}")).parse::<u64>().unwrap()
    };
    // The log has a line for each failure. The stderr of a server alone has too small a budget to fill it.
    while dropped() == 0 {
        for id in 0..200 {
            ask(port, "POST", "/mcp", &call(id, "bad_broken", &json!({})));
        }
    }
    server.read_until(" lines were dropped, since stderr was not read\n");
    // The log goes on.
    ask(port, "POST", "/mcp", &call(1, "bad_broken", &json!({})));
    server.read_until("disk on fire");
    assert!(server.terminate().success());
}

#[test]
fn the_last_lines_are_written_before_the_end() {
    let mut serving = command(&SERVE, &["serve"]);
    serving.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    for _ in 0..20 {
        let mut server = serving.spawn().unwrap();
        let mut to = server.stdin.take().unwrap();
        writeln!(to, "{}", call(1, "test_panic", &json!({}))).unwrap();
        writeln!(to, "{}", call(2, "prints", &json!({}))).unwrap();
        drop(to);
        let ended = server.wait_with_output().unwrap();
        let errors = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert!(errors.contains("hunter2") && errors.contains("a tool prints this"), "{errors}");
    }
}
