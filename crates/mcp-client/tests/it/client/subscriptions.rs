//! Subscriptions to single resources of servers, in both eras: through proxies, after a restart, and beyond the limit.

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use tokio::task::JoinSet;
use toolkit::backend::Backend;
use toolkit::call::{BoxFuture, ErrorKind, RequestParts};
use toolkit::resource::{ResourceChange, ResourceChanges, ResourceContents, ResourceWatch, Resources};
use toolkit::{Catalog, Context, Dispatcher, ToolError};
use toolkit_backends::Backends;
use toolkit_mcp_client::{Endpoint, McpBackend};
use toolkit_mcp_server::{Proxy, Server, Service};
use tower::ServiceExt;

use super::{in_the_end, until};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Era {
    Legacy,
    Modern,
}

const ERAS: [Era; 2] = [Era::Legacy, Era::Modern];

/// A provider of all URIs `x://…` that records the resources that are watched.
#[derive(Clone, Default)]
struct Observed {
    watched: Arc<Mutex<Vec<String>>>,
    changes: ResourceChanges,
}

impl Observed {
    fn watched(&self) -> Vec<String> {
        self.watched.lock().unwrap().clone()
    }
}

/// A watch of a resource.
struct Watch {
    observed: Observed,
    uri: String,
}

impl Drop for Watch {
    fn drop(&mut self) {
        let mut watched = self.observed.watched.lock().unwrap();
        let place = watched.iter().position(|uri| *uri == self.uri).unwrap();
        watched.remove(place);
    }
}

impl Resources for Observed {
    fn read<'a>(
        &'a self,
        uri: &'a str,
        _: &'a Context,
    ) -> BoxFuture<'a, Result<Option<Vec<ResourceContents>>, ToolError>> {
        Box::pin(async move { Ok(uri.starts_with("x://").then(|| vec![ResourceContents::new(uri, "")])) })
    }

    fn watch<'a>(&'a self, uri: &'a str, _: &'a Context) -> BoxFuture<'a, Result<ResourceWatch, ToolError>> {
        Box::pin(async move {
            if uri == "x://refused" {
                return Err(ToolError::failed("it cannot be observed"));
            }
            self.watched.lock().unwrap().push(uri.to_owned());
            Ok(ResourceWatch::new(Watch { observed: self.clone(), uri: uri.to_owned() }))
        })
    }

    fn changes(&self) -> Option<&ResourceChanges> {
        Some(&self.changes)
    }
}

fn server() -> Server {
    Server::new(Dispatcher::new(Catalog::new([]).unwrap()).unwrap()).unwrap()
}

fn observed_server() -> (Server, Observed) {
    let observed = Observed::default();
    let dispatcher = Dispatcher::new(Catalog::new([]).unwrap()).unwrap();
    (Server::builder(dispatcher).resources(observed.clone()).build().unwrap(), observed)
}

/// A server that can be restarted at the same address, and is reached in one era only.
#[derive(Clone)]
struct Host {
    service: Arc<Mutex<Service>>,
    era: Era,
    can_subscribe: bool,
}

impl Host {
    fn new(server: &Server, era: Era) -> Self {
        Self { service: Arc::new(Mutex::new(server.http().into_service())), era, can_subscribe: true }
    }

    /// Serves until the end of the test, and returns a backend for the server.
    async fn serve(&self, name: &str) -> McpBackend {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}/mcp", listener.local_addr().unwrap());
        let router = Router::new().fallback(answer).with_state(self.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        McpBackend::http(name, Endpoint::new(&address).unwrap())
    }

    fn restart(&self, server: &Server) {
        *self.service.lock().unwrap() = server.http().into_service();
    }
}

