//! Arguments and results that do not fit into a message.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use serde_json::json;
use tokio::sync::Semaphore;
use toolkit::call::ErrorKind;
use toolkit::{catalog, tool};
use toolkit_nats::{Buckets, NatsBackend, Worker, WorkerLimits};

use super::*;

const MAX_PAYLOAD: usize = 1 << 20;
const LIMIT: usize = MAX_PAYLOAD - (16 << 10);
const MIB: usize = 1 << 20;

/// Returns a text of some length, and the length of the input.
#[tool]
fn resize(input: String, n: usize) -> Vec<String> {
    vec![input.len().to_string(), "y".repeat(n)]
}

/// Starts a worker and returns a dispatcher for its tools, both without size limits of their own.
async fn start(server: &Server) -> (Running, NatsBackend, Dispatcher) {
    let unlimited = |catalog| Dispatcher::builder(catalog).max_argument_bytes(usize::MAX).max_result_bytes(usize::MAX);
    let tools = unlimited(catalog![resize].unwrap()).build().unwrap();
    let running = Running::start(Worker::new(connect(server), tools));
    let backend = NatsBackend::new("fleet", connect(server));
    until(async || backend.members().await.is_ok_and(|members| members.len() == 1)).await;
    let backends = Backends::new();
    backends.register(backend.clone()).unwrap();
    let collected = soon(backends.collect(Catalog::new([]).unwrap())).await;
    let dispatcher = unlimited(collected.catalog).routes(collected.routes).build().unwrap();
    (running, backend, dispatcher)
}

/// Returns arguments and the length of their input, so that they have `n_bytes` of JSON.
fn arguments(n_bytes: usize) -> (Value, usize) {
    let n_input = n_bytes - json!({ "input": "", "n": 0 }).to_string().len();
    (json!({ "input": "x".repeat(n_input), "n": 0 }), n_input)
}

/// Returns arguments for a result of `n_bytes` of JSON.
fn for_result(n_bytes: usize) -> (Value, usize) {
    let n = n_bytes - json!(["0", ""]).to_string().len();
    (json!({ "input": "", "n": n }), n)
}

