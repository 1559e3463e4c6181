//! Headers, credentials and sessions of callers, as a server receives them.

use serde_json::{Value, json};
use test_support::client::{Client, Era, Way as ClientWay};
use toolkit::backend::{Backend, BackendState};
use toolkit::call::RequestParts;
use toolkit::dispatch::BoxFuture;
use toolkit::{Catalog, Context, Dispatcher, catalog, tool};
use toolkit_backends::Backends;
use toolkit_mcp_client::{Endpoint, McpBackend, McpServers, OAuth};
use toolkit_mcp_server::{Caller, Proxy, Request, Server, TokenError, Verify};

use super::operators::configured;
use super::{dispatcher, in_the_end, program, until};

/// Returns the tenant and another header of the caller.
#[tool]
fn whose(ctx: &Context) -> Vec<Option<String>> {
    ["x-up", "x-other"].map(|name| ctx.request().header(name).map(str::to_owned)).into()
}

#[tokio::test]
async fn only_the_named_headers_of_a_caller_reach_the_named_server() {
    let server = Server::new(Dispatcher::new(catalog![whose].unwrap()).unwrap()).unwrap();
    let listening = server.http().bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listening.local_addr().unwrap());
    tokio::spawn(listening.run(std::future::pending()));
    let request = RequestParts::new().with_header("X-Tenant", "acme").with_header("x-other", "a");
    let context = Context::new().with(request);
    for (settings, told) in [
        (json!({}), json!([null, null])),
        (json!({ "forwardHeaders": { "x-up": "x-tenant" } }), json!(["acme", null])),
        (json!({ "forwardHeaders": { "x-up": "x-absent" } }), json!([null, null])),
    ] {
        let dispatcher = dispatcher(&configured("up", &url, &settings)).await;
        let called = in_the_end(dispatcher.call_with(&context, "up:whose", json!({}))).await;
        assert_eq!(called.unwrap().value(), told, "{settings}");
    }
}

/// Returns the subject of the caller.
#[tool]
fn who(ctx: &Context) -> Option<String> {
    ctx.get::<Request>()?.caller()?.subject().map(str::to_owned)
}

/// Accepts `token-NAME` as the token of NAME.
struct Names;

impl Verify for Names {
    fn verify<'v>(&'v self, token: &'v str) -> BoxFuture<'v, Result<Caller, TokenError>> {
        Box::pin(async move { token.strip_prefix("token-").map(Caller::named).ok_or(TokenError::Invalid) })
    }
}

/// Serves the tool `who` to callers with a token. Returns the URL.
async fn guarded() -> String {
    let server = Server::new(Dispatcher::new(catalog![who].unwrap()).unwrap()).unwrap();
    let listening = server.http().verify(Names).bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listening.local_addr().unwrap());
    tokio::spawn(listening.run(std::future::pending()));
    url
}

/// Serves the tools of a backend over HTTP, to callers with a token if `is_guarded`. Returns the URL.
async fn behind_proxy(backend: McpBackend, is_guarded: bool) -> String {
    let backends = Backends::new();
    backends.register(backend).unwrap();
    let server = Server::new(Dispatcher::new(Catalog::new([]).unwrap()).unwrap()).unwrap();
    let left_out = in_the_end(Proxy::new(server.clone(), backends).collect()).await;
    assert!(left_out.is_empty(), "{left_out}");
    let http = if is_guarded { server.http().verify(Names) } else { server.http() };
    let listening = http.bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listening.local_addr().unwrap());
    tokio::spawn(listening.run(std::future::pending()));
    url
}

