//! The redirect of the browser, and the response of the token endpoint.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::json;
use test_support::browser;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use toolkit_mcp_client::{Login, LoginState, OAuth, OAuthError};
use url::Url;

use super::login_error;
use super::world::{Response, World, login};

/// Returns a login and the redirect with which it would succeed.
async fn started(world: &World) -> (Login, Url) {
    let login = world.endpoint(OAuth::new()).login().await.unwrap();
    let redirect = browser::follow(login.url(), "http://127.0.0.1:").await.unwrap();
    (login, Url::parse(&redirect).unwrap())
}

/// Changes parameters of a URL; an empty value removes one.
fn changed(url: &Url, changes: &[(&str, &str)]) -> Url {
    let mut fields: BTreeMap<String, String> = url.query_pairs().into_owned().collect();
    for (name, value) in changes {
        fields.insert((*name).to_owned(), (*value).to_owned());
    }
    fields.retain(|_, value| !value.is_empty());
    let mut url = url.clone();
    url.query_pairs_mut().clear().extend_pairs(fields);
    url
}

async fn finish(world: &World, changes: &[(&str, &str)]) -> Result<LoginState, OAuthError> {
    let (login, redirect) = started(world).await;
    login.finish(changed(&redirect, changes).as_str()).await
}

#[tokio::test]
async fn a_redirect_can_be_pasted() {
    let world = World::start().await;
    let (login, redirect) = started(&world).await;
    assert!(login.finish(&format!("  {redirect}\n")).await.unwrap().is_valid);
    for pasted in ["", "x", "https://as.example/callback?code=x", "http://127.0.0.1:1/callback?code=x"] {
        let (login, _) = started(&world).await;
        let error = login.finish(pasted).await.unwrap_err().to_string();
        assert!(
            error.starts_with("this is not the redirect of this login; it begins with `http://127.0.0.1:"),
            "{error}"
        );
    }
    assert_eq!(world.requests("/token").len(), 1);
}

#[tokio::test]
async fn responses_to_other_logins_are_rejected() {
    let world = World::start().await;
    let n = || world.requests("/token").len();
    for state in ["", "x"] {
        let error = finish(&world, &[("state", state)]).await.unwrap_err().to_string();
        assert_eq!(error, "the redirect has another `state`, so it belongs to another login");
    }
    let slash = format!("{}/", world.issuer);
    for issuer in ["https://evil.example", &slash, &world.issuer.to_uppercase()] {
        let error = finish(&world, &[("iss", issuer)]).await.unwrap_err().to_string();
        assert!(error.starts_with("the redirect is from another issuer"), "{error}");
    }
    let error = finish(&world, &[("iss", "")]).await.unwrap_err().to_string();
    assert!(error.starts_with("the redirect does not contain the issuer"), "{error}");
    let error = finish(&world, &[("code", "")]).await.unwrap_err().to_string();
    assert_eq!(error, "the redirect contains no authorization code");
    let (login, redirect) = started(&world).await;
    let error = login.finish(&format!("{redirect}&code=other")).await.unwrap_err().to_string();
    assert_eq!(error, "the redirect contains `code` twice");
    assert_eq!(n(), 0);

    world.patch_metadata(json!({ "authorization_response_iss_parameter_supported": null }));
    finish(&world, &[("iss", "")]).await.unwrap();
    finish(&world, &[("iss", "https://evil.example")]).await.unwrap_err();
    assert_eq!(n(), 1);
}

#[tokio::test]
async fn an_error_is_shown_if_it_is_from_the_issuer() {
    let world = World::start().await;
    let denied = [("error", "access_denied"), ("error_description", "no\u{202e}\n<b>"), ("code", "")];
    let error = finish(&world, &denied).await.unwrap_err().to_string();
    assert_eq!(error, "the authorization server denied the login: access_denied (no\\u{202e}\\n<b>)");
    for issuer in ["https://evil.example", ""] {
        let error = finish(&world, &[&denied[..], &[("iss", issuer)]].concat()).await.unwrap_err().to_string();
        assert!(!error.contains("access_denied"), "{error}");
    }
    let long = "x".repeat(10_000);
    let error = finish(&world, &[("error", &long)]).await.unwrap_err().to_string();
    assert!(error.len() < 300, "{error}");
}

/// Sends bytes to the port of the redirect. Returns the response, or nothing if the connection was closed.
async fn send(port: u16, bytes: &str) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    let _ = stream.write_all(bytes.as_bytes()).await;
    let mut response = String::new();
    let _ = stream.read_to_string(&mut response).await;
    response
}

