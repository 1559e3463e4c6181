//! Credentials files: JWTs of an operator, an account and its users, as `nsc` writes them.

use std::path::PathBuf;
use std::time::SystemTime;

use data_encoding::BASE64URL_NOPAD;
use nkeys::KeyPair;
use serde_json::json;
use toolkit::backend::Backend;
use toolkit::call::ErrorKind;
use toolkit::{catalog, tool};
use toolkit_nats::{NatsBackend, NatsError, Worker};

use super::*;

/// Adds two integers.
#[tool(namespace = "math")]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

fn now() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs()
}

/// Returns a JWT in the form of NATS.
fn jwt(issuer: &KeyPair, subject: &str, expires: Option<u64>, nats: Value) -> String {
    let mut claims =
        json!({ "jti": "1", "iat": now() - 3600, "iss": issuer.public_key(), "sub": subject, "name": "test" });
    if let Some(expires) = expires {
        claims["exp"] = json!(expires);
    }
    claims["nats"] = nats;
    claims["nats"]["version"] = json!(2);
    let part = |value: Value| BASE64URL_NOPAD.encode(value.to_string().as_bytes());
    let signed = format!("{}.{}", part(json!({ "typ": "JWT", "alg": "ed25519-nkey" })), part(claims));
    format!("{signed}.{}", BASE64URL_NOPAD.encode(&issuer.sign(signed.as_bytes()).unwrap()))
}

/// Writes the credentials file of a new user.
fn credentials(server: &Server, account: &KeyPair, name: &str, expires: u64) -> PathBuf {
    let user = KeyPair::new_user();
    let rights = json!({ "type": "user", "subs": -1, "data": -1, "payload": -1, "pub": {}, "sub": {} });
    let jwt = jwt(account, &user.public_key(), Some(expires), rights);
    let seed = user.seed().unwrap();
    let path = server.folder().join(format!("{name}.creds"));
    let text = format!(
        "-----BEGIN NATS USER JWT-----\n{jwt}\n------END NATS USER JWT------\n\n\
         -----BEGIN USER NKEY SEED-----\n{seed}\n------END USER NKEY SEED------\n"
    );
    std::fs::write(&path, text).unwrap();
    path
}

#[tokio::test]
#[ignore = "needs nats-server"]
async fn a_credentials_file_authenticates_until_it_expires() {
    let (operator, account, foreign) = (KeyPair::new_operator(), KeyPair::new_account(), KeyPair::new_account());
    let operator_jwt = jwt(&operator, &operator.public_key(), None, json!({ "type": "operator" }));
    let limits = json!({
        "subs": -1, "data": -1, "payload": -1, "imports": -1, "exports": -1, "wildcards": true, "conn": -1, "leaf": -1
    });
    let account_jwt = jwt(&operator, &account.public_key(), None, json!({ "type": "account", "limits": limits }));
    let server = Server::configured_without_jetstream(format!(
        "operator: {operator_jwt}\nresolver: MEMORY\nresolver_preload: {{ {}: {account_jwt} }}\n",
        account.public_key()
    ));
    let file = |account, name, expires| credentials(&server, account, name, expires);
    let valid = file(&account, "valid", now() + 3600);
    let worker = |path: &PathBuf| {
        Worker::new(connect(&server).credentials_file(path), Dispatcher::new(catalog![add].unwrap()).unwrap())
    };
    let _worker = Running::start(worker(&valid));
    let backend = NatsBackend::new("fleet", connect(&server).credentials_file(&valid));
    let dispatcher = dispatcher(&backend, 1).await;
    assert_eq!(call(&dispatcher, "math:add", json!({ "a": 1, "b": 2 })).await.unwrap(), 3);

    for path in [file(&account, "expired", now() - 60), file(&foreign, "foreign", now() + 3600)] {
        let backend = NatsBackend::new("fleet", connect(&server).credentials_file(&path));
        let error = soon(backend.tools()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
        let error = soon(worker(&path).run(std::future::pending())).await.unwrap_err();
        assert!(matches!(error, NatsError::Connect(_)), "{error}");
    }
}
