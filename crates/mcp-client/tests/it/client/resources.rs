//! Resources of servers: through one proxy and two, and of servers that list or return too much.

use std::future::pending;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use toolkit::backend::{Backend, BackendCall, BackendResponse, OfferedTools};
use toolkit::call::{BoxFuture, ErrorKind};
use toolkit::resource::{Resource, ResourceContents, ResourceTemplate, Resources};
use toolkit::tool::BackendKind;
use toolkit::{Catalog, Content, Context, Dispatcher, Tool, ToolError};
use toolkit_backends::{Backends, LocalBackend};
use toolkit_mcp_client::{Endpoint, McpBackend};
use toolkit_mcp_server::{Proxy, ResourceSet, Server, ServerBuilder, TemplateResources};

use super::{in_the_end, until};

fn empty() -> ServerBuilder {
    Server::builder(Dispatcher::new(Catalog::new([]).unwrap()).unwrap())
}

/// Serves until the end of the test, and returns a backend for the server.
pub(super) async fn served(name: &str, server: &Server) -> McpBackend {
    let listening = server.http().bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listening.local_addr().unwrap());
    tokio::spawn(listening.run(pending()));
    McpBackend::http(name, Endpoint::new(&url).unwrap())
}

/// Creates a proxy of these backends.
pub(super) async fn proxy(backends: impl IntoIterator<Item = McpBackend>) -> Server {
    let server = empty().build().unwrap();
    let registered = Backends::new();
    for backend in backends {
        registered.register(backend).unwrap();
    }
    let proxy = Proxy::new(server.clone(), registered);
    let left_out = in_the_end(proxy.collect()).await;
    assert!(left_out.is_empty(), "{left_out}");
    tokio::spawn(async move { proxy.follow(|_| {}).await });
    server
}

const UI: &str = "text/html;profile=mcp-app";

fn set() -> ResourceSet {
    let page =
        Resource::new("ui://charts/sales.html", "sales").mime_type(UI).meta("ui", json!({ "prefersBorder": true }));
    ResourceSet::new()
        .with(Resource::new("data://bytes", "bytes").title("Bytes"), vec![0, 1, 2, 0xff])
        .with(Resource::new("https://example.com/a", "web"), "unused")
        .with(page, "<p>Sales</p>")
}

/// A server whose tools link to its resources.
async fn leaf() -> (Server, ResourceSet) {
    let tools = LocalBackend::new("leaf");
    let meta = json!({ "ui": { "resourceUri": "ui://charts/sales.html", "visibility": ["model", "app"] } });
    let Value::Object(meta) = meta else { unreachable!() };
    let links = Tool::builder("links").description("Links.").meta(meta).build().unwrap();
    tools.add(links, |_: Value, _: Context| async {
        let content = [
            json!({ "type": "resource_link", "uri": "data://bytes", "name": "bytes" }),
            json!({ "type": "resource_link", "uri": "note://7", "name": "note", "annotations": { "priority": 1 } }),
            json!({ "type": "resource_link", "uri": "https://example.com/a", "name": "web" }),
            json!({ "type": "resource", "resource": { "uri": "note://8", "text": "note 8" } }),
        ];
        Ok(BackendResponse::Mcp(json!({ "content": content }).to_string().into_bytes()))
    });
    let failing = Tool::builder("fails").description("Fails.").build().unwrap();
    tools.add(failing, |_: Value, _: Context| async {
        let link = Content::resource_link("note://9", "log");
        Err::<Value, _>(ToolError::failed("it has failed").with_content([link]))
    });
    let backends = Backends::new();
    backends.register(tools).unwrap();
    let collected = backends.collect(Catalog::new([]).unwrap()).await;
    let dispatcher = Dispatcher::builder(collected.catalog).routes(collected.routes).build().unwrap();
    let notes = TemplateResources::new(ResourceTemplate::new("note://{id}", "note"), |params, _| async move {
        Ok(Some(format!("note {}", &params["id"])))
    });
    let set = set();
    let server = Server::builder(dispatcher).resources(set.clone()).resources(notes.unwrap()).build().unwrap();
    (server, set)
}

async fn read(backend: &McpBackend, uri: &str) -> Option<Vec<ResourceContents>> {
    in_the_end(Resources::read(backend, uri, &Context::new())).await.unwrap()
}

async fn uris(backend: &McpBackend) -> Vec<String> {
    let listed = in_the_end(Resources::list(backend, &Context::new())).await.unwrap();
    listed.into_iter().map(|resource| resource.uri).collect()
}

