//! Programs that stop while they are unused.

use std::time::Duration;

use serde_json::json;
use test_support::client::{Client, Era, Way as ClientWay};
use toolkit::backend::{Backend, BackendState};
use toolkit_mcp_client::{McpBackend, McpServers};

use super::sessions::{pid, proxied, runs};
use super::{call, dispatcher, in_the_end, program, until};

/// The faulty server, which stops when it was unused for `limit`.
fn sleepy(command: &str, limit: &str) -> McpBackend {
    let servers = json!({ "mcpServers": { "peer": {
        "command": command, "args": ["usual"], "toolkit": { "idleTimeout": limit },
    } } });
    let servers = McpServers::from_json(&servers.to_string()).unwrap();
    assert_eq!(servers.rejected().next(), None);
    servers.into_iter().next().unwrap()
}

async fn asleep(backend: &McpBackend) {
    until(|| async { backend.status().state == BackendState::Asleep }).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_nobody_uses_stops_and_the_next_call_starts_it() {
    let backend = sleepy(program("fixture_peer").to_str().unwrap(), "200ms");
    let server = proxied(&backend).await;
    let mut client = Client::connect(&server, (Era::Modern, ClientWay::Http), json!({})).await;
    let first = pid(&mut client).await.unwrap();
    asleep(&backend).await;
    if cfg!(target_os = "linux") {
        until(|| async { !runs(first) }).await;
    }
    // Lists and checks start nothing.
    let listed = client.send_unchecked("tools/list", &json!({})).await;
    let tools = listed["result"]["tools"].as_array().unwrap();
    assert!(tools.iter().any(|tool| tool["name"] == "peer_pid"), "{listed}");
    let resources = client.send_unchecked("resources/list", &json!({})).await;
    assert_eq!(resources["result"]["resources"], json!([]));
    in_the_end(backend.health()).await.unwrap();
    assert_eq!(backend.status().state, BackendState::Asleep);
    assert!(server.status().is_ready());
    let second = pid(&mut client).await.unwrap();
    assert_ne!(first, second);
    let status = backend.status();
    assert_eq!((status.state, status.n_restarts, status.last_error), (BackendState::Ready, 1, None));
    asleep(&backend).await;
    in_the_end(backend.stop()).await.unwrap();
    assert_eq!(backend.status().state, BackendState::Stopped);
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_of_other_servers_do_not_start_a_stopped_program() {
    let backend = sleepy(program("fixture_peer").to_str().unwrap(), "200ms");
    let before = in_the_end(backend.tools()).await.unwrap();
    asleep(&backend).await;
    let again = in_the_end(backend.tools()).await.unwrap();
    assert_eq!(again.tools.len(), before.tools.len());
    assert_eq!(backend.status().state, BackendState::Asleep);
    assert!(tokio::time::timeout(Duration::from_millis(300), backend.changed()).await.is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_running_call_keeps_its_program() {
    let backend = sleepy(program("fixture_peer").to_str().unwrap(), "100ms");
    let dispatcher = dispatcher(&backend).await;
    let called = call(&dispatcher, "peer:report", json!({ "times": 8, "millis": 100 })).await;
    assert_eq!(called.unwrap(), "reported");
    assert_eq!(backend.status().n_restarts, 0);
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_cannot_be_started_again_is_away() {
    let directory = std::env::temp_dir().join(format!("toolkit-sleepy-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let command = directory.join("peer");
    std::os::unix::fs::symlink(program("fixture_peer"), &command).unwrap();
    let backend = sleepy(command.to_str().unwrap(), "200ms");
    let dispatcher = dispatcher(&backend).await;
    call(&dispatcher, "peer:pid", json!({})).await.unwrap();
    asleep(&backend).await;
    std::fs::remove_dir_all(&directory).unwrap();
    let error = call(&dispatcher, "peer:pid", json!({})).await.unwrap_err().to_string();
    assert!(error.contains("the MCP server `peer` cannot be started"), "{error}");
    assert_eq!(backend.status().state, BackendState::BackingOff);
    // The host collects again, and learns that it is away.
    in_the_end(backend.changed()).await;
    assert!(in_the_end(backend.tools()).await.is_err());
}
