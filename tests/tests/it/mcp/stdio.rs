//! `serve` over stdio.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

#[test]
fn tools_can_neither_break_nor_read_the_messages_of_the_command_serve() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_fixture_mcp"))
        .args(["serve", "--allow", "prints", "--allow", "reads_stdin", "--allow", "starts_a_reader"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut to = child.stdin.take().unwrap();
    let mut from = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let mut request = |id: u64, method: &str, params: Value| {
        writeln!(to, "{}", json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })).unwrap();
        serde_json::from_str::<Value>(&from.next().unwrap()).unwrap()
    };
    for (nth, tool, text) in [(1, "prints", "1"), (2, "reads_stdin", ""), (3, "starts_a_reader", "")] {
        // If stdin were the pipe, the tool would wait for its end and consume the `ping`.
        let answer = request(nth, "tools/call", json!({ "name": tool, "arguments": {} }));
        assert_eq!(answer["result"]["content"][0]["text"], text, "{tool}: {answer}");
        assert_eq!(request(nth + 10, "ping", json!({}))["id"], nth + 10, "{tool}");
    }
    drop(to);
    let ran = child.wait_with_output().unwrap();
    assert!(String::from_utf8_lossy(&ran.stderr).contains("a tool prints this"));
    assert!(ran.status.success());
}
