//! `serve --proxy`: changes of the servers while it runs.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use test_support::backends::{call, collected, in_the_end, until};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use toolkit::Dispatcher;
use toolkit::backend::Backend;
use toolkit::call::ErrorKind;
use toolkit_mcp_client::{McpBackend, Program};

/// A proxy for a peer whose list is a file, with this process as its client.
struct Proxied {
    folder: PathBuf,
    backend: McpBackend,
}

fn tool(name: &str) -> Value {
    json!({ "name": name, "description": "Does something.", "inputSchema": { "type": "object" } })
}

/// Returns these tools and those that control the peer.
fn with(tools: impl IntoIterator<Item = Value>) -> Vec<Value> {
    ["change", "pid", "wait", "listed"].map(tool).into_iter().chain(tools).collect()
}

impl Proxied {
    fn new(tools: Vec<Value>, flags: &[&str]) -> Self {
        Self::of("usual", tools, flags)
    }

    fn of(manner: &str, tools: Vec<Value>, flags: &[&str]) -> Self {
        let peer = env!("CARGO_BIN_EXE_fixture_peer");
        let configured = |folder: &Path| json!({ "command": peer, "args": [manner, folder.join("tools.json")] });
        let proxied = Self::configured(configured, flags);
        proxied.list(tools);
        proxied
    }

    /// Starts a proxy for the configured server.
    fn configured(server: impl FnOnce(&Path) -> Value, flags: &[&str]) -> Self {
        static N_PROXIES: AtomicUsize = AtomicUsize::new(0);
        let n = N_PROXIES.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("toolkit-followed-{}-{n}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let servers = json!({ "mcpServers": { "peer": server(&folder) } });
        std::fs::write(folder.join("mcp.json"), servers.to_string()).unwrap();
        let program = Program::new(env!("CARGO_BIN_EXE_fixture_tools")).args(["serve", "--proxy"]);
        let program = program.arg(folder.join("mcp.json")).args(flags);
        Self { folder, backend: McpBackend::stdio("proxy", program) }
    }

    /// Changes the list of the peer without a notification.
    fn list(&self, tools: Vec<Value>) {
        // Renames the file, since the peer may read it at any time.
        let (new, old) = (self.folder.join("new.json"), self.folder.join("tools.json"));
        std::fs::write(&new, Value::from(tools).to_string()).unwrap();
        std::fs::rename(new, old).unwrap();
    }

    async fn dispatcher(&self) -> Dispatcher {
        test_support::backends::dispatcher(&self.backend).await
    }

    /// Returns the tools of the peer that the proxy lists, by their names in the peer.
    async fn names(&self) -> Vec<String> {
        let collected = collected(&self.backend).await;
        assert!(collected.failures.is_empty(), "{:?}", collected.failures);
        let ids = collected.catalog.iter().map(|tool| tool.id().to_string());
        ids.filter_map(|id| id.strip_prefix("proxy:peer_").map(str::to_owned)).collect()
    }

    async fn has(&self, name: &str) -> bool {
        self.names().await.iter().any(|other| other == name)
    }

    /// Changes the list of the peer with a notification.
    async fn change(&self, dispatcher: &Dispatcher, tools: Vec<Value>) {
        self.list(tools);
        call(dispatcher, "proxy:peer_change", json!({})).await.unwrap();
    }
}

impl Drop for Proxied {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

#[tokio::test]
async fn added_changed_and_removed_tools_are_notified() {
    let proxied = Proxied::new(with([tool("old"), tool("echo")]), &[]);
    let dispatcher = proxied.dispatcher().await;
    let mut echo = tool("echo");
    echo["inputSchema"]["required"] = json!(["word"]);
    proxied.change(&dispatcher, with([tool("new"), echo])).await;
    // The proxy notifies without a request.
    in_the_end(proxied.backend.changed()).await;
    until(async || proxied.has("new").await).await;
    assert!(!proxied.has("old").await);

    let dispatcher = proxied.dispatcher().await;
    let error = call(&dispatcher, "proxy:peer_echo", json!({})).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArguments);
    let echoed = call(&dispatcher, "proxy:peer_echo", json!({ "word": "x" })).await.unwrap();
    assert_eq!(echoed["arguments"]["word"], "x");
    assert!(dispatcher.catalog().get("proxy:math_add").is_some(), "the proxy's own tools stay");
}

#[tokio::test]
async fn a_tool_that_becomes_deceptive_is_left_out() {
    let proxied = Proxied::new(with([tool("turns"), tool("stays")]), &[]);
    let dispatcher = proxied.dispatcher().await;
    let mut turned = tool("turns");
    turned["description"] = json!("Adds.\u{e0041}\u{e0042}");
    proxied.change(&dispatcher, with([turned, tool("stays"), tool("new")])).await;
    until(async || proxied.has("new").await).await;
    assert!(!proxied.has("turns").await && proxied.has("stays").await);
    assert_eq!(call(&dispatcher, "proxy:peer_turns", json!({})).await.unwrap_err().kind(), ErrorKind::UnknownTool);
}

#[tokio::test]
async fn the_policy_applies_to_tools_added_later() {
    let reads = |mut tool: Value, is: bool| {
        tool["annotations"]["readOnlyHint"] = is.into();
        tool
    };
    let all_read = |tools: Vec<Value>| tools.into_iter().map(|tool| reads(tool, true)).collect::<Vec<_>>();
    let proxied =
        Proxied::new(all_read(with([tool("look")])), &["--read-only", "--deny", "peer:secret", "--trust", "peer"]);
    assert!(proxied.has("look").await);
    let dispatcher = proxied.dispatcher().await;
    let mut tools = all_read(with([tool("secret"), tool("new")]));
    tools.extend([reads(tool("look"), false), tool("writes")]);
    proxied.change(&dispatcher, tools).await;
    until(async || proxied.has("new").await).await;
    let names = proxied.names().await;
    for name in ["look", "writes", "secret"] {
        assert!(!names.iter().any(|other| other == name), "{name} is among {names:?}");
        let named = format!("peer_{name}");
        let error = call(&dispatcher, &format!("proxy:{named}"), json!({})).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::UnknownTool);
    }
}

