//! Authentication.

use toolkit::backend::Backend;
use toolkit_otc::{Auth, OtcBackend, Server};

use super::*;

const SECRET: &str = "s3cr3t of 32 bytes, as HS256 wants";

fn jwt(secret: &str) -> Auth {
    Auth::jwt(secret.to_owned()).unwrap()
}

#[tokio::test]
async fn a_call_is_refused_with_401_and_runs_nothing() {
    let dispatcher = dispatcher_of([tool_of(&definition("Doorbell.Ring@0.1.0"))], |_, _, _| panic!("it ran")).await;
    for auth in [Auth::api_key(SECRET), jwt(SECRET), Auth::api_key("")] {
        let router = Server::new(dispatcher.clone()).auth(auth).into_service();
        let got = http::call(&router, json!({ "tool_id": "Doorbell.Ring", "input": { "doorbell_id": "1" } })).await;
        assert!(got.is(401).body["message"].as_str().unwrap().starts_with("unauthorized: "));
        http::ask(&router, http::get("/tools")).await.is(401);
        http::ask(&router, http::get("/health")).await.is(200);
        for (name, value) in [("oxp-api-key", ""), ("authorization", "Bearer "), ("authorization", SECRET)] {
            let mut request = http::get("/tools");
            request.headers_mut().insert(name, value.parse().unwrap());
            http::ask(&router, request).await.is(401);
        }
    }
}

#[test]
fn nothing_prints_a_key() {
    let backend = OtcBackend::new("remote", "http://localhost").unwrap().auth(Auth::api_key(SECRET));
    assert!(!format!("{backend:?} {:?} {:?}", jwt(SECRET), Auth::api_key(SECRET)).contains("s3cr3t"));
}

#[test]
fn a_short_secret_is_rejected() {
    for secret in ["", "s3cr3t", &"x".repeat(31)] {
        let weak = Auth::jwt(secret.to_owned()).unwrap_err().to_string();
        assert!(weak.starts_with(&format!("the secret has {} bytes", secret.len())), "{weak}");
    }
    let _ = jwt(&"x".repeat(32));
}

/// A proxy may have checked the other one of two headers.
#[tokio::test]
async fn repeated_credentials_are_rejected() {
    let dispatcher = dispatcher_of([tool_of(&definition("Doorbell.Ring@0.1.0"))], |_, _, _| panic!("it ran")).await;
    let router = Server::new(dispatcher).auth(Auth::api_key(SECRET)).into_service();
    for (keys, status) in
        [(vec![SECRET], 200), (vec![SECRET, SECRET], 401), (vec![SECRET, "x"], 401), (vec!["x", SECRET], 401)]
    {
        let mut request = http::get("/tools");
        for key in &keys {
            request.headers_mut().append("oxp-api-key", key.parse().unwrap());
        }
        http::ask(&router, request).await.is(status);
    }
}

#[tokio::test]
async fn a_token_for_another_server_is_rejected() {
    let ours = || jwt(SECRET).with_audience("ours").with_issuer("host");
    for (sent, expected, is_in) in [
        (ours(), ours(), true),
        (jwt(SECRET), jwt(SECRET), true),
        (jwt(SECRET), ours(), false),
        (ours(), jwt(SECRET), false),
        (ours(), jwt(SECRET).with_audience("theirs"), false),
        (ours(), ours().with_issuer("another"), false),
    ] {
        let dispatcher = dispatcher_of([tool_of(&definition("Doorbell.Ring@0.1.0"))], |_, _, _| panic!("it ran")).await;
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(Server::new(dispatcher).auth(expected).serve(listener, std::future::pending()));
        let backend = OtcBackend::new("remote", &url).unwrap().auth(sent);
        assert_eq!(backend.tools().await.is_ok(), is_in);
    }
}

/// A proxy may read another value of a repeated header than the server.
#[tokio::test]
async fn security_headers_must_not_be_repeated() {
    let dispatcher = dispatcher_of([tool_of(&definition("Doorbell.Ring@0.1.0"))], |_, _, _| panic!("it ran")).await;
    let router = Server::new(dispatcher).auth(Auth::api_key("s3cr3t")).into_service();
    let with = |headers: &[(&'static str, &str)]| {
        let mut request = http::get("/tools");
        for (name, value) in headers {
            request.headers_mut().append(*name, value.parse().unwrap());
        }
        request
    };
    http::ask(&router, with(&[("oxp-api-key", "s3cr3t")])).await.is(200);
    http::ask(&router, with(&[("oxp-api-key", "s3cr3t"), ("oxp-api-key", "other")])).await.is(401);
    let ours = ("oxp-api-key", "s3cr3t");
    http::ask(&router, with(&[ours, ("host", "evil.example")])).await.is(403);
    http::ask(&router, with(&[ours, ("origin", "http://localhost"), ("origin", "https://evil.example")])).await.is(403);
    // The host of a request target in absolute form takes precedence.
    let mut absolute = with(&[ours]);
    *absolute.uri_mut() = "http://evil.example/tools".parse().unwrap();
    http::ask(&router, absolute).await.is(403);
}