/// Returns the number of messages in a bucket, which are the objects and their parts.
async fn n_stored(server: &Server, bucket: &str) -> u64 {
    let jetstream = async_nats::jetstream::new(async_nats::connect(server.url()).await.unwrap());
    let stream = jetstream.get_stream(format!("OBJ_{bucket}")).await.unwrap();
    stream.cached_info().state.messages
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs nats-server"]
async fn a_full_bucket_is_named_with_a_remedy_that_helps_and_takes_smaller_bodies() {
    let server = Server::start();
    Buckets::new(connect(&server)).max_bytes(4 * MIB as u64).create().await.unwrap();
    let (_worker, _backend, dispatcher) = start(&server).await;
    const FULL: &str = "the bucket `tk-bodies` is full: increase `max_bytes` of its stream `OBJ_tk-bodies`, or wait until bodies \
                        that nobody has read have expired";
    let error = call(&dispatcher, "fleet:resize", arguments(8 * MIB).0).await.unwrap_err();
    let message = format!("the arguments have {} bytes, and {FULL}", 8 * MIB);
    assert_eq!((error.kind(), error.message()), (ErrorKind::Overloaded, &*message));
    let error = call(&dispatcher, "fleet:resize", for_result(8 * MIB).0).await.unwrap_err();
    let message =
        format!("the result has {} bytes, more than the limit of {LIMIT} of the NATS server, and {FULL}", 8 * MIB);
    assert_eq!((error.kind(), error.message()), (ErrorKind::ResultTooLarge, &*message));
    // No parts of those are left.
    call(&dispatcher, "fleet:resize", arguments(3 * MIB).0).await.unwrap();

    let jetstream = async_nats::jetstream::new(async_nats::connect(server.url()).await.unwrap());
    let mut config = jetstream.get_stream("OBJ_tk-bodies").await.unwrap().cached_info().config.clone();
    config.max_bytes = 16 * MIB as i64;
    jetstream.update_stream(config).await.unwrap();
    call(&dispatcher, "fleet:resize", arguments(8 * MIB).0).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs nats-server"]
async fn bodies_of_up_to_64_mib_arrive_and_are_deleted() {
    let server = Server::start();
    Buckets::new(connect(&server)).create().await.unwrap();
    let (_worker, _backend, dispatcher) = start(&server).await;
    for n_bytes in [LIMIT - 1, LIMIT, LIMIT + 1, 8 * MIB, 64 * MIB] {
        let started = Instant::now();
        let (input, n_input) = arguments(n_bytes);
        let value = call(&dispatcher, "fleet:resize", input).await.unwrap();
        assert_eq!(value, json!([n_input.to_string(), ""]));
        let between = Instant::now();
        let (input, n_output) = for_result(n_bytes);
        let value = call(&dispatcher, "fleet:resize", input).await.unwrap();
        let text = value[1].as_str().unwrap();
        assert!(text.len() == n_output && text.bytes().all(|byte| byte == b'y'), "{n_bytes}");
        println!("{n_bytes} bytes: arguments in {:?}, result in {:?}", between - started, between.elapsed());
        until(async || n_stored(&server, "tk-bodies").await == 0).await;
    }
    let limit = 64 * MIB;
    let error = call(&dispatcher, "fleet:resize", arguments(limit + 1).0).await.unwrap_err();
    let message = format!("the arguments have {} bytes, more than the limit of {limit}", limit + 1);
    assert_eq!((error.kind(), error.message()), (ErrorKind::TooLarge, &*message));
    let error = call(&dispatcher, "fleet:resize", for_result(limit + 1).0).await.unwrap_err();
    let message = format!("the result has {} bytes, more than the limit of {limit}", limit + 1);
    assert_eq!((error.kind(), error.message()), (ErrorKind::ResultTooLarge, &*message));
    assert_eq!(n_stored(&server, "tk-bodies").await, 0);
}

#[tokio::test]
#[ignore = "needs nats-server"]
async fn without_a_bucket_a_large_body_is_rejected_at_once() {
    let without_bucket = Server::start();
    let without_jetstream = Server::without_jetstream();
    for server in [&without_bucket, &without_jetstream] {
        let (_worker, _backend, dispatcher) = start(server).await;
        for n_bytes in [LIMIT - 1, LIMIT] {
            call(&dispatcher, "fleet:resize", arguments(n_bytes).0).await.unwrap();
            call(&dispatcher, "fleet:resize", for_result(n_bytes).0).await.unwrap();
        }
        for n_bytes in [LIMIT + 1, 8 * MIB] {
            let started = Instant::now();
            let error = call(&dispatcher, "fleet:resize", arguments(n_bytes).0).await.unwrap_err();
            let message = format!(
                "the arguments have {n_bytes} bytes, more than the limit of {LIMIT} of the NATS server, and were not \
                 stored in the bucket `tk-bodies`"
            );
            assert_eq!((error.kind(), error.message()), (ErrorKind::TooLarge, &*message));
            let error = call(&dispatcher, "fleet:resize", for_result(n_bytes).0).await.unwrap_err();
            let message = format!(
                "the result has {n_bytes} bytes, more than the limit of {LIMIT} of the NATS server, and was not stored \
                 in the bucket `tk-bodies`"
            );
            assert_eq!((error.kind(), error.message()), (ErrorKind::ResultTooLarge, &*message));
            println!("{n_bytes} bytes: rejected in {:?}", started.elapsed());
        }
    }
}

#[tokio::test]
#[ignore = "needs nats-server"]
async fn a_caller_has_a_bucket_of_its_own() {
    let server = Server::start();
    Buckets::new(connect(&server)).bodies("tk-bodies-alice").create().await.unwrap();
    let (_worker, backend, _) = start(&server).await;
    let of_alice = backend.clone().body_bucket("tk-bodies-alice");
    let dispatcher = collected(&of_alice).await;
    for (input, header) in [("x".repeat(2 * MIB), "Tk-Body"), (String::new(), "Tk-Bodies")] {
        let error = call(&dispatcher, "fleet:resize", json!({ "input": input, "n": 1 })).await.unwrap_err();
        let message = format!("the header `{header}` names the bucket of another caller");
        assert!(error.message().contains(&message), "{error}");
    }
    let connect = connect(&server).inbox_prefix("_INBOX.alice");
    let dispatcher = collected(&NatsBackend::new("fleet", connect).body_bucket("tk-bodies-alice")).await;
    call(&dispatcher, "fleet:resize", json!({ "input": "x".repeat(2 * MIB), "n": 2 * MIB })).await.unwrap();
    let jetstream = async_nats::jetstream::new(async_nats::connect(server.url()).await.unwrap());
    let mut stream = jetstream.get_stream("OBJ_tk-bodies").await.unwrap();
    // Its sequence counts what was ever stored.
    assert_eq!(stream.info().await.unwrap().state.last_sequence, 0);
    until(async || n_stored(&server, "tk-bodies-alice").await == 0).await;
    // Nothing else is a bucket for bodies.
    let dispatcher = collected(&backend.body_bucket("tk-calls")).await;
    let error = call(&dispatcher, "fleet:resize", json!({ "input": "", "n": 1 })).await.unwrap_err();
    assert!(error.message().contains("the header `Tk-Bodies` must name a bucket for bodies"), "{error}");
}

#[tokio::test]
#[ignore = "needs nats-server"]
async fn an_altered_body_is_not_used() {
    let server = Server::start();
    Buckets::new(connect(&server)).create().await.unwrap();
    let (_worker, backend, _) = start(&server).await;
    let digest = backend.members().await.unwrap().remove(0).digest;
    let client = async_nats::connect(server.url()).await.unwrap();
    let store = async_nats::jetstream::new(client.clone()).get_object_store("tk-bodies").await.unwrap();
    let body = br#"{"input": "abc", "n": 0}"#;
    store.put("object", &mut &body[..]).await.unwrap();
    let sha256 = |body: &[u8]| {
        use sha2::{Digest, Sha256};
        Sha256::digest(body).iter().map(|byte| format!("{byte:02x}")).collect::<String>()
    };
    let other = br#"{"input": "xyz", "n": 0}"#;
    for (sha256, len, object, is_used) in [
        (sha256(body), body.len(), "object", true),
        (sha256(other), body.len(), "object", false),
        (sha256(body), body.len() - 1, "object", false),
        (sha256(body), body.len(), "absent", false),
    ] {
        let mut headers = async_nats::HeaderMap::new();
        headers.insert("Tk-Body", format!("tk-bodies/{object};sha256={sha256};len={len}"));
        let subject = format!("tk.call.{digest}._.resize._");
        let reply = soon(client.request_with_headers(subject, headers, "".into())).await.unwrap();
        let text = String::from_utf8_lossy(&reply.payload);
        match is_used {
            true => assert_eq!(text, r#"["3",""]"#),
            false => assert!(text.contains("cannot read the arguments from the bucket `tk-bodies`"), "{text}"),
        }
    }
}

#[tokio::test]
#[ignore = "needs nats-server"]
async fn arguments_wait_for_memory() {
    static N_RUNNING: AtomicUsize = AtomicUsize::new(0);

    /// Returns the number of calls that run.
    #[tool]
    async fn count_running(input: String) -> usize {
        assert!(!input.is_empty());
        let n_running = N_RUNNING.fetch_add(1, Ordering::SeqCst) + 1;
        tokio::time::sleep(Duration::from_millis(50)).await;
        N_RUNNING.fetch_sub(1, Ordering::SeqCst);
        n_running
    }

    let server = Server::start();
    Buckets::new(connect(&server)).create().await.unwrap();
    let mut limits = WorkerLimits::default();
    limits.max_body_bytes = 3 * MIB;
    let _worker = Running::start(worker(&server, catalog![count_running].unwrap()).limits(limits));
    let dispatcher = dispatcher(&NatsBackend::new("fleet", connect(&server)), 1).await;
    let calls = (0..6).map(|_| {
        let dispatcher = dispatcher.clone();
        async move { call(&dispatcher, "fleet:count_running", json!({ "input": "x".repeat(2 * MIB) })).await }
    });
    let calls: tokio::task::JoinSet<_> = calls.collect();
    for n_running in soon(calls.join_all()).await {
        assert_eq!(n_running.unwrap(), 1);
    }
    let error = call(&dispatcher, "fleet:count_running", json!({ "input": "x".repeat(3 * MIB) })).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TooLarge);
    assert!(error.message().contains("more than the limit of 3145728"), "{error}");
}

#[tokio::test]
#[ignore = "needs nats-server"]
async fn the_arguments_of_one_caller_leave_memory_to_those_of_another() {
    static N_STARTED: AtomicUsize = AtomicUsize::new(0);
    static MAY_END: Semaphore = Semaphore::const_new(0);

    /// Returns the length of the input once it may end.
    #[tool]
    async fn hold(input: String) -> usize {
        N_STARTED.fetch_add(1, Ordering::SeqCst);
        MAY_END.acquire().await.unwrap().forget();
        input.len()
    }

    let server = Server::start();
    Buckets::new(connect(&server)).create().await.unwrap();
    let mut limits = WorkerLimits::default();
    limits.max_body_bytes = 8 * MIB;
    let _worker = Running::start(worker(&server, catalog![hold, resize].unwrap()).limits(limits));
    let caller =
        async |user: &str| dispatcher(&NatsBackend::new("fleet", connect(&server).inbox_prefix(user)), 1).await;
    let (alice, bob) = (caller("_INBOX.alice").await, caller("_INBOX.bob").await);
    let held = (0..4).map(|_| {
        let alice = alice.clone();
        async move { call(&alice, "fleet:hold", json!({ "input": "x".repeat(2 * MIB) })).await }
    });
    let held: tokio::task::JoinSet<_> = held.collect();
    until(async || N_STARTED.load(Ordering::SeqCst) == 2).await;
    for _ in 0..3 {
        call(&bob, "fleet:resize", json!({ "input": "x".repeat(2 * MIB), "n": 0 })).await.unwrap();
    }
    assert_eq!(N_STARTED.load(Ordering::SeqCst), 2, "the other calls of alice wait");
    MAY_END.add_permits(4);
    for length in soon(held.join_all()).await {
        assert_eq!(length.unwrap(), 2 * MIB);
    }
}
