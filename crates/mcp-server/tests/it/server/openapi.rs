//! Calls of programs that know OpenAPI and not MCP: `POST /tools/NAME`, and `GET /openapi.json`.

use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use tokio::net::TcpListener;
use toolkit::dispatch::BoxFuture;
use toolkit::{Context, catalog, tool};
use toolkit_mcp_server::{Caller, TokenError, Verify};

use super::*;

/// The user of the application.
#[derive(Clone)]
struct Login(&'static str);

/// Returns the user that a middleware has found, after a while.
#[tool(namespace = "app", task = "required")]
async fn who(ctx: &Context) -> String {
    ctx.progress(1.0, 1.0, "looking");
    ctx.get::<Login>().map_or("nobody", |login| login.0).to_owned()
}

/// Writes a line.
#[tool(namespace = "app", requires(scopes = ["lines:write"]))]
fn write(line: String) -> usize {
    line.len()
}

/// Returns a number as it was sent.
#[tool(namespace = "app")]
fn echo(number: serde_json::Value) -> serde_json::Value {
    number
}

fn app() -> Server {
    let dispatcher = Dispatcher::new(catalog![who, write, echo].unwrap()).unwrap();
    Server::builder(dispatcher).named("app", "1.2.3").build().unwrap()
}

impl Client {
    async fn call(&self, name: &str, arguments: Value) -> Response {
        self.call_text(name, &arguments.to_string()).await
    }

    async fn call_text(&self, name: &str, arguments: &str) -> Response {
        let client = self.with("content-type", "application/json").with("accept", "application/json");
        client.ask("POST", &format!("/tools/{name}"), arguments.as_bytes()).await
    }
}

impl Response {
    fn value(&self) -> Value {
        assert_eq!(self.header("content-type"), Some("application/json"));
        serde_json::from_slice(&self.body).unwrap()
    }

    /// Checks that the call has failed, and returns the error.
    #[track_caller]
    fn fails(&self, status: u16, kind: &str) -> Value {
        let error = self.value()["error"].take();
        assert_eq!((self.status, error["kind"].as_str()), (status, Some(kind)), "{error}");
        error
    }
}

async fn openapi() -> Client {
    Client::of(serve(server().http().openapi()).await)
}

#[tokio::test]
async fn a_call_returns_the_result_as_the_tool_wrote_it() {
    let client = openapi().await;
    let sum = client.call("math_add", json!({ "a": 40, "b": 2 })).await;
    assert_eq!((sum.status, sum.value()), (200, json!({ "sum": 42 })));
    assert_eq!(client.call("files_delete_all", json!({})).await.body, b"\"gone\"");
    assert_eq!(client.call_text("files_delete_all", "").await.body, b"\"gone\"");
    let kinds = client.call("content", json!({})).await.value();
    let kinds: Vec<_> = kinds.as_array().unwrap().iter().map(|block| block["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["text", "image", "audio", "resource_link", "resource"]);
    // Headers repeat arguments over MCP only.
    assert_eq!(client.call("query", json!({ "region": "eu" })).await.body, b"\"10 rows from eu\"");
    let client = Client::of(serve(app().http().openapi()).await);
    let echoed = client.call_text("app_echo", r#"{"number": 18446744073709551615}"#).await;
    assert_eq!(echoed.body, b"18446744073709551615");
}

#[tokio::test]
async fn a_failed_call_has_the_status_and_the_reasons() {
    let client = openapi().await;
    let error = client.call("math_add", json!({ "a": "one", "c": 1 })).await.fails(422, "invalid_arguments");
    let pointers: Vec<_> =
        error["violations"].as_array().unwrap().iter().map(|violation| &violation["pointer"]).collect();
    assert_eq!(pointers, ["/a", "/b", "/c"]);
    assert!(error["message"].as_str().unwrap().contains("/a must be an integer, got \"one\""), "{error}");
    client.call_text("math_add", "{").await.fails(400, "malformed_json");
    let error = client.call("math_ad", json!({})).await.fails(404, "unknown_tool");
    assert_eq!(error["message"], "no tool is named `math_ad`; did you mean `math_add`?");
    let error = client.call("fail", json!({})).await.fails(422, "failed");
    assert_eq!((&error["message"], &error["retryable"]), (&json!("fail: the disk is full"), &json!(false)));
    for name in ["fail_inside", "panics"] {
        let error = client.call(name, json!({})).await.fails(500, "internal");
        assert!(!error.to_string().contains("hunter2"), "{error}");
    }
    client.call("mail", json!({})).await.fails(403, "missing_requirements");
    let other = client.ask("GET", "/tools/math_add", b"").await;
    other.fails(405, "malformed");
    assert_eq!((other.header("allow"), other.header("retry-after")), (Some("POST"), None));
    assert_eq!(other.fails(405, "malformed")["retryAfterMs"], json!(null));
    let form = client.with("content-type", "text/plain").ask("POST", "/tools/math_add", b"{}").await;
    form.fails(415, "malformed");
    let small = Client::of(serve(server().http().openapi().max_body_bytes(8)).await);
    small.call("length", json!({ "text": "too long" })).await.fails(413, "too_large");
}

#[tokio::test]
async fn limits_apply_to_these_calls_and_say_when_to_try_again() {
    let limited = Server::builder(dispatcher()).call_timeout(std::time::Duration::from_millis(50)).build().unwrap();
    let client = Client::of(serve(limited.http().openapi().rate(1, 2)).await);
    client.call("sleep", json!({ "ms": 5000 })).await.fails(504, "timed_out");
    assert_eq!(client.call("math_half", json!({ "n": 1 })).await.status, 200);
    let rejected = client.call("math_half", json!({ "n": 1 })).await;
    let error = rejected.fails(429, "rate");
    assert_eq!((&error["retryable"], rejected.header("retry-after")), (&json!(true), Some("1")));
    assert_eq!(error["retryAfterMs"], 1000);
}

/// Accepts tokens that consist of the subject and one scope.
struct Tokens;

impl Verify for Tokens {
    fn verify<'v>(&'v self, token: &'v str) -> BoxFuture<'v, Result<Caller, TokenError>> {
        Box::pin(async move {
            let (name, scope) = token.split_once('/').ok_or(TokenError::Invalid)?;
            Ok(Caller::named(name).with_scopes([scope]))
        })
    }
}

#[tokio::test]
async fn tokens_are_required_and_described() {
    let client = Client::of(serve(app().http().verify(Tokens).openapi()).await);
    let refused = client.call("app_write", json!({ "line": "x" })).await;
    refused.fails(401, "unauthorized");
    assert_eq!(refused.header("www-authenticate"), Some("Bearer"));
    assert_eq!(client.get("/openapi.json").await.status, 401);
    let reader = client.with("authorization", "Bearer ada/lines:read");
    let refused = reader.call("app_write", json!({ "line": "x" })).await;
    refused.fails(403, "unauthorized");
    assert!(refused.header("www-authenticate").unwrap().contains("lines:write"));
    let writer = client.with("authorization", "Bearer ada/lines:write");
    assert_eq!(writer.call("app_write", json!({ "line": "x" })).await.body, b"1");
    let document = writer.get("/openapi.json").await.value();
    assert_eq!(document["paths"]["/tools/app_write"]["post"]["security"], json!([{ "bearer": ["lines:write"] }]));
    assert_eq!(document["info"], json!({ "title": "app", "version": "1.2.3" }));
}

#[tokio::test]
async fn the_document_and_the_calls_exist_only_if_the_host_asks_for_them() {
    let client = client().await;
    assert_eq!(client.get("/openapi.json").await.status, 404);
    assert_eq!(client.call("math_add", json!({ "a": 1, "b": 1 })).await.status, 404);
    let document = openapi().await.get("/openapi.json").await.value();
    let operation = &document["paths"]["/tools/math_add"]["post"];
    assert_eq!(operation["requestBody"]["content"]["application/json"]["schema"]["required"], json!(["a", "b"]));
    assert_eq!(operation["x-mcp-tool"]["annotations"]["readOnlyHint"], true);
    assert_eq!(document["paths"].as_object().unwrap().len(), 18);
}

#[tokio::test]
async fn tools_of_a_mounted_service_know_the_login_and_need_no_task() {
    let service = app().http().openapi().into_service();
    let router = axum::Router::new().route_service("/mcp", service.clone()).nest_service("/api", service).layer(
        from_fn(async |mut request: Request, next: Next| {
            request.extensions_mut().insert(Login("ada"));
            next.run(request).await
        }),
    );
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let client = Client::of(listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });
    let ask = client.with("content-type", "application/json");
    let who = ask.ask("POST", "/api/tools/app_who", b"{}").await;
    assert_eq!((who.status, &who.body[..]), (200, &b"\"ada\""[..]));
    let document = ask.get("/api/openapi.json").await.value();
    assert_eq!(document["servers"], json!([{ "url": "." }]));
    assert_eq!(client.send(&request(1, "tools/list", json!({}))).await.status, 200);
}
