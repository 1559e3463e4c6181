//! The renewal of access tokens.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use toolkit::call::{ErrorKind, SecretString};
use toolkit::dispatch::BoxFuture;
use toolkit_mcp_client::{FileTokens, MemoryTokens, OAuth, TokenLock, TokenStore, TokenStoreError};

use super::world::{Client, PRM, Response, World, login};

/// Logs in and connects.
async fn connected(world: &World) -> (toolkit_mcp_client::Endpoint, Client) {
    let endpoint = world.endpoint(OAuth::new().login_command("tests login server"));
    login(&endpoint).await.unwrap();
    let client = Client::connect(&endpoint).await.unwrap();
    (endpoint, client)
}

/// Lets the clock of the client advance.
async fn pass(time: Duration) {
    tokio::time::pause();
    tokio::time::advance(time).await;
    tokio::time::resume();
}

#[tokio::test]
async fn an_expired_token_is_renewed_before_the_request() {
    let world = World::start().await;
    world.issue_for(0);
    let (_, client) = connected(&world).await;
    client.call("read").await.unwrap();
    let renewals = world.grants("refresh_token");
    assert_eq!(renewals.len(), 1);
    assert_eq!(renewals[0]["resource"], world.server);
    let with_old = |request: &super::world::Request| request.header("authorization") == Some("Bearer access-1-hunter2");
    assert!(!world.requests("/mcp").iter().any(with_old));
}

#[tokio::test]
async fn fifty_calls_with_a_rejected_token_renew_it_once() {
    let world = World::start().await;
    let (_, client) = connected(&world).await;
    let client = Arc::new(client);
    for round in 1..=3 {
        client.call("read").await.unwrap();
        world.revoke_access();
        let calls: Vec<_> = (0..50)
            .map(|_| {
                let client = Arc::clone(&client);
                tokio::spawn(async move { client.call("read").await })
            })
            .collect();
        for call in calls {
            call.await.unwrap().unwrap();
        }
        // Each renewal uses the refresh token of the last one.
        assert_eq!(world.grants("refresh_token").len(), round);
        pass(Duration::from_secs(60)).await;
    }
    let used: Vec<String> = world.grants("refresh_token").iter().map(|form| form["refresh_token"].clone()).collect();
    assert_eq!(used, ["refresh-1-hunter2", "refresh-2-hunter2", "refresh-3-hunter2"]);
}

#[tokio::test]
async fn a_rejected_refresh_token_requires_a_login() {
    let world = World::start().await;
    let (endpoint, client) = connected(&world).await;
    world.revoke_access();
    world.revoke_refresh();
    for _ in 0..20 {
        let error = client.call("read").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unauthorized);
        assert_eq!(error.message(), "the MCP server `server` requires a login; run `tests login server`");
    }
    assert_eq!(world.grants("refresh_token").len(), 1);
    assert_eq!(endpoint.login_state().await.unwrap(), None);
    // The connection has survived.
    login(&endpoint).await.unwrap();
    client.call("read").await.unwrap();
}

#[tokio::test]
async fn without_a_login_the_server_decides() {
    let world = World::start().await;
    let endpoint = world.endpoint(OAuth::new().login_command("tests login server"));
    let error = Client::connect(&endpoint).await.err().unwrap();
    assert_eq!(error.message(), "the MCP server `server` requires a login; run `tests login server`");
    assert!(world.requests("/mcp").iter().all(|request| request.header("authorization").is_none()));
    assert!(world.requests(PRM).is_empty());

    world.on("/mcp", |request| super::world::answer(&serde_json::from_str(&request.body).unwrap_or_default()));
    Client::connect(&endpoint).await.unwrap().call("read").await.unwrap();
}

#[tokio::test]
async fn an_unavailable_authorization_server_is_a_retryable_error() {
    let world = World::start().await;
    let (endpoint, client) = connected(&world).await;
    world.on("/token", |_| Response::status(503));
    client.call("read").await.unwrap();
    world.revoke_access();
    for _ in 0..20 {
        let error = client.call("read").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable);
        assert!(error.message().ends_with("its access token cannot be renewed"), "{error}");
        assert!(error.is_retryable());
    }
    assert_eq!(world.grants("refresh_token").len(), 1);
    assert!(endpoint.login_state().await.unwrap().unwrap().is_valid);
}

#[tokio::test]
async fn a_canceled_call_does_not_lose_the_new_refresh_token() {
    let world = World::start().await;
    let tokens = MemoryTokens::new();
    let endpoint = world.endpoint(OAuth::new().store(tokens.clone()));
    login(&endpoint).await.unwrap();
    let client = Arc::new(Client::connect(&endpoint).await.unwrap());
    world.revoke_access();
    let held = world.hold("/token");
    let call = tokio::spawn({
        let client = Arc::clone(&client);
        async move { client.call("read").await }
    });
    world.wait_for("/token", 2).await;
    call.abort();
    assert!(call.await.unwrap_err().is_cancelled());
    held.add_permits(1000);
    client.call("read").await.unwrap();
    assert_eq!(world.grants("refresh_token").len(), 1);
    // Another process continues with the stored token.
    world.revoke_access();
    let endpoint = world.endpoint(OAuth::new().store(tokens));
    Client::connect(&endpoint).await.unwrap().call("read").await.unwrap();
    assert_eq!(world.grants("refresh_token")[1]["refresh_token"], "refresh-2-hunter2");
}

