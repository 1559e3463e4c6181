//! Calls that a worker claims before it runs them.

use std::collections::HashMap;

use futures_util::StreamExt;
use serde_json::json;
use toolkit::call::ErrorKind;
use toolkit_nats::{Buckets, RetryPolicy};

use super::processes::{Process, noted};
use super::*;

async fn claimed(server: &Server, n_workers: usize, accept_ms: u64) -> Dispatcher {
    Buckets::new(connect(server)).create().await.unwrap();
    let backend = NatsBackend::new("fleet", connect(server))
        .accept_timeout(Duration::from_millis(accept_ms))
        .retry(RetryPolicy::Claimed);
    dispatcher(&backend, n_workers).await
}

/// Sends a call that must be claimed. Returns the event and the body of the reply.
async fn deliver(
    client: async_nats::Client,
    subject: String,
    call: &str,
    arguments: Value,
) -> (Option<String>, String) {
    let mut headers = async_nats::HeaderMap::new();
    headers.insert("Tk-Call", call);
    headers.insert("Tk-Once", "shared");
    let inbox = client.new_inbox();
    let mut replies = client.subscribe(inbox.clone()).await.unwrap();
    let arguments = arguments.to_string().into();
    client.publish_with_reply_and_headers(subject, inbox, headers, arguments).await.unwrap();
    loop {
        let reply = soon(replies.next()).await.unwrap();
        let event = reply.headers.as_ref().and_then(|headers| headers.get("Tk-Event").map(ToString::to_string));
        if !matches!(event.as_deref(), Some("accepted" | "beat")) {
            return (event, String::from_utf8(reply.payload.to_vec()).unwrap());
        }
    }
}

#[tokio::test]
#[ignore = "needs nats-server"]
async fn each_delivery_of_a_claimed_call_has_the_same_answer() {
    let server = Server::start();
    Buckets::new(connect(&server)).create().await.unwrap();
    let _workers: Vec<Process> = (0..3).map(|_| Process::start(&server, "")).collect();
    let backend = NatsBackend::new("fleet", connect(&server));
    until(async || backend.members().await.is_ok_and(|members| members.len() == 3)).await;
    let digest = backend.members().await.unwrap().remove(0).digest;
    let client = async_nats::connect(server.url()).await.unwrap();
    let subject = format!("tk.call.{digest}.diary.record._");
    let deliver = |call: &'static str, arguments: Value| deliver(client.clone(), subject.clone(), call, arguments);
    let arguments = json!({ "id": 7, "ms": 0 });
    // One after the other, on any worker.
    for _ in 0..12 {
        assert_eq!(deliver("one", arguments.clone()).await, (None, "7".to_owned()));
    }
    assert_eq!(noted(&server, "start"), HashMap::from([(7, 1)]));
    // All at once: the others learn which worker has claimed the call.
    let deliveries: tokio::task::JoinSet<_> = (0..12).map(|_| deliver("two", json!({ "id": 8, "ms": 4 }))).collect();
    let answers = soon(deliveries.join_all()).await;
    assert!(answers.iter().any(|answer| *answer == (None, "8".to_owned())), "{answers:?}");
    let is_known = |(event, _): &(Option<String>, String)| event.is_none() || event.as_deref() == Some("claimed");
    assert!(answers.iter().all(is_known), "{answers:?}");
    assert_eq!(noted(&server, "start")[&8], 1);
    // Another caller who knows the id, or other arguments under it, get no answer of this call.
    assert_eq!(deliver("one", json!({ "id": 10, "ms": 0 })).await, (None, "10".to_owned()));
    let other = async_nats::ConnectOptions::new().custom_inbox_prefix("_INBOX.other");
    let other = other.connect(server.url()).await.unwrap();
    let answer = self::deliver(other, subject.clone(), "one", arguments.clone()).await;
    assert_eq!((answer, noted(&server, "start")[&7]), ((None, "7".to_owned()), 2));
    // The errors of a tool are answers too, but an error before the start is not kept.
    let first = deliver("three", json!({ "id": "x" })).await;
    assert!(first.1.contains("isError"), "{first:?}");
    assert_eq!(deliver("three", json!({ "id": 9, "ms": 0 })).await, (None, "9".to_owned()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs nats-server"]
async fn calls_of_a_worker_that_hangs_run_once_elsewhere() {
    let server = Server::start();
    // The server selects a worker at random for each attempt. Of two, the one that hangs would get all eight attempts
    // of one of 40 calls in every seventh run.
    let workers: Vec<Process> = (0..4).map(|_| Process::start(&server, "beat_ms=100")).collect();
    let dispatcher = claimed(&server, 4, 300).await;
    workers[0].signal("STOP");
    let calls = (0..40_u64).map(|id| {
        let dispatcher = dispatcher.clone();
        tokio::spawn(async move { call(&dispatcher, "diary:record", json!({ "id": id, "ms": 10 })).await })
    });
    for (id, call) in calls.collect::<Vec<_>>().into_iter().enumerate() {
        assert_eq!(soon(call).await.unwrap().unwrap(), id);
    }
    // It finds the calls, and that other workers have claimed them.
    workers[0].signal("CONT");
    for id in 100..140_u64 {
        assert_eq!(call(&dispatcher, "diary:record", json!({ "id": id, "ms": 0 })).await.unwrap(), id);
    }
    let started = noted(&server, "start");
    assert!(started.len() == 80 && started.values().all(|n| *n == 1), "{started:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs nats-server"]
async fn the_outcome_of_a_claimed_call_is_unknown_if_its_worker_dies() {
    let server = Server::start();
    let mut worker = Process::start(&server, "beat_ms=100");
    let dispatcher = claimed(&server, 1, 300).await;
    let running = tokio::spawn({
        let dispatcher = dispatcher.clone();
        async move { call(&dispatcher, "diary:record", json!({ "id": 1, "ms": 600_000 })).await }
    });
    until(async || noted(&server, "start").len() == 1).await;
    let _other = Process::start(&server, "beat_ms=100");
    worker.kill();
    let error = soon(running).await.unwrap().unwrap_err();
    assert_eq!(
        (error.kind(), error.message()),
        (ErrorKind::OutcomeUnknown, "the worker of `fleet` has ended without an answer; the tool may have run")
    );
    assert_eq!(noted(&server, "start"), HashMap::from([(1, 1)]));
}

#[tokio::test]
#[ignore = "needs nats-server"]
async fn no_call_runs_unclaimed_without_a_bucket() {
    let server = Server::start();
    let _worker = Process::start(&server, "");
    let backend = NatsBackend::new("fleet", connect(&server)).retry(RetryPolicy::Claimed);
    let dispatcher = dispatcher(&backend, 1).await;
    let error = call(&dispatcher, "diary:record", json!({ "id": 1, "ms": 0 })).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    assert!(
        error.message().contains("the bucket `tk-calls` of the NATS server, by which calls are claimed"),
        "{error}"
    );
    assert!(noted(&server, "start").is_empty());
}