#[tokio::test]
async fn an_invalid_tool_does_not_affect_others() {
    let proxied = Proxied::new(with([tool("good"), tool(&"x".repeat(63))]), &[]);
    let (dispatcher, mut header) = (proxied.dispatcher().await, tool("header"));
    assert!(proxied.has("good").await);
    header["inputSchema"]["properties"] = json!({ "a": { "type": "object", "x-mcp-header": "A" } });
    let mut clash = tool("add");
    clash["description"] = json!("Would be called like a tool of the proxy's own.");
    proxied.change(&dispatcher, with([header, tool("new"), clash])).await;
    until(async || proxied.has("new").await).await;
    assert!(!proxied.has("header").await && !proxied.has("good").await);
}

#[tokio::test]
async fn a_call_that_runs_over_a_change_is_answered() {
    let proxied = Proxied::new(with([]), &[]);
    let dispatcher = proxied.dispatcher().await;
    let file = proxied.folder.join("go");
    let running = tokio::spawn({
        let (dispatcher, file) = (dispatcher.clone(), file.clone());
        async move { call(&dispatcher, "proxy:peer_wait", json!({ "file": file })).await }
    });
    // Without the tool that runs.
    proxied.change(&dispatcher, vec![tool("new"), tool("pid")]).await;
    until(async || proxied.has("new").await).await;
    assert!(!proxied.has("wait").await && !running.is_finished());
    std::fs::write(&file, "").unwrap();
    assert_eq!(in_the_end(running).await.unwrap().unwrap(), "waited");
}

#[tokio::test]
async fn a_burst_of_changes_is_coalesced() {
    let proxied = Proxied::new(with([]), &[]);
    let dispatcher = proxied.dispatcher().await;
    let listed = async || call(&dispatcher, "proxy:peer_listed", json!({})).await.unwrap().as_u64().unwrap();
    let before = listed().await;
    for n in 0..10 {
        proxied.list(with([tool(&format!("tool_{n}"))]));
        call(&dispatcher, "proxy:peer_change", json!({ "times": 100 })).await.unwrap();
    }
    until(async || proxied.has("tool_9").await).await;
    let n_listed = listed().await - before;
    assert!((1..100).contains(&n_listed), "{n_listed} of 1000");
}

