//! The keys of an issuer: discovery, rotation, and issuers that do not respond. Requests are counted.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use toolkit_mcp_server::{Jwks, Jwt, TokenError, Verify};

use super::issuer::{Issuer, Mode};
use super::signer::Signer;
use super::{AUDIENCE, claims, key_set};

/// The outcome of a verification.
const ACCEPTED: Result<(), TokenError> = Ok(());
const REJECTED: Result<(), TokenError> = Err(TokenError::Invalid);
const UNAVAILABLE: Result<(), TokenError> = Err(TokenError::Unavailable);

async fn verify(jwt: &Jwt, token: &str) -> Result<(), TokenError> {
    jwt.verify(token).await.map(|_| ())
}

fn claims_of(issuer: &Issuer) -> Value {
    let mut claims = claims();
    claims["iss"] = json!(issuer.url);
    claims["exp"] = json!(super::now() + 100_000);
    claims
}

fn jwt_of(issuer: &Issuer) -> Jwt {
    Jwt::issuer(&issuer.url).unwrap().audience(AUDIENCE)
}

/// Advances the clock of the cache. The clock runs during requests.
async fn pass(time: Duration) {
    tokio::time::pause();
    tokio::time::advance(time).await;
    tokio::time::resume();
}

const fn seconds(n: u64) -> Duration {
    Duration::from_secs(n)
}

#[tokio::test]
async fn keys_are_discovered_and_fetched_once() {
    let signer = Signer::p256("k");
    let issuer = Issuer::start(key_set([&signer])).await;
    let (jwt, token) = (jwt_of(&issuer), signer.token(&claims_of(&issuer)));
    assert_eq!(issuer.requests(), [""; 0], "nothing is fetched before a token arrives");
    for _ in 0..10 {
        assert_eq!(verify(&jwt, &token).await, ACCEPTED);
    }
    assert_eq!(issuer.requests(), ["/.well-known/oauth-authorization-server", "/keys"]);
}

#[tokio::test]
async fn metadata_is_found_in_the_places_of_both_standards() {
    let signer = Signer::p256("k");
    for (path, metadata) in [
        ("", "/.well-known/oauth-authorization-server"),
        ("", "/.well-known/openid-configuration"),
        ("/tenant", "/.well-known/oauth-authorization-server/tenant"),
        ("/tenant", "/.well-known/openid-configuration/tenant"),
        ("/tenant", "/tenant/.well-known/openid-configuration"),
    ] {
        let issuer = Issuer::start(key_set([&signer])).await;
        let name = format!("{}{path}", issuer.url);
        issuer.set_metadata(metadata, json!({ "issuer": name, "jwks_uri": format!("{}/keys", issuer.url) }));
        let mut claims = claims_of(&issuer);
        claims["iss"] = json!(name);
        let jwt = Jwt::issuer(&name).unwrap().audience(AUDIENCE);
        assert_eq!(verify(&jwt, &signer.token(&claims)).await, ACCEPTED, "{metadata}");
    }
}

#[tokio::test]
async fn metadata_of_another_issuer_or_with_an_insecure_url_is_rejected() {
    let signer = Signer::p256("k");
    let issuer = Issuer::start(key_set([&signer])).await;
    let keys = format!("{}/keys", issuer.url);
    let token = signer.token(&claims_of(&issuer));
    let path = "/.well-known/oauth-authorization-server";
    for (metadata, expected) in [
        (json!({ "issuer": issuer.url, "jwks_uri": keys }), ACCEPTED),
        (json!({ "issuer": "https://evil.example", "jwks_uri": keys }), UNAVAILABLE),
        (json!({ "issuer": format!("{}/", issuer.url), "jwks_uri": keys }), UNAVAILABLE),
        (json!({ "jwks_uri": keys }), UNAVAILABLE),
        (json!({ "issuer": issuer.url }), UNAVAILABLE),
        (json!({ "issuer": issuer.url, "jwks_uri": "http://as.example/keys" }), UNAVAILABLE),
        (json!({ "issuer": issuer.url, "jwks_uri": "file:///etc/passwd" }), UNAVAILABLE),
        (json!({ "issuer": issuer.url, "jwks_uri": "/keys" }), UNAVAILABLE),
    ] {
        issuer.set_metadata(path, metadata.clone());
        assert_eq!(verify(&jwt_of(&issuer), &token).await, expected, "{metadata}");
    }
}

