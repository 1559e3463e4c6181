//! Accepted and rejected requests, and their responses.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderValue, Request};
use toolkit::{CancelToken, Coercion, Context, catalog, tool};
use toolkit_otc::{Auth, Limits, Server};

use super::*;

async fn doorbell() -> Dispatcher {
    dispatcher_of([tool_of(&definition("Doorbell.Ring@0.1.0"))], |_, _, _| Ok(json!(null))).await
}

fn ring() -> Value {
    json!({ "tool_id": "Doorbell.Ring@0.1.0", "input": { "doorbell_id": "1" } })
}

fn with_header(mut request: Request<Body>, name: &'static str, value: &str) -> Request<Body> {
    request.headers_mut().insert(name, HeaderValue::from_str(value).unwrap());
    request
}

#[tokio::test]
async fn a_call_gets_an_id_where_it_has_none() {
    let router = Server::new(doorbell().await).into_service();
    let ids = [http::call(&router, ring()).await.is(200), http::call(&router, ring()).await.is(200)];
    let ids = ids.map(|got| got.body["result"]["call_id"].as_str().unwrap().to_owned());
    assert_eq!(ids[0].len(), 36);
    assert_ne!(ids[0], ids[1]);
}

#[tokio::test]
async fn malformed_messages_are_rejected_without_an_echo() {
    let router = Server::new(doorbell().await).into_service();
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    for body in [
        String::new(),
        "null".to_owned(),
        "[]".to_owned(),
        "{\"request\":".to_owned(),
        json!({ "request": 1 }).to_string(),
        json!({ "request": {} }).to_string(),
        json!({ "request": { "tool_id": 7, "context": { "secrets": "hunter2" } } }).to_string(),
        json!({ "request": { "tool_id": "Doorbell.Ring", "context": { "secrets": [{ "id": "A", "value": ["hunter2"] }] } } })
            .to_string(),
        json!({ "request": { "tool_id": "Doorbell-Ring" } }).to_string(),
        json!({ "request": { "tool_id": "Doorbell.Ring@latest" } }).to_string(),
        json!({ "request": { "tool_id": "Doorbell.Ring", "call_id": "" } }).to_string(),
        json!({ "request": { "tool_id": "Doorbell.Ring", "call_id": "x".repeat(257) } }).to_string(),
        json!({ "$schema": "urn:oxp:9.0", "request": ring() }).to_string(),
        format!(r#"{{"request": {{"tool_id": "Doorbell.Ring", "context": {deep}}}}}"#),
        r#"{"request": {"tool_id": "Doorbell.Ring", "tool_id": "Doorbell.Ring"}}"#.to_owned(),
    ] {
        let got = http::ask(&router, http::post("/tools/call", body.clone())).await.is(400);
        assert!(!got.body["message"].as_str().unwrap().contains("hunter2"), "{got:?}");
    }
    for schema in ["urn:oxp:1.0", "otc://1.0"] {
        let body = json!({ "$schema": schema, "request": ring() }).to_string();
        http::ask(&router, http::post("/tools/call", body)).await.is(200);
    }
    // Twice the same key in the input, and an input that is nested too deep: the tool's schema never sees them.
    for input in [r#"{"doorbell_id": "1", "doorbell_id": "2"}"#, &deep] {
        let body = format!(r#"{{"request": {{"tool_id": "Doorbell.Ring", "input": {input}}}}}"#);
        http::ask(&router, http::post("/tools/call", body)).await.is(422);
    }
}

#[tokio::test]
async fn null_counts_as_absent() {
    let router = Server::new(doorbell().await).into_service();
    let mut request = ring();
    request["call_id"] = json!(null);
    request["trace_id"] = json!(null);
    request["context"] = json!({ "authorization": null, "secrets": null, "user_id": null });
    http::call(&router, request).await.is(200);
}

#[tokio::test]
async fn the_ids_of_a_call_have_1_to_256_bytes() {
    let router = Server::new(doorbell().await).into_service();
    for field in ["call_id", "trace_id"] {
        for (id, status) in
            [("a".repeat(256), 200), ("a".repeat(257), 400), ("ä".repeat(129), 400), (String::new(), 400)]
        {
            let mut request = ring();
            request[field] = id.into();
            http::call(&router, request).await.is(status);
        }
    }
}

/// Schedules a delivery.
#[tool(namespace = "Deliveries", name = "Schedule", version = "1.0.0")]
fn schedule(days: Vec<u8>, urgent: bool) -> String {
    format!("{days:?} {urgent}")
}

#[tokio::test]
async fn json_text_and_single_values_are_read_unless_the_host_is_strict() {
    let builder = || Dispatcher::builder(catalog![schedule].unwrap());
    let router = Server::new(builder().build().unwrap()).into_service();
    let strict = Server::new(builder().coercion(Coercion::NullAsAbsent).build().unwrap()).into_service();
    for (days, expected) in [("[5, 6]", "[5, 6] true"), ("7", "[7] true")] {
        let call = json!({ "tool_id": "Deliveries.Schedule", "input": { "days": days, "urgent": "true" } });
        let got = http::call(&router, call.clone()).await.is(200);
        assert_eq!(got.body["result"]["value"], expected);
        http::call(&strict, call).await.is(422);
    }
}

#[tokio::test]
async fn only_json_within_the_limit_is_accepted() {
    let mut limits = Limits::default();
    limits.max_body_bytes = 1000;
    let router = Server::new(doorbell().await).limits(limits).into_service();
    let body = json!({ "request": ring() }).to_string();
    // A form of a web page can be sent anywhere, as text.
    for content_type in ["text/plain", "application/x-www-form-urlencoded", "application/jsonx", ""] {
        let request = with_header(http::post("/tools/call", body.clone()), "content-type", content_type);
        http::ask(&router, request).await.is(415);
    }
    let request =
        with_header(http::post("/tools/call", body.clone()), "content-type", "Application/JSON; charset=utf-8");
    http::ask(&router, request).await.is(200);
    http::ask(&router, http::post("/tools/call", format!("{body}{}", " ".repeat(1000)))).await.is(413);
    http::ask(&router, http::get("/tools/call")).await.is(405);
    http::ask(&router, http::get("/tool")).await.is(404);
}

#[tokio::test]
async fn requests_with_other_hosts_and_origins_are_rejected() {
    let server = || async { Server::new(doorbell().await) };
    let cases = [
        ("localhost", None, true),
        ("LOCALHOST:80", None, true),
        ("127.0.0.1:8080", None, true),
        ("[::1]:8080", None, true),
        ("192.168.0.7", None, true),
        ("tools.example:8080", None, true),
        ("evil.example", None, false),
        ("localhost.evil.example:8080", None, false),
        ("127.0.0.1.evil.example", None, false),
        ("", None, false),
        ("localhost:8080", Some("http://localhost:8080"), true),
        ("localhost:8080", Some("http://localhost:3000"), false),
        ("127.0.0.1:8080", Some("https://evil.example"), false),
        ("127.0.0.1:8080", Some("null"), false),
    ];
    let router = server().await.host("Tools.example").into_service();
    let open = server().await.any_host().into_service();
    for (host, origin, is_taken) in cases {
        let request = || {
            let request = with_header(http::get("/tools"), "host", host);
            match origin {
                Some(origin) => with_header(request, "origin", origin),
                None => request,
            }
        };
        http::ask(&router, request()).await.is(if is_taken { 200 } else { 403 });
        http::ask(&open, request()).await.is(200);
    }
    let without_host = |path: &str| Request::get(path).body(Body::empty()).unwrap();
    http::ask(&router, without_host("/tools")).await.is(403);
    // A balancer checks the health of an address.
    http::ask(&router, without_host("/health")).await.is(200);
}

#[tokio::test]
async fn a_server_that_is_not_ready_rejects_calls() {
    let server = Server::new(doorbell().await);
    let readiness = server.readiness();
    let router = server.into_service();
    http::ask(&router, http::get("/health")).await.is(200);
    readiness.set(false);
    let got = http::ask(&router, http::get("/health")).await.is(503);
    assert_eq!(got.headers["retry-after"], "1");
    http::call(&router, ring()).await.is(503);
    readiness.set(true);
    http::call(&router, ring()).await.is(200);
}

#[tokio::test]
async fn calls_beyond_the_limit_are_rejected() {
    let (begun, go_on) = (Arc::new(tokio::sync::Notify::new()), CancelToken::new());
    let local = LocalBackend::new("local");
    let (begins, waits) = (Arc::clone(&begun), go_on.clone());
    local.add(tool_of(&definition("Doorbell.Ring@0.1.0")), move |_: Value, _: Context| {
        let (begins, waits) = (Arc::clone(&begins), waits.clone());
        async move {
            begins.notify_one();
            waits.cancelled().await;
            Ok(json!(null))
        }
    });
    let mut limits = Limits::default();
    limits.max_calls = 1;
    let router = Server::new(dispatcher_on(local).await).limits(limits).into_service();
    let first = tokio::spawn({
        let router = router.clone();
        async move { http::call(&router, ring()).await }
    });
    begun.notified().await;
    http::call(&router, ring()).await.is(503);
    go_on.cancel();
    first.await.unwrap().is(200);
    http::call(&router, ring()).await.is(200);
}

#[tokio::test]
async fn a_timed_out_call_is_retryable() {
    let local = LocalBackend::new("local");
    local.add(tool_of(&definition("Doorbell.Ring@0.1.0")), |_: Value, _: Context| async {
        std::future::pending::<()>().await;
        Ok(json!(null))
    });
    let mut limits = Limits::default();
    limits.call_timeout = Duration::from_millis(20);
    let got = http::call(&Server::new(dispatcher_on(local).await).limits(limits).into_service(), ring()).await.is(200);
    let error = json!({ "message": "the call took longer than 20ms", "can_retry": true });
    assert_eq!(got.body["result"]["error"], error);
}

#[tokio::test]
async fn an_error_passed_on_from_another_tool_is_the_tools_own() {
    let inner = doorbell().await;
    let handler = move |_: Value, _: Context| {
        let inner = inner.clone();
        async move { inner.call("Doorbell:Ring", "{}").await.map(|result| result.value()) }
    };
    let local = LocalBackend::new("local");
    local.add(tool_of(&definition("System.GetTimestamp@1.0.0")), handler);
    let router = Server::new(dispatcher_on(local).await).into_service();
    let got = http::call(&router, json!({ "tool_id": "System.GetTimestamp" })).await.is(200);
    assert_eq!(got.body["result"]["success"], false);
}

#[tokio::test]
async fn a_stream_always_ends_with_an_event() {
    let local = LocalBackend::new("local");
    local.add(tool_of(&definition("Doorbell.Ring@0.1.0")), |_: Value, context: Context| async move {
        context.progress(1.0, 2.0, "ringing\nloudly");
        tokio::task::yield_now().await;
        Err::<Value, _>(ToolError::new(toolkit::call::ErrorKind::InvalidArguments, "no such bell"))
    });
    let router = Server::new(dispatcher_on(local).await).into_service();
    let request = http::post("/tools/call", json!({ "request": ring() }).to_string());
    let got = http::ask(&router, with_header(request, "accept", "text/event-stream")).await.is(200);
    let events: Vec<Value> = got
        .body
        .as_str()
        .unwrap()
        .split("\n\n")
        .filter(|event| !event.is_empty())
        .map(|event| serde_json::from_str(event.strip_prefix("data: ").unwrap()).unwrap())
        .collect();
    let tool_id = "Doorbell.Ring@0.1.0";
    let progress = json!({ "progress": 1.0, "total": 2.0, "message": "ringing\nloudly" });
    let error = json!({ "success": false, "error": { "message": "no such bell", "can_retry": false } });
    assert_eq!(
        events,
        [
            json!({ "kind": "progress", "toolId": tool_id, "data": progress }),
            json!({ "kind": "error", "toolId": tool_id, "data": error }),
        ]
    );
}

#[tokio::test]
async fn a_rejection_before_the_tool_runs_is_not_an_event() {
    let router = Server::new(doorbell().await).into_service();
    for (request, status) in [
        (json!({ "tool_id": "Doorbell.Ring@9" }), 400),
        (json!({ "tool_id": "Doorbell.Ring", "input": { "doorbell_id": 1 } }), 422),
        (ring(), 200),
    ] {
        let request = http::post("/tools/call", json!({ "request": request }).to_string());
        let got = http::ask(&router, with_header(request, "accept", "application/json, text/event-stream;q=0.9")).await;
        let is_event = got.headers["content-type"] == "text/event-stream";
        assert_eq!(is_event, status == 200);
        got.is(status);
    }
}

#[tokio::test]
async fn a_result_without_data_is_its_text_or_blocks() {
    let local = LocalBackend::new("local");
    let mcp = |content: Value| json!({ "content": content }).to_string().into_bytes();
    let picture = json!({ "type": "image", "data": "AA==", "mimeType": "image/png" });
    for (name, content) in
        [("Text", json!([{ "type": "text", "text": "one" }])), ("Picture", json!([picture])), ("Nothing", json!([]))]
    {
        let answer = mcp(content);
        let tool = Tool::builder(name).namespace("Any").version("1.0.0").build().unwrap();
        local.add(tool, move |_: Value, _: Context| {
            let answer = toolkit::backend::BackendResponse::Mcp(answer.clone());
            async move { Ok(answer) }
        });
    }
    let router = Server::new(dispatcher_on(local).await).into_service();
    for (name, expected) in [("Text", json!("one")), ("Picture", json!([picture])), ("Nothing", json!(null))] {
        let got = http::call(&router, json!({ "tool_id": format!("Any.{name}") })).await.is(200);
        assert_eq!(got.body["result"]["value"], expected, "{name}");
    }
}

#[tokio::test]
async fn a_trace_id_goes_through() {
    let traced =
        dispatcher_of([Tool::builder("Trace").namespace("Any").version("1.0.0").build().unwrap()], |_, _, context| {
            Ok(json!(context.get::<toolkit_otc::TraceId>().map(|trace_id| trace_id.0.clone())))
        })
        .await;
    let got = http::call(&Server::new(traced).into_service(), json!({ "tool_id": "Any.Trace", "trace_id": "t-1" }))
        .await
        .is(200);
    assert_eq!(got.body["result"]["value"], "t-1");
}

/// Returns the tenant, and whether the request has credentials.
#[tool(namespace = "Requests", name = "Tenant", version = "1.0.0", read_only)]
fn tenant(ctx: &Context) -> (Option<String>, bool) {
    let request = ctx.request();
    (request.header("x-tenant").map(str::to_owned), request.header("oxp-api-key").is_some())
}

#[tokio::test]
async fn a_tool_reads_the_headers_of_its_request() {
    let dispatcher = Dispatcher::new(catalog![tenant].unwrap()).unwrap();
    let router = Server::new(dispatcher).auth(Auth::api_key("s3cr3t")).into_service();
    let body = json!({ "request": { "tool_id": "Requests.Tenant", "input": {} } }).to_string();
    let request = with_header(http::post("/tools/call", body), "oxp-api-key", "s3cr3t");
    let got = http::ask(&router, with_header(request, "x-tenant", "acme")).await.is(200);
    assert_eq!(got.body["result"]["value"], json!(["acme", false]), "{got:?}");
}

#[derive(Clone)]
struct Login(&'static str);

/// Returns the user of the application.
#[tool(namespace = "Requests", name = "Login", version = "1.0.0", read_only)]
fn login(ctx: &Context) -> Option<&'static str> {
    ctx.get::<Login>().map(|login| login.0)
}

#[tokio::test]
async fn a_tool_reads_what_a_middleware_has_inserted_into_its_request() {
    let dispatcher = Dispatcher::new(catalog![login].unwrap()).unwrap();
    let router = axum::Router::new().fallback_service(Server::new(dispatcher).into_service());
    let authenticated = router.clone().layer(axum::Extension(Login("alice")));
    for (router, expected) in [(authenticated, json!("alice")), (router, json!(null))] {
        let got = http::call(&router, json!({ "tool_id": "Requests.Login" })).await.is(200);
        assert_eq!(got.body["result"]["value"], expected);
    }
}
