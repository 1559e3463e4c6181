//! Scopes of requests and tools, and the challenges for clients without them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use http_body_util::BodyExt;
use serde_json::{Value, json};
use toolkit::dispatch::BoxFuture;
use toolkit::{Dispatcher, catalog, tool};
use toolkit_mcp_server::{Admission, Body, Caller, Http, Route, RouteRequest, Server, Service, TokenError, Verify};
use tower_service::Service as _;

/// The number of calls that ran.
type Calls = Arc<AtomicUsize>;

/// Reads.
#[tool(read_only)]
fn read(calls: &Calls) {
    calls.fetch_add(1, Ordering::Relaxed);
}

/// Writes.
#[tool(requires(scopes = ["files:write"]))]
fn write(calls: &Calls, text: String) {
    let _ = text;
    calls.fetch_add(1, Ordering::Relaxed);
}

/// Erases all.
#[tool(requires(scopes = ["files:write", "files:erase"], user_id))]
fn erase(calls: &Calls) {
    calls.fetch_add(1, Ordering::Relaxed);
}

/// A verifier whose tokens are lists of scopes: `a+b`.
struct Granted;

impl Verify for Granted {
    fn verify<'v>(&'v self, token: &'v str) -> BoxFuture<'v, Result<Caller, TokenError>> {
        Box::pin(async move {
            match token {
                "down" => Err(TokenError::Unavailable),
                "bad" => Err(TokenError::Invalid),
                _ => Ok(Caller::named("ada").with_scopes(token.split('+').filter(|scope| !scope.is_empty()))),
            }
        })
    }
}

/// The two eras of the protocol.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Era {
    Legacy,
    Modern,
}

const ERAS: [Era; 2] = [Era::Legacy, Era::Modern];
const METADATA: &str = r#"resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp""#;

struct Fixture {
    service: Service,
    calls: Calls,
}

struct Response {
    status: u16,
    challenge: String,
    headers: http::HeaderMap,
    body: Value,
}

impl Fixture {
    fn new(configure: impl FnOnce(Http) -> Http) -> Self {
        let calls = Calls::default();
        let dispatcher =
            Dispatcher::builder(catalog![read, write, erase].unwrap()).state(Arc::clone(&calls)).build().unwrap();
        let http = Server::new(dispatcher).unwrap().http();
        let http = http.verify(Granted).resource("https://mcp.example.com/mcp", ["https://as.example"]);
        Self { service: configure(http).into_service(), calls }
    }

    async fn send(&self, token: Option<&str>, headers: &[(&str, &str)], body: &Value) -> Response {
        let mut request = http::Request::post("/mcp").header("host", "localhost");
        request = request.header("content-type", "application/json").header("accept", "application/json");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if let Some(token) = token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let response = self.service.clone().call(request.body(body.to_string()).unwrap()).await.unwrap();
        let (head, body) = response.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        let challenge = head.headers.get("www-authenticate").map(|value| value.to_str().unwrap().to_owned());
        Response {
            status: head.status.as_u16(),
            challenge: challenge.unwrap_or_default(),
            headers: head.headers,
            body: serde_json::from_slice(&body).unwrap_or_default(),
        }
    }

    async fn call(&self, era: Era, token: &str, tool: &str) -> Response {
        let mut body = json!({
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": { "name": tool, "arguments": { "text": "x" } },
        });
        if tool != "write" {
            body["params"]["arguments"] = json!({});
        }
        let headers: &[(&str, &str)] = match era {
            Era::Legacy => &[("mcp-protocol-version", "2025-11-25")],
            Era::Modern => {
                body["params"]["_meta"] = json!({
                    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                    "io.modelcontextprotocol/clientCapabilities": {},
                });
                &[("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/call"), ("mcp-name", tool)]
            }
        };
        self.send(Some(token), headers, &body).await
    }

    fn n_calls(&self) -> usize {
        self.calls.load(Ordering::Relaxed)
    }
}

