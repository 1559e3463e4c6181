//! A proxy: tools of backends next to those of the program, and their changes.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use test_support::wait::until;
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

/// Calls a tool and returns its text, or that of the error.
async fn called(client: &Client, name: &str) -> String {
    let answer = client.send(&modern(1, "tools/call", call(name, json!({})))).await.result();
    answer["content"][0]["text"].as_str().unwrap().to_owned()
}

/// Returns the listed names with a suffix of the tools with these texts, none of which has the name without one.
async fn suffixed<const N: usize>(client: &Client, name: &str, texts: [&str; N]) -> [String; N] {
    let names = names(client).await;
    assert!(!names.iter().any(|other| other == name), "{name} in {names:?}");
    let is_suffixed =
        |other: &&String| other.strip_prefix(name).is_some_and(|suffix| suffix.len() == 9 && suffix.starts_with('_'));
    let mut said = Vec::new();
    for name in names.iter().filter(is_suffixed) {
        said.push((called(client, name).await, name));
    }
    texts.map(|text| said.iter().find(|(other, _)| other == text).expect(text).1.clone())
}

/// The servers `pay` with the tool `eu_refund` and `pay_eu` with the tool `refund`, in the given order.
fn payments(names: [&str; 2]) -> (Arc<Backends>, [LocalBackend; 2]) {
    let (registered, both) = backends(names);
    for (backend, name) in both.iter().zip(names) {
        add(backend, if name == "pay" { "eu_refund" } else { "refund" });
    }
    (registered, both)
}

#[tokio::test]
async fn a_name_that_two_servers_share_is_that_of_neither() {
    let mut seen = Vec::new();
    for order in [["pay", "pay_eu"], ["pay_eu", "pay"]] {
        let server = builder(dispatcher()).build().unwrap();
        let client = Client::of(serve(server.http()).await);
        let left_out = Proxy::new(server.clone(), payments(order).0).collect().await;
        assert!(left_out.is_empty(), "{left_out}");
        assert!(has(&client, "pay_first").await && has(&client, "pay_eu_first").await);
        let shared = suffixed(&client, "pay_eu_refund", ["eu_refund", "refund"]).await;
        let expected = format!(
            "several tools could have the name `pay_eu_refund`; call `{}` (`pay:eu_refund`) or `{}` (`pay_eu:refund`)",
            shared[0], shared[1]
        );
        assert_eq!(called(&client, "pay_eu_refund").await, expected);
        seen.push(shared);
    }
    assert_eq!(seen[0], seen[1], "a name does not depend on the order");
}

#[tokio::test]
async fn the_search_tools_give_a_shared_name_to_neither_server() {
    let server = builder(dispatcher()).list_at_most(0).build().unwrap();
    let client = Client::of(serve(server.http()).await);
    Proxy::new(server.clone(), payments(["pay", "pay_eu"]).0).collect().await;
    for tool in ["describe_tool", "call_tool"] {
        let answer =
            client.send(&modern(1, "tools/call", call(tool, json!({ "name": "pay_eu_refund" })))).await.result();
        let text = answer["content"][0]["text"].as_str().unwrap();
        assert!(answer["isError"] == true && text.contains("(`pay:eu_refund`) or `"), "{tool}: {text}");
    }
    let query = call("search_tools", json!({ "query": "refund", "limit": 2 }));
    let found = client.send(&modern(1, "tools/call", query)).await.result();
    let mut said = Vec::new();
    for tool in found["structuredContent"]["tools"].as_array().unwrap() {
        let answer = client.send(&modern(1, "tools/call", call("call_tool", json!({ "name": tool["name"] })))).await;
        said.push(answer.result()["content"][0]["text"].clone());
    }
    said.sort_by_key(Value::to_string);
    assert_eq!(said, ["eu_refund", "refund"]);
}