#[test]
fn keys_are_fetched_over_https_except_from_this_machine() {
    for url in ["https://as.example", "http://localhost:9000", "http://127.0.0.1:9000/x", "http://[::1]"] {
        assert!(Jwks::discover(url).is_ok() && Jwks::from_url(url).is_ok(), "{url}");
    }
    for url in [
        "http://as.example",
        "http://localhost.evil.example",
        "http://127.0.0.1.evil.example",
        "http://10.0.0.1",
        "http://0.0.0.0",
        "ftp://as.example",
        "file:///keys",
        "https://user:password@as.example",
        "as.example",
        "",
    ] {
        assert!(Jwks::discover(url).is_err() && Jwks::from_url(url).is_err(), "{url}");
    }
    assert!(Jwks::discover("https://as.example?tenant=1").is_err());
    assert!(Jwks::from_url("https://as.example/keys?tenant=1").is_ok());
}

#[tokio::test]
async fn a_new_key_is_accepted_after_one_refresh() {
    let (old, new) = (Signer::p256("old"), Signer::rsa("new"));
    let issuer = Issuer::start(key_set([&old])).await;
    let (jwt, claims) = (jwt_of(&issuer), claims_of(&issuer));
    assert_eq!(verify(&jwt, &old.token(&claims)).await, ACCEPTED);
    issuer.publish(key_set([&old, &new]));
    assert_eq!(verify(&jwt, &new.token(&claims)).await, ACCEPTED);
    assert_eq!(verify(&jwt, &old.token(&claims)).await, ACCEPTED);
    assert_eq!(issuer.n_key_requests(), 2);
}

