//! Tokens for the client itself.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use toolkit::call::ErrorKind;
use toolkit_mcp_client::{FileTokens, MemoryTokens, OAuth, TokenStore};

use super::world::{Client, PRM, Response, World, login};

fn settings(issuer: &str) -> OAuth {
    OAuth::new().client_id("service").client_secret("hunter2").issuer(issuer).client_credentials()
}

#[tokio::test]
async fn no_login_is_necessary() {
    let world = World::start().await;
    let endpoint = world.endpoint(settings(&world.issuer));
    let client = Client::connect(&endpoint).await.unwrap();
    client.call("read").await.unwrap();
    world.revoke_access();
    client.call("read").await.unwrap();
    let forms = world.grants("client_credentials");
    assert_eq!(forms.len(), 2);
    assert_eq!((&forms[0]["scope"], &forms[0]["resource"]), (&"read".to_owned(), &world.server));
    assert!(world.requests("/token")[0].header("authorization").unwrap().starts_with("Basic "));
}

#[tokio::test]
async fn errors_do_not_contain_the_command_of_a_login() {
    let world = World::start().await;
    world.on("/token", |_| Response::json(401, &json!({ "error": "invalid_client" })));
    let endpoint = world.endpoint(settings(&world.issuer).login_command("tests login server"));
    let error = Client::connect(&endpoint).await.err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Unauthorized);
    assert_eq!(error.message(), "the MCP server `server` cannot be used, since this client gets no access token");
    let error = endpoint.login().await.unwrap_err().to_string();
    assert_eq!(error, "a client with client credentials has no login");
}

#[tokio::test]
async fn more_scopes_are_requested_at_once() {
    let world = World::start().await;
    let client = Client::connect(&world.endpoint(settings(&world.issuer))).await.unwrap();
    client.call("write").await.unwrap();
    client.call("erase").await.unwrap();
    client.call("read").await.unwrap();
    let scopes: Vec<String> = world.grants("client_credentials").iter().map(|form| form["scope"].clone()).collect();
    assert_eq!(scopes, ["read", "write read", "erase write read"]);
}

#[tokio::test]
async fn a_server_that_asks_for_other_scopes_each_time_causes_no_loop() {
    let world = World::start().await;
    let client = Client::connect(&world.endpoint(settings(&world.issuer))).await.unwrap();
    let n = AtomicUsize::new(0);
    world.on("/mcp", move |_| {
        let header =
            format!("Bearer error=\"insufficient_scope\", scope=\"scope{}\"", n.fetch_add(1, Ordering::Relaxed));
        Response::status(403).header("www-authenticate", header)
    });
    for _ in 0..20 {
        client.call("read").await.unwrap_err();
    }
    let error = client.call("read").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Denied);
    assert!(error.message().contains("requires other scopes with each request"), "{error}");
    assert_eq!(world.grants("client_credentials").len(), 21);
}

#[tokio::test]
async fn the_secret_is_sent_to_the_configured_issuer_only() {
    let (world, other) = (World::start().await, World::start().await);
    let mut prm = world.prm();
    prm["authorization_servers"] = json!([other.issuer]);
    world.on_json(PRM, prm);
    let error = Client::connect(&world.endpoint(settings(&world.issuer))).await.err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Unauthorized);
    assert!(other.all_requests().is_empty());
}

#[tokio::test]
async fn the_token_of_another_client_is_not_used() {
    let world = World::start().await;
    let tokens = MemoryTokens::new();
    let endpoint = |id: &str| world.endpoint(settings(&world.issuer).client_id(id).store(tokens.clone()));
    Client::connect(&endpoint("service")).await.unwrap();
    Client::connect(&endpoint("service")).await.unwrap();
    assert_eq!(world.grants("client_credentials").len(), 1);
    Client::connect(&endpoint("other")).await.unwrap();
    assert_eq!(world.grants("client_credentials").len(), 2);
}

#[tokio::test]
async fn the_tokens_are_not_locked_during_discovery() {
    let world = World::start().await;
    let folder = super::files::Folder::new("discovery");
    let tokens = FileTokens::new(folder.path());
    let held = world.hold(PRM);
    let endpoint = world.endpoint(settings(&world.issuer).store(tokens.clone()));
    let connecting = tokio::spawn(async move { Client::connect(&endpoint).await.map(drop) });
    world.wait_for(PRM, 1).await;
    drop(tokens.lock(&world.server).await.unwrap());
    assert!(!connecting.is_finished());
    held.add_permits(1000);
    connecting.await.unwrap().unwrap();
}

#[tokio::test]
async fn the_tokens_of_a_user_and_of_the_client_are_not_exchanged() {
    let world = World::start().await;
    let tokens = MemoryTokens::new();
    let client = || world.endpoint(settings(&world.issuer).store(tokens.clone()));
    let user = || {
        let settings = OAuth::new().client_id("service").client_secret("hunter2").issuer(&world.issuer);
        world.endpoint(settings.store(tokens.clone()))
    };
    login(&user()).await.unwrap();
    assert!(user().login_state().await.unwrap().is_some_and(|state| state.is_valid));
    assert_eq!(client().login_state().await.unwrap(), None);
    Client::connect(&client()).await.unwrap();
    assert_eq!(world.grants("client_credentials").len(), 1);

    assert_eq!(user().login_state().await.unwrap(), None);
    let error = Client::connect(&user()).await.err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Unauthorized);
}