#[tokio::test]
async fn the_resources_of_a_server_are_listed_and_read() {
    let (server, _) = leaf().await;
    let leaf = served("leaf", &server).await;
    assert_eq!(uris(&leaf).await, ["data://bytes", "https://example.com/a", "ui://charts/sales.html"]);
    let templates = in_the_end(leaf.templates(&Context::new())).await.unwrap();
    assert_eq!(templates[0].uri_template, "note://{id}");
    let contents = read(&leaf, "data://bytes").await.unwrap();
    assert_eq!(contents, [ResourceContents::new("data://bytes", vec![0, 1, 2, 0xff])]);
    assert_eq!(read(&leaf, "note://a%20b").await.unwrap()[0].as_text(), Some("note a b"));
    assert!(read(&leaf, "data://other").await.is_none());
}

#[tokio::test]
async fn each_link_of_a_tool_is_readable_through_two_proxies() {
    let (server, _) = leaf().await;
    let inner = proxy([served("leaf", &server).await]).await;
    let outer = proxy([served("inner", &inner).await]).await;
    let client = served("outer", &outer).await;
    let backends = Backends::new();
    backends.register(client.clone()).unwrap();
    let collected = in_the_end(backends.collect(Catalog::new([]).unwrap())).await;
    let tool = collected.catalog.get("outer:inner_leaf_links").or(collected.catalog.get("outer:inner_leaf_leaf_links"));
    let tool = tool.unwrap_or_else(|| panic!("{:?}", collected.catalog)).clone();
    assert_eq!(tool.meta().unwrap()["ui"]["resourceUri"], "ui://proxy/inner/proxy/leaf/charts/sales.html");
    let dispatcher = Dispatcher::builder(collected.catalog).routes(collected.routes).build().unwrap();
    let result = in_the_end(dispatcher.call(&tool.id().to_string(), "{}")).await.unwrap();
    let content: Vec<Value> = result.content().iter().map(|block| serde_json::to_value(block).unwrap()).collect();
    let linked = |idx: usize| content[idx]["uri"].as_str().unwrap().to_owned();
    assert_eq!(linked(0), "proxy:inner/proxy:leaf/data://bytes");
    assert_eq!(linked(2), "https://example.com/a", "clients fetch it themselves");
    assert_eq!(content[3]["resource"]["uri"], "proxy:inner/proxy:leaf/note://8");

    let contents = read(&client, &linked(0)).await.unwrap();
    assert_eq!(contents, [ResourceContents::new(linked(0), vec![0, 1, 2, 0xff])], "it has the URI that was read");
    assert_eq!(read(&client, &linked(1)).await.unwrap()[0].as_text(), Some("note 7"));
    let page = read(&client, "ui://proxy/inner/proxy/leaf/charts/sales.html").await.unwrap();
    assert_eq!((page[0].mime_type.as_deref(), &page[0].meta["ui"]), (Some(UI), &json!({ "prefersBorder": true })));

    let id = tool.id().to_string().replace("links", "fails");
    let error = in_the_end(dispatcher.call(&id, "{}")).await.unwrap_err();
    let link = error.content().iter().find_map(|block| match block {
        Content::ResourceLink { uri, .. } => Some(uri.clone()),
        _ => None,
    });
    assert_eq!(link.as_deref(), Some("proxy:inner/proxy:leaf/note://9"));

    let mut listed = uris(&client).await;
    listed.sort();
    let expected = [
        "https://example.com/a",
        "proxy:inner/proxy:leaf/data://bytes",
        "ui://proxy/inner/proxy/leaf/charts/sales.html",
    ];
    assert_eq!(listed, expected);
    let templates = in_the_end(client.templates(&Context::new())).await.unwrap();
    assert_eq!(templates[0].uri_template, "proxy:inner/proxy:leaf/note://{id}");
    assert_eq!(read(&client, "proxy:inner/proxy:leaf/note://a%20b").await.unwrap()[0].as_text(), Some("note a b"));
}

#[tokio::test]
async fn the_uris_of_a_backend_without_resources_stay_as_they_are() {
    let plugins = LocalBackend::new("plugins");
    let meta = json!({ "ui": { "resourceUri": "ui://charts/sales.html" } });
    let Value::Object(meta) = meta else { unreachable!() };
    let chart = Tool::builder("chart").description("Draws.").meta(meta).build().unwrap();
    plugins.add(chart, |_: Value, _: Context| async { Ok(json!("drawn")) });
    // The program itself has the page.
    let server = empty().resources(set()).build().unwrap();
    let backends = Backends::new();
    backends.register(plugins).unwrap();
    let proxy = Proxy::new(server.clone(), backends);
    assert!(in_the_end(proxy.collect()).await.is_empty());
    let client = served("proxy", &server).await;
    let collected = super::collected(&client).await;
    let uri = collected.catalog.resolve("proxy:plugins_chart").unwrap().meta().unwrap()["ui"]["resourceUri"].clone();
    assert_eq!(uri, "ui://charts/sales.html");
    assert!(read(&client, uri.as_str().unwrap()).await.is_some());
}

