//! The stdio transport.

use std::io::{BufRead, BufReader, PipeReader, PipeWriter, Write};
use std::process::{Command, Stdio};

use super::*;

/// The client's ends of the pipes.
pub struct Pipes {
    to: PipeWriter,
    from: BufReader<PipeReader>,
}

impl Pipes {
    pub fn of(server: Server) -> (Self, tokio::task::JoinHandle<std::io::Result<()>>) {
        let (input, to) = std::io::pipe().unwrap();
        let (from, output) = std::io::pipe().unwrap();
        let serving = tokio::spawn(async move { server.pipes(input, output).await });
        (Self { to, from: BufReader::new(from) }, serving)
    }

    pub fn write(&mut self, line: &str) {
        self.to.write_all(line.as_bytes()).unwrap();
        self.to.write_all(b"\n").unwrap();
    }

    pub fn read(&mut self) -> Value {
        let mut line = String::new();
        self.from.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    /// Closes the server's input.
    pub fn close(self) {}

    pub fn ask(&mut self, message: &Value) -> Value {
        self.write(&message.to_string());
        let answer = self.read();
        let is_modern = message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] == MODERN;
        assert_official(if is_modern { MODERN } else { LEGACY }, &answer);
        answer
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn both_eras_are_served_on_one_pipe() {
    let (mut pipes, serving) = Pipes::of(server());
    let begun = pipes.ask(&request(1, "initialize", json!({ "protocolVersion": LEGACY })));
    assert_eq!(begun["result"]["protocolVersion"], LEGACY);
    pipes.write(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    for make in [request, modern] {
        let answer = pipes.ask(&make(2, "tools/call", call("math_add", json!({ "a": 40, "b": 2 }))));
        assert_eq!((&answer["id"], &answer["result"]["structuredContent"]["sum"]), (&json!(2), &json!(42)));
    }
    assert_eq!(pipes.ask(&modern(3, "server/discover", json!({})))["result"]["supportedVersions"][0], MODERN);
    assert_eq!(pipes.ask(&request(4, "server/discover", json!({})))["error"]["code"], -32602);
    drop(pipes.to);
    serving.await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn progress_comes_before_the_result() {
    let (mut pipes, _serving) = Pipes::of(server());
    let mut params = call("count", json!({}));
    params["_meta"] = json!({ "progressToken": "t" });
    let first = pipes.ask(&modern(1, "tools/call", params));
    assert_eq!((&first["method"], &first["params"]["progressToken"]), (&json!("notifications/progress"), &json!("t")));
    while pipes.read().get("result").is_none() {}
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_call_gets_no_response_and_delays_no_other() {
    let (mut pipes, _serving) = Pipes::of(server());
    pipes.write(&request(1, "tools/call", call("sleep", json!({ "ms": 600_000 }))).to_string());
    assert_eq!(pipes.ask(&request(2, "ping", json!({})))["id"], 2);
    let twice = pipes.ask(&request(1, "tools/call", call("math_add", json!({ "a": 1, "b": 2 }))));
    assert_eq!(twice["error"]["code"], -32600, "an id stands for one request");
    pipes.write(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"enough"}}"#);
    // The id can be reused once the call has ended.
    loop {
        let answer = pipes.ask(&request(1, "tools/call", call("math_add", json!({ "a": 1, "b": 2 }))));
        if answer.get("result").is_some() {
            assert_eq!(answer["result"]["structuredContent"]["sum"], 3);
            break;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_malformed_line_does_not_affect_others() {
    let (mut pipes, serving) = Pipes::of(server());
    for (line, code) in [("{\"jsonrpc\":\"2.0\",\"id\":1,", -32700), ("[]", -32600), ("\u{0}", -32700)] {
        pipes.write(line);
        assert_eq!(pipes.read()["error"]["code"], code, "{line:?}");
    }
    pipes.write("");
    pipes.write("\r");
    // A line beyond the limit, which is skipped.
    let piece = "x".repeat(1 << 20);
    for _ in 0..30 {
        pipes.to.write_all(piece.as_bytes()).unwrap();
    }
    pipes.write("");
    assert_eq!(pipes.read()["error"]["code"], -32600);
    assert_eq!(pipes.ask(&request(2, "ping", json!({})))["result"], json!({}));
    // An incomplete line before the client disconnects.
    pipes.to.write_all(b"{\"jsonrpc\":\"2.0\"").unwrap();
    drop(pipes.to);
    serving.await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn all_requests_are_answered_before_the_end() {
    let (mut pipes, serving) = Pipes::of(server());
    for n in 0..100 {
        pipes.write(&request(n, "tools/call", call("sleep", json!({ "ms": 50 }))).to_string());
    }
    drop(pipes.to);
    let mut ids: Vec<u64> = pipes
        .from
        .lines()
        .map(|line| {
            let answer: Value = serde_json::from_str(&line.unwrap()).unwrap();
            assert_eq!(answer["result"]["isError"], false);
            answer["id"].as_u64().unwrap()
        })
        .collect();
    ids.sort_unstable();
    assert_eq!(ids, (0..100).collect::<Vec<_>>());
    serving.await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn backpressure_of_a_slow_reader_loses_nothing() {
    let (mut pipes, serving) = Pipes::of(server());
    let mut to = pipes.to.try_clone().unwrap();
    let writing = std::thread::spawn(move || {
        for n in 0..300 {
            let line = request(n, "tools/call", call("long_text", json!({ "n_bytes": 300_000 }))).to_string();
            writeln!(to, "{line}").unwrap();
        }
    });
    drop(pipes.to);
    std::thread::sleep(std::time::Duration::from_millis(200));
    let mut n_answers = 0;
    let mut line = String::new();
    while pipes.from.read_line(&mut line).unwrap() > 0 {
        assert!(line.len() > 600_000);
        n_answers += 1;
        line.clear();
    }
    assert_eq!(n_answers, 300);
    writing.join().unwrap();
    serving.await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_are_notified_in_the_form_of_the_revision() {
    let server = server();
    let (mut pipes, serving) = Pipes::of(server.clone());
    pipes.ask(&request(1, "initialize", json!({ "protocolVersion": LEGACY })));
    let listen = modern(5, "subscriptions/listen", json!({ "notifications": { "toolsListChanged": true } }));
    assert_eq!(pipes.ask(&listen)["method"], "notifications/subscriptions/acknowledged");
    server.announce();
    let told = [pipes.read(), pipes.read()];
    let tagged = told.iter().filter(|message| message["params"]["_meta"].is_object());
    assert_eq!(tagged.count(), 1, "{told:?}");
    server.shut_down();
    let end = pipes.read();
    assert_fits(MODERN, "SubscriptionsListenResultResponse", &end);
    serving.await.unwrap().unwrap();
}

#[test]
fn what_a_tool_prints_does_not_break_the_messages() {
    let mut child = Command::new(test_support::program("fixture_mcp"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut to = child.stdin.take().unwrap();
    writeln!(to, "{}", request(1, "tools/call", call("prints", json!({})))).unwrap();
    drop(to);
    let ran = child.wait_with_output().unwrap();
    let answer: Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!(answer["result"]["isError"], false, "{answer}");
    assert!(String::from_utf8_lossy(&ran.stderr).contains("a tool prints this"));
    assert!(ran.status.success());
}

#[test]
fn tools_and_their_processes_cannot_read_messages_from_stdin() {
    let mut child = Command::new(test_support::program("fixture_mcp"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut to = child.stdin.take().unwrap();
    let mut from = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    for (nth, tool) in [(1, "reads_stdin"), (2, "starts_a_reader")] {
        // If stdin were the pipe, the tool would wait for its end and consume the `ping`.
        writeln!(to, "{}", request(nth, "tools/call", call(tool, json!({})))).unwrap();
        let answer: Value = serde_json::from_str(&from.next().unwrap()).unwrap();
        assert_eq!(answer["result"]["content"][0]["text"], "", "{tool}: {answer}");
        writeln!(to, "{}", request(nth + 10, "ping", json!({}))).unwrap();
        let pong: Value = serde_json::from_str(&from.next().unwrap()).unwrap();
        assert_eq!(pong["id"], nth + 10, "{tool}");
    }
    drop(to);
    assert!(child.wait().unwrap().success());
}

#[test]
fn sigterm_over_a_pipe_finishes_running_calls() {
    let mut child = Command::new(test_support::program("fixture_mcp"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut to = child.stdin.take().unwrap();
    let mut params = call("test_tool_with_progress", json!({}));
    params["_meta"]["progressToken"] = 0.into();
    for n in 0..50 {
        writeln!(to, "{}", request(n, "tools/call", params.clone())).unwrap();
    }
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    // The tool runs once it reports progress.
    let begun = lines.by_ref().filter(|line| line.contains("notifications/progress"));
    assert_eq!(begun.take(50).count(), 50);
    let killed = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    // stdin stays open, so only the signal ends the server.
    let answered = lines.filter(|line| line.contains(r#""isError":false"#)).count();
    assert_eq!(answered, 50);
    assert!(child.wait().unwrap().success());
    drop(to);
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_are_cancelled_when_the_output_is_closed() {
    let server = server();
    let (mut pipes, serving) = Pipes::of(server.clone());
    pipes.write(&request(1, "tools/call", call("wait", json!({}))).to_string());
    assert_eq!(pipes.ask(&request(2, "ping", json!({})))["id"], 2);
    let runs = |n: usize| server.metrics().contains(&format!("toolkit_mcp_calls_running {n}\n"));
    let until = async |n: usize| {
        while !runs(n) {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    };
    until(1).await;
    drop(pipes.from);
    pipes.to.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"ping\"}\n").unwrap();
    assert!(serving.await.unwrap().is_err());
    tokio::time::timeout(std::time::Duration::from_secs(30), until(0)).await.expect("the call ends");
}
