//! Authentication, permissions and TLS, with the configuration in `deploy/nats.conf`.

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use serde_json::json;
use toolkit::backend::Backend;
use toolkit::call::ErrorKind;
use toolkit::{catalog, tool};
use toolkit_nats::{Buckets, Connect, NatsBackend, NatsError, RetryPolicy, Worker};

use super::*;

/// Adds two integers.
#[tool(namespace = "math")]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

/// Deletes everything.
#[tool(namespace = "files")]
fn wipe() -> bool {
    true
}

/// The server of `deploy/nats.conf`, and the certificate of its authority.
fn deployed() -> (Server, std::path::PathBuf) {
    let folder = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("nats-tls-{}", std::process::id()));
    static CREATED: std::sync::Once = std::sync::Once::new();
    CREATED.call_once(|| {
        std::fs::create_dir_all(&folder).unwrap();
        for (name, files) in [("authority", ["ca.pem", "server.pem", "server.key"]), ("other", ["other.pem", "", ""])] {
            let mut params = CertificateParams::new(Vec::new()).unwrap();
            params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
            params.distinguished_name.push(rcgen::DnType::CommonName, name);
            let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
            let key = KeyPair::generate().unwrap();
            let params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
            let certificate = params.signed_by(&key, &authority).unwrap();
            for (file, text) in files.into_iter().zip([authority.pem(), certificate.pem(), key.serialize_pem()]) {
                if !file.is_empty() {
                    std::fs::write(folder.join(file), text).unwrap();
                }
            }
        }
    });
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../deploy/nats.conf")).unwrap();
    let text = text.replace("/etc/nats", &folder.display().to_string());
    // So is the directory of JetStream, which each server has for itself.
    let text = text.replace("  store_dir: \"/var/lib/nats\"\n", "");
    // The address is an option of the test.
    let text = text.replace("listen: \"0.0.0.0:4222\"\n", "");
    let text = ["WORKER", "FRONT", "ALICE"].into_iter().fold(text, |text, name| {
        text.replace(&format!("${name}_PASSWORD"), &format!("\"{}-password\"", name.to_lowercase()))
    });
    (Server::configured(text), folder)
}

fn user(server: &Server, folder: &std::path::Path, name: &str) -> Connect {
    connect(server)
        .trust(folder.join("ca.pem"))
        .require_tls()
        .user_and_password(name, format!("{name}-password"))
        .inbox_prefix(format!("_INBOX.{name}"))
}

#[tokio::test]
#[ignore = "needs nats-server"]
async fn callers_have_the_permissions_of_the_deployed_configuration() {
    let (server, folder) = deployed();
    let dispatch = Dispatcher::new(catalog![add, wipe].unwrap()).unwrap();
    let _worker = Running::start(Worker::new(user(&server, &folder, "worker"), dispatch));
    let front = NatsBackend::new("fleet", user(&server, &folder, "front"));
    let dispatcher_of_front = dispatcher(&front, 1).await;
    assert_eq!(call(&dispatcher_of_front, "math:add", json!({ "a": 1, "b": 2 })).await.unwrap(), 3);
    assert_eq!(call(&dispatcher_of_front, "files:wipe", json!({})).await.unwrap(), true);

    let alice = NatsBackend::new("fleet", user(&server, &folder, "alice"));
    let dispatcher = dispatcher(&alice, 1).await;
    assert_eq!(call(&dispatcher, "math:add", json!({ "a": 1, "b": 2 })).await.unwrap(), 3);
    let error = call(&dispatcher, "files:wipe", json!({})).await.unwrap_err();
    assert_eq!(
        (error.kind(), error.message()),
        (
            ErrorKind::Unauthorized,
            "the worker of `fleet` was not called: the NATS server does not permit this program to call the tool"
        )
    );
    // A caller cannot pose as a worker, nor read the results of others.
    let posing =
        Running::start(Worker::new(user(&server, &folder, "alice"), Dispatcher::new(catalog![add].unwrap()).unwrap()));
    let eavesdropper = NatsBackend::new("fleet", user(&server, &folder, "alice").inbox_prefix("_INBOX.front"));
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(front.members().await.unwrap().len(), 1);
    assert!(soon(eavesdropper.tools()).await.unwrap().tools.is_empty());
    posing.stop().await;
}

/// Returns the length of a text, and the text.
#[tool(namespace = "math")]
fn echo(text: String) -> (usize, String) {
    (text.len(), text)
}

#[tokio::test]
#[ignore = "needs nats-server"]
async fn large_bodies_and_claims_need_no_more_than_the_deployed_permissions() {
    let (server, folder) = deployed();
    let of_worker = || user(&server, &folder, "worker");
    let buckets = Buckets::new(of_worker()).bodies("tk-bodies-front").bodies("tk-bodies-alice");
    soon(buckets.create()).await.unwrap();
    let tools = Dispatcher::new(catalog![echo].unwrap()).unwrap();
    let _worker = Running::start(Worker::new(of_worker(), tools));
    let caller = |name: &str, bucket: &str| {
        NatsBackend::new("fleet", user(&server, &folder, name)).body_bucket(bucket).retry(RetryPolicy::Claimed)
    };
    let alice = dispatcher(&caller("alice", "tk-bodies-alice"), 1).await;
    let text = "x".repeat(3 << 20);
    let echoed = call(&alice, "math:echo", json!({ "text": text })).await.unwrap();
    assert_eq!(echoed, json!([text.len(), text]));

    // No access to the buckets of others, nor to the claims.
    let client = async_nats::ConnectOptions::with_user_and_password("alice".to_owned(), "alice-password".to_owned())
        .add_root_certificates(folder.join("ca.pem"))
        .require_tls(true)
        .custom_inbox_prefix("_INBOX.alice")
        .connect(server.url())
        .await
        .unwrap();
    let mut jetstream = async_nats::jetstream::new(client);
    jetstream.set_timeout(Duration::from_millis(500));
    assert!(jetstream.get_object_store("tk-bodies-alice").await.is_ok());
    for stream in ["OBJ_tk-bodies-front", "OBJ_tk-bodies", "KV_tk-calls"] {
        assert!(jetstream.get_stream(stream).await.is_err(), "{stream}");
    }
    // The bucket of another user is rejected as one that does not exist.
    let posing = dispatcher(&caller("alice", "tk-bodies-front"), 1).await;
    let error = call(&posing, "math:echo", json!({ "text": text })).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TooLarge, "{error}");
}

