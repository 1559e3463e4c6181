//! Headers and credentials of callers, as a server receives them.

use serde_json::{Value, json};
use toolkit::call::RequestParts;
use toolkit::dispatch::BoxFuture;
use toolkit::{Catalog, Context, Dispatcher, catalog, tool};
use toolkit_backends::Backends;
use toolkit_mcp_client::{Endpoint, McpBackend, McpServers, OAuth};
use toolkit_mcp_server::{Caller, Proxy, Request, Server, TokenError, Verify};

use super::operators::configured;
use super::{dispatcher, in_the_end};

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
pub(super) struct Names;

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