#[tokio::test]
async fn a_server_does_not_take_a_name_that_another_one_has_or_has_lost() {
    let server = builder(dispatcher()).build().unwrap();
    let client = Client::of(serve(server.http()).await);
    let (registered, [pay, pay_eu]) = backends(["pay", "pay_eu"]);
    let proxy = Proxy::new(server.clone(), registered);
    add(&pay_eu, "refund");
    assert!(proxy.collect().await.is_empty());
    assert_eq!(called(&client, "pay_eu_refund").await, "refund");
    let before = names(&client).await;

    add(&pay, "eu_refund");
    assert!(proxy.collect().await.is_empty());
    let [theirs, ours] = suffixed(&client, "pay_eu_refund", ["eu_refund", "refund"]).await;
    assert!(called(&client, "pay_eu_refund").await.starts_with("several tools could have the name `pay_eu_refund`"));
    // Nor a name with the suffix of another one.
    add(&pay, ours.strip_prefix("pay_").unwrap());
    assert!(proxy.collect().await.is_empty());
    assert_eq!(called(&client, &ours).await, "refund");

    pay_eu.remove("refund");
    assert!(proxy.collect().await.is_empty());
    assert_eq!(called(&client, &theirs).await, "eu_refund");
    for name in ["pay_eu_refund", &ours] {
        assert!(!has(&client, name).await, "{name}");
        assert!(called(&client, name).await.starts_with("several tools could have the name"), "{name}");
    }
    for name in [ours.strip_prefix("pay_").unwrap(), "eu_refund"] {
        pay.remove(name);
    }
    add(&pay_eu, "refund");
    assert!(proxy.collect().await.is_empty());
    assert!(has(&client, "pay_eu_first").await && before.len() == names(&client).await.len());
}

#[tokio::test]
async fn a_server_that_is_not_known_yet_keeps_its_names() {
    let (description, described) = watch::channel(None);
    let (registered, [other]) = backends(["peer_x"]);
    registered.register(Peer(described)).unwrap();
    add(&other, "second");
    let server = builder(dispatcher()).build().unwrap();
    let client = Client::of(serve(server.http()).await);
    let proxy = Proxy::new(server.clone(), registered);
    proxy.collect_within(Duration::from_millis(100)).await;
    // `peer` could list `x_first`.
    assert!(!has(&client, "peer_x_first").await);
    suffixed(&client, "peer_x_first", ["first"]).await;
    description.send(Some("Echoes.")).unwrap();
    assert!(proxy.collect().await.is_empty());
    assert!(has(&client, "peer_echo").await);
    assert_eq!(called(&client, "peer_x_first").await, "first");
}

#[tokio::test]
async fn a_page_does_not_get_the_calls_of_a_server_that_is_away() {
    let (description, listed) = watch::channel(None);
    let (registered, [app, other]) = backends(["app", "other"]);
    let Value::Object(meta) = json!({ "ui": { "resourceUri": "ui://page" } }) else { unreachable!() };
    add_tool(&app, Tool::builder("show").description("Shows.").meta(meta).build().unwrap());
    // The listed names of `peer:echo` and `other:gone`, and one that no other server has.
    for name in ["peer_echo", "other_gone", "refresh"] {
        add(&app, name);
    }
    add(&other, "gone");
    registered.register(Peer(listed)).unwrap();
    let server = builder(dispatcher()).build().unwrap();
    let client = Client::of(serve(server.http()).await);
    let proxy = Proxy::new(server.clone(), Arc::clone(&registered));
    proxy.collect_within(Duration::from_millis(100)).await;
    assert_eq!(called(&client, "refresh").await, "refresh");
    assert!(called(&client, "peer_echo").await.contains("is starting"));
    description.send(Some("Echoes.")).unwrap();
    registered.disable("other");
    proxy.collect().await;
    let gone = client.send(&modern(1, "tools/call", call("other_gone", json!({})))).await;
    assert_eq!(gone.code(), -32602);
    assert_eq!(called(&client, "refresh").await, "refresh");
}

#[tokio::test]
async fn rules_with_an_id_apply_to_the_tool_that_has_it() {
    let filtered = async |filter: Filter| {
        let server = builder(dispatcher()).filter(filter).build().unwrap();
        let client = Client::of(serve(server.http()).await);
        let told = Proxy::new(server.clone(), payments(["pay", "pay_eu"]).0).collect().await.to_string();
        (client, told)
    };
    for (id, other) in [("pay:eu_refund", "refund"), ("pay_eu:refund", "eu_refund")] {
        let (client, _) = filtered(Filter::all().deny(id.parse().unwrap())).await;
        assert_eq!(called(&client, "pay_eu_refund").await, other, "without {id}");
    }
    for (id, said) in [("pay:eu_refund", "eu_refund"), ("pay_eu:refund", "refund")] {
        let (client, told) = filtered(Filter::all().allow(id.parse().unwrap())).await;
        assert_eq!((names(&client).await, &*told), (vec!["pay_eu_refund".to_owned()], ""));
        assert_eq!(called(&client, "pay_eu_refund").await, said, "only {id}");
    }
    // A listed name allows neither, and denies both.
    let (client, told) = filtered(Filter::all().allow("pay_eu_refund".parse().unwrap())).await;
    assert_eq!(names(&client).await, [""; 0]);
    let expected = "several tools would have the name in the rule `pay_eu_refund`, so it allows none of them; write \
                    `pay:eu_refund` or `pay_eu:refund`";
    assert_eq!(told, expected);
    let (client, _) = filtered(Filter::all().deny("pay_eu_refund".parse().unwrap())).await;
    assert!(names(&client).await.iter().all(|name| !name.starts_with("pay_eu_refund")));
}