#[tokio::test]
async fn two_processes_with_one_store_renew_a_token_once() {
    let world = World::start().await;
    let folder = super::files::Folder::new("two-processes");
    let endpoint = || world.endpoint(OAuth::new().store(FileTokens::new(folder.path())));
    login(&endpoint()).await.unwrap();
    let clients = [Client::connect(&endpoint()).await.unwrap(), Client::connect(&endpoint()).await.unwrap()];
    world.revoke_access();
    let (ours, theirs) = tokio::join!(clients[0].call("read"), clients[1].call("read"));
    ours.unwrap();
    theirs.unwrap();
    assert_eq!(world.grants("refresh_token").len(), 1);
}

/// Waits until something holds of the outcome of a call.
async fn until(client: &Client, holds: impl Fn(&Result<String, toolkit::ToolError>) -> bool) {
    for _ in 0..200 {
        if holds(&client.call("read").await) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("the change of another process was not noticed");
}

#[tokio::test]
async fn logins_and_logouts_of_another_process_are_noticed() {
    let world = World::start().await;
    let folder = super::files::Folder::new("another-process");
    let endpoint = || world.endpoint(OAuth::new().store(FileTokens::new(folder.path())));
    let (ours, theirs) = (endpoint(), endpoint());
    Client::connect(&ours).await.err().unwrap();
    login(&theirs).await.unwrap();
    let mut client = Client::connect(&ours).await.ok();
    while client.is_none() {
        tokio::time::sleep(Duration::from_millis(50)).await;
        client = Client::connect(&ours).await.ok();
    }
    let client = client.unwrap();
    client.call("read").await.unwrap();

    // The old token remains valid at the server.
    theirs.logout().await.unwrap();
    until(&client, |called| called.as_ref().is_err_and(|error| error.kind() == ErrorKind::Unauthorized)).await;
    login(&theirs).await.unwrap();
    until(&client, Result::is_ok).await;
    // With another account.
    login(&theirs).await.unwrap();
    let newest = || world.secrets().into_iter().rfind(|secret| secret.starts_with("access")).unwrap();
    let is_used = |request: &super::world::Request| {
        request.header("authorization").is_some_and(|value| value == format!("Bearer {}", newest()))
    };
    until(&client, |_| world.requests("/mcp").last().is_some_and(is_used)).await;
}

#[tokio::test]
async fn a_failed_renewal_does_not_prevent_that_of_a_later_login() {
    let world = World::start().await;
    let folder = super::files::Folder::new("later-login");
    let endpoint = || world.endpoint(OAuth::new().store(FileTokens::new(folder.path())));
    let (ours, theirs) = (endpoint(), endpoint());
    login(&ours).await.unwrap();
    let client = Client::connect(&ours).await.unwrap();
    world.revoke_access();
    world.revoke_refresh();
    client.call("read").await.unwrap_err();
    // Another process logs in, with a token that expires before it is used.
    world.issue_for(0);
    login(&theirs).await.unwrap();
    pass(Duration::from_millis(1_500)).await;
    client.call("read").await.unwrap();
}

#[tokio::test]
async fn a_new_token_that_is_rejected_causes_no_loop() {
    let world = World::start().await;
    let endpoint = world.endpoint(OAuth::new());
    login(&endpoint).await.unwrap();
    world.revoke_access();
    for _ in 0..20 {
        let error = Client::connect(&endpoint).await.err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Denied);
        assert_eq!(error.message(), "the MCP server `server` rejects an access token that was just issued");
    }
    assert_eq!(world.requests("/token").len(), 1);
}

#[tokio::test]
async fn a_logout_removes_the_tokens() {
    let world = World::start().await;
    let (endpoint, client) = connected(&world).await;
    assert!(endpoint.logout().await.unwrap());
    assert!(!endpoint.logout().await.unwrap());
    assert_eq!(client.call("read").await.unwrap_err().kind(), ErrorKind::Unauthorized);
    assert_eq!(endpoint.login_state().await.unwrap(), None);
}

