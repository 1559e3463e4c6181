//! Credentials of the caller.

use serde_json::json;
use toolkit::call::{Credentials, ErrorKind};
use toolkit::{Context, catalog, tool};
use toolkit_nats::{Connect, NatsBackend, Worker};

use super::*;

/// Returns what it may access.
#[tool(namespace = "accounts", requires(secret = "API_KEY", oauth2(id = "google"), user_id))]
fn show(ctx: &Context) -> Vec<Option<String>> {
    let exposed = |secret: Option<&toolkit::call::SecretString>| secret.map(|secret| secret.expose().to_owned());
    vec![
        exposed(ctx.secret("API_KEY")),
        exposed(ctx.token("google")),
        ctx.user_id().ok().map(str::to_owned),
        exposed(ctx.secret("OTHER")),
    ]
}

fn context() -> Context {
    let credentials = Credentials::new()
        .with_secret("API_KEY", "s3cr3t")
        .with_secret("OTHER", "0th3r")
        .with_token("google", "t0k3n")
        .with_user_id("ada");
    Context::new().with_credentials(credentials)
}

#[tokio::test]
#[ignore = "needs nats-server"]
async fn a_tool_gets_the_credentials_that_it_requires_and_no_others() {
    let server = Server::start();
    let _worker = Running::start(worker(&server, catalog![show].unwrap()));
    // What passes the server.
    let mut requests = spy(&server, "tk.call.>").await;
    let backend = NatsBackend::new("fleet", connect(&server));
    let sending = dispatcher(&backend.clone().send_credentials(), 1).await;
    let seen = soon(sending.call_with(&context(), "accounts:show", "{}")).await.unwrap().value();
    assert_eq!(seen, json!(["s3cr3t", "t0k3n", "ada", null]));
    let request = soon(futures_util::StreamExt::next(&mut requests)).await.unwrap();
    let header = request.headers.unwrap().get("Tk-Credentials").unwrap().to_string();
    let sent = String::from_utf8(data_encoding::BASE64URL_NOPAD.decode(header.as_bytes()).unwrap()).unwrap();
    assert!(sent.contains("s3cr3t") && !sent.contains("0th3r"), "{sent}");

    // Unless the host requests it, none are sent.
    let dispatcher = dispatcher(&backend, 1).await;
    let error = soon(dispatcher.call_with(&context(), "accounts:show", "{}")).await.unwrap_err();
    assert!(error.message().contains("the secret `API_KEY`"), "{error}");
    let request = soon(futures_util::StreamExt::next(&mut requests)).await.unwrap();
    assert!(request.headers.unwrap().get("Tk-Credentials").is_none());
}

#[tokio::test]
#[ignore = "needs nats-server"]
async fn credentials_are_not_sent_without_encryption() {
    let server = Server::start();
    // An address of this machine that is not the loopback address, for the connection of either side.
    let port = server.port();
    let Some(host) = other_address() else {
        println!("SKIPPED: this machine has no other address");
        return;
    };
    let relay = test_support::relay::Relay::start_on(&host, port).await;
    let elsewhere = || Connect::new(&format!("nats://{}", relay.address())).unwrap();

    let running = Running::start(worker(&server, catalog![show].unwrap()));
    let backend = NatsBackend::new("fleet", elsewhere()).send_credentials();
    let sending = dispatcher(&backend, 1).await;
    let error = soon(sending.call_with(&context(), "accounts:show", "{}")).await.unwrap_err();
    assert_eq!(
        (error.kind(), error.message()),
        (ErrorKind::Unauthorized, "credentials are not sent to the workers of `fleet` without TLS")
    );
    running.stop().await;

    let tools = Dispatcher::new(catalog![show].unwrap()).unwrap();
    let _worker = Running::start(Worker::new(elsewhere(), tools));
    let sending = dispatcher(&NatsBackend::new("fleet", connect(&server)).send_credentials(), 1).await;
    let error = soon(sending.call_with(&context(), "accounts:show", "{}")).await.unwrap_err();
    assert!(error.message().contains("without TLS"), "{error}");
}

/// Returns an address of this machine that other machines could reach.
fn other_address() -> Option<String> {
    let socket = std::net::UdpSocket::bind("0.0.0.0:0").ok()?;
    // Sends nothing.
    socket.connect("192.0.2.1:9").ok()?;
    let address = socket.local_addr().ok()?.ip();
    (!address.is_loopback() && !address.is_unspecified()).then(|| address.to_string())
}