#[tokio::test]
async fn stray_requests_do_not_end_a_login() {
    let world = World::start().await;
    let (login, redirect) = started(&world).await;
    let port = redirect.port().unwrap();
    let waiting = tokio::spawn(login.wait(Duration::from_secs(60)));
    // Browsers open connections in advance.
    let idle = TcpStream::connect(("127.0.0.1", port)).await.unwrap();

    let path = |url: &Url| format!("{}?{}", url.path(), url.query().unwrap());
    let valid = path(&redirect);
    let host = format!("host: 127.0.0.1:{port}\r\n\r\n");
    let forged = path(&changed(&redirect, &[("state", "<script>alert(1)</script>"), ("error", "access_denied")]));
    for request in [
        format!("GET {forged} HTTP/1.1\r\n{host}"),
        format!("GET /favicon.ico HTTP/1.1\r\n{host}"),
        format!("GET {} HTTP/1.1\r\n{host}", valid.replace("/callback", "/other")),
        format!("POST {valid} HTTP/1.1\r\n{host}"),
        format!("GET {valid} HTTP/1.1\r\nhost: evil.example:{port}\r\n\r\n"),
        format!("GET {valid} HTTP/1.1\r\n\r\n"),
        format!("GET http://evil.example{valid} HTTP/1.1\r\n{host}"),
    ] {
        let response = send(port, &request).await;
        assert!(response.starts_with("HTTP/1.1 404 "), "{request}: {response}");
        assert!(!response.contains("script"), "{response}");
    }
    for request in ["\r\n\r\n".to_owned(), "x".repeat(100_000), format!("GET /{} HTTP/1.1\r\n", "x".repeat(100_000))] {
        assert!(!send(port, &request).await.contains("200 OK"));
    }
    assert_eq!(world.requests("/token").len(), 0);

    let page = send(port, &format!("GET {valid} HTTP/1.1\r\n{host}")).await;
    assert!(page.starts_with("HTTP/1.1 200 OK") && page.contains("You are logged in."), "{page}");
    assert!(page.contains("content-security-policy: default-src 'none'") && page.contains("no-store"), "{page}");
    assert!(waiting.await.unwrap().unwrap().is_valid);
    // The port is closed then.
    assert!(TcpStream::connect(("127.0.0.1", port)).await.is_err());
    drop(idle);
}

#[tokio::test]
async fn connections_that_send_nothing_do_not_delay_the_redirect() {
    let world = World::start().await;
    let (login, redirect) = started(&world).await;
    let port = redirect.port().unwrap();
    let waiting = tokio::spawn(login.wait(Duration::from_secs(600)));
    let mut idle = Vec::new();
    for _ in 0..200 {
        idle.push(TcpStream::connect(("127.0.0.1", port)).await.unwrap());
    }
    // Without a limit, each batch of them would take 5 s.
    let cookies = BTreeMap::new();
    let page = browser::get(redirect.as_str(), &cookies);
    let page = tokio::time::timeout(Duration::from_secs(30), page).await.unwrap().unwrap();
    assert!(page.contains("You are logged in."), "{page}");
    waiting.await.unwrap().unwrap();
    drop(idle);
}

#[tokio::test]
async fn the_page_shows_the_outcome_of_the_whole_login() {
    let world = World::start().await;
    world.on("/token", |_| Response::json(400, &json!({ "error": "invalid_grant" })));
    let (login, redirect) = started(&world).await;
    let waiting = tokio::spawn(login.wait(Duration::from_secs(60)));
    let page = browser::get(redirect.as_str(), &BTreeMap::new()).await.unwrap();
    assert!(page.contains("The login has failed."), "{page}");
    waiting.await.unwrap().unwrap_err();
}

#[tokio::test]
async fn a_user_pastes_until_it_is_the_redirect() {
    let world = World::start().await;
    let (login, redirect) = started(&world).await;
    let forged = changed(&redirect, &[("state", "x")]).to_string();
    let mut lines = vec!["x".to_owned(), String::new(), forged, format!(" {redirect}\n")].into_iter();
    let mut errors = Vec::new();
    let state = login.wait_or_paste(Duration::from_secs(60), async |error: Option<OAuthError>| {
        errors.push(error.map(|error| error.to_string()).unwrap_or_default());
        lines.next()
    });
    assert!(state.await.unwrap().is_valid);
    let starts = ["", "this is not the redirect", "this is not the redirect", "the redirect has another `state`"];
    assert_eq!(errors.len(), starts.len());
    assert!(errors.iter().zip(starts).all(|(error, start)| error.starts_with(start)), "{errors:?}");

    // The end of the input.
    let (login, redirect) = started(&world).await;
    let error = login.wait_or_paste(Duration::from_secs(60), async |error| error.is_none().then(|| "x".to_owned()));
    assert!(error.await.unwrap_err().to_string().starts_with("this is not the redirect"));
    // A redirect of this login that denies it is final.
    let denied = changed(&redirect, &[("error", "access_denied")]);
    assert!(browser::get(denied.as_str(), &BTreeMap::new()).await.is_err(), "the port is closed");
    let (login, redirect) = started(&world).await;
    let denied = changed(&redirect, &[("error", "access_denied")]);
    let error = login.wait_or_paste(Duration::from_secs(60), async |_| Some(denied.to_string())).await.unwrap_err();
    assert!(error.to_string().ends_with("access_denied"), "{error}");
}

