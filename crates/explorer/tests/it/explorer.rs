//! The explorer: who may request what, and the record of calls. `tests/explorer/run` uses its page in a browser.

mod access;
mod chunks;
mod page;
mod recent;

use http::{HeaderMap, Request, StatusCode};
use http_body_util::BodyExt as _;
use serde_json::Value;
use toolkit::call::BoxFuture;
use toolkit::{Dispatcher, ToolError, catalog, tool};
use toolkit_explorer::{Explorer, RecentCalls};
use toolkit_mcp_server::{Body, Caller, Http, Server, Service, TokenError, Verify};
use tower::ServiceExt as _;

/// Adds two integers.
#[tool(namespace = "math", version = "1.0.0", read_only, tags = ["numbers"])]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

/// Signs in.
#[tool(namespace = "door", version = "1.0.0", destructive, requires(scopes = ["door:open"]))]
fn sign_in(user: String, #[schemars(extend("writeOnly" = true))] password: String) -> Result<String, ToolError> {
    match &*password {
        "hunter2" => Ok(format!("welcome, {user}")),
        _ => Err(ToolError::failed("the password is wrong")),
    }
}

/// A server whose calls are recorded, and the record.
fn server() -> (Server, RecentCalls) {
    let calls = RecentCalls::new();
    let catalog = catalog![add, sign_in].unwrap();
    let dispatcher = Dispatcher::builder(catalog).layer(calls.clone()).build().unwrap();
    (Server::new(dispatcher).unwrap(), calls)
}

fn http() -> Http {
    let (server, calls) = server();
    server.http().route(Explorer::new("Tools <&\">").recent_calls(calls).operator_scope("operate"))
}

/// A service with the explorer.
fn service() -> Service {
    http().into_service()
}

/// Accepts tokens such as `ann`, or `ann door:open` with scopes.
struct Users;

impl Verify for Users {
    fn verify<'v>(&'v self, token: &'v str) -> BoxFuture<'v, Result<Caller, TokenError>> {
        Box::pin(async move {
            let mut words = token.split('+');
            let name = words.next().filter(|name| *name != "nobody").ok_or(TokenError::Invalid)?;
            Ok(Caller::named(name).with_scopes(words))
        })
    }
}

struct Got {
    status: StatusCode,
    headers: HeaderMap,
    body: Body,
}

impl Got {
    async fn text(self) -> String {
        String::from_utf8(self.body.collect().await.unwrap().to_bytes().to_vec()).unwrap()
    }

    async fn json(self) -> Value {
        serde_json::from_str(&self.text().await).unwrap()
    }

    /// Returns the data of the events that are sent at once.
    async fn events(mut self) -> Vec<Value> {
        let mut events = Vec::new();
        let frame = |body: &mut Body| {
            let frame = body.frame();
            // Parts that are known already need no time.
            futures_now(frame)
        };
        while let Some(Some(Ok(frame))) = frame(&mut self.body) {
            let text = String::from_utf8(frame.into_data().unwrap().to_vec()).unwrap();
            if let Some((_, data)) = text.split_once("data: ") {
                events.push(serde_json::from_str(data).unwrap());
            }
        }
        events
    }
}

/// Returns the output of a future that is ready.
fn futures_now<F: Future>(future: F) -> Option<F::Output> {
    let mut future = std::pin::pin!(future);
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    match future.as_mut().poll(&mut cx) {
        std::task::Poll::Ready(output) => Some(output),
        std::task::Poll::Pending => None,
    }
}

/// Sends a request for `localhost`.
async fn send(service: &Service, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Got {
    let mut request = Request::builder().method(method).uri(path);
    if !headers.iter().any(|(name, _)| *name == "host") {
        request = request.header("host", "localhost");
    }
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let response = service.clone().oneshot(request.body(body.to_owned()).unwrap()).await.unwrap();
    let (head, body) = response.into_parts();
    Got { status: head.status, headers: head.headers, body }
}

async fn get(service: &Service, path: &str) -> Got {
    send(service, "GET", path, &[], "").await
}

/// Calls a tool in revision 2025-11-25, with a token if there is one.
async fn call(service: &Service, token: Option<&str>, name: &str, arguments: &str) {
    let body = format!(
        r#"{{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {{"name": "{name}", "arguments": {arguments}}}}}"#
    );
    let bearer = token.map(|token| format!("Bearer {token}"));
    let mut headers = vec![("content-type", "application/json")];
    headers.extend(bearer.as_deref().map(|bearer| ("authorization", bearer)));
    assert_eq!(send(service, "POST", "/mcp", &headers, &body).await.status, 200, "{name} {arguments}");
}

async fn events_of(service: &Service, token: &str) -> Vec<Value> {
    let got = send(service, "GET", "/explorer/events", &[("authorization", &format!("Bearer {token}"))], "").await;
    assert_eq!(got.status, 200);
    got.events().await
}
