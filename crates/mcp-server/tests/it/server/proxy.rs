//! A proxy: tools of backends next to those of the program, and their changes.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::io::AsyncBufReadExt;
use tokio::sync::watch;
use toolkit::backend::{Backend, BackendCall, BackendResponse, OfferedTools};
use toolkit::call::BoxFuture;
use toolkit::dispatch::Call;
use toolkit::tool::{BackendKind, ToolBackend};
use toolkit::{Context, Tool, ToolError};
use toolkit_backends::{Backends, LocalBackend};
use toolkit_mcp_server::{Filter, LeftOut, Proxy};
use tower::util::MapRequestLayer;

use super::changes::next;
use super::pipes::Pipes;
use super::*;

/// Adds a tool that returns its name.
fn add(backend: &LocalBackend, name: &str) {
    add_tool(backend, Tool::builder(name.to_owned()).description("Does something.").build().unwrap());
}

fn add_tool(backend: &LocalBackend, tool: Tool) {
    let said = tool.name().to_owned();
    backend.add(tool, move |_: Value, _: Context| {
        let said = said.clone();
        async move { Ok::<_, ToolError>(json!(said)) }
    });
}

/// Creates backends, each with a tool `first`.
fn backends<const N: usize>(names: [&str; N]) -> (Arc<Backends>, [LocalBackend; N]) {
    let registered = Arc::new(Backends::new());
    let local = names.map(|name| {
        let backend = LocalBackend::new(name);
        add(&backend, "first");
        registered.register(backend.clone()).unwrap();
        backend
    });
    (registered, local)
}

/// Follows changes until the end of the test and records the reports.
fn follow(proxy: Proxy) -> Arc<Mutex<Vec<LeftOut>>> {
    let told: Arc<Mutex<Vec<LeftOut>>> = Arc::default();
    let telling = Arc::clone(&told);
    tokio::spawn(async move { proxy.follow(|left_out| telling.lock().unwrap().push(left_out)).await });
    told
}

fn builder(dispatcher: Dispatcher) -> toolkit_mcp_server::ServerBuilder {
    Server::builder(dispatcher).list_at_most(1000)
}