#[tokio::test]
async fn the_redirect_is_received_while_the_user_may_paste() {
    let world = World::start().await;
    for has_input in [true, false] {
        let (login, redirect) = started(&world).await;
        let waiting = tokio::spawn(login.wait_or_paste(Duration::from_secs(60), async move |_| match has_input {
            true => std::future::pending().await,
            false => None,
        }));
        let page = browser::get(redirect.as_str(), &BTreeMap::new()).await.unwrap();
        assert!(page.contains("You are logged in."), "{page}");
        waiting.await.unwrap().unwrap();
    }
    let (login, _) = started(&world).await;
    tokio::time::pause();
    let error = login.wait_or_paste(Duration::from_secs(300), async |_| std::future::pending().await).await;
    assert_eq!(error.unwrap_err().to_string(), "there was no login within 300s");
}

#[tokio::test]
async fn a_login_of_which_nothing_is_heard_ends() {
    let world = World::start().await;
    let (login, redirect) = started(&world).await;
    tokio::time::pause();
    let error = login.wait(Duration::from_secs(300)).await.unwrap_err();
    assert_eq!(error.to_string(), "there was no login within 300s");
    tokio::time::resume();
    assert!(TcpStream::connect(("127.0.0.1", redirect.port().unwrap())).await.is_err());
}

#[tokio::test]
async fn a_denied_login_shows_a_page_without_the_reason() {
    let world = World::start().await;
    let (login, redirect) = started(&world).await;
    let denied = changed(&redirect, &[("error", "<script>x"), ("error_description", "<script>y")]);
    let waiting = tokio::spawn(login.wait(Duration::from_secs(60)));
    let page = browser::get(denied.as_str(), &BTreeMap::new()).await.unwrap();
    assert!(page.contains("The login has failed.") && !page.contains("script"), "{page}");
    assert!(waiting.await.unwrap().unwrap_err().to_string().contains("denied the login"));
}

#[tokio::test]
async fn invalid_token_responses_are_rejected() {
    let world = World::start().await;
    for (response, reason) in [
        (json!({ "access_token": "t", "token_type": "mac" }), "tokens of the type `mac`"),
        (json!({ "access_token": "t", "token_type": "" }), "tokens of the type"),
        (json!({ "access_token": "", "token_type": "Bearer" }), "invalid characters"),
        (json!({ "access_token": "a\r\nx-evil: 1", "token_type": "Bearer" }), "invalid characters"),
        (json!({ "access_token": "a".repeat(20_000), "token_type": "Bearer" }), "invalid characters"),
        (json!({ "access_token": "t" }), "is not a token response"),
        (json!({ "access_token": 1, "token_type": "Bearer" }), "is not a token response"),
        (json!({ "error": "invalid_client" }), "is not a token response"),
    ] {
        world.on_json("/token", response);
        let error = login_error(&world).await;
        assert!(error.contains(reason), "{reason}: {error}");
    }
    world.on_json("/token", json!({ "access_token": "t", "token_type": "bEaReR", "expires_in": "60", "scope": "x y" }));
    let state = login(&world.endpoint(OAuth::new())).await.unwrap();
    assert_eq!(state.scopes, ["x", "y"]);
    assert!(state.expires_at.is_some());
}

#[tokio::test]
async fn errors_of_the_token_endpoint_are_shown_without_secrets() {
    let world = World::start().await;
    world.on("/token", |request| {
        let description = format!("bad code {}", request.form()["code"]);
        Response::json(400, &json!({ "error": "invalid_grant", "error_description": description }))
    });
    assert_eq!(login_error(&world).await, "the authorization server rejected the request: invalid_grant");
    world.on("/token", |request| Response::json(400, &json!({ "error": request.form()["code_verifier"] })));
    let error = login_error(&world).await;
    assert_eq!(error, "the authorization server rejected the request with status 400 Bad Request");
    world.on("/token", |_| {
        Response::json(401, &json!({ "error": "invalid_client", "error_description": "unknown\u{1b}[31m" }))
    });
    let error = login_error(&world).await;
    assert_eq!(error, "the authorization server rejected the request: invalid_client (unknown\\u{1b}[31m)");
    world.on("/token", |_| Response { body: "<html>".to_owned(), ..Response::status(403) });
    assert_eq!(login_error(&world).await, "the authorization server rejected the request with status 403 Forbidden");
}