#[tokio::test]
async fn a_killed_server_is_restarted_and_listed_again() {
    let proxied = Proxied::new(with([tool("old")]), &[]);
    let dispatcher = proxied.dispatcher().await;
    let pid = call(&dispatcher, "proxy:peer_pid", json!({})).await.unwrap();
    proxied.list(with([tool("new")]));
    assert!(std::process::Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap().success());
    // Without calls of its tools in the meantime.
    until(async || proxied.has("new").await).await;
    assert!(!proxied.has("old").await);
    assert_ne!(call(&dispatcher, "proxy:peer_pid", json!({})).await.unwrap(), pid);
}

#[tokio::test]
async fn a_crashing_server_is_restarted_with_backoff() {
    let proxied = Proxied::of("brief", with([]), &[]);
    proxied.names().await;
    let starts = || -> Vec<u64> {
        let starts = std::fs::read_to_string(proxied.folder.join("tools.json.starts")).unwrap_or_default();
        // The last line may be incomplete.
        starts.split_inclusive('\n').filter_map(|start| start.strip_suffix('\n')?.parse().ok()).collect()
    };
    // Without backoff, the peer would start several times a second.
    let is_rare = |starts: &[u64]| starts.windows(2).any(|pair| pair[1] - pair[0] >= 1000);
    until(async || is_rare(&starts())).await;
    let starts = starts();
    assert!(starts.len() <= 12, "{starts:?}");
}

#[tokio::test]
async fn a_server_is_started_once_its_program_exists() {
    let at = |folder: &Path| json!({ "command": folder.join("server"), "args": ["usual", folder.join("tools.json")] });
    let proxied = Proxied::configured(at, &[]);
    proxied.list(with([tool("late")]));
    assert!(proxied.names().await.is_empty());
    link(Path::new(env!("CARGO_BIN_EXE_fixture_peer")), &proxied.folder.join("server"));
    until(async || proxied.has("late").await).await;
}

fn link(to: &Path, from: &Path) {
    #[cfg(unix)]
    std::os::unix::fs::symlink(to, from).unwrap();
    #[cfg(not(unix))]
    std::fs::copy(to, from).map(drop).unwrap();
}

#[tokio::test]
async fn an_invisible_change_is_not_notified() {
    let proxied = Proxied::new(with([]), &["--deny", "tag=hidden"]);
    let dispatcher = proxied.dispatcher().await;
    let quiet = async || {
        in_the_end(proxied.backend.tools()).await.unwrap();
        tokio::time::timeout(Duration::from_millis(400), proxied.backend.changed()).await.is_err()
    };
    // After subscribing, the client lists the tools again, since it may have missed a change.
    until(quiet).await;
    call(&dispatcher, "proxy:peer_change", json!({})).await.unwrap();
    assert!(quiet().await);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn the_servers_end_with_the_proxy() {
    let proxied = Proxied::new(with([]), &[]);
    let dispatcher = proxied.dispatcher().await;
    let pid = call(&dispatcher, "proxy:peer_pid", json!({})).await.unwrap();
    in_the_end(proxied.backend.stop()).await.unwrap();
    until(async || !Path::new(&format!("/proc/{pid}")).exists()).await;
}

/// Starts the server on this port, or on a free one. Returns the process and its address.
async fn serving(address: &str) -> (Child, String) {
    let mut server = Command::new(env!("CARGO_BIN_EXE_fixture_mcp"));
    let mut server = server.arg(address).stdout(Stdio::piped()).kill_on_drop(true).spawn().unwrap();
    let mut lines = BufReader::new(server.stdout.take().unwrap()).lines();
    let address = in_the_end(lines.next_line()).await.unwrap().unwrap();
    (server, address)
}

#[tokio::test]
async fn calls_of_a_lost_http_server_are_retryable() {
    let (mut server, address) = serving("127.0.0.1:0").await;
    let proxied = Proxied::configured(|_| json!({ "url": format!("http://{address}/mcp") }), &[]);
    let dispatcher = proxied.dispatcher().await;
    let called = async || call(&dispatcher, "proxy:peer_math_add", json!({ "a": 1, "b": 2 })).await;
    assert!(called().await.is_ok());
    server.kill().await.unwrap();
    until(async || called().await.is_err_and(|error| error.message().contains("is being restarted; try again"))).await;
    assert!(proxied.has("echo").await, "its tools are still known");
    let (_server, _) = serving(&address).await;
    until(async || called().await.is_ok()).await;
}