#[tokio::test]
async fn servers_with_the_same_uri_stay_distinct() {
    let of =
        |text: &str| empty().resources(ResourceSet::new().with(Resource::new("x://y", "y"), text)).build().unwrap();
    let (one, two) = (served("one", &of("1")).await, served("two", &of("2")).await);
    let client = served("proxy", &proxy([one, two]).await).await;
    assert_eq!(uris(&client).await, ["proxy:one/x://y", "proxy:two/x://y"]);
    assert_eq!(read(&client, "proxy:one/x://y").await.unwrap()[0].as_text(), Some("1"));
    assert_eq!(read(&client, "proxy:two/x://y").await.unwrap()[0].as_text(), Some("2"));
    for uri in ["x://y", "proxy:three/x://y", "proxy:/x://y", "proxy:one", "proxy:one/../two/x://y", "proxy:one/"] {
        assert!(read(&client, uri).await.is_none(), "{uri}");
    }
}

#[tokio::test]
async fn changes_of_a_server_reach_the_clients_of_its_proxy() {
    let (server, set) = leaf().await;
    let backend = served("leaf", &server).await;
    let proxy = proxy([backend]).await;
    let client = served("proxy", &proxy).await;
    uris(&client).await;
    set.set(Resource::new("data://new", "new"), "");
    until(|| async { uris(&client).await.iter().any(|uri| uri == "proxy:leaf/data://new") }).await;
}

/// A provider that lists or returns what it was created with.
struct Hostile {
    n_listed: usize,
    uri: fn(usize) -> String,
    contents: Vec<ResourceContents>,
}

impl Resources for Hostile {
    fn list<'a>(&'a self, _: &'a Context) -> BoxFuture<'a, Result<Vec<Resource>, ToolError>> {
        Box::pin(async { Ok((0..self.n_listed).map(|idx| Resource::new((self.uri)(idx), "x")).collect()) })
    }

    fn read<'a>(
        &'a self,
        _: &'a str,
        _: &'a Context,
    ) -> BoxFuture<'a, Result<Option<Vec<ResourceContents>>, ToolError>> {
        Box::pin(async { Ok(Some(self.contents.clone())) })
    }
}

#[tokio::test]
async fn a_server_that_lists_too_much_does_not_hide_the_others() {
    let hostile = Hostile { n_listed: 20_000, uri: |idx| format!("x://{idx}"), contents: Vec::new() };
    let hostile = served("hostile", &empty().resources(hostile).build().unwrap()).await;
    let error = in_the_end(Resources::list(&hostile, &Context::new())).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidResponse);
    assert_eq!(error.message(), "the MCP server `hostile` lists more than 10000 resources");
    let usual = served("usual", &empty().resources(set()).build().unwrap()).await;
    let client = served("proxy", &proxy([hostile, usual]).await).await;
    assert_eq!(uris(&client).await.len(), 3);
}

#[tokio::test]
async fn entries_that_no_client_could_use_are_left_out() {
    let uri = |idx| match idx {
        0 => "x://good".to_owned(),
        1 => "no scheme".to_owned(),
        2 => "x://\0".to_owned(),
        3 => "x://\u{7}\n".to_owned(),
        _ => format!("x://{}", "a".repeat(100_000)),
    };
    let hostile = Hostile { n_listed: 5, uri, contents: Vec::new() };
    let hostile = served("hostile", &empty().resources(hostile).build().unwrap()).await;
    assert_eq!(uris(&hostile).await, ["x://good"]);
}

