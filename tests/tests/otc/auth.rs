//! Authentication.

use toolkit::backend::Backend;
use toolkit::call::ErrorKind;
use toolkit_otc::{Auth, OtcBackend, Server};

use super::provider::Provider;
use super::*;

const SECRET: &str = "s3cr3t of 32 bytes, as HS256 wants";
const GUESS: &str = "gu3ss3d, and 32 bytes long as well";

fn jwt(secret: &str) -> Auth {
    Auth::jwt(secret.to_owned()).unwrap()
}

/// The credentials of a client, and whether a server with the key or secret `right` accepts them.
fn clients() -> [(&'static str, Auth); 5] {
    [
        ("none", Auth::none()),
        ("key", Auth::api_key(SECRET)),
        ("jwt", jwt(SECRET)),
        ("wrong key", Auth::api_key(GUESS)),
        ("wrong jwt", jwt(GUESS)),
    ]
}

#[tokio::test]
async fn a_client_needs_the_credentials_of_the_server() {
    let variables = [("SECRET_OF_TEST", SECRET)];
    for (option, admitted) in [("--token-env", "key"), ("--jwt-secret-env", "jwt")] {
        let provider = Provider::start_with(&format!("auth-{admitted}"), "0", &[option, "SECRET_OF_TEST"], &variables);
        for (shown, auth) in clients() {
            let backend = OtcBackend::new("remote", &provider.url).unwrap().auth(auth);
            // Health checks need no credentials.
            backend.health().await.unwrap();
            match backend.tools().await {
                Ok(_) => {
                    assert_eq!(shown, admitted);
                    let dispatcher = dispatcher_on(backend).await;
                    assert_eq!(dispatcher.call("Math:add", r#"{"a": 1, "b": 2}"#).await.unwrap().value(), 3);
                }
                Err(error) => {
                    assert_ne!(shown, admitted, "{error}");
                    assert_eq!((error.kind(), error.is_retryable()), (ErrorKind::Unauthorized, false));
                    assert!(
                        error
                            .message()
                            .starts_with("the tool server `remote` rejected the credentials of this program")
                    );
                    assert!(!format!("{error:?}").contains("s3cr3t") && !format!("{error:?}").contains("gu3ss3d"));
                }
            }
        }
    }
}

#[tokio::test]
async fn a_call_is_refused_with_401_and_runs_nothing() {
    let dispatcher = dispatcher_of([tool_of(&definition("Doorbell.Ring@0.1.0"))], |_, _, _| panic!("it ran")).await;
    for auth in [Auth::api_key(SECRET), jwt(SECRET), Auth::api_key("")] {
        let router = Server::new(dispatcher.clone()).auth(auth).router();
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
    jwt(&"x".repeat(32));
    let options = ["serve", "--otc", "0", "--jwt-secret-env", "SECRET_OF_TEST"];
    let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_fixture_tools"));
    let output = program.args(options).env("SECRET_OF_TEST", "s3cr3t").output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && said.contains("`--jwt-secret-env`: the secret has 6 bytes"), "{said}");
    assert!(!said.contains("s3cr3t"), "{said}");
}

/// A proxy may have checked the other one of two headers.
#[tokio::test]
async fn repeated_credentials_are_rejected() {
    let dispatcher = dispatcher_of([tool_of(&definition("Doorbell.Ring@0.1.0"))], |_, _, _| panic!("it ran")).await;
    let router = Server::new(dispatcher).auth(Auth::api_key(SECRET)).router();
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
        let router = Server::new(dispatcher).auth(expected).router();
        tokio::spawn(async move { axum::serve(listener, router).await });
        let backend = OtcBackend::new("remote", &url).unwrap().auth(sent);
        assert_eq!(backend.tools().await.is_ok(), is_in);
    }
}

/// A proxy may read another value of a repeated header than the server.
#[tokio::test]
async fn security_headers_must_not_be_repeated() {
    let dispatcher = dispatcher_of([tool_of(&definition("Doorbell.Ring@0.1.0"))], |_, _, _| panic!("it ran")).await;
    let router = Server::new(dispatcher).auth(Auth::api_key("s3cr3t")).router();
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