#[tokio::test]
#[ignore = "needs nats-server"]
async fn wrong_credentials_and_authorities_are_refused() {
    let (server, folder) = deployed();
    let wrong = [
        connect(&server).trust(folder.join("ca.pem")).require_tls(),
        user(&server, &folder, "alice").user_and_password("alice", "guess"),
        connect(&server).trust(folder.join("other.pem")).require_tls().user_and_password("alice", "alice-password"),
        connect(&server)
            .nkey("SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY")
            .trust(folder.join("ca.pem")),
        user(&server, &folder, "alice").credentials_file(folder.join("absent.creds")),
    ];
    for connect in wrong {
        let backend = NatsBackend::new("fleet", connect.clone());
        let error = soon(backend.tools()).await.unwrap_err();
        assert_eq!(
            (error.kind(), error.message()),
            (ErrorKind::Unavailable, "the workers of `fleet` cannot be reached")
        );
        let worker = Worker::new(connect, Dispatcher::new(catalog![add].unwrap()).unwrap());
        let error = soon(worker.run(std::future::pending())).await.unwrap_err();
        assert!(matches!(error, NatsError::Connect(_) | NatsError::Credentials { .. }), "{error}");
        let said = format!("{error} {error:?}");
        assert!(!said.contains("password") && !said.contains("guess") && !said.contains("SUACS"), "{said}");
    }
    let secret = format!("{:?}", user(&server, &folder, "alice").nkey("SUACS"));
    assert!(!secret.contains("password") && !secret.contains("SUACS"), "{secret}");
}

#[tokio::test]
#[ignore = "needs nats-server"]
async fn a_worker_replies_to_no_subject_of_the_protocol() {
    let server = Server::start();
    let _worker = Running::start(worker(&server, catalog![add].unwrap()));
    let backend = NatsBackend::new("fleet", connect(&server));
    let dispatcher = dispatcher(&backend, 1).await;
    let member = backend.members().await.unwrap().remove(0);
    let client = async_nats::connect(server.url()).await.unwrap();
    let call = format!("tk.call.{}.math.add._", member.digest);
    let arguments = r#"{"a": 1, "b": 2}"#;
    for (subject, body) in [("$SRV.INFO.toolkit", ""), ("$SRV.PING", ""), (&call, arguments), (&call, "{}")] {
        // Its own description on this subject would remove the worker from the lists of all callers.
        client.publish_with_reply(subject.to_owned(), "tk.event.leave", body.into()).await.unwrap();
    }
    // An answer shows that the worker has read all messages before.
    soon(client.request(call, arguments.into())).await.unwrap();
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(backend.members().await.unwrap(), [member]);
    assert_eq!(super::call(&dispatcher, "math:add", json!({ "a": 1, "b": 2 })).await.unwrap(), 3);
}

/// A worker knows the subjects of its own calls, and may be permitted to publish to all inboxes.
#[tokio::test]
#[ignore = "needs nats-server"]
async fn the_subjects_of_replies_do_not_show_those_of_other_calls() {
    let server = Server::start();
    let _worker = Running::start(worker(&server, catalog![add].unwrap()));
    let dispatcher = dispatcher(&NatsBackend::new("fleet", connect(&server)), 1).await;
    let mut calls = spy(&server, "tk.call.>").await;
    let mut tokens = Vec::new();
    for n in 0..3 {
        assert_eq!(super::call(&dispatcher, "math:add", json!({ "a": 1, "b": n })).await.unwrap(), 1 + n);
        let message = soon(futures_util::StreamExt::next(&mut calls)).await.unwrap();
        let events = message.headers.as_ref().unwrap().get("Tk-Events").unwrap().to_string();
        let reply = message.reply.unwrap().to_string();
        tokens.push([events, reply].map(|subject| subject.rsplit('.').next().unwrap().to_owned()));
    }
    for (one, other) in [(0, 1), (0, 2), (1, 2)] {
        for (one, other) in std::iter::zip(&tokens[one], &tokens[other]) {
            let n_equal = std::iter::zip(one.bytes(), other.bytes()).filter(|(one, other)| one == other).count();
            assert!(one.len() >= 22 && n_equal < 11, "{one} {other}");
        }
    }
}

#[tokio::test]
#[ignore = "needs nats-server"]
async fn an_nkey_authenticates() {
    let server = Server::configured(
        "authorization { users: [{ nkey: \"UDXU4RCSJNZOIQHZNWXHXORDPRTGNJAHAHFRGZNEEJCPQTT2M7NLCNF4\" }] }",
    );
    let connect = || connect(&server).nkey("SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY");
    let _worker = Running::start(Worker::new(connect(), Dispatcher::new(catalog![add].unwrap()).unwrap()));
    let dispatcher = dispatcher(&NatsBackend::new("fleet", connect()), 1).await;
    assert_eq!(call(&dispatcher, "math:add", json!({ "a": 1, "b": 2 })).await.unwrap(), 3);
}
