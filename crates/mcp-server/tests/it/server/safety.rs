//! Security: hosts, origins, tokens and limits.

use std::time::Duration;

use tokio::sync::Semaphore;
use toolkit::call::Credentials;
use toolkit::dispatch::BoxFuture;
use toolkit::{Dispatcher, Tool, catalog, tool};
use toolkit_mcp_server::{Caller, HttpError, TokenError, Verify};

use super::*;

fn list() -> Value {
    modern(1, "tools/list", json!({}))
}

#[tokio::test]
async fn only_loopback_hosts_are_accepted_by_default() {
    let client = client().await;
    let port = client.address.port();
    for host in ["localhost", "127.0.0.1", "127.0.0.2", "[::1]", "LOCALHOST"] {
        assert_eq!(client.with("host", host).send(&list()).await.status, 200, "{host}");
        assert_eq!(client.with("host", &format!("{host}:{port}")).send(&list()).await.status, 200, "{host}");
    }
    for host in
        ["evil.example", "localhost.evil.example", "evil.example:80", "", "localhost:x", "127.0.0.1@evil.example"]
    {
        assert_eq!(client.with("host", host).send(&list()).await.status, 403, "{host}");
    }
    assert_eq!(client.without("host").send(&list()).await.status, 403);
}

/// The host of a request target in absolute form takes precedence (RFC 9112, 3.2.2).
#[tokio::test]
async fn the_target_of_a_request_is_checked_like_its_host() {
    let client = client().await.with("content-type", "application/json");
    let body = request(1, "ping", json!({})).to_string();
    for (target, status) in
        [("http://localhost:80/mcp", 200), ("http://evil.example/mcp", 403), ("http://localhost@evil.example/mcp", 403)]
    {
        assert_eq!(client.ask("POST", target, body.as_bytes()).await.status, status, "{target}");
    }
    let client = client.with("host", "evil.example");
    assert_eq!(client.ask("POST", "http://localhost/mcp", body.as_bytes()).await.status, 403);
}

/// A proxy may read another value of a repeated header than the server.
#[tokio::test]
async fn security_headers_must_not_be_repeated() {
    let client = Client::of(serve(server().http().token("s3cr3t")).await);
    let ours = client.with("authorization", "Bearer s3cr3t");
    assert_eq!(ours.send(&list()).await.status, 200);
    let twice = client.with("authorization", "Bearer s3cr3t\r\nauthorization: Bearer other");
    assert_eq!(twice.send(&list()).await.status, 401);
    let twice = ours.with("origin", "http://localhost\r\norigin: https://evil.example");
    assert_eq!(twice.send(&list()).await.status, 403);
}