#[tokio::test]
async fn a_removed_key_is_rejected_after_the_next_refresh() {
    let (old, new) = (Signer::p256("old"), Signer::p256("new"));
    // A refresh because of an unknown key.
    let issuer = Issuer::start(key_set([&old])).await;
    let (jwt, claims) = (jwt_of(&issuer), claims_of(&issuer));
    assert_eq!(verify(&jwt, &old.token(&claims)).await, ACCEPTED);
    issuer.publish(key_set([&new]));
    assert_eq!(verify(&jwt, &new.token(&claims)).await, ACCEPTED);
    assert_eq!(verify(&jwt, &old.token(&claims)).await, REJECTED);
    // A refresh because of the age of the keys.
    let issuer = Issuer::start(key_set([&old])).await;
    let (jwt, claims) = (jwt_of(&issuer), claims_of(&issuer));
    assert_eq!(verify(&jwt, &old.token(&claims)).await, ACCEPTED);
    issuer.publish(key_set([&new]));
    pass(seconds(599)).await;
    assert_eq!(verify(&jwt, &old.token(&claims)).await, ACCEPTED);
    // Requests do not wait for the refresh.
    pass(seconds(2)).await;
    assert_eq!(verify(&jwt, &old.token(&claims)).await, ACCEPTED);
    while verify(&jwt, &old.token(&claims)).await == ACCEPTED {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    // Unless no token has arrived for long.
    issuer.publish(key_set([&old]));
    pass(seconds(1_201)).await;
    assert_eq!(verify(&jwt, &new.token(&claims)).await, REJECTED);
    assert_eq!(verify(&jwt, &old.token(&claims)).await, ACCEPTED);
}

#[tokio::test]
async fn an_issuer_that_hangs_delays_no_token_that_old_keys_verify() {
    let signer = Signer::p256("k");
    let issuer = Issuer::start(key_set([&signer])).await;
    let (jwt, token) = (jwt_of(&issuer), signer.token(&claims_of(&issuer)));
    assert_eq!(verify(&jwt, &token).await, ACCEPTED);
    issuer.set_mode(Mode::Held);
    pass(seconds(601)).await;
    for _ in 0..2 {
        // A paused clock advances only while a token waits.
        tokio::time::pause();
        let before = tokio::time::Instant::now();
        for _ in 0..20 {
            assert_eq!(verify(&jwt, &token).await, ACCEPTED);
        }
        assert_eq!(tokio::time::Instant::now(), before);
        tokio::time::resume();
        if issuer.requests().len() == 2 {
            issuer.arrived().await;
        }
    }
    assert_eq!(issuer.requests().len(), 3, "they share one request, which is still held");
}

#[tokio::test]
async fn unknown_keys_cause_one_request_in_30_seconds() {
    let signer = Signer::p256("k");
    let issuer = Issuer::start(key_set([&signer])).await;
    let (jwt, claims) = (Arc::new(jwt_of(&issuer)), claims_of(&issuer));
    assert_eq!(verify(&jwt, &signer.token(&claims)).await, ACCEPTED);
    for round in 1..=3 {
        let flood: Vec<_> = (0..200)
            .map(|nth| {
                let (jwt, mut header) = (Arc::clone(&jwt), signer.header());
                header["kid"] = json!(format!("{round}-{nth}"));
                let token = signer.sign(&header, &claims);
                tokio::spawn(async move { verify(&jwt, &token).await })
            })
            .collect();
        for outcome in flood {
            assert_eq!(outcome.await.unwrap(), REJECTED);
        }
        // Those that arrive after the request, too.
        for nth in 0..5 {
            let mut header = signer.header();
            header["kid"] = json!(format!("late-{round}-{nth}"));
            assert_eq!(verify(&jwt, &signer.sign(&header, &claims)).await, REJECTED);
        }
        assert_eq!(verify(&jwt, &signer.token(&claims)).await, ACCEPTED);
        assert_eq!(issuer.n_key_requests(), 1 + round, "round {round}");
        pass(seconds(31)).await;
    }
}

#[tokio::test]
async fn concurrent_tokens_share_the_first_fetch() {
    let signer = Signer::p256("k");
    let issuer = Issuer::start(key_set([&signer])).await;
    let (jwt, token) = (Arc::new(jwt_of(&issuer)), signer.token(&claims_of(&issuer)));
    let all: Vec<_> = (0..100)
        .map(|_| {
            let (jwt, token) = (Arc::clone(&jwt), token.clone());
            tokio::spawn(async move { verify(&jwt, &token).await })
        })
        .collect();
    for outcome in all {
        assert_eq!(outcome.await.unwrap(), ACCEPTED);
    }
    assert_eq!(issuer.n_key_requests(), 1);
}

#[tokio::test]
async fn a_client_that_disconnects_does_not_cancel_the_fetch() {
    let signer = Signer::p256("k");
    let issuer = Issuer::start(key_set([&signer])).await;
    let keys = Jwks::from_url(&format!("{}/keys", issuer.url)).unwrap();
    let jwt = Arc::new(Jwt::with_keys(issuer.url.clone(), keys).audience(AUDIENCE));
    let token = signer.token(&claims_of(&issuer));
    issuer.set_mode(Mode::Held);
    let first = tokio::spawn({
        let (jwt, token) = (Arc::clone(&jwt), token.clone());
        async move { verify(&jwt, &token).await }
    });
    issuer.arrived().await;
    first.abort();
    assert!(first.await.unwrap_err().is_cancelled());
    issuer.set_mode(Mode::Serve);
    issuer.release();
    assert_eq!(verify(&jwt, &token).await, ACCEPTED);
    assert_eq!(issuer.n_key_requests(), 1);
}

#[tokio::test]
async fn old_keys_are_used_for_an_hour_while_the_issuer_is_down() {
    let signer = Signer::p256("k");
    let issuer = Issuer::start(key_set([&signer])).await;
    let (jwt, token) = (jwt_of(&issuer), signer.token(&claims_of(&issuer)));
    assert_eq!(verify(&jwt, &token).await, ACCEPTED);
    issuer.set_mode(Mode::Down);
    for round in 1..=5 {
        pass(seconds(11 * 60)).await;
        for _ in 0..10 {
            assert_eq!(verify(&jwt, &token).await, ACCEPTED);
        }
        let attempt = async {
            while issuer.requests().len() < 2 + round {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(seconds(30), attempt).await.expect("each round has an attempt");
        // The attempt ends in its own round: time does not pass before its answer has arrived.
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    assert_eq!(issuer.requests().len(), 2 + 5, "one attempt in each round");
    let unknown = Signer::p256("unknown").token(&claims_of(&issuer));
    assert_eq!(verify(&jwt, &unknown).await, UNAVAILABLE, "the issuer may have a key that is unknown here");
    pass(seconds(6 * 60)).await;
    assert_eq!(verify(&jwt, &token).await, UNAVAILABLE);
    issuer.set_mode(Mode::Serve);
    assert_eq!(verify(&jwt, &token).await, UNAVAILABLE, "the last attempt was less than 5 s ago");
    pass(seconds(6)).await;
    assert_eq!(verify(&jwt, &token).await, ACCEPTED);
}

#[tokio::test]
async fn a_document_without_end_is_not_read() {
    let signer = Signer::p256("k");
    let issuer = Issuer::start(key_set([&signer])).await;
    let token = signer.token(&claims_of(&issuer));
    issuer.set_mode(Mode::Endless);
    assert_eq!(verify(&jwt_of(&issuer), &token).await, UNAVAILABLE);
    assert!(issuer.bytes_written() < 32 << 20, "{} bytes were written", issuer.bytes_written());
    let padding = "x".repeat(64 << 10);
    for (padding, expected) in [(&padding[..60 << 10], ACCEPTED), (&padding[..], UNAVAILABLE)] {
        let mut keys = key_set([&signer]);
        keys["padding"] = json!(padding);
        issuer.set_mode(Mode::Serve);
        issuer.publish(keys);
        assert_eq!(verify(&jwt_of(&issuer), &token).await, expected, "{} bytes", padding.len());
    }
}

#[tokio::test]
async fn a_malformed_response_or_a_redirect_is_not_used() {
    let signer = Signer::p256("k");
    let issuer = Issuer::start(key_set([&signer])).await;
    let token = signer.token(&claims_of(&issuer));
    let keys = key_set([&signer]).to_string();
    let response = |status: &str, more: &str, body: &str| {
        format!("HTTP/1.1 {status}\r\nconnection: close\r\n{more}content-length: {}\r\n\r\n{body}", body.len())
    };
    let elsewhere = Issuer::start(key_set([&signer])).await;
    for (what, raw, expected) in [
        ("keys", response("200 OK", "", &keys), ACCEPTED),
        ("an error", response("500 Internal Server Error", "", &keys), UNAVAILABLE),
        ("a redirect", response("302 Found", &format!("location: {}/keys\r\n", elsewhere.url), &keys), UNAVAILABLE),
        ("HTML", response("200 OK", "", "<html></html>"), UNAVAILABLE),
        ("an empty set", response("200 OK", "", r#"{"keys": []}"#), UNAVAILABLE),
        ("half of a set", response("200 OK", "", &keys[..keys.len() / 2]), UNAVAILABLE),
        ("no HTTP", "hello\r\n\r\n".to_owned(), UNAVAILABLE),
    ] {
        issuer.set_mode(Mode::Raw(raw));
        let keys = Jwks::from_url(&format!("{}/keys", issuer.url)).unwrap();
        let jwt = Jwt::with_keys(issuer.url.clone(), keys).audience(AUDIENCE);
        assert_eq!(verify(&jwt, &token).await, expected, "{what}");
    }
    assert_eq!(elsewhere.requests(), [""; 0]);
}

/// The only test that waits, for the timeout of 5 s.
#[tokio::test]
async fn an_issuer_that_does_not_respond_keeps_no_request() {
    let signer = Signer::p256("k");
    let issuer = Issuer::start(key_set([&signer])).await;
    issuer.set_mode(Mode::Held);
    let (jwt, token) = (Arc::new(jwt_of(&issuer)), signer.token(&claims_of(&issuer)));
    let all: Vec<_> = (0..20)
        .map(|_| {
            let (jwt, token) = (Arc::clone(&jwt), token.clone());
            tokio::spawn(async move { verify(&jwt, &token).await })
        })
        .collect();
    for outcome in all {
        assert_eq!(outcome.await.unwrap(), UNAVAILABLE);
    }
    assert_eq!(issuer.requests().len(), 1);
}