#[tokio::test]
async fn a_listed_name_in_a_rule_does_not_allow_a_tool_of_that_name_alone() {
    let (registered, [pay, _honest]) = backends(["pay", "honest"]);
    add(&pay, "honest_first");
    let filter = Filter::all().allow("honest_first".parse().unwrap());
    let server = builder(dispatcher()).filter(filter).build().unwrap();
    let client = Client::of(serve(server.http()).await);
    assert!(Proxy::new(server.clone(), registered).collect().await.is_empty());
    assert_eq!(names(&client).await, ["honest_first"]);
}

#[tokio::test]
async fn a_tool_of_the_program_keeps_its_name() {
    let own = Tool::builder("all_sum").namespace("tally").description("Sums.").build().unwrap();
    let own = Catalog::new([own]).unwrap();
    let server = Server::builder(Dispatcher::new(own).unwrap()).build().unwrap();
    let client = Client::of(serve(server.http()).await);
    let (registered, [theirs]) = backends(["tally_all"]);
    add(&theirs, "sum");
    assert!(Proxy::new(server.clone(), registered).collect().await.is_empty());
    let names = names(&client).await;
    assert!(names.contains(&"tally_all_sum".to_owned()) && names.len() == 3, "{names:?}");
    let suffixed = names.iter().find(|name| name.starts_with("tally_all_sum_")).unwrap();
    assert_eq!(called(&client, suffixed).await, "sum");
    assert_ne!(called(&client, "tally_all_sum").await, "sum");
}

#[tokio::test]
async fn of_the_tools_of_one_server_the_one_whose_name_needs_no_change_keeps_it() {
    let (registered, [notes]) = backends(["notes"]);
    for name in ["v1.page.read", "v1_page_read", "v1.page_read", "v2.page.read"] {
        add(&notes, name);
    }
    let server = builder(dispatcher()).build().unwrap();
    let client = Client::of(serve(server.http()).await);
    assert!(Proxy::new(server.clone(), registered).collect().await.is_empty());
    assert_eq!(called(&client, "notes_v1_page_read").await, "v1_page_read");
    assert_eq!(called(&client, "notes_v2_page_read").await, "v2.page.read");
    let mut others = Vec::new();
    for name in names(&client).await.iter().filter(|name| name.starts_with("notes_v1_page_read_")) {
        others.push(called(&client, name).await);
    }
    others.sort();
    assert_eq!(others, ["v1.page.read", "v1.page_read"]);
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
            let mut offers = OfferedTools::new([(tool, ToolBackend::mcp("peer").unwrap())]);
            if description == "Of one user." {
                (offers.list_ttl, offers.is_private) = (Some(Duration::from_secs(5)), true);
            }
            Ok(offers)
        })
    }

    fn call<'a>(&'a self, _: BackendCall<'a>) -> BoxFuture<'a, Result<BackendResponse, ToolError>> {
        Box::pin(async { Err(ToolError::failed("it is only listed")) })
    }
}

#[tokio::test]
async fn a_list_is_cacheable_no_longer_and_no_wider_than_those_of_the_backends() {
    for (text, expected) in [("Of all.", json!([3_600_000, "public"])), ("Of one user.", json!([5_000, "private"]))] {
        for limit in [0, 1000] {
            let (registered, _) = backends(["other"]);
            registered.register(Peer(watch::channel(Some(text)).1)).unwrap();
            let server = Server::builder(dispatcher()).list_at_most(limit).build().unwrap();
            assert!(Proxy::new(server.clone(), registered).collect().await.is_empty());
            let client = Client::of(serve(server.http()).await);
            for list in ["tools/list", "prompts/list"] {
                let list = client.send(&modern(1, list, json!({}))).await.result();
                assert_eq!(json!([list["ttlMs"], list["cacheScope"]]), expected, "{list}");
            }
        }
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
