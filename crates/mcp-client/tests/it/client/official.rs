//! The reference servers of MCP, if `tests/clients/servers/run` has installed them.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

use serde_json::json;
use toolkit::backend::Backend;
use toolkit::call::ask::{Answer, Asker, Mode, Question};
use toolkit::call::{BoxFuture, ErrorKind};
use toolkit::{Catalog, Context, Dispatcher, ToolError};
use toolkit_backends::Backends;
use toolkit_mcp_client::{Endpoint, McpBackend, McpServers};

use super::{call, dispatcher, in_the_end};

/// Returns the directory of the servers, or `None` to skip the test.
pub(super) fn installed() -> Option<PathBuf> {
    let installed = std::env::var_os("TOOLKIT_SERVERS").map(PathBuf::from);
    if installed.is_none() {
        test_support::skipped(1);
    }
    installed
}

/// The configuration of all of them, as another host would have it; `folder` is what they may touch.
fn configuration(servers: &Path, folder: &Path) -> String {
    let script = |package: &str| servers.join("node_modules/@modelcontextprotocol").join(package).join("dist/index.js");
    let python = servers.join("python/bin/python");
    let configuration = json!({ "mcpServers": {
        "everything": { "command": "node", "args": [script("server-everything"), "stdio"] },
        "files": { "command": "node", "args": [script("server-filesystem"), folder] },
        "memory": {
            "command": "node",
            "args": [script("server-memory")],
            "env": { "MEMORY_FILE_PATH": folder.join("memory.json") },
        },
        "git": { "command": python, "args": ["-m", "mcp_server_git"] },
        "time": { "command": python, "args": ["-m", "mcp_server_time"] },
    } });
    configuration.to_string()
}

