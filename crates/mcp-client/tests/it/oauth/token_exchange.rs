//! Tokens of callers that are exchanged for those of the server.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use toolkit::call::{BoxFuture, ErrorKind};
use toolkit::internals::CallerToken;
use toolkit::{Catalog, Context, Dispatcher, ToolError};
use toolkit_backends::Backends;
use toolkit_mcp_client::{McpBackend, McpServers, OAuth};
use toolkit_mcp_server::{Caller, Http, Proxy, Server, TokenError, Verify};

use super::world::{Client, Response, World};

const EXCHANGE: &str = "urn:ietf:params:oauth:grant-type:token-exchange";

pub fn settings(world: &World) -> OAuth {
    OAuth::new().client_id("gateway").client_secret("hunter2").issuer(&world.issuer).token_exchange(None)
}

async fn call(client: &Client, caller: &str) -> Result<String, ToolError> {
    client.call_with("read", Context::new().with(CallerToken(caller.into()))).await
}

#[tokio::test]
async fn each_caller_has_a_token_of_its_own_until_shortly_before_it_expires() {
    let world = World::start().await;
    let client = Client::connect(&world.endpoint(settings(&world))).await.unwrap();
    assert!(world.grants(EXCHANGE).is_empty(), "the client itself connects and lists");
    for caller in ["alice-token", "bob-token", "alice-token"] {
        call(&client, caller).await.unwrap();
    }
    let forms = world.grants(EXCHANGE);
    assert_eq!(forms.iter().map(|form| &*form["subject_token"]).collect::<Vec<_>>(), ["alice-token", "bob-token"]);
    let access_token = "urn:ietf:params:oauth:token-type:access_token";
    for form in &forms {
        assert_eq!((&*form["subject_token_type"], &*form["requested_token_type"]), (access_token, access_token));
        assert_eq!((&form["resource"], &*form["scope"]), (&world.server, "read"));
        assert!(!form.contains_key("audience"));
    }
    let calls = world.requests("/mcp").into_iter().filter(|request| request.body.contains("tools/call"));
    let sent: Vec<_> = calls.map(|request| request.header("authorization").unwrap().to_owned()).collect();
    assert_eq!((sent.len(), sent.iter().collect::<HashSet<_>>().len(), sent[0] == sent[2]), (3, 2, true));
    // A token that expires soon is not used again.
    world.issue_for(1);
    call(&client, "carol-token").await.unwrap();
    tokio::time::sleep(std::time::Duration::from_millis(1100)).await;
    call(&client, "carol-token").await.unwrap();
    assert_eq!(world.grants(EXCHANGE).len(), 4);
}

#[tokio::test]
async fn concurrent_calls_of_a_caller_share_one_exchange() {
    let world = World::start().await;
    let client = Arc::new(Client::connect(&world.endpoint(settings(&world))).await.unwrap());
    let calls = (0..8).map(|n| {
        let client = Arc::clone(&client);
        tokio::spawn(async move { call(&client, ["alice-token", "bob-token"][n % 2]).await })
    });
    for call in calls.collect::<Vec<_>>() {
        call.await.unwrap().unwrap();
    }
    assert_eq!(world.grants(EXCHANGE).len(), 2);
}

#[tokio::test]
async fn a_caller_without_a_token_is_not_served_with_that_of_another() {
    let world = World::start().await;
    let client = Client::connect(&world.endpoint(settings(&world))).await.unwrap();
    call(&client, "alice-token").await.unwrap();
    let n_requests = world.requests("/mcp").len();
    let error = client.call("read").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::MissingRequirements);
    let message =
        "the MCP server `server` requires the access token of the caller, which is exchanged for one of the server";
    assert_eq!(error.message(), message);
    assert_eq!(world.requests("/mcp").len(), n_requests);
}

#[tokio::test]
async fn a_rejected_token_is_exchanged_once_more() {
    let world = World::start().await;
    let client = Client::connect(&world.endpoint(settings(&world))).await.unwrap();
    call(&client, "alice-token").await.unwrap();
    world.revoke_access();
    call(&client, "alice-token").await.unwrap();
    assert_eq!(world.grants(EXCHANGE).len(), 2);
    world.on("/mcp", |_| Response::status(401).header("www-authenticate", "Bearer error=\"invalid_token\""));
    let error = call(&client, "alice-token").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Denied);
    assert!(
        error.message().ends_with("rejects each access token that was exchanged for that of the caller"),
        "{error}"
    );
    assert_eq!(world.grants(EXCHANGE).len(), 3);
    let challenge = "Bearer error=\"insufficient_scope\", scope=\"write\"";
    world.on("/mcp", move |_| Response::status(403).header("www-authenticate", challenge));
    let error = call(&client, "alice-token").await.unwrap_err();
    assert!(error.message().ends_with("does not allow this request to the caller"), "{error}");
}

