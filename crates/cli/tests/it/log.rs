//! `serve --log-format json`: each line of stderr is an object, whoever has written it.

use std::fs::{self, File};
use std::path::PathBuf;

use serde_json::{Value, json};

use super::{Ran, TOOLS, command, fed};

/// Returns the lines of a log as `LEVEL message`.
#[track_caller]
fn messages(log: &str) -> Vec<String> {
    assert!(!log.contains("os error"), "{log}");
    let message = |line: &str| {
        let line: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line:?} in {log}"));
        let time = line["timestamp"].as_str().unwrap_or_else(|| panic!("no time: {line}"));
        assert!(time.len() >= 20 && time.ends_with('Z'), "{line}");
        format!("{} {}", line["level"].as_str().unwrap(), line["message"].as_str().unwrap())
    };
    log.lines().map(message).collect()
}

#[track_caller]
fn assert_has(messages: &[String], level: &str, text: &str) {
    let has = messages.iter().any(|message| message.starts_with(level) && message.contains(text));
    assert!(has, "no {level} with {text:?} in {messages:#?}");
}

fn temporary(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("toolkit-log-{}-{name}", std::process::id()))
}

fn call(id: u64, tool: &str, arguments: Value) -> String {
    let params = json!({ "name": tool, "arguments": arguments });
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }).to_string() + "\n"
}

const SERVE: [&str; 3] = ["serve", "--log-format", "json"];

#[test]
fn a_server_that_cannot_start_says_so_in_an_object() {
    for (args, text) in [
        (&["--unknown"][..], "unexpected argument '--unknown' found"),
        (&["--http", "8000", "--http", "8001"], "cannot be used multiple times"),
        (&["--task-dir", "/dev/null/tasks"], "--task-dir /dev/null/tasks: "),
        (&["--http", "0.0.0.0:0"], "other machines can reach 0.0.0.0:0"),
        (&["--otc", "0.0.0.0:0"], "other machines can reach 0.0.0.0:0"),
        (&["--proxy", "/dev/null/mcp.json"], "/dev/null/mcp.json: "),
        (&["--nats", "nats://127.0.0.1:1"], "cannot connect to NATS"),
    ] {
        let mut command = command(&TOOLS, &[&SERVE, args].concat());
        let ran: Ran = command.env_remove("SERVE_TOKEN").output().unwrap().into();
        assert_ne!(ran.code, Some(0), "{ran:?}");
        assert_has(&messages(&ran.err), "ERROR", text);
    }
}

#[test]
fn a_proxy_reports_its_servers_in_objects() {
    let file = temporary("mcp.json");
    let servers = json!({
        "gone": { "command": "/nonexistent/server" },
        "odd name": { "command": *TOOLS, "args": ["serve"] },
        "neither": { "env": {} },
    });
    fs::write(&file, json!({ "mcpServers": servers }).to_string()).unwrap();
    let mut command = command(&TOOLS, &SERVE);
    command.arg("--proxy").arg(&file).args(["--proxy-wait", "30s"]);
    let messages = messages(&fed(command, "").exits(0).err);
    fs::remove_file(&file).unwrap();
    assert_has(&messages, "ERROR", "gone");
    assert_has(&messages, "ERROR", "neither");
    assert_has(&messages, "INFO", "the tools of the server `odd name` are in the namespace");
}

#[test]
fn panics_and_what_tools_write_to_stderr_are_objects_also_in_a_file() {
    let calls = call(1, "bad_panics", json!({})) + &call(2, "slow_walk", json!({ "steps": 1 }));
    let calls = calls + &call(3, "bad_broken", json!({}));
    let path = temporary("log");
    let to_file = {
        let mut command = command(&TOOLS, &SERVE);
        command.env("FIXTURE_TELLS", "1").stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::null());
        let mut child = command.stderr(File::create(&path).unwrap()).spawn().unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), calls.as_bytes()).unwrap();
        assert!(child.wait().unwrap().success());
        let log = fs::read_to_string(&path).unwrap();
        fs::remove_file(&path).unwrap();
        log
    };
    let mut piped = command(&TOOLS, &SERVE);
    piped.env("FIXTURE_TELLS", "1");
    for log in [to_file, fed(piped, &calls).exits(0).err] {
        let messages = messages(&log);
        assert_has(&messages, "ERROR", "index out of sorts");
        assert_has(&messages, "INFO", "begun");
        assert_has(&messages, "ERROR", "tool failed");
        assert!(log.contains("disk on fire"), "{log}");
    }
}
