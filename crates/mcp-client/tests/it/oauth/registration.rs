//! The client id: configured, of a document, or registered.

use std::time::Duration;

use serde_json::{Value, json};
use toolkit::call::ErrorKind;
use toolkit_mcp_client::{MemoryTokens, OAuth, TokenStore};

use super::login_error;
use super::world::{Client, METADATA, PRM, Response, World, login};

const DOCUMENT: &str = "https://tests.example/client.json";

/// Returns the client id of the last authorization request.
fn client_id(world: &World) -> String {
    world.requests("/authorize").last().unwrap().query["client_id"].clone()
}

#[tokio::test]
async fn the_configured_client_precedes_the_document_and_the_registration() {
    let world = World::start().await;
    world.patch_metadata(json!({ "client_id_metadata_document_supported": true }));
    let document = || OAuth::new().client_metadata_url(DOCUMENT);
    login(&world.endpoint(document().client_id("configured").issuer(&world.issuer))).await.unwrap();
    assert_eq!(client_id(&world), "configured");
    login(&world.endpoint(document())).await.unwrap();
    assert_eq!(client_id(&world), DOCUMENT);
    assert_eq!(world.requests("/register").len(), 0);

    world.restore(METADATA);
    login(&world.endpoint(document())).await.unwrap();
    assert!(client_id(&world).starts_with("client-"));
    let registration: Value = serde_json::from_str(&world.requests("/register")[0].body).unwrap();
    assert_eq!(registration["application_type"], "native");
    assert_eq!(registration["token_endpoint_auth_method"], "none");
    assert_eq!(registration["grant_types"], json!(["authorization_code", "refresh_token"]));
    assert!(registration["redirect_uris"][0].as_str().unwrap().starts_with("http://127.0.0.1:"));
}

#[tokio::test]
async fn clients_authenticate_as_the_server_requires() {
    let world = World::start().await;
    for (methods, expected) in [
        (json!(null), "basic"),
        (json!(["client_secret_post", "client_secret_basic"]), "basic"),
        (json!(["client_secret_post"]), "post"),
    ] {
        world.patch_metadata(json!({ "token_endpoint_auth_methods_supported": methods }));
        let settings = OAuth::new().client_id("id:1").client_secret("hunter/2").issuer(&world.issuer);
        login(&world.endpoint(settings)).await.unwrap();
        let request = world.requests("/token").pop().unwrap();
        // `id%3A1:hunter%2F2`
        let basic = request.header("authorization") == Some("Basic aWQlM0ExOmh1bnRlciUyRjI=");
        let post = request.form().get("client_secret").map(String::as_str) == Some("hunter/2");
        assert_eq!((basic, post), (expected == "basic", expected == "post"), "{methods}");
    }
    world.patch_metadata(json!({ "token_endpoint_auth_methods_supported": ["private_key_jwt"] }));
    let settings = OAuth::new().client_id("id").client_secret("hunter2").issuer(&world.issuer);
    let error = login(&world.endpoint(settings)).await.unwrap_err().to_string();
    assert!(error.contains("does not accept client secrets"), "{error}");
    assert!(login_error(&world).await.contains("none of the methods"));
}

#[tokio::test]
async fn a_registered_client_uses_the_method_of_its_registration() {
    let world = World::start().await;
    for (method, is_basic) in [("client_secret_basic", true), ("none", false)] {
        let client = json!({ "client_id": "id", "client_secret": "s3cr3t", "token_endpoint_auth_method": method });
        world.on_json("/register", client);
        login(&world.endpoint(OAuth::new())).await.unwrap();
        let request = world.requests("/token").pop().unwrap();
        assert_eq!(request.header("authorization").is_some(), is_basic);
        assert!(!request.body.contains("s3cr3t"));
    }
    for (client, reason) in [
        (json!({ "client_id": "id", "token_endpoint_auth_method": "tls_client_auth" }), "requires `tls_client_auth`"),
        (json!({ "client_id": "id", "token_endpoint_auth_method": "client_secret_post" }), "without the secret"),
    ] {
        world.on_json("/register", client);
        let error = login_error(&world).await;
        assert!(error.contains(reason), "{error}");
    }
}

#[tokio::test]
async fn failed_registrations_tell_what_to_configure() {
    let world = World::start().await;
    world.on("/register", |_| {
        Response::json(400, &json!({ "error": "invalid_redirect_uri", "error_description": "no" }))
    });
    let error = login_error(&world).await;
    assert!(error.contains("invalid_redirect_uri (no); register one there and configure its client id"), "{error}");
    world.patch_metadata(json!({ "registration_endpoint": null }));
    let error = login_error(&world).await;
    assert!(error.ends_with("does not register clients; register one there and configure its client id"), "{error}");
    login(&world.endpoint(OAuth::new().client_id("configured").issuer(&world.issuer))).await.unwrap();
}