#[tokio::test]
async fn official_servers_share_a_catalog() {
    let Some(servers) = installed() else { return };
    let folder = std::env::temp_dir().join(format!("toolkit-servers-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    // The server is careful about links in its path.
    let folder = folder.canonicalize().unwrap();
    assert!(Command::new("git").arg("init").arg("-q").arg(&folder).status().unwrap().success());

    let backends = Backends::new();
    for backend in McpServers::from_json(&configuration(&servers, &folder)).unwrap() {
        backends.register(backend.clone()).unwrap();
        if backend.name() == "time" {
            is_started_again(&backend).await;
        }
    }
    let failures = in_the_end(backends.start()).await;
    assert!(failures.is_empty(), "{failures:?}");
    let collected = in_the_end(backends.collect(Catalog::new([]).unwrap())).await;
    assert!(collected.failures.is_empty(), "{:?}", collected.failures);
    assert!(collected.diagnostics.is_empty(), "{:?}", collected.diagnostics);
    for server in backends.names() {
        let n_tools = collected.catalog.iter().filter(|tool| tool.id().namespace() == Some(&server)).count();
        println!("{server}: {n_tools} tools");
        assert!(n_tools >= 2, "{server}");
    }
    let dispatcher = Dispatcher::builder(collected.catalog).routes(collected.routes).build().unwrap();
    answer(&dispatcher, &folder).await;
    run_as_a_task(&dispatcher).await;
    run_as_a_task_over_http(&servers).await;
    assert!(in_the_end(backends.health()).await.is_empty());
    let failures = in_the_end(backends.stop()).await;
    assert!(failures.is_empty(), "{failures:?}");
    std::fs::remove_dir_all(&folder).unwrap();
    test_support::ran(backends.names().len());
}

async fn answer(dispatcher: &Dispatcher, folder: &Path) {
    let said = call(dispatcher, "everything:echo", json!({ "message": "hello" })).await.unwrap();
    assert_eq!(said, "Echo: hello");
    let refused = call(dispatcher, "everything:echo", json!({ "message": 1 })).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::InvalidArguments);

    let note = folder.join("note.txt");
    let written = json!({ "path": note, "content": "remember" });
    call(dispatcher, "files:write_file", written).await.unwrap();
    assert_eq!(std::fs::read_to_string(&note).unwrap(), "remember");
    let outside = call(dispatcher, "files:read_text_file", json!({ "path": "/etc/hostname" })).await.unwrap_err();
    assert!(outside.message().contains("denied"), "{outside}");

    let entity = json!({ "name": "toolkit", "entityType": "library", "observations": ["reads MCP"] });
    call(dispatcher, "memory:create_entities", json!({ "entities": [entity] })).await.unwrap();
    let graph = call(dispatcher, "memory:read_graph", json!({})).await.unwrap();
    assert_eq!(graph["entities"][0]["name"], "toolkit");

    let status = call(dispatcher, "git:git_status", json!({ "repo_path": folder })).await.unwrap();
    assert!(status.as_str().unwrap().contains("note.txt"), "{status}");

    let now = call(dispatcher, "time:get_current_time", json!({ "timezone": "Europe/Vienna" })).await.unwrap();
    assert_eq!(now["timezone"], "Europe/Vienna");
    let nowhere = call(dispatcher, "time:get_current_time", json!({ "timezone": "Mars/Base" })).await.unwrap_err();
    assert_eq!(nowhere.kind(), ErrorKind::Failed);
}

/// A user who means the snake.
struct Herpetologist;

impl Asker for Herpetologist {
    fn can_ask(&self, mode: Mode) -> bool {
        mode == Mode::Form
    }

    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Result<Answer, ToolError>> {
        assert!(question.message().contains("multiple interpretations"), "{}", question.message());
        Box::pin(async { Ok(Answer::Accepted(json!({ "interpretation": "snake" }))) })
    }
}

/// Calls a tool that requires a task, with a question to the user and without.
async fn run_as_a_task(dispatcher: &Dispatcher) {
    let stages: Arc<Mutex<Vec<String>>> = Arc::default();
    let context = Context::new().with_asker(Herpetologist).on_progress({
        let stages = Arc::clone(&stages);
        move |progress| stages.lock().unwrap().push(progress.message)
    });
    for (is_ambiguous, title) in [(false, "# Research Report: python\n"), (true, "# Research Report: python (snake)\n")]
    {
        let arguments = json!({ "topic": "python", "ambiguous": is_ambiguous });
        let tool = "everything:simulate-research-query";
        let report = in_the_end(dispatcher.call_with(&context, tool, arguments)).await.unwrap().value();
        assert!(report.as_str().unwrap().starts_with(title), "{report}");
        let stages = std::mem::take(&mut *stages.lock().unwrap());
        assert!(stages.iter().any(|stage| stage == "Analyzing content..."), "{stages:?}");
    }
}

/// A server over HTTP, until it is dropped.
struct Listening {
    _process: tokio::process::Child,
    url: String,
}

impl Listening {
    /// Starts a script of a package with a port, and waits until it listens.
    fn start(servers: &Path, script: &str, args: impl Fn(u16) -> Vec<String>) -> Self {
        let port = test_support::free_port();
        let mut process = tokio::process::Command::new("node");
        process.arg(servers.join("node_modules").join(script)).args(args(port)).env("PORT", port.to_string());
        process.stdout(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
        let process = process.spawn().unwrap();
        test_support::until_it_listens(("localhost", port));
        Self { _process: process, url: format!("http://localhost:{port}/mcp") }
    }

    fn everything(servers: &Path) -> Self {
        let script = "@modelcontextprotocol/server-everything/dist/index.js";
        Self::start(servers, script, |_| vec!["streamableHttp".to_owned()])
    }

    fn playwright(servers: &Path) -> Self {
        Self::start(servers, "@playwright/mcp/cli.js", |port| vec!["--port".to_owned(), port.to_string()])
    }

    fn backend(&self, name: &str) -> McpBackend {
        McpBackend::http(name, Endpoint::new(&self.url).unwrap())
    }
}

#[tokio::test]
async fn official_servers_over_http_connect_at_the_first_attempt_after_each_start() {
    let Some(servers) = installed() else { return };
    for start in [Listening::everything, Listening::playwright] {
        for nth in 0..10 {
            let server = start(&servers);
            let backend = server.backend("remote");
            in_the_end(backend.start()).await.unwrap_or_else(|error| panic!("{nth}: {error:?}"));
            assert!(in_the_end(backend.tools()).await.unwrap().tools.len() >= 10, "{nth}");
            in_the_end(backend.stop()).await.unwrap();
            // Another client of the same process.
            let backend = server.backend("remote");
            assert!(in_the_end(backend.tools()).await.unwrap().tools.len() >= 10, "{nth}");
            in_the_end(backend.stop()).await.unwrap();
        }
    }
    test_support::ran(40);
}

/// The questions of a task arrive on the stream of the request for its result.
async fn run_as_a_task_over_http(servers: &Path) {
    let server = Listening::everything(servers);
    let backend = server.backend("everything").may_ask();
    run_as_a_task(&dispatcher(&backend).await).await;
    in_the_end(backend.stop()).await.unwrap();
}

async fn is_started_again(backend: &impl Backend) {
    for _ in 0..2 {
        in_the_end(backend.start()).await.unwrap();
        assert!(in_the_end(backend.tools()).await.unwrap().tools.len() >= 2);
        in_the_end(backend.stop()).await.unwrap();
        assert_eq!(in_the_end(backend.tools()).await.unwrap_err().kind(), ErrorKind::Unavailable);
    }
    in_the_end(backend.start()).await.unwrap();
}