#[tokio::test]
async fn a_call_without_the_scopes_of_its_tool_is_challenged_and_does_not_run() {
    let fixture = Fixture::new(|http| http);
    for era in ERAS {
        let before = fixture.n_calls();
        let rejected = fixture.call(era, "files:read", "write").await;
        assert_eq!(rejected.status, 403, "{era:?}");
        assert!(
            rejected.challenge.starts_with(r#"Bearer error="insufficient_scope", scope="files:write"#),
            "{}",
            rejected.challenge
        );
        assert!(rejected.challenge.contains(METADATA), "{}", rejected.challenge);
        let description = r#"error_description="the token does not grant the scopes that `write` requires""#;
        assert!(rejected.challenge.ends_with(description), "{}", rejected.challenge);
        assert_eq!(rejected.body["error"]["code"], -32600);
        assert_eq!(fixture.n_calls(), before);
        let accepted = fixture.call(era, "files:read+files:write", "write").await;
        assert_eq!((accepted.status, fixture.n_calls()), (200, before + 1), "{era:?}: {}", accepted.body);
        assert_eq!(fixture.call(era, "other", "read").await.status, 200, "a tool without scopes");
    }
}

/// Otherwise a client asks its user once for each scope.
#[tokio::test]
async fn a_challenge_has_all_scopes_of_the_operation() {
    let fixture = Fixture::new(|http| http.scopes(["mcp"]));
    let rejected = fixture.call(Era::Modern, "mcp", "erase").await;
    assert!(rejected.challenge.contains(r#"scope="mcp files:write files:erase""#), "{}", rejected.challenge);
    let rejected = fixture.call(Era::Modern, "mcp+files:write", "erase").await;
    assert!(rejected.challenge.contains(r#"scope="mcp files:write files:erase""#), "{}", rejected.challenge);
    assert_eq!(fixture.call(Era::Modern, "mcp+files:write+files:erase", "erase").await.status, 200);
}

/// Earlier clients replace their scopes by those of the challenge, and lose the others.
#[tokio::test]
async fn a_challenge_of_earlier_revisions_has_the_granted_scopes_too() {
    let fixture = Fixture::new(|http| http);
    let scope =
        |challenge: &str| challenge.split("scope=\"").nth(1).and_then(|rest| Some(rest.split_once('"')?.0.to_owned()));
    let legacy = fixture.call(Era::Legacy, "files:erase+x", "write").await;
    assert_eq!(scope(&legacy.challenge).as_deref(), Some("files:write files:erase x"));
    let modern = fixture.call(Era::Modern, "files:erase+x", "write").await;
    assert_eq!(scope(&modern.challenge).as_deref(), Some("files:write"));
}

#[tokio::test]
async fn every_request_needs_the_scopes_of_the_server() {
    let fixture = Fixture::new(|http| http.scopes(["mcp", "offline_access"]));
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    for (token, status, expected) in [
        (None, 401, format!(r#"Bearer scope="mcp", {METADATA}"#)),
        (Some("bad"), 401, format!(r#"Bearer error="invalid_token", scope="mcp", {METADATA}"#)),
        (Some("x"), 403, format!(r#"Bearer error="insufficient_scope", scope="mcp", {METADATA}"#)),
        (Some("MCP"), 403, format!(r#"Bearer error="insufficient_scope", scope="mcp", {METADATA}"#)),
        (Some("down"), 503, String::new()),
        (Some("mcp"), 200, String::new()),
        (Some("x+mcp"), 200, String::new()),
    ] {
        let response = fixture.send(token, &[], &ping).await;
        assert_eq!((response.status, &*response.challenge), (status, &*expected), "{token:?}");
        assert_eq!(response.headers.contains_key("retry-after"), status == 503, "{token:?}");
    }
}

#[tokio::test]
async fn the_metadata_has_the_minimal_scopes() {
    for (configure, expected) in [
        ((|http: Http| http) as fn(Http) -> Http, None),
        (|http| http.scopes(["mcp", "offline_access"]), Some(json!(["mcp"]))),
        (|http| http.scopes(["offline_access"]), None),
    ] {
        let mut service = Fixture::new(configure).service;
        let request = http::Request::get("/.well-known/oauth-protected-resource/mcp").header("host", "localhost");
        let response = service.call(request.body(String::new()).unwrap()).await.unwrap();
        assert_eq!(response.status(), 200);
        let metadata: Value =
            serde_json::from_slice(&response.into_body().collect().await.unwrap().to_bytes()).unwrap();
        let mut all = json!({
            "resource": "https://mcp.example.com/mcp",
            "authorization_servers": ["https://as.example"],
            "bearer_methods_supported": ["header"],
        });
        if let Some(scopes) = expected {
            all["scopes_supported"] = scopes;
        }
        assert_eq!(metadata, all);
    }
}

#[tokio::test]
async fn the_host_chooses_the_scopes_of_tools() {
    let fixture = Fixture::new(|http| http.tool_scopes(|tool| vec![format!("tool:{}", tool.name())]));
    assert_eq!(fixture.call(Era::Modern, "files:write", "write").await.status, 403);
    assert_eq!(fixture.call(Era::Modern, "tool:write", "write").await.status, 200);
    assert_eq!(fixture.call(Era::Modern, "tool:write", "read").await.status, 403);
}

#[tokio::test]
async fn a_broader_scope_covers_others_if_the_host_says_so() {
    let covers =
        |granted: &str, required: &str| required.strip_prefix(granted).is_some_and(|rest| rest.starts_with(':'));
    let (flat, tree) = (Fixture::new(|http| http), Fixture::new(|http| http.scope_covers(covers)));
    for (token, in_flat, in_tree) in [
        ("files", 403, 200),
        ("files:write", 200, 200),
        ("file", 403, 403),
        ("files:write:x", 403, 403),
        ("x+files", 403, 200),
    ] {
        assert_eq!(flat.call(Era::Modern, token, "write").await.status, in_flat, "{token}");
        assert_eq!(tree.call(Era::Modern, token, "write").await.status, in_tree, "{token}");
    }
}

#[tokio::test]
async fn a_call_without_the_scopes_of_its_tool_is_rejected_before_its_other_mistakes() {
    let fixture = Fixture::new(|http| http);
    // The tool cannot be called as a task.
    let params = json!({ "name": "write", "arguments": { "text": "x" }, "task": {} });
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let headers = [("mcp-protocol-version", "2025-11-25")];
    assert_eq!(fixture.send(Some("files:read"), &headers, &call).await.status, 403);
    assert_eq!(fixture.send(Some("files:write"), &headers, &call).await.body["error"]["code"], -32601);
}

#[tokio::test]
async fn no_call_of_a_batch_runs_if_one_lacks_its_scopes() {
    let fixture = Fixture::new(|http| http);
    let call = |id: u64, tool: &str, arguments: Value| json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": tool, "arguments": arguments } });
    let batch =
        json!([call(1, "read", json!({})), call(2, "write", json!({ "text": "x" })), call(3, "erase", json!({}))]);
    let headers = [("mcp-protocol-version", "2025-03-26")];
    let rejected = fixture.send(Some("files:read"), &headers, &batch).await;
    assert_eq!(rejected.status, 403);
    assert!(rejected.challenge.contains(r#"scope="files:write files:erase files:read""#), "{}", rejected.challenge);
    assert_eq!(fixture.n_calls(), 0);
    let accepted = fixture.send(Some("files:write+files:erase"), &headers, &batch).await;
    assert_eq!((accepted.status, fixture.n_calls()), (200, 3), "{}", accepted.body);
}

#[tokio::test]
async fn a_shared_token_and_a_server_without_tokens_need_no_scopes() {
    let fixture = Fixture::new(|http| http.token("s3cr3t").scopes(["mcp"]));
    assert_eq!(fixture.call(Era::Modern, "s3cr3t", "write").await.status, 200);
    assert_eq!(fixture.call(Era::Modern, "mcp+files:write", "write").await.status, 401);
    let calls = Calls::default();
    let dispatcher = Dispatcher::builder(catalog![write].unwrap()).state(Arc::clone(&calls)).build().unwrap();
    let service = Server::new(dispatcher).unwrap().http().into_service();
    let open = Fixture { service, calls };
    assert_eq!(open.call(Era::Modern, "", "write").await.status, 200);
    assert_eq!(open.n_calls(), 1);
}

/// A server behind the proxy chooses the scopes and names of its tools.
#[tokio::test]
async fn the_texts_of_a_tool_add_no_parameters_to_a_challenge() {
    let hostile = r#"x", resource_metadata="https://evil.example"#;
    let fixture =
        Fixture::new(|http| http.tool_scopes(move |_| vec![hostile.to_owned(), "ä".to_owned(), "ok".to_owned()]));
    let rejected = fixture.call(Era::Modern, "", "write").await;
    assert_eq!(rejected.status, 403);
    assert!(
        rejected.challenge.contains(r#"scope="ok", resource_metadata="https://mcp.example.com"#),
        "{}",
        rejected.challenge
    );
    assert!(!rejected.challenge.contains("evil"), "{}", rejected.challenge);
    // What OAuth cannot express cannot be granted.
    assert_eq!(fixture.call(Era::Modern, "ok", "write").await.status, 403);
}

/// A script can read other headers than the safelisted ones only if they are exposed.
#[tokio::test]
async fn a_web_page_can_read_the_challenge() {
    let fixture = Fixture::new(|http| http);
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    let response = fixture.send(None, &[("origin", "http://localhost:6274")], &ping).await;
    assert_eq!(response.status, 401);
    let exposed = response.headers["access-control-expose-headers"].to_str().unwrap();
    assert!(exposed.contains("www-authenticate"), "{exposed}");
}

#[test]
fn scopes_are_part_of_the_record_of_a_tool() {
    let catalog = catalog![erase].unwrap();
    let tool = catalog.resolve("erase").unwrap();
    assert_eq!(tool.requirements().scopes, ["files:write", "files:erase"]);
    assert_eq!(tool.requirements().to_string(), "a token with the scopes `files:write`, `files:erase`; the user's id");
    let record = serde_json::to_value(tool).unwrap();
    let read: toolkit::Tool = serde_json::from_value(record).unwrap();
    assert_eq!(read.requirements(), tool.requirements());
    // A host without tokens of callers, such as a command line.
    let dispatcher = Dispatcher::builder(catalog![write].unwrap()).state(Calls::default()).build().unwrap();
    assert!(dispatcher.call_sync("write", r#"{"text": "x"}"#).is_ok());
}

/// Lists the tools that the token of its caller grants, for everyone and for callers.
struct Grants;

impl Route for Grants {
    fn admission(&self, path: &str) -> Option<Admission> {
        match path {
            "/open" => Some(Admission::Public),
            "/mine" => Some(Admission::Authenticated),
            _ => None,
        }
    }

    fn respond<'r>(&'r self, request: RouteRequest<'r>) -> BoxFuture<'r, http::Response<Body>> {
        let tools = catalog![read, write, erase].unwrap();
        let names = tools.iter().filter(|tool| request.grants(tool)).map(toolkit::Tool::name);
        let answer = json!([request.caller.is_some(), names.collect::<Vec<_>>()]).to_string();
        Box::pin(async move { http::Response::new(Body::from(answer)) })
    }
}

#[tokio::test]
async fn a_route_knows_which_tools_the_token_of_its_caller_grants() {
    let fixture = Fixture::new(|http| http.route(Grants));
    for (path, token, expected) in [
        ("/open", None, Some(json!([false, ["erase", "read", "write"]]))),
        ("/mine", None, None),
        ("/mine", Some("bad"), None),
        ("/mine", Some("files:write"), Some(json!([true, ["read", "write"]]))),
        ("/mine", Some("files:write+files:erase"), Some(json!([true, ["erase", "read", "write"]]))),
        ("/other", Some("files:write"), None),
    ] {
        let mut request = http::Request::get(path).header("host", "localhost");
        if let Some(token) = token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let response = fixture.service.clone().call(request.body(String::new()).unwrap()).await.unwrap();
        let is_ok = response.status() == 200;
        let body = response.into_body().collect().await.unwrap().to_bytes();
        let found = is_ok.then(|| serde_json::from_slice::<Value>(&body).unwrap());
        assert_eq!(found, expected, "{path} {token:?}");
    }
}