#[tokio::test]
async fn the_contents_of_a_server_are_bounded() {
    let contents = vec![ResourceContents::new("x://y", "a".repeat(2 << 20))];
    let hostile = Hostile { n_listed: 0, uri: |_| String::new(), contents };
    let server = empty().resources(hostile).build().unwrap();
    let context = Context::new();
    let small = served("hostile", &server).await.max_result_bytes(1 << 20);
    // Without the contents in the message of a failed test.
    let Err(error) = in_the_end(Resources::read(&small, "x://y", &context)).await else {
        panic!("it is too large");
    };
    assert_eq!(error.kind(), ErrorKind::ResultTooLarge);
    let small = served("hostile", &server).await.max_message_bytes(1 << 20);
    assert!(in_the_end(Resources::read(&small, "x://y", &context)).await.is_err());
    // Neither does a server without contents return any.
    let nothing = Hostile { n_listed: 0, uri: |_| String::new(), contents: Vec::new() };
    let nothing = served("nothing", &empty().resources(nothing).build().unwrap()).await;
    assert!(read(&nothing, "x://y").await.is_none());
}

#[tokio::test]
async fn the_limit_of_contents_counts_metadata() {
    let mut contents = ResourceContents::new("x://y", "");
    contents.meta.insert("a".to_owned(), "a".repeat(10_000).into());
    for contents in [vec![contents], vec![ResourceContents::new("x://y", ""); 1_000]] {
        let hostile = Hostile { n_listed: 0, uri: |_| String::new(), contents };
        let small = served("hostile", &empty().resources(hostile).build().unwrap()).await.max_result_bytes(5_000);
        let error = in_the_end(Resources::read(&small, "x://y", &Context::new())).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ResultTooLarge);
    }
}

/// Lists resources with nested metadata.
struct Nested {
    n_listed: usize,
    n_values: usize,
}

impl Resources for Nested {
    fn list<'a>(&'a self, _: &'a Context) -> BoxFuture<'a, Result<Vec<Resource>, ToolError>> {
        let nested = json!(vec![json!([]); self.n_values]);
        let of = move |idx| Resource::new(format!("x://{idx}"), "x").meta("nested", nested.clone());
        Box::pin(async move { Ok((0..self.n_listed).map(of).chain([Resource::new("x://plain", "x")]).collect()) })
    }

    fn read<'a>(
        &'a self,
        _: &'a str,
        _: &'a Context,
    ) -> BoxFuture<'a, Result<Option<Vec<ResourceContents>>, ToolError>> {
        Box::pin(async { Ok(None) })
    }
}

#[tokio::test]
async fn the_nested_values_of_a_list_are_bounded() {
    let large = Nested { n_listed: 3, n_values: 2_000 };
    let large = served("large", &empty().resources(large).build().unwrap()).await;
    assert_eq!(uris(&large).await, ["x://plain"]);
    let many = Nested { n_listed: 450, n_values: 900 };
    let many = served("many", &empty().resources(many).page_size(1_000).build().unwrap()).await;
    let error = in_the_end(Resources::list(&many, &Context::new())).await.unwrap_err();
    assert_eq!(error.message(), "the MCP server `many` lists more than 400000 values in resources");
}

#[tokio::test]
async fn proxies_that_serve_each_other_end() {
    let (one, other) = (empty().build().unwrap(), empty().resources(set()).build().unwrap());
    let (to_one, to_other) = (served("one", &one).await, served("other", &other).await);
    for (server, backend) in [(&one, to_other.clone()), (&other, to_one.clone())] {
        let backends = Backends::new();
        backends.register(backend).unwrap();
        let proxy = Proxy::new(server.clone(), backends);
        in_the_end(proxy.collect_within(Duration::from_secs(5))).await;
    }
    for _ in 0..3 {
        let listed = uris(&to_one).await;
        assert!(listed.len() < 100, "{}", listed.len());
        assert!(listed.iter().all(|uri| uri.matches("proxy").count() <= 8), "{listed:?}");
        tokio::time::sleep(Duration::from_millis(600)).await;
    }
    let deep = format!("{}data://bytes", "proxy:other/proxy:one/".repeat(300));
    assert!(read(&to_one, &deep).await.is_none());
}

/// A backend without tools.
struct Plain<R>(Arc<R>);

impl<R: Resources + Send + Sync + 'static> Backend for Plain<R> {
    fn name(&self) -> &str {
        "plain"
    }

    fn kind(&self) -> BackendKind {
        BackendKind::Mcp
    }

    fn tools(&self) -> BoxFuture<'_, Result<OfferedTools, ToolError>> {
        Box::pin(async { Ok(OfferedTools::new([])) })
    }

    fn call<'a>(&'a self, _: BackendCall<'a>) -> BoxFuture<'a, Result<BackendResponse, ToolError>> {
        Box::pin(async { Ok(BackendResponse::Nothing) })
    }

    fn resources(&self) -> Option<&dyn Resources> {
        Some(&*self.0)
    }
}

