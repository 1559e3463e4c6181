//! Tasks of the server of `toolkit-mcp-server`.

use std::future::pending;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use tokio::sync::Notify;
use toolkit::call::{CancelToken, ErrorKind, RunResult};
use toolkit::{Context, Dispatcher, ToolError, catalog, tool};
use toolkit_mcp_client::{Endpoint, McpBackend};
use toolkit_mcp_server::{Server, Service};
use tower::ServiceExt;

use super::questions::User;
use super::scripted::{ERAS, Era};
use super::{dispatcher, in_the_end, proxied, until};

/// The state of the tools.
#[derive(Default)]
struct Site {
    /// A permit for the end of a call.
    go: Notify,
    n_started: AtomicUsize,
    n_dropped: AtomicUsize,
}

struct CountDrop<'s>(&'s Site);

impl Drop for CountDrop<'_> {
    fn drop(&mut self) {
        self.0.n_dropped.fetch_add(1, Ordering::SeqCst);
    }
}

/// Builds until it is allowed to end.
#[tool(task)]
async fn build_slowly(target: String, site: &Arc<Site>, ctx: &Context) -> String {
    site.n_started.fetch_add(1, Ordering::SeqCst);
    let _counted = CountDrop(site);
    ctx.progress(1.0, 2.0, "building");
    site.go.notified().await;
    format!("built {target}")
}

/// Builds for a client with tasks only, and asks who wants it.
#[tool(task = "required")]
async fn build_for(target: String, ctx: &Context) -> Result<String, ToolError> {
    tokio::time::sleep(Duration::from_millis(200)).await;
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Who {
        name: String,
    }
    let who: Who = ctx.ask(format!("Who wants {target}?")).await?;
    Ok(format!("{target} for {}", who.name))
}

/// A server in one era.
struct Ours {
    site: Arc<Site>,
    backend: McpBackend,
    /// True while the server cannot be reached.
    is_down: Arc<AtomicBool>,
}

impl Ours {
    async fn start(era: Era) -> Self {
        let site = Arc::new(Site::default());
        let tools = Dispatcher::builder(catalog![build_slowly, build_for].unwrap()).state(Arc::clone(&site));
        let server = Server::builder(tools.build().unwrap()).task_after(Duration::from_millis(50)).build().unwrap();
        let is_down = Arc::new(AtomicBool::new(false));
        let state = (server.http().into_service(), era, Arc::clone(&is_down));
        let router = Router::new().fallback(respond).with_state(state);
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { site, backend: McpBackend::http("up", Endpoint::new(&url).unwrap()).may_ask(), is_down }
    }

    async fn is_started(&self) {
        until(async || self.site.n_started.load(Ordering::SeqCst) == 1).await;
    }
}

async fn respond(State((service, era, is_down)): State<(Service, Era, Arc<AtomicBool>)>, request: Request) -> Response {
    if is_down.load(Ordering::SeqCst) {
        return StatusCode::BAD_GATEWAY.into_response();
    }
    let (head, body) = request.into_parts();
    let bytes = to_bytes(body, 1 << 20).await.unwrap();
    let message: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    // A server of the earlier era does not know this method.
    if era == Era::Legacy && message["method"] == "server/discover" {
        let error = json!({ "code": -32601, "message": "unknown method" });
        let response = json!({ "jsonrpc": "2.0", "id": message["id"], "error": error });
        return ([("content-type", "application/json")], response.to_string()).into_response();
    }
    let request = axum::http::Request::from_parts(head, Body::from(bytes));
    service.oneshot(request).await.unwrap().map(Body::new)
}

/// Returns the value of a result. Up to revision 2025-11-25, it is in an object.
fn plain(result: Result<RunResult, ToolError>) -> Value {
    match result.unwrap().value() {
        Value::Object(mut fields) => fields.shift_remove("result").unwrap(),
        value => value,
    }
}

#[tokio::test]
async fn a_call_becomes_a_task_and_returns_its_result() {
    for era in ERAS {
        let ours = Ours::start(era).await;
        let messages: Arc<Mutex<Vec<String>>> = Arc::default();
        let context = Context::new().on_progress({
            let messages = Arc::clone(&messages);
            move |progress| messages.lock().unwrap().push(progress.message)
        });
        let dispatcher = dispatcher(&ours.backend).await;
        let call = dispatcher.call_with(&context, "up:build_slowly", json!({ "target": "all" }));
        let (result, ()) = in_the_end(async {
            tokio::join!(call, async {
                ours.is_started().await;
                until(async || messages.lock().unwrap().iter().any(|message| message == "building")).await;
                tokio::time::sleep(Duration::from_millis(200)).await;
                ours.site.go.notify_one();
            })
        })
        .await;
        assert_eq!(plain(result), "built all", "{era:?}");
        assert_eq!(ours.site.n_started.load(Ordering::SeqCst), 1);
    }
}