async fn names(client: &Client) -> Vec<String> {
    let list = client.send(&modern(1, "tools/list", json!({}))).await.result();
    let tools = list["tools"].as_array().unwrap();
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

async fn has(client: &Client, name: &str) -> bool {
    names(client).await.iter().any(|other| other == name)
}

async fn until(mut holds: impl AsyncFnMut() -> bool) {
    let reached = async {
        while !holds().await {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), reached).await.expect("it comes to that");
}

#[tokio::test]
async fn tools_of_one_name_in_two_namespaces_are_served_and_called_by_default() {
    let backend = LocalBackend::new("jira");
    let registered = Arc::new(Backends::new());
    registered.register(backend.clone()).unwrap();
    add(&backend, "read");
    for namespace in ["files", "cloud.mail"] {
        add_tool(&backend, Tool::builder("read").namespace(namespace).description("Reads.").build().unwrap());
    }
    let own = Dispatcher::new(Catalog::new([]).unwrap()).unwrap();
    let server = Server::new(own).unwrap();
    let proxy = Proxy::new(server.clone(), registered);
    let left_out = proxy.collect().await;
    assert!(left_out.is_empty(), "{left_out}");
    let client = Client::of(serve(server.http()).await);
    assert_eq!(names(&client).await, ["cloud_mail_read", "files_read", "jira_read"]);
    for name in names(&client).await {
        let answer = client.send(&modern(1, "tools/call", call(&name, json!({})))).await.result();
        assert_eq!(answer["content"][0]["text"], "read", "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_of_both_eras_are_notified_over_http_and_pipes() {
    let (registered, [plugins]) = backends(["plugins"]);
    let server = builder(dispatcher()).build().unwrap();
    let proxy = Proxy::new(server.clone(), registered);
    assert!(proxy.collect().await.is_empty());
    let client = Client::of(serve(server.http()).await);
    assert!(has(&client, "plugins_first").await);

    let mut earlier = client.with("mcp-protocol-version", "2025-11-25").begin("GET", "/mcp", b"").await;
    assert_eq!(Response::read_head(&mut earlier).await.status, 200);
    earlier.fill_buf().await.unwrap();
    let listen = modern(5, "subscriptions/listen", json!({ "notifications": { "toolsListChanged": true } }));
    let listening = client.with("mcp-protocol-version", MODERN).with("mcp-method", "subscriptions/listen");
    let listening = listening.with("content-type", "application/json");
    let mut later = listening.begin("POST", "/mcp", listen.to_string().as_bytes()).await;
    next(&mut later).await;
    let (mut earlier_pipe, _) = Pipes::of(server.clone());
    earlier_pipe.ask(&request(1, "initialize", json!({ "protocolVersion": LEGACY })));
    let (mut later_pipe, _) = Pipes::of(server.clone());
    later_pipe.ask(&listen);

    let _told = follow(proxy);
    add(&plugins, "second");
    let changed = "notifications/tools/list_changed";
    for stream in [&mut earlier, &mut later] {
        assert_eq!(next(stream).await["method"], changed);
    }
    for pipe in [&mut earlier_pipe, &mut later_pipe] {
        assert_eq!(pipe.read()["method"], changed);
    }
    assert!(has(&client, "plugins_second").await);
    let called = client.send(&modern(1, "tools/call", call("plugins_second", json!({})))).await;
    assert!(called.text().contains("second"), "{}", called.text());
    plugins.remove("first");
    until(async || !has(&client, "plugins_first").await).await;
}

#[tokio::test]
async fn settings_of_the_server_apply_to_tools_added_later() {
    let n_seen = Arc::new(AtomicUsize::new(0));
    let layer = MapRequestLayer::new({
        let n_seen = Arc::clone(&n_seen);
        move |call: Call| {
            n_seen.fetch_add(1, Ordering::SeqCst);
            call
        }
    });
    let dispatcher = Dispatcher::builder(tools::catalog()).layer(layer).build().unwrap();
    let filter = Filter::all().deny("tag=internal".parse().unwrap());
    let server = builder(dispatcher).filter(filter).build().unwrap();
    let (registered, [plugins]) = backends(["plugins"]);
    let proxy = Proxy::new(server.clone(), registered);
    let client = Client::of(serve(server.http()).await);
    add(&plugins, "second");
    add_tool(&plugins, Tool::builder("third").description("Does something.").tags(["internal"]).build().unwrap());
    assert!(proxy.collect().await.is_empty());
    assert!(has(&client, "plugins_second").await && !has(&client, "plugins_third").await);
    assert_eq!(client.send(&modern(1, "tools/call", call("plugins_third", json!({})))).await.code(), -32602);
    client.send(&modern(1, "tools/call", call("plugins_second", json!({})))).await.result();
    assert_eq!(n_seen.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn of_conflicting_tools_the_most_trusted_one_stays() {
    let server = builder(dispatcher()).build().unwrap();
    // The order of registration is that of trust.
    let (registered, [second, first]) = backends(["z", "a"]);
    let proxy = Proxy::new(server.clone(), registered);
    let client = Client::of(serve(server.http()).await);
    // `z.x` and `z_x` have the same name on the wire.
    let clash = |name: &str, ns: &str| {
        Tool::builder(name.to_owned()).namespace(ns.to_owned()).description("Does something.").build().unwrap()
    };
    add_tool(&second, clash("b_c", "same"));
    add_tool(&first, clash("c", "same_b"));
    // One tool in the namespace of its backend, and one with its own namespace.
    add(&second, "d_e");
    add_tool(&first, clash("e", "z_d"));
    add_tool(&first, clash("add", "math.x"));
    add_tool(&first, clash("x_add", "math"));
    let left_out = proxy.collect().await;
    let told: Vec<&str> = left_out.diagnostics.iter().map(|problem| problem.message()).collect();
    assert_eq!(told.len(), 3, "{told:#?}");
    assert!(told.iter().all(|told| told.contains("would share the name")), "{told:#?}");
    let names = names(&client).await;
    for name in ["z_first", "a_first", "math_add", "same_b_c", "math_x_add"] {
        assert_eq!(names.iter().filter(|other| *other == name).count(), 1, "{name} in {names:?}");
    }
    let whose = client.send(&modern(1, "tools/call", call("z_d_e", json!({})))).await.result();
    assert_eq!(whose["content"][0]["text"], "d_e");
}

#[tokio::test]
async fn no_backend_replaces_the_search_tools() {
    let server = builder(dispatcher()).list_at_most(0).build().unwrap();
    let (registered, [searcher, caller, _honest]) = backends(["search", "call", "honest"]);
    add(&searcher, "tools");
    add(&caller, "tool");
    let proxy = Proxy::new(server.clone(), registered);
    let told = proxy.collect().await.to_string();
    for name in ["search_tools", "call_tool"] {
        assert!(told.contains(&format!("is left out: `{name}` is a tool of the server itself")), "{told}");
    }
    let client = Client::of(serve(server.http()).await);
    let found = client.send(&modern(1, "tools/call", call("search_tools", json!({ "query": "first" })))).await.result();
    assert!(found["structuredContent"]["tools"].is_array(), "{found}");
}

#[tokio::test]
async fn a_backend_registered_later_is_served() {
    let server = builder(dispatcher()).build().unwrap();
    let registered = Arc::new(Backends::new());
    let client = Client::of(serve(server.http()).await);
    let told = follow(Proxy::new(server.clone(), Arc::clone(&registered)));
    let backend = LocalBackend::new("late");
    add(&backend, "first");
    registered.register(backend).unwrap();
    until(async || has(&client, "late_first").await).await;
    registered.disable("late");
    until(async || !has(&client, "late_first").await).await;
    assert!(told.lock().unwrap().iter().all(LeftOut::is_empty));
}

/// A server `peer` with the tool `echo`, which lists it once a description is known.
struct Peer(watch::Receiver<Option<&'static str>>);

impl Backend for Peer {
    fn name(&self) -> &str {
        "peer"
    }

    fn kind(&self) -> BackendKind {
        BackendKind::Mcp
    }

    fn tools(&self) -> BoxFuture<'_, Result<OfferedTools, ToolError>> {
        Box::pin(async {
            let mut description = self.0.clone();
            let description = description.wait_for(Option::is_some).await.unwrap().unwrap();
            let tool = Tool::builder("echo").description(description).build().unwrap();
            Ok(OfferedTools::new([(tool, ToolBackend::mcp("peer").unwrap())]))
        })
    }

    fn call<'a>(&'a self, _: BackendCall<'a>) -> BoxFuture<'a, Result<BackendResponse, ToolError>> {
        Box::pin(async { Err(ToolError::failed("it is only listed")) })
    }
}

#[tokio::test]
async fn a_list_is_not_cacheable_while_a_backend_starts() {
    let (description, described) = watch::channel(None);
    let registered = Arc::new(Backends::new());
    registered.register(Peer(described)).unwrap();
    let server = builder(dispatcher()).build().unwrap();
    let proxy = Proxy::new(server.clone(), Arc::clone(&registered)).wait(Duration::from_millis(100));
    let client = Client::of(serve(server.http()).await);
    let ttl = async || client.send(&modern(1, "tools/list", json!({}))).await.result()["ttlMs"].as_u64().unwrap();
    assert_eq!(ttl().await, 0, "nobody was asked yet");
    let left_out = proxy.collect_within(Duration::from_millis(100)).await;
    assert!(left_out.failures[0].is_pending);
    assert_eq!(ttl().await, 0);

    let mut listening = client.with("mcp-protocol-version", "2025-11-25").begin("GET", "/mcp", b"").await;
    assert_eq!(Response::read_head(&mut listening).await.status, 200);
    listening.fill_buf().await.unwrap();
    let _told = follow(proxy);
    description.send(Some("Echoes.")).unwrap();
    assert_eq!(next(&mut listening).await["method"], "notifications/tools/list_changed");
    assert!(has(&client, "peer_echo").await);
    assert!(ttl().await > 0);
}

#[tokio::test]
async fn a_changed_contract_is_reported() {
    let server = builder(dispatcher()).build().unwrap();
    let (description, described) = watch::channel(Some("Echoes."));
    let registered = Backends::new();
    registered.register(Peer(described)).unwrap();
    let proxy = Proxy::new(server, registered);
    assert!(proxy.collect().await.changes.is_empty());
    assert!(proxy.collect().await.changes.is_empty());
    description.send(Some("Echoes, and forwards it.")).unwrap();
    let told = proxy.collect().await.to_string();
    assert_eq!(told, "`peer:echo` has changed at /description");
}

#[tokio::test]
async fn following_ends_with_the_server() {
    let server = server();
    let proxy = Proxy::new(server.clone(), Backends::new());
    let following = tokio::spawn(async move { proxy.follow(|_| {}).await });
    server.shut_down();
    tokio::time::timeout(Duration::from_secs(30), following).await.expect("it ends").unwrap();
}