#[tokio::test]
async fn collecting_reports_no_change_of_resources_unless_the_backends_change() {
    let hostile = Hostile { n_listed: 1, uri: |_| "x://y".to_owned(), contents: Vec::new() };
    let server = empty().build().unwrap();
    let backends = Arc::new(Backends::new());
    backends.register(Plain(Arc::new(hostile))).unwrap();
    let proxy = Proxy::new(server.clone(), Arc::clone(&backends));
    in_the_end(proxy.collect()).await;
    let client = served("proxy", &server).await;
    let n_reported = Arc::new(AtomicUsize::new(0));
    let n = Arc::clone(&n_reported);
    Resources::changes(&client).unwrap().listen(move |_| {
        n.fetch_add(1, Ordering::SeqCst);
        ControlFlow::Continue(())
    });
    in_the_end(client.start()).await.unwrap();
    // The subscription starts later than the connection.
    until(|| async {
        backends.disable("plain");
        in_the_end(proxy.collect()).await;
        backends.enable("plain");
        in_the_end(proxy.collect()).await;
        n_reported.load(Ordering::SeqCst) > 0
    })
    .await;
    tokio::time::sleep(Duration::from_millis(1_000)).await;
    let before = n_reported.load(Ordering::SeqCst);
    for _ in 0..3 {
        in_the_end(proxy.collect()).await;
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    assert_eq!(n_reported.load(Ordering::SeqCst), before);
}

#[tokio::test]
async fn a_backend_that_is_switched_on_and_off_has_one_listener() {
    let set = Arc::new(set());
    let backends = Arc::new(Backends::new());
    backends.register(Plain(Arc::clone(&set))).unwrap();
    let proxy = Proxy::new(empty().build().unwrap(), Arc::clone(&backends));
    in_the_end(proxy.collect()).await;
    for _ in 0..3 {
        backends.disable("plain");
        in_the_end(proxy.collect()).await;
        backends.enable("plain");
        in_the_end(proxy.collect()).await;
    }
    assert_eq!(format!("{:?}", set.changes().unwrap()), "ResourceChanges { listeners: 1 }");
}

/// A provider that becomes slow and fails after its first list.
#[derive(Default)]
struct Failing {
    n_requests: AtomicUsize,
}

impl Resources for Failing {
    fn list<'a>(&'a self, _: &'a Context) -> BoxFuture<'a, Result<Vec<Resource>, ToolError>> {
        Box::pin(async {
            if self.n_requests.fetch_add(1, Ordering::SeqCst) == 0 {
                return Ok(vec![Resource::new("x://y", "y")]);
            }
            tokio::time::sleep(Duration::from_millis(1_500)).await;
            Err(ToolError::new(ErrorKind::Unavailable, "it is broken\nERROR forged"))
        })
    }

    fn read<'a>(
        &'a self,
        _: &'a str,
        _: &'a Context,
    ) -> BoxFuture<'a, Result<Option<Vec<ResourceContents>>, ToolError>> {
        Box::pin(async { Ok(None) })
    }
}

static LOG: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// Appends to the log.
struct Log;

impl std::io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        LOG.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn a_backend_that_hangs_delays_few_lists_and_cannot_forge_the_log() {
    let log = tracing_subscriber::fmt().with_max_level(tracing::Level::WARN).with_ansi(false).with_writer(|| Log);
    // Of this process: another thread writes to the log. No other test sets it.
    tracing::subscriber::set_global_default(log.finish()).unwrap();
    let failing = Arc::new(Failing::default());
    let server = empty().resources(ResourceSet::new().with(Resource::new("own://x", "x"), "")).build().unwrap();
    let backends = Backends::new();
    backends.register(Plain(Arc::clone(&failing))).unwrap();
    let proxy = Proxy::new(server.clone(), backends);
    in_the_end(proxy.collect()).await;
    let client = served("proxy", &server).await;
    for _ in 0..4 {
        assert_eq!(uris(&client).await, ["own://x", "proxy:plain/x://y"], "the last list is kept");
        // Longer than a list is used again.
        tokio::time::sleep(Duration::from_millis(600)).await;
    }
    assert_eq!(failing.n_requests.load(Ordering::SeqCst), 2);
    let log = String::from_utf8(LOG.lock().unwrap().clone()).unwrap();
    let lines: Vec<&str> = log.lines().filter(|line| line.contains("broken") || line.contains("forged")).collect();
    assert_eq!(lines.len(), 1, "{log}");
    assert!(lines[0].contains(r"it is broken\nERROR forged"), "{log}");
}
