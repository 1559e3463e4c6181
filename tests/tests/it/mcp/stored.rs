//! `serve --task-dir`: tasks that outlive their server.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

/// Starts a server over stdio that stores its tasks.
fn started(directory: &Path) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fixture_mcp"));
    command.args(["serve", "--task-after", "10ms", "--task-dir"]).arg(directory);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap()
}

fn request(server: &mut Child, method: &str, mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": { "extensions": { "io.modelcontextprotocol/tasks": {} } },
    });
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    writeln!(server.stdin.as_mut().unwrap(), "{request}").unwrap();
    let mut line = String::new();
    BufReader::new(server.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    serde_json::from_str::<Value>(&line).unwrap()["result"].clone()
}

fn kill(mut server: Child) {
    server.kill().unwrap();
    server.wait().unwrap();
}

#[test]
fn a_task_is_known_after_its_server_was_killed() {
    let directory = std::env::temp_dir().join(format!("toolkit-stored-{}", std::process::id()));
    let mut server = started(&directory);
    let call = json!({ "name": "only_as_a_task", "arguments": { "ms": 600_000 } });
    let task = request(&mut server, "tools/call", call);
    let id = json!({ "taskId": task["taskId"] });
    assert_eq!(request(&mut server, "tasks/get", id.clone())["status"], "working", "{task}");
    kill(server);
    let mut server = started(&directory);
    let after = request(&mut server, "tasks/get", id);
    assert_eq!(after["error"]["message"], "the server was restarted while the task ran", "{after}");
    kill(server);
    std::fs::remove_dir_all(directory).unwrap();
}
