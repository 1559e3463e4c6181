//! Calls that require more scopes than the token has.

use serde_json::json;
use toolkit::call::ErrorKind;
use toolkit_mcp_client::OAuth;

use super::world::{Client, PRM, Response, World, login};

#[tokio::test]
async fn the_next_login_requests_the_union_of_scopes() {
    let world = World::start().await;
    let endpoint = world.endpoint(OAuth::new().login_command("tests login server"));
    login(&endpoint).await.unwrap();
    let client = Client::connect(&endpoint).await.unwrap();
    for tool in ["write", "erase"] {
        let error = client.call(tool).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unauthorized);
        let message =
            format!("the MCP server `server` requires a login with the scopes `{tool}`; run `tests login server`");
        assert_eq!(error.message(), message);
        assert_eq!(endpoint.login_state().await.unwrap().unwrap().missing_scopes, [tool]);
        // Calls within the old scopes work.
        client.call("read").await.unwrap();
        login(&endpoint).await.unwrap();
        client.call(tool).await.unwrap();
    }
    assert_eq!(world.asked(), ["read", "read write", "read write erase"]);
}

#[tokio::test]
async fn scopes_of_several_calls_are_requested_together_by_another_process() {
    let world = World::start().await;
    let tokens = toolkit_mcp_client::MemoryTokens::new();
    let endpoint = || world.endpoint(OAuth::new().store(tokens.clone()));
    login(&endpoint()).await.unwrap();
    let serving = endpoint();
    let client = Client::connect(&serving).await.unwrap();
    client.call("write").await.unwrap_err();
    client.call("erase").await.unwrap_err();
    login(&endpoint()).await.unwrap();
    assert_eq!(world.asked()[1], "read write erase");
    client.call("write").await.unwrap();
    client.call("erase").await.unwrap();
}

#[tokio::test]
async fn scopes_that_the_authorization_server_rejects_are_not_requested_again() {
    let world = World::start().await;
    let tokens = toolkit_mcp_client::MemoryTokens::new();
    let endpoint = || world.endpoint(OAuth::new().store(tokens.clone()));
    login(&endpoint()).await.unwrap();
    let issuer = world.issuer.clone();
    let invalid_scope = move |request: &super::world::Request| {
        let query = &request.query;
        let fields = format!("error=invalid_scope&state={}&iss={issuer}", query["state"]);
        Response::status(302).header("location", format!("{}?{fields}", query["redirect_uri"]))
    };
    Client::connect(&endpoint()).await.unwrap().call("write").await.unwrap_err();
    world.on("/authorize", invalid_scope);
    let error = login(&endpoint()).await.unwrap_err().to_string();
    assert_eq!(error, "the authorization server denied the login: invalid_scope");
    world.restore("/authorize");
    assert!(endpoint().login_state().await.unwrap().unwrap().missing_scopes.is_empty());
    login(&endpoint()).await.unwrap();
    assert_eq!(world.asked(), ["read", "read write", "read"]);
}

#[tokio::test]
async fn a_login_after_the_end_of_another_requests_its_scopes() {
    let world = World::start().await;
    let endpoint = world.endpoint(OAuth::new());
    login(&endpoint).await.unwrap();
    let client = Client::connect(&endpoint).await.unwrap();
    client.call("write").await.unwrap_err();
    login(&endpoint).await.unwrap();
    client.call("write").await.unwrap();
    world.revoke_access();
    world.revoke_refresh();
    assert_eq!(client.call("write").await.unwrap_err().kind(), ErrorKind::Unauthorized);
    login(&endpoint).await.unwrap();
    client.call("write").await.unwrap();
    assert_eq!(world.asked(), ["read", "read write", "read write"]);
}

