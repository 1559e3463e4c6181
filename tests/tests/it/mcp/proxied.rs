//! `serve --proxy`: several servers behind one.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::json;
use test_support::backends::{call, dispatcher, in_the_end, until};
use toolkit::backend::Backend;
use toolkit::call::ErrorKind;
use toolkit_mcp_client::{McpBackend, Program};

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
    for id in ["proxy:math_add", "proxy:first_good", "proxy:second_echo", "proxy:ours_math_add"] {
        assert!(has(id), "{id} is not among {ids:?}");
    }
    assert!(!has("proxy:first_whispers") && !has("proxy:absent"));
    let sum = call(&dispatcher, "proxy:ours_math_add", json!({ "a": 1, "b": 2 })).await.unwrap();
    assert_eq!(sum, json!({ "sum": 3 }));
    let echoed = call(&dispatcher, "proxy:second_echo", json!({ "a": 1 })).await.unwrap();
    assert_eq!((&echoed["name"], &echoed["arguments"]), (&json!("echo"), &json!({ "a": 1 })));
    let error = call(&dispatcher, "proxy:second_die", json!({})).await.unwrap_err();
    assert!(error.message().contains("the MCP server `second` disconnected"), "{error}");
    assert!(call(&dispatcher, "proxy:second_pid", json!({})).await.is_ok());
    in_the_end(backend.stop()).await.unwrap();
    std::fs::remove_file(file).unwrap();
}

/// Serves these servers until the end of an empty input. Returns whether that succeeded, and the standard error.
fn said(name: &str, servers: &str, flags: &[&str]) -> (bool, String) {
    let file = std::env::temp_dir().join(format!("toolkit-said-{}-{name}.json", std::process::id()));
    std::fs::write(&file, servers).unwrap();
    let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_fixture_tools"));
    program.args(["serve", "--proxy"]).arg(&file).args(flags).stdin(std::process::Stdio::null());
    let output = program.output().unwrap();
    std::fs::remove_file(file).unwrap();
    (output.status.success(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn an_invalid_configuration_is_reported() {
    let (is_served, told) = said("wrong", "[1", &[]);
    assert!(!is_served && told.contains("the text is not JSON"), "{told}");
}

#[tokio::test]
async fn an_invalid_server_is_reported_and_does_not_affect_others() {
    let peer = env!("CARGO_BIN_EXE_fixture_peer");
    let servers = format!(
        r#"{{"mcpServers": {{
            "wrong": {{"command": 1}}, // as VS Code writes it
            "old": {{"type": "websocket", "url": "http://x"}},
            "math": {{"command": "{peer}"}},
            "@acme/peer": {{"command": "{peer}"}},
        }}}}"#
    );
    let (is_served, told) = said("partly", &servers, &["--proxy-wait", "30s"]);
    assert!(is_served, "{told}");
    for expected in [
        "the server `wrong`: `command` must be a string",
        "the server `old`: `url` requires `type` `http`",
        "math: its tools are left out, because this program has a namespace `math`",
        "the tools of the server `@acme/peer` are in the namespace `acme_peer`",
    ] {
        assert!(told.contains(expected), "{expected} is not in {told}");
    }
    let (backend, file) = proxy("partly", &json!({}));
    std::fs::write(&file, servers).unwrap();
    let dispatcher = dispatcher(&backend).await;
    assert!(call(&dispatcher, "proxy:acme_peer_pid", json!({})).await.is_ok());
    assert!(dispatcher.catalog().get("proxy:math_add").is_some(), "the program keeps its namespace");
    assert!(dispatcher.catalog().get("proxy:math_pid").is_none());
    in_the_end(backend.stop()).await.unwrap();
    std::fs::remove_file(file).unwrap();
}