#[tokio::test]
async fn any_lifetime_of_a_token_is_accepted() {
    let world = World::start().await;
    for lifetime in [json!(u64::MAX), json!(1e300), json!(u64::MAX.to_string()), json!(-1), json!("never")] {
        let issued = json!({ "access_token": "access-1-hunter2", "token_type": "Bearer", "expires_in": lifetime });
        world.on_json("/token", issued);
        let tokens = MemoryTokens::new();
        let endpoint = world.endpoint(OAuth::new().store(tokens.clone()));
        login(&endpoint).await.unwrap();
        endpoint.login_state().await.unwrap().unwrap();

        // A record may have been changed.
        let record = tokens.load(&world.server).await.unwrap().unwrap();
        let mut record: Value = serde_json::from_str(record.expose()).unwrap();
        record["obtained_at"] = json!(u64::MAX);
        record["expires_in"] = json!(u64::MAX);
        tokens.save(&world.server, &record.to_string().into()).await.unwrap();
        assert_eq!(endpoint.login_state().await.unwrap().unwrap().expires_at, None);
    }
}

#[tokio::test]
async fn a_server_that_accepts_each_token_once_causes_few_renewals() {
    let world = World::start().await;
    let (_, client) = connected(&world).await;
    let n = AtomicUsize::new(0);
    world.on("/mcp", move |request| match n.fetch_add(1, Ordering::Relaxed) % 2 {
        0 => Response::status(401).header("www-authenticate", "Bearer"),
        _ => super::world::answer(&serde_json::from_str(&request.body).unwrap_or_default()),
    });
    let mut rejected = None;
    for _ in 0..40 {
        rejected = client.call("read").await.err().or(rejected);
    }
    assert_eq!(rejected.unwrap().kind(), ErrorKind::Unavailable);
    let n_renewals = world.grants("refresh_token").len();
    assert!((1..5).contains(&n_renewals), "{n_renewals}");
    for expected in [1, 1, 0] {
        let n_renewals = world.grants("refresh_token").len();
        pass(Duration::from_secs(if expected == 1 { 300 } else { 10 })).await;
        let _ = (client.call("read").await, client.call("read").await);
        assert_eq!(world.grants("refresh_token").len(), n_renewals + expected);
    }
}

#[tokio::test]
async fn a_used_refresh_token_is_not_used_again_if_the_new_one_cannot_be_stored() {
    let world = World::start().await;
    let tokens = FullStore::default();
    let endpoint = || world.endpoint(OAuth::new().store(tokens.clone()));
    login(&endpoint()).await.unwrap();
    let client = Client::connect(&endpoint()).await.unwrap();
    tokens.is_full.store(true, Ordering::Relaxed);
    for _ in 0..3 {
        world.revoke_access();
        client.call("read").await.unwrap();
        pass(Duration::from_secs(60)).await;
    }
    let used: Vec<String> = world.grants("refresh_token").iter().map(|form| form["refresh_token"].clone()).collect();
    assert_eq!(used, ["refresh-1-hunter2", "refresh-2-hunter2", "refresh-3-hunter2"]);
    assert!(!tokens.record(&world).await.contains("access-4-hunter2"));

    tokens.is_full.store(false, Ordering::Relaxed);
    client.call("read").await.unwrap();
    assert!(tokens.record(&world).await.contains("access-4-hunter2"));
    Client::connect(&endpoint()).await.unwrap().call("read").await.unwrap();
    assert_eq!(world.grants("refresh_token").len(), 3);
}

#[tokio::test]
async fn a_store_that_cannot_be_used_is_a_retryable_error() {
    let world = World::start().await;
    let tokens = FullStore::default();
    let endpoint = world.endpoint(OAuth::new().store(tokens.clone()));
    login(&endpoint).await.unwrap();
    let client = Client::connect(&endpoint).await.unwrap();
    world.revoke_access();
    tokens.is_locked.store(true, Ordering::Relaxed);
    let error = client.call("read").await.unwrap_err();
    assert_eq!((error.kind(), error.is_retryable()), (ErrorKind::Unavailable, true), "{error}");
    tokens.is_locked.store(false, Ordering::Relaxed);
    pass(Duration::from_secs(60)).await;
    client.call("read").await.unwrap();
}

/// A store that can be full or locked.
#[derive(Clone, Default)]
struct FullStore {
    tokens: MemoryTokens,
    is_full: Arc<AtomicBool>,
    is_locked: Arc<AtomicBool>,
}

impl FullStore {
    async fn record(&self, world: &World) -> String {
        self.tokens.load(&world.server).await.unwrap().unwrap().expose().to_owned()
    }
}

impl TokenStore for FullStore {
    fn load<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<Option<SecretString>, TokenStoreError>> {
        self.tokens.load(key)
    }

    fn save<'a>(&'a self, key: &'a str, record: &'a SecretString) -> BoxFuture<'a, Result<(), TokenStoreError>> {
        match self.is_full.load(Ordering::Relaxed) {
            true => Box::pin(async { Err(TokenStoreError::new("the disk is full")) }),
            false => self.tokens.save(key, record),
        }
    }

    fn remove<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<(), TokenStoreError>> {
        self.tokens.remove(key)
    }

    fn lock<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<TokenLock, TokenStoreError>> {
        match self.is_locked.load(Ordering::Relaxed) {
            true => Box::pin(async { Err(TokenStoreError::new("another process has locked the tokens")) }),
            false => self.tokens.lock(key),
        }
    }
}
