//! `serve --proxy`: many servers in, one out.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::json;
use toolkit::backend::Backend;
use toolkit::call::ErrorKind;
use toolkit_mcp::client::{McpBackend, Program};

use super::{call, dispatcher, in_the_end};

/// A program of tools, with the servers of this configuration behind it.
fn proxy(name: &str, servers: &serde_json::Value) -> (McpBackend, PathBuf) {
    let file = std::env::temp_dir().join(format!("toolkit-proxy-{}-{name}.json", std::process::id()));
    std::fs::write(&file, servers.to_string()).unwrap();
    let program = Program::new(env!("CARGO_BIN_EXE_fixture_tools")).args(["serve", "--proxy"]).arg(&file);
    (McpBackend::stdio("proxy", program), file)
}

#[tokio::test]
async fn many_servers_are_one() {
    let peer = env!("CARGO_BIN_EXE_fixture_peer");
    let (backend, file) = proxy(
        "many",
        &json!({ "mcpServers": {
            "first": { "command": peer, "args": ["usual", "bad"] },
            "second": { "command": peer },
            "ours": { "command": env!("CARGO_BIN_EXE_fixture_mcp") },
            "absent": { "command": "/nowhere/at-all" },
        } }),
    );
    let dispatcher = dispatcher(&backend).await;
    let ids: Vec<String> = dispatcher.catalog().iter().map(|tool| tool.id().to_string()).collect();
    let has = |id: &str| ids.iter().any(|have| have == id || have.starts_with(&format!("{id}:")));
    for id in ["proxy:math_add", "proxy:first_good", "proxy:second_echo", "proxy:ours_add"] {
        assert!(has(id), "{id} is not among {ids:?}");
    }
    assert!(!has("proxy:first_whispers") && !has("proxy:absent"));
    let sum = call(&dispatcher, "proxy:ours_add", json!({ "a": 1, "b": 2 })).await.unwrap();
    assert_eq!(sum, json!({ "sum": 3 }));
    let echoed = call(&dispatcher, "proxy:second_echo", json!({ "a": 1 })).await.unwrap();
    assert_eq!((&echoed["name"], &echoed["arguments"]), (&json!("echo"), &json!({ "a": 1 })));
    let error = call(&dispatcher, "proxy:second_die", json!({})).await.unwrap_err();
    assert!(error.message().contains("the MCP server `second` went away"), "{error}");
    assert!(call(&dispatcher, "proxy:second_pid", json!({})).await.is_ok());
    in_the_end(backend.stop()).await.unwrap();
    std::fs::remove_file(file).unwrap();
}

#[tokio::test]
async fn a_configuration_that_is_wrong_is_told() {
    let (backend, file) = proxy("wrong", &json!({ "mcpServers": { "a": { "command": 1 } } }));
    let error = in_the_end(backend.start()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    let cause = std::error::Error::source(&error).unwrap().to_string();
    assert!(cause.contains("the server `a`: `command` must be a string"), "{cause}");
    std::fs::remove_file(file).unwrap();
}

#[tokio::test]
async fn a_server_that_hangs_keeps_no_other_from_being_served() {
    let peer = |manner: &str| json!({ "command": env!("CARGO_BIN_EXE_fixture_peer"), "args": [manner] });
    let (backend, file) = proxy("hanging", &json!({ "mcpServers": { "quick": peer("usual"), "mute": peer("mute") } }));
    // Less than a server may take to start.
    let backend = backend.start_timeout(Duration::from_secs(20));
    let dispatcher = dispatcher(&backend).await;
    assert!(call(&dispatcher, "proxy:quick_pid", json!({})).await.is_ok());
    in_the_end(backend.stop()).await.unwrap();
    std::fs::remove_file(file).unwrap();
}