#[tokio::test]
async fn the_error_of_an_exchange_contains_no_token() {
    let world = World::start().await;
    let client = Client::connect(&world.endpoint(settings(&world))).await.unwrap();
    for (status, body, kind, cause) in [
        (
            400,
            json!({ "error": "invalid_grant", "error_description": "alice-token is unknown" }),
            ErrorKind::Denied,
            "invalid_grant",
        ),
        (400, json!({ "error": "alice-token" }), ErrorKind::Denied, "with status 400"),
        (
            403,
            json!({ "error": "access_denied", "error_description": "not hired" }),
            ErrorKind::Denied,
            "access_denied (not hired)",
        ),
        (
            200,
            json!({ "access_token": "alice-token", "token_type": "Bearer" }),
            ErrorKind::Denied,
            "returned the token of the caller",
        ),
        (200, json!({ "access_token": "x", "token_type": "N_A" }), ErrorKind::Denied, "tokens of the type `N_A`"),
        (503, json!({}), ErrorKind::Unavailable, "status 503"),
    ] {
        world.on("/token", move |_| Response::json(status, &body));
        let error = call(&client, "alice-token").await.unwrap_err();
        assert_eq!(error.kind(), kind, "{error:?}");
        let shown = format!("{error:?} {:?}", std::error::Error::source(&error).map(ToString::to_string));
        assert!(shown.contains(cause) && !shown.contains("alice-token"), "{shown}");
        assert!(error.message().contains("cannot be used for this caller"), "{error}");
        assert!(!error.message().contains("hired"), "the operator reads the reason: {error}");
    }
    world.restore("/token");
    call(&client, "alice-token").await.unwrap();
}

#[tokio::test]
async fn the_audience_of_the_file_is_requested() {
    let world = World::start().await;
    let file = |exchange: serde_json::Value| {
        let oauth = json!({
            "tokenExchange": exchange, "clientId": "gateway", "clientSecret": "hunter2", "issuer": world.issuer,
            "scopes": ["read"],
        });
        let server = json!({ "url": world.server, "toolkit": { "oauth": oauth } });
        McpServers::from_json(&json!({ "mcpServers": { "server": server } }).to_string()).unwrap()
    };
    let rejected = file(json!(7)).rejected().next().unwrap().to_string();
    let reason = "the server `server`: `toolkit.oauth.tokenExchange` must be true, false or the audience of the server";
    assert_eq!(rejected, reason);
    let backend = file(json!("ledger")).into_iter().next().unwrap();
    let client = Client::of(backend).await.unwrap();
    call(&client, "alice-token").await.unwrap();
    assert_eq!(world.grants(EXCHANGE)[0]["audience"], "ledger");
}

/// Accepts each token, as that of its subject.
struct AnyToken;

impl Verify for AnyToken {
    fn verify<'v>(&'v self, token: &'v str) -> BoxFuture<'v, Result<Caller, TokenError>> {
        Box::pin(async move { Ok(Caller::named(token)) })
    }
}

/// Serves the tools of the world. Returns the address.
async fn proxy(world: &World, protect: impl FnOnce(Http) -> Http) -> std::net::SocketAddr {
    let backends = Backends::new();
    backends.register(McpBackend::http("server", world.endpoint(settings(world)))).unwrap();
    let server = Server::new(Dispatcher::new(Catalog::new([]).unwrap()).unwrap()).unwrap();
    assert!(Proxy::new(server.clone(), backends).collect().await.failures.is_empty());
    let listening = protect(server.http()).bind("127.0.0.1:0").await.unwrap();
    let address = listening.local_addr().unwrap();
    tokio::spawn(listening.run(std::future::pending()));
    address
}

/// Calls a tool for a caller. Returns the response.
pub async fn call_over_http(address: std::net::SocketAddr, token: &str, tool: &str) -> String {
    let params = json!({ "name": tool, "arguments": {} });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string();
    let mut stream = TcpStream::connect(address).await.unwrap();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\naccept: application/json, \
         text/event-stream\r\nmcp-protocol-version: 2025-11-25\r\nauthorization: Bearer {token}\r\nconnection: close\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).await.unwrap();
    response
}

#[tokio::test(flavor = "multi_thread")]
async fn the_token_that_a_server_has_verified_is_exchanged_and_not_sent_to_the_other_server() {
    let world = World::start().await;
    let address = proxy(&world, |http| http.verify(AnyToken)).await;
    for caller in ["alice-token", "bob-token"] {
        let response = call_over_http(address, caller, "server_read").await;
        assert!(response.contains("done"), "{response}");
    }
    let subjects: Vec<String> = world.grants(EXCHANGE).iter().map(|form| form["subject_token"].clone()).collect();
    assert_eq!(subjects, ["alice-token", "bob-token"]);
    let of_server = world.requests("/mcp");
    assert!(of_server.iter().all(|request| !request.head.contains("-token") && !request.body.contains("-token")));

    // A token that all callers share is that of none.
    let address = proxy(&world, |http| http.token("shared-token-of-all")).await;
    let response = call_over_http(address, "shared-token-of-all", "server_read").await;
    assert!(response.contains("requires the access token of the caller"), "{response}");
    assert_eq!(world.grants(EXCHANGE).len(), 2);
}

#[tokio::test]
async fn the_configuration_of_the_chapter_exchanges_tokens() {
    let chapter = include_str!("../../../../../docs/proxy-logins.md");
    let section = chapter.split_once("\n## Tokens of callers\n").unwrap().1;
    let file = section.split_once("```json\n").unwrap().1.split_once("```").unwrap().0;
    let world = World::start().await;
    let mut file = file.to_owned();
    for (written, here) in [
        ("https://ledger.example.com/mcp", &*world.server),
        ("https://login.example.com", &world.issuer),
        ("\"ledger\": {", "\"server\": {"),
        ("ledger:read", "read"),
    ] {
        assert!(file.contains(written), "{written}");
        file = file.replace(written, here);
    }
    let secret = |name: &str| (name == "GATEWAY_SECRET").then(|| "hunter2".to_owned());
    let servers = McpServers::from_json_with(&file, secret).unwrap();
    let client = Client::of(servers.into_iter().next().unwrap()).await.unwrap();
    call(&client, "alice-token").await.unwrap();
    assert_eq!(world.grants(EXCHANGE).len(), 1);
}