/// Calls `who` behind the proxy at `url` with a header.
async fn who_with(url: &str, header: Option<(&str, &str)>) -> Result<Value, String> {
    let endpoint = Endpoint::new(url).unwrap();
    let endpoint = header.iter().fold(endpoint, |endpoint, (name, value)| endpoint.header(name, value).unwrap());
    let dispatcher = dispatcher(&McpBackend::http("proxy", endpoint)).await;
    let called = in_the_end(dispatcher.call("proxy:up_who", json!({}))).await;
    called.map(|result| json!(result.value())).map_err(|error| error.to_string())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_receives_the_credentials_of_each_caller_if_it_is_named() {
    let up = guarded().await;
    let settings = json!({ "forwardCredentials": { "authorization": "x-up-token" } });
    let servers = json!({ "mcpServers": { "up": {
        "url": up, "headers": { "authorization": "Bearer token-lists" }, "toolkit": settings,
    } } });
    let servers = McpServers::from_json(&servers.to_string()).unwrap();
    let url = behind_proxy(servers.into_iter().next().unwrap(), false).await;
    for name in ["ada", "bob"] {
        let header = format!("Bearer token-{name}");
        assert_eq!(who_with(&url, Some(("x-up-token", &header))).await, Ok(json!(name)));
    }
    // Without it, the token for lists is not used.
    for header in [None, Some(("x-other-token", "Bearer token-ada")), Some(("authorization", "Bearer token-ada"))] {
        let error = who_with(&url, header).await.unwrap_err();
        assert!(error.contains("the MCP server `up` requires the header `x-up-token` of the caller"), "{error}");
    }
    let rejected = who_with(&url, Some(("x-up-token", "Bearer s3cr3t"))).await.unwrap_err();
    assert!(!rejected.contains("s3cr3t"), "{rejected}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_the_proxy_checks_is_not_passed_on() {
    let up = guarded().await;
    let settings = json!({ "forwardCredentials": { "authorization": "authorization" } });
    let servers = json!({ "mcpServers": { "up": {
        "url": up, "headers": { "authorization": "Bearer token-lists" }, "toolkit": settings,
    } } });
    for (is_guarded, expected) in [(false, Ok(json!("ada"))), (true, Err("requires the header `authorization`"))] {
        let servers = McpServers::from_json(&servers.to_string()).unwrap();
        let url = behind_proxy(servers.into_iter().next().unwrap(), is_guarded).await;
        let called = who_with(&url, Some(("authorization", "Bearer token-ada"))).await;
        match expected {
            Ok(name) => assert_eq!(called, Ok(name)),
            Err(text) => assert!(called.as_ref().is_err_and(|error| error.contains(text)), "{called:?}"),
        }
    }
}

#[test]
fn credentials_of_callers_and_a_login_exclude_each_other() {
    let endpoint = Endpoint::new("https://example.com/mcp").unwrap();
    let with_login = endpoint.clone().oauth(OAuth::new());
    let error = with_login.forward_credential("authorization", "x-up-token").unwrap_err();
    assert_eq!(error.to_string(), "the header `authorization` is set by the login of the endpoint");
    let error = endpoint.forward_credential("x-up", "x-tenant").unwrap_err();
    assert_eq!(error.to_string(), "the header `x-tenant` is not one with credentials; use `forwardHeaders`");
    let servers = json!({ "mcpServers": { "up": { "url": "https://example.com/mcp", "toolkit": {
        "forwardCredentials": { "authorization": "x-up-token" }, "oauth": {},
    } } } });
    let servers = McpServers::from_json(&servers.to_string()).unwrap();
    let rejected = servers.rejected().next().unwrap().to_string();
    assert!(rejected.contains("`toolkit.oauth` and the header `Authorization` exclude each other"), "{rejected}");
}

// A connection for each session.

/// The faulty server as a process for each session, up to `max_sessions`.
fn of_sessions(max_sessions: &Value) -> McpBackend {
    let servers = json!({ "mcpServers": { "peer": {
        "command": program("fixture_peer"), "args": ["usual"], "toolkit": { "perSession": max_sessions },
    } } });
    let servers = McpServers::from_json(&servers.to_string()).unwrap();
    assert_eq!(servers.rejected().next(), None);
    servers.into_iter().next().unwrap()
}

async fn proxied(backend: &McpBackend) -> Server {
    let backends = Backends::new();
    backends.register(backend.clone()).unwrap();
    let server = Server::new(Dispatcher::new(Catalog::new([]).unwrap()).unwrap()).unwrap();
    in_the_end(Proxy::new(server.clone(), backends).collect()).await;
    server
}

async fn pid(client: &mut Client) -> Result<u64, String> {
    let response = in_the_end(client.call("peer_pid", json!({}), |_| unreachable!("no question"))).await;
    let result = &response["result"];
    let pid = &result["structuredContent"];
    pid.as_u64().or(pid["result"].as_u64()).ok_or_else(|| result["content"][0]["text"].as_str().unwrap().to_owned())
}

/// Returns true while a process runs.
fn runs(pid: u64) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
}

#[tokio::test(flavor = "multi_thread")]
async fn each_session_has_a_process_of_its_own_until_it_ends() {
    let backend = of_sessions(&json!(true));
    let server = proxied(&backend).await;
    let http = (Era::Legacy, ClientWay::Http);
    let mut ada = Client::connect(&server, http, json!({})).await;
    let mut bob = Client::connect(&server, http, json!({})).await;
    let mut piped = Client::connect(&server, (Era::Legacy, ClientWay::Pipes), json!({})).await;
    let (of_ada, of_bob, shared) =
        (pid(&mut ada).await.unwrap(), pid(&mut bob).await.unwrap(), pid(&mut piped).await.unwrap());
    assert!(of_ada != of_bob && of_ada != shared && of_bob != shared);
    assert_eq!((pid(&mut ada).await, pid(&mut piped).await), (Ok(of_ada), Ok(shared)));
    // Without a session, there is no process to choose.
    let mut modern = Client::connect(&server, (Era::Modern, ClientWay::Http), json!({})).await;
    let error = pid(&mut modern).await.unwrap_err();
    assert!(error.contains("has a connection for each session, and the client has no session"), "{error}");
    if cfg!(target_os = "linux") {
        ada.end_session().await;
        until(|| async { !runs(of_ada) }).await;
        assert!(runs(of_bob) && runs(shared));
        in_the_end(backend.stop()).await.unwrap();
        until(|| async { !runs(of_bob) && !runs(shared) }).await;
    }
    assert_eq!(backend.status().state, BackendState::Stopped);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_number_of_sessions_is_limited() {
    let server = proxied(&of_sessions(&json!(2))).await;
    let mut clients = Vec::new();
    for _ in 0..3 {
        clients.push(Client::connect(&server, (Era::Legacy, ClientWay::Http), json!({})).await);
    }
    pid(&mut clients[0]).await.unwrap();
    pid(&mut clients[1]).await.unwrap();
    let error = pid(&mut clients[2]).await.unwrap_err();
    assert!(error.contains("the MCP server `peer` is at its limit of 2 sessions"), "{error}");
    clients[0].end_session().await;
    pid(&mut clients[2]).await.unwrap();
}