/// Clients write the body of a request after its head, and send the next request on the same connection.
#[tokio::test]
async fn a_connection_stays_open_after_a_request_that_is_rejected_by_its_head() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    let address = serve(server().http().token("s3cr3t")).await;
    let mut connection = tokio::net::TcpStream::connect(address).await.unwrap();
    let body = list().to_string();
    let head = format!("host: localhost\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n", body.len());
    for _ in 0..3 {
        connection.write_all(format!("POST /mcp HTTP/1.1\r\n{head}").as_bytes()).await.unwrap();
        tokio::time::sleep(Duration::from_millis(20)).await;
        connection.write_all(body.as_bytes()).await.unwrap();
        let mut response = [0; 4096];
        let n = connection.read(&mut response).await.unwrap();
        assert!(response[..n].starts_with(b"HTTP/1.1 401 "), "{:?}", String::from_utf8_lossy(&response[..n]));
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn all_loopback_addresses_are_accepted() {
    let listening = server().http().bind("127.0.0.2:0").await.unwrap();
    let address = listening.local_addr().unwrap();
    tokio::spawn(listening.run(pending()));
    let client = Client::of(address).with("host", &address.to_string());
    assert_eq!(client.send(&list()).await.status, 200);
}

#[tokio::test]
async fn a_client_learns_which_scopes_it_needs() {
    let http = server().http().verify(Names).resource("https://tools.example/mcp", ["https://login.example"]);
    let client = Client::of(serve(http.scopes(["tools:list", "tools:call"])).await);
    let scope = r#"scope="tools:list tools:call""#;
    for (token, status, error) in [
        (None, 401, None),
        (Some("nobody"), 401, Some(r#"error="invalid_token""#)),
        (Some("guest"), 403, Some(r#"error="insufficient_scope""#)),
    ] {
        let client = token.map_or(client.clone(), |token| client.with("authorization", &format!("Bearer {token}")));
        let refused = client.send(&list()).await;
        let challenge = refused.header("www-authenticate").unwrap();
        assert_eq!(refused.status, status, "{challenge}");
        assert!(challenge.contains(scope) && challenge.contains(error.unwrap_or_default()), "{challenge}");
    }
    let metadata = client.get("/.well-known/oauth-protected-resource/mcp").await.json();
    assert_eq!(metadata["scopes_supported"], json!(["tools:list", "tools:call"]));
}

#[tokio::test]
async fn the_server_can_be_mounted_at_any_path() {
    use http_body_util::BodyExt;
    use tower_service::Service;

    let service =
        || server().http().resource("https://tools.example/api/mcp", ["https://login.example"]).into_service();
    let well_known = "/.well-known/oauth-protected-resource/{*path}";
    let mut router: axum::Router = axum::Router::new()
        .nest_service("/api", service())
        .route_service("/deep/tools", service())
        .route_service(well_known, service());
    const PING: &[u8] = br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    for (method, path, expected) in [
        ("POST", "/api", "\"result\":{}"),
        ("POST", "/api/", "\"result\":{}"),
        ("POST", "/api/mcp", "\"result\":{}"),
        ("POST", "/deep/tools", "\"result\":{}"),
        ("GET", "/api/healthz", "ok"),
        ("GET", "/api/metrics", "toolkit_mcp_connections"),
        ("GET", "/.well-known/oauth-protected-resource/api/mcp", "authorization_servers"),
    ] {
        let request = http::Request::builder().method(method).uri(path).header("host", "localhost");
        let request = request.header("content-type", "application/json").body(axum::body::Body::from(PING)).unwrap();
        let response = router.call(request).await.unwrap();
        assert_eq!(response.status(), 200, "{path}");
        let body = response.into_body().collect().await.unwrap().to_bytes();
        assert!(String::from_utf8_lossy(&body).contains(expected), "{path}: {body:?}");
    }
}

/// Accepts tokens with the name of their only scope.
struct ByScope;

impl Verify for ByScope {
    fn verify<'v>(&'v self, token: &'v str) -> BoxFuture<'v, Result<Caller, TokenError>> {
        Box::pin(async move { Ok(Caller::named("ada").with_scopes([token])) })
    }
}

#[tokio::test]
async fn users_of_a_mounted_server_are_no_operators() {
    use tower_service::Service;

    let status = async |mut service: toolkit_mcp_server::Service, path: &str, token: &str| {
        let request =
            http::Request::get(path).header("host", "localhost").header("authorization", format!("Bearer {token}"));
        let response = service.call(request.body(String::new()).unwrap()).await.unwrap();
        (
            response.status().as_u16(),
            response.headers().get("www-authenticate").map(|value| value.to_str().unwrap().to_owned()),
        )
    };
    for path in ["/api/metrics", "/api/status"] {
        assert_eq!(status(server().http().verify(ByScope).into_service(), path, "read").await.0, 403, "{path}");
        assert_eq!(status(server().http().token("s3cr3t").into_service(), path, "s3cr3t").await.0, 200, "{path}");
        let with_scopes = || server().http().verify(ByScope).operator_scopes(["operate"]).into_service();
        let (code, challenge) = status(with_scopes(), path, "read").await;
        assert_eq!(code, 403, "{path}");
        assert!(challenge.unwrap().contains(r#"scope="operate"#), "{path}");
        assert_eq!(status(with_scopes(), path, "operate").await.0, 200, "{path}");
        assert_eq!(status(with_scopes(), "/api/healthz", "read").await.0, 200);
    }
}

#[tokio::test]
async fn only_loopback_origins_are_accepted_by_default() {
    let client = client().await;
    for origin in ["http://localhost:3000", "http://127.0.0.1", "https://[::1]:8443"] {
        let response = client.with("origin", origin).send(&list()).await;
        assert_eq!((response.status, response.header("access-control-allow-origin")), (200, Some(origin)));
        assert_eq!(client.with("origin", origin).ask("OPTIONS", "/mcp", b"").await.status, 204);
    }
    for origin in
        ["https://evil.example", "null", "http://localhost.evil.example", "http://localhost:80@evil.example", "file://"]
    {
        let response = client.with("origin", origin).send(&list()).await;
        assert_eq!((response.status, response.header("access-control-allow-origin")), (403, None), "{origin}");
        assert_eq!(client.with("origin", origin).ask("OPTIONS", "/mcp", b"").await.status, 403);
    }
}

#[tokio::test]
async fn configured_hosts_and_origins_are_accepted() {
    let http = server().http().allow_host("tools.example").allow_origin("https://app.example");
    let client = Client::of(serve(http).await).with("host", "tools.example:443").with("origin", "https://app.example");
    assert_eq!(client.send(&list()).await.status, 200);
    assert_eq!(client.with("origin", "https://tools.example").send(&list()).await.status, 403);
}

#[tokio::test]
async fn a_reachable_address_requires_a_token() {
    let error = server().http().bind("0.0.0.0:0").await.unwrap_err();
    assert!(matches!(&error, HttpError::Unprotected(_)), "{error}");
    assert!(error.to_string().contains("0.0.0.0"), "{error}");
    assert!(server().http().token("tlw9tPDk3ULX0Gq5").bind("0.0.0.0:0").await.is_ok());
    let error = server().http().token("hunter2").bind("0.0.0.0:0").await.unwrap_err();
    assert!(error.to_string().ends_with("use a token of at least 16 random characters"), "{error}");
    assert!(server().http().token("hunter2").bind("127.0.0.1:0").await.is_ok());
    assert!(server().http().allow_unauthenticated().bind("0.0.0.0:0").await.is_ok());
}

#[tokio::test]
async fn without_a_token_only_health_and_metadata_are_available() {
    let http = server().http().token("s3cr3t").resource("https://tools.example/mcp", ["https://login.example"]);
    let client = Client::of(serve(http).await);
    for wrong in [
        None,
        Some("Bearer wrong"),
        Some("Bearer "),
        Some("Bearer s3cr3"),
        Some("Bearer s3cr3tt"),
        Some("Basic s3cr3t"),
    ] {
        let client = wrong.map_or(client.clone(), |wrong| client.with("authorization", wrong));
        let response = client.send(&list()).await;
        assert_eq!(response.status, 401, "{wrong:?}");
        let challenge = response.header("www-authenticate").unwrap();
        let metadata = r#"resource_metadata="https://tools.example/.well-known/oauth-protected-resource/mcp""#;
        assert!(challenge.starts_with("Bearer ") && challenge.contains(metadata), "{challenge}");
        assert_eq!(client.get("/metrics").await.status, 401);
        assert_eq!(client.get("/healthz").await.status, 200);
    }
    assert_eq!(client.with("authorization", "bearer s3cr3t").send(&list()).await.status, 200);
    let metadata = client.get("/.well-known/oauth-protected-resource/mcp").await.json();
    assert_eq!(metadata["authorization_servers"], json!(["https://login.example"]));
}

/// A verifier whose tokens are names.
struct Names;

impl Verify for Names {
    fn verify<'v>(&'v self, token: &'v str) -> BoxFuture<'v, Result<Caller, TokenError>> {
        Box::pin(async move {
            match token {
                "nobody" => Err(TokenError::Invalid),
                "guest" => Err(TokenError::InsufficientScope),
                name => Ok(Caller::named(name)),
            }
        })
    }
}

#[tokio::test]
async fn a_tool_can_read_the_verified_caller() {
    let client = Client::of(serve(server().http().verify(Names)).await);
    let ada = client.with("authorization", "Bearer ada");
    let who = ada.send(&modern(1, "tools/call", call("who", json!({})))).await.result();
    assert_eq!(who["structuredContent"]["subject"], "ada");
    let whose = ada.send(&modern(1, "tools/call", call("whose", json!({})))).await.result();
    assert_eq!(whose["structuredContent"], "ada");
    let mail = ada.send(&modern(1, "tools/call", call("mail", json!({})))).await.result();
    assert_eq!(mail["isError"], true, "the host's own secrets are not a caller's");
    let guest = client.with("authorization", "Bearer guest").send(&list()).await;
    assert_eq!((guest.status, guest.header("www-authenticate")), (403, Some(r#"Bearer error="insufficient_scope""#)));
    assert_eq!(client.with("authorization", "Bearer nobody").send(&list()).await.status, 401);
}

#[tokio::test]
async fn a_tool_gets_the_credentials_of_the_host() {
    let server = Server::builder(dispatcher()).credentials(|_| Credentials::new().with_secret("MAIL_KEY", "k"));
    let client = Client::of(serve(server.build().unwrap().http()).await);
    let mail = client.send(&modern(1, "tools/call", call("mail", json!({})))).await.result();
    assert_eq!(mail["structuredContent"], true);
}

#[tokio::test]
async fn requests_beyond_the_rate_limit_get_retry_after() {
    let client = Client::of(serve(server().http().verify(Names).rate(1, 3)).await);
    let ada = client.with("authorization", "Bearer ada");
    for _ in 0..3 {
        assert_eq!(ada.send(&list()).await.status, 200);
    }
    let refused = ada.send(&list()).await;
    assert_eq!(refused.status, 429);
    assert_eq!(refused.header("retry-after"), Some("1"));
    let grace = client.with("authorization", "Bearer grace");
    assert_eq!(grace.send(&list()).await.status, 200, "another client has its own measure");
}

#[tokio::test]
async fn messages_are_json_and_sent_with_post() {
    let client = client().await;
    let body = list().to_string();
    for kind in ["text/plain", "application/x-www-form-urlencoded", "application/jsonp"] {
        assert_eq!(client.with("content-type", kind).ask("POST", "/mcp", body.as_bytes()).await.status, 415, "{kind}");
    }
    assert_eq!(client.ask("POST", "/mcp", body.as_bytes()).await.status, 415);
    assert_eq!(client.ask("PUT", "/mcp", body.as_bytes()).await.status, 405);
    assert_eq!(client.get("/").await.status, 404);
    assert_eq!(client.without("accept").get("/mcp").await.status, 405);
}

#[tokio::test]
async fn a_call_beyond_the_timeout_fails() {
    let server = Server::builder(dispatcher()).call_timeout(Duration::from_millis(30)).build().unwrap();
    let client = Client::of(serve(server.http()).await);
    let mut params = call("sleep", json!({ "ms": 600_000 }));
    for token in [Value::Null, json!("t")] {
        params["_meta"]["progressToken"] = token;
        let result = client.send(&modern(1, "tools/call", params.clone())).await.result();
        assert_eq!(result["isError"], true);
        assert!(result["content"][0]["text"].as_str().unwrap().contains("took longer than 30ms"), "{result}");
    }
}

#[tokio::test]
async fn calls_beyond_the_concurrency_limit_wait() {
    let server = Server::builder(dispatcher()).concurrency(2).build().unwrap();
    let client = Client::of(serve(server.http()).await);
    let calls = (0..20).map(|_| {
        let client = client.clone();
        tokio::spawn(
            async move { client.send(&modern(1, "tools/call", call("sleep", json!({ "ms": 1 })))).await.result() },
        )
    });
    for call in calls.collect::<Vec<_>>() {
        assert_eq!(call.await.unwrap()["isError"], false);
    }
}

static STARTED: Semaphore = Semaphore::const_new(0);

/// Starts and never ends.
#[tool]
async fn wait() {
    STARTED.add_permits(1);
    std::future::pending().await
}

/// Starts and never ends.
#[tool]
async fn wait_too() {
    STARTED.add_permits(1);
    std::future::pending().await
}

#[tokio::test]
async fn a_caller_leaves_calls_to_others_whichever_tools_it_calls() {
    let dispatcher = Dispatcher::new(catalog![wait, wait_too].unwrap()).unwrap();
    let server = Server::builder(dispatcher).concurrency(8).build().unwrap();
    let client = Client::of(serve(server.http().verify(Names)).await);
    let start = |caller: &str, tool: &'static str| {
        let client = client.with("authorization", &format!("Bearer {caller}"));
        tokio::spawn(async move { client.send(&modern(1, "tools/call", call(tool, json!({})))).await })
    };
    (0..6).for_each(|_| drop(start("ada", "wait")));
    STARTED.acquire_many(6).await.unwrap().forget();
    drop(start("ada", "wait_too"));
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(STARTED.available_permits(), 0, "two permits are left, and six are the share of one caller");
    drop(start("bob", "wait_too"));
    tokio::time::timeout(Duration::from_secs(30), STARTED.acquire()).await.expect("the call starts").unwrap().forget();
}

#[tokio::test]
async fn metrics_count_calls_and_rejections() {
    let client = client().await;
    client.send(&modern(1, "tools/call", call("math_add", json!({ "a": 1, "b": 2 })))).await;
    client.send(&modern(1, "tools/call", call("math_add", json!({})))).await;
    client.send(&modern(1, "tools/call", call("fail", json!({})))).await;
    client.with("host", "evil.example").send(&list()).await;
    let metrics = client.get("/metrics").await.text();
    for line in [
        r#"toolkit_mcp_calls_total{tool="math:add:1.0.0",outcome="ok"} 1"#,
        r#"toolkit_mcp_calls_total{tool="math:add:1.0.0",outcome="rejected"} 1"#,
        r#"toolkit_mcp_calls_total{tool="fail",outcome="failed"} 1"#,
        r#"toolkit_mcp_call_seconds_count{tool="math:add:1.0.0"} 2"#,
        r#"toolkit_mcp_rejected_total{reason="origin"} 1"#,
        "toolkit_mcp_calls_running 0",
    ] {
        assert!(metrics.lines().any(|other| other == line), "{line} is not in\n{metrics}");
    }
}

#[tokio::test]
async fn unknown_tools_share_one_label() {
    let server = server();
    let client = Client::of(serve(server.http()).await);
    for n in 0..20 {
        client.send(&modern(1, "tools/call", call(&format!("made_up_{n}"), json!({})))).await;
    }
    let metrics = server.metrics();
    assert!(!metrics.contains("made_up"), "{metrics}");
    assert!(metrics.contains(r#"toolkit_mcp_calls_total{tool="unknown",outcome="rejected"} 20"#), "{metrics}");
}

#[tokio::test]
async fn metrics_of_removed_tools_are_kept_up_to_a_limit() {
    let tool = |name: String| Tool::builder(name).description("Does something.").build().unwrap();
    let serving = |tools: Vec<Tool>| Dispatcher::new(Catalog::new(tools).unwrap()).unwrap();
    let server = Server::new(serving(vec![tool("gone".to_owned())])).unwrap();
    let client = Client::of(serve(server.http()).await);
    client.send(&modern(1, "tools/call", call("gone", json!({})))).await;
    let is_remembered = || server.metrics().contains(r#"toolkit_mcp_calls_total{tool="gone""#);
    server.replace(serving(vec![tool("other".to_owned())])).unwrap();
    assert!(is_remembered());
    server.replace(serving((0..5000).map(|n| tool(format!("tool_{n}"))).collect())).unwrap();
    assert!(!is_remembered());
}

#[tokio::test]
async fn the_server_is_a_tower_service() {
    use http_body_util::{BodyExt, Full};
    use tower_service::Service;

    let mut service = server().http().into_service();
    const PING: &[u8] = br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let post = |host: &str| {
        let request = http::Request::post("/mcp").header("host", host).header("content-type", "application/json");
        request.body(Full::new(PING)).unwrap()
    };
    let answer = service.call(post("localhost:80")).await.unwrap();
    assert_eq!(answer.status(), 200);
    let body = answer.into_body().collect().await.unwrap().to_bytes();
    assert_eq!(body, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    assert_eq!(service.call(post("evil.example")).await.unwrap().status(), 403);
}

#[tokio::test]
async fn health_reports_shutdown() {
    use tower_service::Service;

    let server = server();
    let mut service = server.http().into_service();
    let mut health = async || {
        let asked = http::Request::get("/healthz").body(http_body_util::Empty::<&[u8]>::new()).unwrap();
        service.call(asked).await.unwrap().status().as_u16()
    };
    assert_eq!(health().await, 200);
    server.shut_down();
    assert_eq!(health().await, 503);
}

#[tokio::test]
async fn the_rate_limit_applies_to_rejected_tokens() {
    let client = Client::of(serve(server().http().token("s3cr3t").rate(1, 3)).await);
    let with = |token: &str| client.with("authorization", &format!("Bearer {token}"));
    for guess in ["a", "b", "c"] {
        assert_eq!(with(guess).send(&list()).await.status, 401);
    }
    for guess in ["d", "s3cr3t"] {
        let refused = with(guess).send(&list()).await;
        assert_eq!((refused.status, refused.header("retry-after")), (429, Some("1")), "{guess}");
    }
}

#[tokio::test]
async fn cors_headers_are_sent_to_accepted_origins_only() {
    let client = Client::of(serve(server().http().verify(Names)).await);
    let allowed = async |origin: &str, token: &str| {
        let client = client.with("origin", origin).with("authorization", &format!("Bearer {token}"));
        let (health, listed) = (client.get("/healthz").await, client.send(&list()).await);
        [health, listed].map(|response| {
            let origin = response.header("access-control-allow-origin").map(str::to_owned);
            (response.status, origin)
        })
    };
    let ours = Some("http://localhost:3000".to_owned());
    assert_eq!(allowed("http://localhost:3000", "guest").await, [(200, ours.clone()), (403, ours)]);
    assert_eq!(allowed("https://evil.example", "ada").await, [(200, None), (403, None)]);
}

#[tokio::test]
async fn a_failed_health_check_is_named_and_runs_at_most_once_in_a_second() {
    use std::sync::atomic::{AtomicUsize, Ordering};

    let n_runs = std::sync::Arc::new(AtomicUsize::new(0));
    let counted = std::sync::Arc::clone(&n_runs);
    let http =
        server().http().health_check("cache", async || Ok::<_, String>(())).health_check("database", move || {
            let first = counted.fetch_add(1, Ordering::Relaxed) == 0;
            async move { if first { Err("the password is hunter2") } else { Ok(()) } }
        });
    let client = Client::of(serve(http).await);
    for _ in 0..2 {
        let failed = client.get("/healthz").await;
        assert_eq!((failed.status, failed.text().as_str()), (503, "failed: database; see the log\n"));
    }
    assert_eq!(n_runs.load(Ordering::Relaxed), 1);
    tokio::time::sleep(std::time::Duration::from_millis(1100)).await;
    assert_eq!(client.get("/healthz").await.status, 200);
    assert_eq!(n_runs.load(Ordering::Relaxed), 2);
}

#[tokio::test]
async fn behind_a_trusted_proxy_each_client_has_its_own_rate() {
    let trusting = serve(server().http().rate(1, 2).trust_proxies(["127.0.0.0/8"]).unwrap()).await;
    let alone = serve(server().http().rate(1, 2)).await;
    let status =
        async |address, client: &str| Client::of(address).with("x-forwarded-for", client).send(&list()).await.status;
    let mut n_limited = 0;
    for n in 0..6 {
        let client = format!("192.0.2.{n}");
        assert_eq!(status(trusting, &client).await, 200, "each of them is another client");
        n_limited += usize::from(status(alone, &client).await == 429);
    }
    assert!(n_limited > 0, "what a client writes is not trusted");
    while status(trusting, "192.0.2.0").await == 200 {}
}

#[tokio::test]
async fn the_addresses_of_one_ipv6_network_have_one_rate() {
    let server = serve(server().http().rate(1, 2).trust_proxies(["127.0.0.0/8"]).unwrap()).await;
    let status = async |client: &str| Client::of(server).with("x-forwarded-for", client).send(&list()).await.status;
    let mut statuses = Vec::new();
    for n in 0..6 {
        statuses.push(status(&format!("2001:db8:1:2::{n}")).await);
    }
    assert_eq!(statuses[..2], [200, 200]);
    assert!(statuses.contains(&429), "{statuses:?}");
    assert_eq!(status("2001:db8:1:3::1").await, 200);
}