#[tokio::test]
async fn a_server_that_is_never_content_causes_no_loop() {
    let world = World::start().await;
    let endpoint = world.endpoint(OAuth::new());
    login(&endpoint).await.unwrap();
    let client = Client::connect(&endpoint).await.unwrap();
    for (challenge, reason) in [
        ("scope=\"read\"", "rejects a token with the scopes that it requires: `read`"),
        ("scope=\"\"", "does not allow this request, and does not name the scopes that it requires"),
    ] {
        let header = format!("Bearer error=\"insufficient_scope\", {challenge}");
        world.on("/mcp", move |_| Response::status(403).header("www-authenticate", header.clone()));
        let n = world.requests("/mcp").len();
        let error = client.call("read").await.unwrap_err();
        assert_eq!((error.kind(), error.message()), (ErrorKind::Denied, &*format!("the MCP server `server` {reason}")));
        assert_eq!(world.requests("/mcp").len(), n + 1);
        world.restore("/mcp");
    }
    // A rejection for another reason is not about the token.
    world.on("/mcp", |_| Response::status(403).header("www-authenticate", "Bearer error=\"access_denied\""));
    assert_eq!(client.call("read").await.unwrap_err().kind(), ErrorKind::Unauthorized);
    world.restore("/mcp");
    assert_eq!(world.requests("/token").len(), 1);
}

#[tokio::test]
async fn scopes_that_are_not_granted_cause_no_loop() {
    let world = World::start().await;
    let endpoint = world.endpoint(OAuth::new());
    login(&endpoint).await.unwrap();
    let client = Client::connect(&endpoint).await.unwrap();
    client.call("write").await.unwrap_err();
    world.on("/token", |_| {
        Response::json(200, &json!({ "access_token": "access-1-hunter2", "token_type": "Bearer", "scope": "read" }))
    });
    login(&endpoint).await.unwrap();
    let error = client.call("write").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Denied);
    assert!(error.message().ends_with("requires the scopes `write`, which the authorization server has not granted"));
}

#[tokio::test]
async fn configured_scopes_replace_those_of_the_server() {
    let world = World::start().await;
    login(&world.endpoint(OAuth::new().scopes(["read", "write"]))).await.unwrap();
    assert_eq!(world.asked(), ["read write"]);
}

#[tokio::test]
async fn offline_access_is_requested_where_it_is_supported() {
    let world = World::start().await;
    world.patch_metadata(json!({ "scopes_supported": ["read", "offline_access", "admin"] }));
    login(&world.endpoint(OAuth::new())).await.unwrap();
    assert_eq!(world.asked(), ["read offline_access"]);
    assert_eq!(world.requests("/authorize")[0].query["prompt"], "consent");
}

#[tokio::test]
async fn scopes_of_the_server_are_bounded() {
    let world = World::start().await;
    let mut prm = world.prm();
    let many: Vec<String> = (0..1000).map(|n| format!("scope{n}")).collect();
    let invalid = ["bad scope", "\"", "é", ""].map(str::to_owned);
    prm["scopes_supported"] = json!([&invalid[..], &["x".repeat(300)], &many].concat());
    world.on_json(PRM, prm);
    world.on("/mcp", |_| Response::status(401));
    login(&world.endpoint(OAuth::new())).await.unwrap();
    let asked = world.asked()[0].clone();
    assert_eq!((asked.split(' ').count(), asked.contains("bad")), (100, false));
}

#[tokio::test]
async fn models_see_only_scopes_that_look_like_identifiers() {
    let world = World::start().await;
    let endpoint = world.endpoint(OAuth::new());
    login(&endpoint).await.unwrap();
    let client = Client::connect(&endpoint).await.unwrap();
    let long = "x".repeat(65);
    for (scopes, listed) in [
        (format!("IGNORE!all<instructions> notes:write {long} https://x.example/a.b_c-d"), "`notes:write`, …"),
        (long.clone(), "…"),
        ((0..12).map(|n| format!("s{n}")).collect::<Vec<_>>().join(" "), "`s9`, …"),
    ] {
        let listed = listed.replace("`notes:write`", "`notes:write`, `https://x.example/a.b_c-d`");
        let challenge = format!("Bearer error=\"insufficient_scope\", scope=\"{scopes}\"");
        world.on("/mcp", move |_| Response::status(403).header("www-authenticate", challenge.clone()));
        let error = client.call("read").await.unwrap_err();
        assert!(error.message().ends_with(&listed), "{error}");
        assert!(!error.message().contains("IGNORE") && !error.message().contains(&long), "{error}");
        let cause = std::error::Error::source(&error).unwrap().to_string();
        assert!(cause.starts_with("the server also requires the scopes `"), "{cause}");
        assert!(!cause.contains("notes:write"), "{cause}");
    }
}