#[tokio::test]
async fn a_lock_is_written_for_review_and_then_holds() {
    let folder = std::env::temp_dir().join(format!("toolkit-locked-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (listing, lock) = (folder.join("tools.json"), folder.join("mcp.lock.json"));
    let tool =
        |name: &str, text: &str| json!({ "name": name, "description": text, "inputSchema": { "type": "object" } });
    let list = |tools: &[serde_json::Value]| std::fs::write(&listing, json!(tools).to_string()).unwrap();
    list(&[tool("echo", "Echoes."), tool("pid", "Tells."), tool("change", "Changes."), tool("folder", "Tells.")]);
    let peer = json!({ "command": env!("CARGO_BIN_EXE_fixture_peer"), "args": ["usual", listing] });
    let servers = json!({ "mcpServers": { "peer": peer } });
    let with_lock = ["--proxy-wait", "30s", "--lock", lock.to_str().unwrap()];

    let (is_served, told) = said("unlocked", &servers.to_string(), &with_lock);
    assert!(!is_served && told.contains("--update-lock creates the file"), "{told}");
    let updating: Vec<&str> = with_lock.into_iter().chain(["--update-lock"]).collect();
    let (is_written, told) = said("updated", &servers.to_string(), &updating);
    assert!(is_written && told.contains("`peer:echo` was added") && told.contains("wrote 4 tools to"), "{told}");
    let (is_served, told) = said("locked", &servers.to_string(), &with_lock);
    assert!(is_served && !told.contains("left out") && !told.contains("lock"), "{told}");

    let (backend, file) = proxy("locked", &servers);
    let program =
        Program::new(env!("CARGO_BIN_EXE_fixture_tools")).args(["serve", "--proxy"]).arg(&file).args(with_lock);
    let backend = {
        drop(backend);
        McpBackend::stdio("proxy", program)
    };
    let before = dispatcher(&backend).await;
    let changed =
        [tool("echo", "Echoes it to the world."), tool("pid", "Tells."), tool("change", "Changes."), tool("die", "D.")];
    list(&changed);
    // While the proxy runs.
    call(&before, "proxy:peer_change", json!({})).await.unwrap();
    let served = async || {
        let collected = test_support::backends::collected(&backend).await;
        let ids = collected.catalog.iter().map(|tool| tool.id().to_string());
        ids.filter_map(|id| id.strip_prefix("proxy:peer_").map(str::to_owned)).collect::<Vec<_>>()
    };
    until(async || served().await == ["change", "pid"]).await;
    assert!(call(&before, "proxy:peer_echo", json!({})).await.is_err());
    in_the_end(backend.stop()).await.unwrap();

    // After a restart.
    let (_, told) = said("changed", &servers.to_string(), &with_lock);
    for expected in [
        "`peer:echo` has changed at /description; it is left out",
        "offers `peer:die`, which is left out: it is not in the lock",
        "`peer:folder` is in the lock, and the backend `peer` no longer offers it",
    ] {
        assert!(told.contains(expected), "{expected} is not in {told}");
    }
    let (_, told) = said("reviewed", &servers.to_string(), &updating);
    for expected in ["`peer:echo` has changed at /description", "`peer:die` was added", "`peer:folder` was removed"] {
        assert!(told.contains(expected), "{expected} is not in {told}");
    }
    std::fs::remove_file(file).unwrap();
    std::fs::remove_dir_all(folder).unwrap();
}

/// A program of tools with other servers behind it.
fn hop(server: &serde_json::Value, name: &str) -> (serde_json::Value, PathBuf) {
    let (backend, file) = proxy(name, &json!({ "mcpServers": { (name): server } }));
    drop(backend);
    (json!({ "command": env!("CARGO_BIN_EXE_fixture_tools"), "args": ["serve", "--proxy", file] }), file)
}

#[tokio::test(flavor = "multi_thread")]
async fn an_error_and_progress_pass_through_several_programs_as_they_were() {
    let peer = json!({ "command": env!("CARGO_BIN_EXE_fixture_peer") });
    let (first, first_file) = hop(&peer, "a");
    let (second, second_file) = hop(&first, "b");
    let (backend, file) = proxy("hops", &json!({ "mcpServers": { "c": second } }));
    // A program serves its list before the programs behind it have started, and then announces their tools.
    until(async || dispatcher(&backend).await.catalog().resolve("proxy:c_b_a_last_word").is_ok()).await;
    let dispatcher = dispatcher(&backend).await;
    for (tool, arguments, message) in [
        ("fail", json!({}), "the disk is full"),
        ("refuse", json!({ "code": -32602, "message": "`a` is missing" }), "`a` is missing"),
    ] {
        let tool = format!("proxy:c_b_a_{tool}");
        let error = in_the_end(dispatcher.call(&tool, arguments)).await.unwrap_err();
        assert_eq!(error.to_string(), format!("{tool}: {message}"));
    }
    let violation = json!({
        "pointer": "/size", "keyword": "maximum", "rule": "must be at most 3", "limit": 3, "sent": 4, "suggestion": "3",
    });
    let data = json!({ "kind": "invalid_arguments", "retryable": true, "retryAfterMs": 20, "violations": [violation] });
    let arguments = json!({ "meta": { "rs.toolkit/error": data } });
    let error = in_the_end(dispatcher.call("proxy:c_b_a_fail", arguments)).await.unwrap_err();
    assert_eq!((error.kind(), error.message()), (ErrorKind::InvalidArguments, "the disk is full"));
    assert_eq!(error.retry_after(), Some(Duration::from_millis(20)));
    assert_eq!(json!(error.violations()), json!([violation]));
    for _ in 0..300 {
        let last = std::sync::Arc::new(std::sync::Mutex::new(0.0));
        let context = toolkit::Context::new().on_progress({
            let last = std::sync::Arc::clone(&last);
            move |progress| *last.lock().unwrap() = progress.done
        });
        in_the_end(dispatcher.call_with(&context, "proxy:c_b_a_last_word", json!({}))).await.unwrap();
        assert_eq!(*last.lock().unwrap(), 3.0);
    }
    in_the_end(backend.stop()).await.unwrap();
    for file in [first_file, second_file, file] {
        std::fs::remove_file(file).unwrap();
    }
}

#[tokio::test]
async fn a_hanging_server_does_not_delay_others() {
    let peer = |manner: &str| json!({ "command": env!("CARGO_BIN_EXE_fixture_peer"), "args": [manner] });
    let (backend, file) = proxy("hanging", &json!({ "mcpServers": { "quick": peer("usual"), "mute": peer("mute") } }));
    // Shorter than the start timeout of a server.
    let backend = backend.start_timeout(Duration::from_secs(20));
    let dispatcher = dispatcher(&backend).await;
    assert!(call(&dispatcher, "proxy:quick_pid", json!({})).await.is_ok());
    in_the_end(backend.stop()).await.unwrap();
    std::fs::remove_file(file).unwrap();
}
