//! Tokens and secrets stay where they belong.

use std::io::Write;
use std::sync::{Arc, Mutex};

use toolkit_mcp_client::{FileTokens, MemoryTokens, OAuth, TokenStore};
use tracing_subscriber::fmt::MakeWriter;

use super::world::{Client, World, login};

/// The log of a test.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

#[tokio::test]
async fn debug_errors_and_logs_contain_no_secrets() {
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt().with_max_level(tracing::Level::TRACE).with_writer(log.clone()).finish();
    let _logging = tracing::subscriber::set_default(subscriber);
    let world = World::start().await;
    let tokens = MemoryTokens::new();
    let settings = OAuth::new().client_id("id").client_secret("secret-hunter2").issuer(&world.issuer);
    let settings = settings.store(tokens.clone());
    let mut texts = vec![format!("{settings:?}"), format!("{:?}", FileTokens::new("/x"))];
    let endpoint = world.endpoint(settings);
    texts.push(format!("{:?}", endpoint.login().await.unwrap()));
    texts.push(format!("{:?}", login(&endpoint).await.unwrap()));
    let client = Client::connect(&endpoint).await.unwrap();
    client.call("read").await.unwrap();
    texts.push(format!("{:?}", client.call("write").await.unwrap_err()));
    world.revoke_access();
    client.call("read").await.unwrap();
    world.revoke_access();
    world.revoke_refresh();
    texts.push(format!("{:?}", client.call("read").await.unwrap_err()));
    texts.push(format!("{endpoint:?} {:?} {tokens:?}", client.backend));
    texts.push(String::from_utf8_lossy(&log.0.lock().unwrap()).into_owned());
    assert!(texts.last().unwrap().len() > 100, "nothing was logged");
    for text in texts {
        assert!(!text.contains("hunter2"), "{text}");
    }
}

#[tokio::test]
async fn each_token_is_sent_to_its_server_only() {
    let world = World::start().await;
    let endpoint = world.endpoint(OAuth::new());
    login(&endpoint).await.unwrap();
    let client = Client::connect(&endpoint).await.unwrap();
    client.call("read").await.unwrap();
    world.revoke_access();
    client.call("read").await.unwrap();
    client.call("write").await.unwrap_err();
    login(&endpoint).await.unwrap();
    client.call("write").await.unwrap();

    let secrets = world.secrets();
    assert_eq!(secrets.len(), 6);
    let mut n_uses = 0;
    for request in world.all_requests() {
        let text = format!("{request:?}");
        for secret in secrets.iter().filter(|secret| text.contains(*secret)) {
            let expected = if secret.starts_with("access") { "/mcp" } else { "/token" };
            assert_eq!(request.path, expected, "{secret} in {text}");
            n_uses += 1;
        }
    }
    assert!(n_uses > 4);
}

#[tokio::test]
async fn a_record_of_one_server_is_not_used_for_another() {
    let (world, other) = (World::start().await, World::start().await);
    let tokens = MemoryTokens::new();
    login(&world.endpoint(OAuth::new().store(tokens.clone()))).await.unwrap();
    let record = tokens.load(&world.server).await.unwrap().unwrap();
    // For example a file that was renamed.
    tokens.save(&other.server, &record).await.unwrap();
    let endpoint = other.endpoint(OAuth::new().store(tokens.clone()));
    assert!(Client::connect(&endpoint).await.is_err());
    assert!(other.all_requests().iter().all(|request| !format!("{request:?}").contains("hunter2")));
    // The record of another issuer than the configured one.
    let endpoint = world.endpoint(OAuth::new().issuer(&other.issuer).store(tokens));
    assert_eq!(endpoint.login_state().await.unwrap(), None);
    assert!(Client::connect(&endpoint).await.is_err());
}

#[tokio::test]
async fn a_configured_secret_is_not_stored() {
    let world = World::start().await;
    let tokens = MemoryTokens::new();
    let endpoint = |secret: &str| {
        let settings = OAuth::new().client_id("id").client_secret(secret).issuer(&world.issuer);
        world.endpoint(settings.store(tokens.clone()))
    };
    login(&endpoint("old-secret")).await.unwrap();
    let record = tokens.load(&world.server).await.unwrap().unwrap();
    assert!(record.expose().contains("refresh-1") && !record.expose().contains("old-secret"));

    // A renewal uses the current one.
    world.revoke_access();
    Client::connect(&endpoint("new-secret")).await.unwrap();
    let renewal = world.requests("/token").pop().unwrap();
    // `id:new-secret`
    assert_eq!(renewal.header("authorization"), Some("Basic aWQ6bmV3LXNlY3JldA=="));
    let record = tokens.load(&world.server).await.unwrap().unwrap();
    assert!(record.expose().contains("refresh-2") && !record.expose().contains("new-secret"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_proxy_does_not_see_the_requests_to_this_machine() {
    let world = World::start().await;
    let proxy = World::start().await;
    let output = tokio::process::Command::new(test_support::program("fixture_client"))
        .arg(&world.server)
        .envs(["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY"].map(|name| (name, &proxy.issuer)))
        .env_remove("NO_PROXY")
        .env_remove("no_proxy")
        .env_remove("REQUEST_METHOD")
        .output();
    let output = output.await.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(!world.requests("/token").is_empty());
    assert!(proxy.all_requests().is_empty());
}