async fn answer(State(host): State<Host>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let bytes = to_bytes(body, 1 << 20).await.unwrap();
    let message: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let method = message["method"].as_str().unwrap_or_default().to_owned();
    // A server of the earlier era does not know this method.
    if host.era == Era::Legacy && method == "server/discover" {
        let error = json!({ "code": -32601, "message": "unknown method" });
        let response = json!({ "jsonrpc": "2.0", "id": message["id"], "error": error });
        return ([("content-type", "application/json")], response.to_string()).into_response();
    }
    let service = host.service.lock().unwrap().clone();
    let response = service.oneshot(http::Request::from_parts(head, Body::from(bytes))).await.unwrap().map(Body::new);
    if host.can_subscribe || !matches!(&*method, "server/discover" | "initialize") {
        return response;
    }
    let (mut head, body) = response.into_parts();
    let body = String::from_utf8(to_bytes(body, 1 << 20).await.unwrap().into()).unwrap();
    assert!(body.contains(r#""subscribe":true"#), "{body}");
    head.headers.remove("content-length");
    Response::from_parts(head, Body::from(body.replace(r#""subscribe":true"#, r#""subscribe":false"#)))
}

/// Creates a proxy of a backend.
async fn proxy(backend: McpBackend) -> (Server, Arc<Backends>) {
    let server = server();
    let backends = Arc::new(Backends::new());
    backends.register(backend).unwrap();
    let proxy = Proxy::new(server.clone(), Arc::clone(&backends));
    let left_out = in_the_end(proxy.collect()).await;
    assert!(left_out.is_empty(), "{left_out}");
    tokio::spawn(async move { proxy.follow(|_| {}).await });
    (server, backends)
}

async fn watch(backend: &McpBackend, uri: &str) -> Result<ResourceWatch, ToolError> {
    watch_as("alice", backend, uri).await
}

async fn watch_as(caller: &str, backend: &McpBackend, uri: &str) -> Result<ResourceWatch, ToolError> {
    let context = Context::new().with(RequestParts::new().with_caller(caller));
    in_the_end(Resources::watch(backend, uri, &context)).await
}

/// Returns the URIs of the updates that a backend reports from now on.
fn updates(backend: &McpBackend) -> Arc<Mutex<Vec<String>>> {
    let updates = Arc::<Mutex<Vec<String>>>::default();
    let reported = Arc::clone(&updates);
    Resources::changes(backend).unwrap().listen(move |change| {
        if let ResourceChange::Updated(uri) = change {
            reported.lock().unwrap().push(uri.to_owned());
        }
        ControlFlow::Continue(())
    });
    updates
}

#[tokio::test]
async fn subscriptions_reach_a_server_through_two_proxies_and_end_with_the_last_client() {
    for era in ERAS {
        let (leaf, observed) = observed_server();
        let (inner, _) = proxy(Host::new(&leaf, era).serve("leaf").await).await;
        let (outer, _) = proxy(Host::new(&inner, era).serve("inner").await).await;
        let outer = Host::new(&outer, era);
        let (one, other) = (outer.serve("outer").await, outer.serve("outer").await);
        let uri = "proxy:inner/proxy:leaf/x://1";
        let (of_one, of_other) = (updates(&one), updates(&other));

        let watches = [watch(&one, uri).await.unwrap(), watch(&one, uri).await.unwrap()];
        let last = watch(&other, uri).await.unwrap();
        assert_eq!(observed.watched(), ["x://1"], "{era:?}");
        observed.changes.updated("x://2");
        observed.changes.updated("x://1");
        for updates in [&of_one, &of_other] {
            until(async || !updates.lock().unwrap().is_empty()).await;
            assert_eq!(*updates.lock().unwrap(), [uri], "{era:?}");
        }

        drop(watches);
        let marker = watch(&one, "proxy:inner/proxy:leaf/x://marker").await.unwrap();
        assert!(observed.watched().contains(&"x://1".to_owned()), "another client watches it");
        drop((last, marker));
        until(async || observed.watched().is_empty()).await;
    }
}

#[tokio::test]
async fn what_a_server_does_not_report_cannot_be_subscribed_to() {
    for era in ERAS {
        let (leaf, observed) = observed_server();
        let leaf_host = Host::new(&leaf, era);
        let backend = leaf_host.serve("leaf").await;
        let error = watch(&backend, "x://refused").await.unwrap_err();
        let message = "the MCP server `leaf` refuses to report changes of the resource";
        assert_eq!((error.kind(), error.message()), (ErrorKind::Failed, message), "{era:?}");
        assert!(watch(&backend, "y://unknown").await.is_err(), "{era:?}");
        assert!(watch(&backend, "not a URI").await.is_err(), "{era:?}");
        // The others stay.
        let _watch = watch(&backend, "x://1").await.unwrap();
        assert!(watch(&backend, "x://refused").await.is_err(), "{era:?}");
        until(async || observed.watched() == ["x://1"]).await;

        // Nor through a proxy.
        let (server, _) = proxy(backend).await;
        let client = Host::new(&server, era).serve("proxy").await;
        assert!(watch(&client, "proxy:leaf/x://refused").await.is_err(), "{era:?}");

        let silent = Host { can_subscribe: false, ..leaf_host };
        let error = watch(&silent.serve("leaf").await, "x://1").await.unwrap_err();
        assert_eq!(error.message(), "the MCP server `leaf` does not report changes of single resources");
    }
}

#[tokio::test]
async fn subscriptions_are_renewed_after_a_restart() {
    for era in ERAS {
        let (before, observed) = observed_server();
        let host = Host::new(&before, era);
        let (server, _) = proxy(host.serve("leaf").await).await;
        let client = Host::new(&server, era).serve("proxy").await;
        let _watch = watch(&client, "proxy:leaf/x://1").await.unwrap();
        assert_eq!(observed.watched(), ["x://1"], "{era:?}");

        let (after, renewed) = observed_server();
        let updates = updates(&client);
        host.restart(&after);
        before.shut_down();
        until(async || renewed.watched() == ["x://1"]).await;
        // An update may have been missed.
        until(async || *updates.lock().unwrap() == ["proxy:leaf/x://1"]).await;
        renewed.changes.updated("x://1");
        until(async || updates.lock().unwrap().len() == 2).await;
    }
}

#[tokio::test]
async fn subscriptions_are_renewed_on_a_new_connection() {
    for era in ERAS {
        let (leaf, observed) = observed_server();
        let backend = Host::new(&leaf, era).serve("leaf").await;
        let _watch = watch(&backend, "x://1").await.unwrap();
        in_the_end(backend.stop()).await.unwrap();
        until(async || observed.watched().is_empty()).await;
        in_the_end(backend.start()).await.unwrap();
        until(async || observed.watched() == ["x://1"]).await;
    }
}

#[tokio::test]
async fn a_backend_that_replaces_another_watches_the_same_resources() {
    for era in ERAS {
        let (leaf, observed) = observed_server();
        let (server, backends) = proxy(Host::new(&leaf, era).serve("leaf").await).await;
        let client = Host::new(&server, era).serve("proxy").await;
        let watch = watch(&client, "proxy:leaf/x://1").await.unwrap();

        let (other, renewed) = observed_server();
        let old = backends.replace(Host::new(&other, era).serve("leaf").await).unwrap().unwrap();
        until(async || renewed.watched() == ["x://1"]).await;
        in_the_end(old.stop_when_idle()).await.unwrap();
        until(async || observed.watched().is_empty()).await;
        let updates = updates(&client);
        renewed.changes.updated("x://1");
        until(async || updates.lock().unwrap().contains(&"proxy:leaf/x://1".to_owned())).await;
        drop(watch);
        until(async || renewed.watched().is_empty()).await;
    }
}

#[tokio::test]
async fn the_subscriptions_at_a_server_are_bounded() {
    for era in ERAS {
        let (leaf, observed) = observed_server();
        let backend = Host::new(&leaf, era).serve("leaf").await;
        in_the_end(backend.start()).await.unwrap();
        let mut watching = JoinSet::new();
        for idx in 0..500 {
            let backend = backend.clone();
            watching.spawn(async move { watch(&backend, &format!("x://{idx}")).await.unwrap() });
        }
        let mut watches = watching.join_all().await;
        until(async || observed.watched().len() == 500).await;
        let again = watch(&backend, "x://7").await.unwrap();
        let error = watch(&backend, "x://more").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Overloaded, "{era:?}");
        assert!(error.message().contains("to 500 resources of"), "{error}");
        // Other callers have a share of their own.
        drop(watch_as("bob", &backend, "x://more").await.unwrap());
        watches.pop();
        let more = watch(&backend, "x://more").await.unwrap();
        drop((watches, again, more));
        until(async || observed.watched().is_empty()).await;
    }
}

/// Posts a message, and returns the session and the response.
async fn post(service: Service, session: Option<String>, message: Value) -> (Option<String>, Value) {
    let request = http::Request::post("/mcp").header("content-type", "application/json");
    let mut request = request.header("accept", "application/json, text/event-stream").header("host", "localhost");
    if let Some(session) = session {
        request = request.header("mcp-session-id", session);
    }
    let response = service.oneshot(request.body(Body::from(message.to_string())).unwrap()).await.unwrap();
    let session = response.headers().get("mcp-session-id").map(|id| id.to_str().unwrap().to_owned());
    let body = to_bytes(Body::new(response.into_body()), 1 << 20).await.unwrap();
    (session, serde_json::from_slice(&body).unwrap_or_default())
}

/// Clients of the earlier era may leave their sessions without notice.
#[tokio::test]
async fn abandoned_sessions_keep_no_client_from_subscribing() {
    let (leaf, observed) = observed_server();
    let (server, _) = proxy(Host::new(&leaf, Era::Legacy).serve("leaf").await).await;
    let host = Host::new(&server, Era::Legacy);
    let service = server.http().into_service();
    let initialize = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "tests", "version": "1" },
    } });
    let (session, _) = post(service.clone(), None, initialize).await;
    let mut subscribing = JoinSet::new();
    for idx in 0..500 {
        let params = json!({ "uri": format!("proxy:leaf/x://{idx}") });
        let message = json!({ "jsonrpc": "2.0", "id": idx, "method": "resources/subscribe", "params": params });
        subscribing.spawn(post(service.clone(), session.clone(), message));
        // The server rejects requests beyond its concurrency limit and queue.
        if subscribing.len() == 16 {
            let (_, response) = in_the_end(subscribing.join_next()).await.unwrap().unwrap();
            assert_eq!(response["result"], json!({}), "{response}");
        }
    }
    in_the_end(subscribing.join_all()).await;
    assert_eq!(observed.watched().len(), 500);

    let client = host.serve("proxy").await;
    let _watch = watch(&client, "proxy:leaf/x://mine").await.unwrap();
    until(async || observed.watched().len() == 501).await;
}