#[tokio::test]
async fn invalid_settings_are_rejected_before_any_request() {
    let world = World::start().await;
    for (settings, reason) in [
        (OAuth::new().client_secret("x"), "requires a client id"),
        (OAuth::new().client_id("x"), "requires the issuer"),
        (OAuth::new().client_id("x").client_secret("x"), "requires the issuer"),
        (OAuth::new().client_id("x").client_credentials(), "require a client id and a client secret"),
        (OAuth::new().client_metadata_url("http://tests.example/client.json"), "must begin with `https://`"),
        (OAuth::new().client_metadata_url("https://tests.example"), "must begin with `https://`"),
        (OAuth::new().client_metadata_url("x"), "must begin with `https://`"),
    ] {
        let error = login(&world.endpoint(settings)).await.unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
    }
    assert_eq!(world.all_requests().len(), 0);
}

#[tokio::test]
async fn a_client_that_the_authorization_server_rejects_is_registered_again() {
    let world = World::start().await;
    let tokens = MemoryTokens::new();
    let endpoint = || world.endpoint(OAuth::new().store(tokens.clone()));
    let mut n = 0;
    let mut is_registered_again = async || {
        login(&endpoint()).await.unwrap();
        n += 1;
        assert_eq!(world.requests("/register").len(), n);
        // Once.
        login(&endpoint()).await.unwrap();
        assert_eq!(world.requests("/register").len(), n);
    };
    is_registered_again().await;

    world.on("/token", |_| Response::json(401, &json!({ "error": "invalid_client" })));
    login(&endpoint()).await.unwrap_err();
    world.restore("/token");
    is_registered_again().await;

    let client = Client::connect(&endpoint()).await.unwrap();
    world.revoke_access();
    world.on("/token", |_| Response::json(400, &json!({ "error": "unauthorized_client" })));
    assert_eq!(client.call("read").await.unwrap_err().kind(), ErrorKind::Unauthorized);
    world.restore("/token");
    is_registered_again().await;

    let issuer = world.issuer.clone();
    world.on("/authorize", move |request| {
        let query = &request.query;
        let fields = format!("error=unauthorized_client&state={}&iss={issuer}", query["state"]);
        Response::status(302).header("location", format!("{}?{fields}", query["redirect_uri"]))
    });
    login(&endpoint()).await.unwrap_err();
    world.restore("/authorize");
    is_registered_again().await;

    // Without a valid redirect URI, the server shows a page.
    let waiting = endpoint().login().await.unwrap();
    waiting.wait(Duration::from_millis(1)).await.unwrap_err();
    is_registered_again().await;

    // Other errors have no effect.
    world.on("/token", |_| Response::json(400, &json!({ "error": "invalid_request" })));
    login(&endpoint()).await.unwrap_err();
    world.restore("/token");
    login(&endpoint()).await.unwrap();
    assert_eq!(world.requests("/register").len(), 5);
}

#[tokio::test]
async fn a_client_whose_secret_has_expired_is_registered_again() {
    let world = World::start().await;
    for (expires_at, n_registrations) in [(1, 2), (0, 1), (u64::MAX, 1)] {
        world.on_json(
            "/register",
            json!({ "client_id": "id", "client_secret": "hunter2",
            "client_secret_expires_at": expires_at, "token_endpoint_auth_method": "client_secret_basic" }),
        );
        let n = world.requests("/register").len();
        let endpoint = world.endpoint(OAuth::new());
        login(&endpoint).await.unwrap();
        login(&endpoint).await.unwrap();
        assert_eq!(world.requests("/register").len() - n, n_registrations, "{expires_at}");
    }
}

#[tokio::test]
async fn a_client_is_registered_once_at_each_issuer() {
    let (world, other) = (World::start().await, World::start().await);
    let tokens = MemoryTokens::new();
    let endpoint = || world.endpoint(OAuth::new().store(tokens.clone()));
    login(&endpoint()).await.unwrap();
    login(&endpoint()).await.unwrap();
    assert_eq!(world.requests("/register").len(), 1);
    let ours = client_id(&world);

    // The MCP server moves to another authorization server, which accepts everything.
    let mut prm = world.prm();
    prm["authorization_servers"] = json!([other.issuer]);
    world.on_json(PRM, prm);
    let issuer = other.issuer.clone();
    other.on("/authorize", move |request| {
        let query = &request.query;
        let redirect = format!("{}?code=c&state={}&iss={issuer}", query["redirect_uri"], query["state"]);
        Response::status(302).header("location", redirect)
    });
    other.on_json("/token", json!({ "access_token": "other", "token_type": "Bearer" }));
    let state = login(&endpoint()).await.unwrap();
    assert_eq!((state.issuer, other.requests("/register").len()), (other.issuer.clone(), 1));
    for request in other.all_requests() {
        let text = format!("{request:?}");
        assert!(!text.contains(&ours) && !text.contains("hunter2"), "{text}");
    }
    assert!(tokens.load(&world.server).await.unwrap().is_some_and(|record| !record.expose().contains("hunter2")));
}

#[tokio::test]
async fn a_configured_client_id_is_sent_to_its_issuer_only() {
    let (world, other) = (World::start().await, World::start().await);
    let mut prm = world.prm();
    prm["authorization_servers"] = json!([other.issuer]);
    world.on_json(PRM, prm);
    for settings in [OAuth::new().client_id("mine"), OAuth::new().client_id("mine").issuer(&world.issuer)] {
        login(&world.endpoint(settings)).await.unwrap_err();
    }
    assert!(other.all_requests().is_empty());
}
