//! `serve --proxy --http`: what an operator of a gateway asks of it.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::operated::{Operated, peer, until};

/// Sends a raw request and returns the response.
fn raw(proxy: &Operated, request: &str) -> String {
    let mut stream = TcpStream::connect(&proxy.address).unwrap();
    stream.write_all(request.replace('\n', "\r\n").as_bytes()).unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    response
}

#[test]
fn rules_and_keys_without_effect_are_reported() {
    let mut server = peer(&["usual"]);
    server["timeout"] = json!(60);
    server["disabledTools"] = json!(["nonsense"]);
    let flags =
        ["--deny", "peer_pid", "--deny", "peer_nonsense", "--deny", "hint=idempotent", "--allow-host", "tools.example"];
    let proxy = Operated::new(&json!({ "peer": server }), &flags);
    for line in [
        "mcp.json: the server `peer`: `timeout` has no effect: ",
        "the MCP server `peer` has no tool for the rule `nonsense` in `disabledTools`",
        "no tool matches the rule `peer_nonsense` to allow or deny tools",
    ] {
        until(|| proxy.logged(line));
    }
    let names = proxy.names();
    assert!(names.contains(&"peer_echo".to_owned()) && !names.contains(&"peer_pid".to_owned()), "{names:?}");
    assert!(!proxy.logged("`peer_pid`") && !proxy.logged("hint=idempotent"));
    for (header, flag) in
        [("host: evil.example", "--allow-host"), ("host: tools.example\norigin: http://evil.example", "--allow-origin")]
    {
        let response = raw(&proxy, &format!("GET /status HTTP/1.1\n{header}\nconnection: close\n\n"));
        assert!(response.starts_with("HTTP/1.1 403") && response.contains(flag), "{response}");
        until(|| proxy.logged(&format!("allow it with `{flag}`")));
    }
}

#[test]
fn patterns_of_hosts_and_origins_are_refused() {
    for (flag, value) in [
        ("--allow-host", "*"),
        ("--allow-host", "*.example.com"),
        ("--allow-host", "https://example.com"),
        ("--allow-origin", "*"),
        ("--allow-origin", "example.com"),
        ("--allow-origin", "https://example.com/app"),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fixture_tools"));
        let output = command.args(["serve", "--http", "0", flag, value]).stdin(Stdio::null()).output().unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && told.contains("expected "), "{flag} {value}: {told}");
    }
}

#[test]
fn a_call_of_a_server_that_starts_says_so() {
    let folder = std::env::temp_dir().join(format!("toolkit-gateway-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let gate = folder.join("gate");
    let servers =
        json!({ "lazy": peer(&["gate", gate.to_str().unwrap()]), "absent": { "command": "/nowhere/at-all" } });
    let proxy = Operated::new(&servers, &["--proxy-wait", "100ms"]);
    let result = proxy.call("lazy_pid", &json!({}));
    let text = result["content"][0]["text"].as_str().unwrap_or_default();
    assert!(text.contains("the server `lazy` is starting") && result["isError"] == true, "{result}");
    let result = proxy.call("absent_pid", &json!({}));
    let text = result["content"][0]["text"].as_str().unwrap_or_default();
    assert!(text.contains("the tools of the server `absent` are not known"), "{result}");
    assert!(proxy.call("fast_pid", &json!({}))["message"].as_str().unwrap().contains("no tool is named"));
    let (status, health) = proxy.ask("GET", "/healthz", "");
    assert_eq!((status, &*health), (200, "ok, 2 of 2 servers not ready; see /status\n"));
    std::fs::write(folder.join("gate.go"), "").unwrap();
    until(|| proxy.is("lazy", "ready") && proxy.call("lazy_pid", &json!({}))["isError"] != true);
    assert_eq!(proxy.ask("GET", "/healthz", "").1, "ok, 1 of 2 servers not ready; see /status\n");
}

#[test]
fn clients_of_earlier_transports_and_sessions_get_an_answer() {
    let proxy = Operated::new(&json!({}), &[]);
    let initialize = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {} }).to_string();
    let (status, body) = proxy.ask("POST", "/mcp/", &initialize);
    assert!(status == 200 && body.contains("serverInfo"), "{body}");
    for path in ["/mcp", "/mcp/", "/sse"] {
        let head = format!("GET {path} HTTP/1.1\nhost: localhost\naccept: text/event-stream\nconnection: close\n\n");
        let response = raw(&proxy, &head);
        assert!(response.starts_with("HTTP/1.1 40") && response.contains("HTTP+SSE"), "{response}");
    }
    for (body, status) in [(&*initialize, "200"), (r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#, "404")] {
        let head = format!(
            "POST /mcp HTTP/1.1\nhost: localhost\nmcp-session-id: stale\ncontent-type: application/json\n\
             connection: close\ncontent-length: {}\n\n",
            body.len()
        );
        let response = raw(&proxy, &(head + body));
        assert!(response.starts_with(&format!("HTTP/1.1 {status}")), "{response}");
    }
}

#[test]
fn arguments_are_corrected_as_the_flag_says() {
    let sum = json!({ "a": "1", "b": 2 });
    for (flags, is_corrected) in [
        (&[][..], true),
        (&["--coercion", "off"], false),
        (&["--coercion", "null-as-absent"], false),
        (&["--coercion", "lossless"], true),
        (&["--coercion", "lenient"], true),
    ] {
        let proxy = Operated::new(&json!({}), flags);
        let result = proxy.call("math_add", &sum);
        assert_eq!(result["isError"] != true, is_corrected, "{flags:?}: {result}");
    }
}

#[test]
fn a_hangup_ends_the_servers() {
    // Under `nohup`, this process and the proxy ignore the signal.
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap_or("1");
    if u64::from_str_radix(ignored.trim(), 16).unwrap() & 1 == 1 {
        test_support::skipped(1);
        return;
    }
    let proxy = Operated::new(&json!({ "peer": peer(&["usual"]) }), &[]);
    let pid = proxy.pid("peer");
    let is_alive = |pid: u64| Command::new("kill").args(["-0", &pid.to_string()]).status().unwrap().success();
    assert!(is_alive(pid));
    proxy.signal("HUP");
    until(|| !is_alive(pid));
}

#[test]
fn a_bad_working_directory_is_named() {
    let mut server = peer(&["usual"]);
    server["cwd"] = json!("/nowhere/at-all");
    let proxy = Operated::new(&json!({ "peer": server }), &["--proxy-wait", "100ms"]);
    until(|| proxy.logged("`/nowhere/at-all`"));
    let status: Value = proxy.backend("peer");
    assert!(status["last_error"].as_str().unwrap().ends_with("its `cwd` is not a directory"), "{status}");
}

#[test]
fn a_server_that_floods_its_stderr_has_a_bounded_share_of_the_log() {
    let flood = json!({ "command": "sh", "args": ["-c", "while :; do echo flooded; done >&2"] });
    let proxy = Operated::new(&json!({ "peer": peer(&["usual"]), "flood": flood }), &["--proxy-wait", "2s"]);
    until(|| proxy.logged("the server writes too much to stderr"));
    let (status, _) = proxy.ask("GET", "/healthz", "");
    assert_eq!(status, 200);
    std::thread::sleep(std::time::Duration::from_secs(1));
    let n_lines = proxy.count("flooded");
    assert!((1..=2000).contains(&n_lines), "{n_lines} lines");
}