#[tokio::test]
async fn a_task_ends_while_its_server_cannot_be_reached() {
    for era in ERAS {
        let ours = Ours::start(era).await;
        let dispatcher = dispatcher(&ours.backend).await;
        let call = dispatcher.call("up:build_slowly", json!({ "target": "all" }));
        let (result, ()) = in_the_end(async {
            tokio::join!(call, async {
                ours.is_started().await;
                tokio::time::sleep(Duration::from_millis(300)).await;
                ours.is_down.store(true, Ordering::SeqCst);
                ours.site.go.notify_one();
                until(async || ours.site.n_dropped.load(Ordering::SeqCst) == 1).await;
                tokio::time::sleep(Duration::from_millis(500)).await;
                ours.is_down.store(false, Ordering::SeqCst);
            })
        })
        .await;
        assert_eq!(plain(result), "built all", "{era:?}");
        assert_eq!(ours.site.n_started.load(Ordering::SeqCst), 1, "the tool runs once");
    }
}

#[tokio::test]
async fn a_cancelled_call_drops_the_tool() {
    for era in ERAS {
        let ours = Ours::start(era).await;
        let dispatcher = dispatcher(&ours.backend).await;
        let token = CancelToken::new();
        let context = Context::new().with_cancel(token.clone());
        let call = dispatcher.call_with(&context, "up:build_slowly", json!({ "target": "all" }));
        let (result, ()) = in_the_end(async {
            tokio::join!(call, async {
                ours.is_started().await;
                tokio::time::sleep(Duration::from_millis(300)).await;
                token.cancel();
            })
        })
        .await;
        assert_eq!(result.unwrap_err().kind(), ErrorKind::Cancelled, "{era:?}");
        until(async || ours.site.n_dropped.load(Ordering::SeqCst) == 1).await;
    }
}

#[tokio::test]
async fn a_task_asks_the_user_of_its_call() {
    for era in ERAS {
        let ours = Ours::start(era).await;
        let dispatcher = dispatcher(&ours.backend).await;
        let users = ["Ada", "Bob"].map(User::new);
        let [ada, bob] = users.each_ref().map(|user| {
            let (dispatcher, context) = (&dispatcher, user.context());
            async move { dispatcher.call_with(&context, "up:build_for", json!({ "target": user.name })).await }
        });
        let (ada, bob) = in_the_end(async { tokio::join!(ada, bob) }).await;
        assert_eq!([plain(ada), plain(bob)], ["Ada for Ada", "Bob for Bob"], "{era:?}");
        for user in users {
            assert_eq!(user.questions(), [format!("up: Who wants {}?", user.name)]);
        }
    }
}

#[tokio::test]
async fn a_task_passes_a_proxy_to_clients_with_tasks_and_without() {
    for era in ERAS {
        let ours = Ours::start(era).await;
        let inner = proxied::proxy(ours.backend.clone()).await;
        // A client without tasks waits.
        let params = json!({ "name": "up_build_slowly", "arguments": { "target": "all" } });
        let waiting = in_the_end(async {
            let call = proxied::response(&inner, era, "tools/call", params);
            tokio::join!(call, async {
                ours.is_started().await;
                tokio::time::sleep(Duration::from_millis(300)).await;
                ours.site.go.notify_one();
            })
        });
        let (response, ()) = waiting.await;
        assert_eq!(response["result"]["content"][0]["text"], "built all", "{era:?}: {response}");

        let listening = inner.http().bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listening.local_addr().unwrap());
        tokio::spawn(listening.run(pending()));
        let outer = McpBackend::http("inner", Endpoint::new(&url).unwrap()).may_ask();
        let dispatcher = dispatcher(&outer).await;
        let support = dispatcher.catalog().resolve("inner:up_build_for").unwrap().task_support();
        assert_eq!(support, toolkit::tool::TaskSupport::Optional, "{era:?}");
        let user = User::new("Ada");
        let context = user.context();
        let call = dispatcher.call_with(&context, "inner:up_build_for", json!({ "target": "it" }));
        assert_eq!(plain(in_the_end(call).await), "it for Ada", "{era:?}");
        assert_eq!(user.questions(), ["inner: up: Who wants it?"]);
    }
}
