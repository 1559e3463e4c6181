//! Workers, callers and servers that end, restart, hang or have too much to do. What ran is read from a file to which each
//! call appends its start and its end.

use std::time::Instant;

use serde_json::json;
use toolkit::call::ErrorKind;
use toolkit_nats::{Buckets, NatsBackend, RetryPolicy};

use super::load::{Load, N_CLIENTS};
use super::processes::{Process, noted};
use super::*;

/// Returns the number of times that each worker is replaced.
fn n_rounds() -> usize {
    std::env::var("TOOLKIT_RESTARTS").ok().and_then(|n| n.parse().ok()).unwrap_or(2)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs nats-server"]
async fn workers_are_replaced_under_load_without_a_failed_call() {
    let server = Server::start();
    let mut workers: Vec<Process> = (0..3).map(|_| Process::start(&server, "")).collect();
    let backend = NatsBackend::new("fleet", connect(&server));
    let dispatcher = dispatcher(&backend, 3).await;
    let load = Load::start(&dispatcher, "diary:record");
    for _ in 0..n_rounds() {
        for worker in &mut workers {
            tokio::time::sleep(Duration::from_millis(200)).await;
            worker.signal("TERM");
            worker.ended().await;
            *worker = Process::start(&server, "");
            until(async || backend.members().await.unwrap().len() == 3).await;
        }
    }
    let outcomes = load.end().await;
    assert_eq!(outcomes.n_twice(&server), 0);
    assert!(outcomes.answered.len() > 100 && outcomes.answered.len() == outcomes.n_calls, "{outcomes:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs nats-server"]
async fn workers_that_die_lose_no_call_silently() {
    for (policy, tool) in [
        (RetryPolicy::NotStarted, "diary:record"),
        (RetryPolicy::Claimed, "diary:record"),
        (RetryPolicy::Idempotent, "diary:repeatable"),
    ] {
        let server = Server::start();
        Buckets::new(connect(&server)).create().await.unwrap();
        let mut workers: Vec<Process> = (0..3).map(|_| Process::start(&server, "beat_ms=100")).collect();
        let backend = NatsBackend::new("fleet", connect(&server))
            .accept_timeout(Duration::from_millis(500))
            .retry(policy)
            .trusted();
        let dispatcher = dispatcher(&backend, 3).await;
        let load = Load::start(&dispatcher, tool);
        for nth in 0..3 * n_rounds() {
            tokio::time::sleep(Duration::from_millis(300)).await;
            let worker = &mut workers[nth % 3];
            worker.kill();
            *worker = Process::start(&server, "beat_ms=100");
        }
        let outcomes = load.end().await;
        let n_twice = outcomes.n_twice(&server);
        match policy {
            RetryPolicy::Idempotent => assert!(outcomes.unknown.is_empty(), "{outcomes:?}"),
            _ => assert_eq!(n_twice, 0),
        }
        let at_most = 3 * n_rounds() * usize::try_from(N_CLIENTS).unwrap();
        assert!(outcomes.unknown.len() <= at_most && outcomes.answered.len() > 100, "{outcomes:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs nats-server"]
async fn calls_go_on_after_the_server_was_restarted() {
    for policy in [RetryPolicy::NotStarted, RetryPolicy::Claimed] {
        let mut server = Server::start();
        Buckets::new(connect(&server)).create().await.unwrap();
        let _workers: Vec<Process> = (0..2).map(|_| Process::start(&server, "beat_ms=100")).collect();
        let backend =
            NatsBackend::new("fleet", connect(&server)).accept_timeout(Duration::from_millis(500)).retry(policy);
        let dispatcher = dispatcher(&backend, 2).await;
        let load = Load::start(&dispatcher, "diary:record");
        for nth in 0..n_rounds() {
            tokio::time::sleep(Duration::from_millis(300)).await;
            server.restart();
            let started = Instant::now();
            let id = u64::MAX - u64::try_from(nth).unwrap();
            until(async || call(&dispatcher, "diary:record", json!({ "id": id, "ms": 0 })).await.is_ok()).await;
            println!("a call after {:?}", started.elapsed());
        }
        let outcomes = load.end().await;
        let n_twice = outcomes.n_twice(&server);
        // The calls above are repeated by the test.
        let is_probe = |id: &u64| *id > u64::MAX / 2;
        let n_probes = noted(&server, "start").iter().filter(|(id, n)| is_probe(id) && **n > 1).count();
        assert_eq!(n_twice - n_probes, 0);
        assert!(outcomes.answered.len() > 100, "{outcomes:?}");
    }
}

#[tokio::test]
#[ignore = "needs nats-server"]
async fn calls_of_a_dead_caller_are_cancelled() {
    let server = Server::start();
    let _worker = Process::start(&server, "beat_ms=200");
    let backend = NatsBackend::new("fleet", connect(&server));
    until(async || backend.members().await.is_ok_and(|members| members.len() == 1)).await;
    let mut caller = Process::start(&server, "calls=100");
    until(async || noted(&server, "start").len() == 100).await;
    caller.kill();
    until(async || noted(&server, "cancelled").len() == 100).await;
    assert!(noted(&server, "end").is_empty());
}

#[tokio::test]
#[ignore = "needs nats-server"]
async fn a_call_that_is_dropped_before_it_was_accepted_is_cancelled() {
    let server = Server::start();
    let _worker = Process::start(&server, "");
    let dispatcher = dispatcher(&NatsBackend::new("fleet", connect(&server)), 1).await;
    for id in 0..20_u64 {
        let call = call(&dispatcher, "diary:record", json!({ "id": id, "ms": 600_000 }));
        assert!(tokio::time::timeout(Duration::from_millis(id % 4), call).await.is_err());
    }
    until(async || noted(&server, "cancelled").len() == noted(&server, "start").len()).await;
    assert!(noted(&server, "end").is_empty());
}

#[tokio::test]
#[ignore = "needs nats-server"]
async fn the_outcome_of_a_call_is_unknown_if_its_worker_hangs() {
    let server = Server::start();
    let worker = Process::start(&server, "beat_ms=100");
    let backend = NatsBackend::new("fleet", connect(&server)).accept_timeout(Duration::from_millis(300));
    let dispatcher = dispatcher(&backend, 1).await;
    // While it runs a call.
    let running = tokio::spawn({
        let dispatcher = dispatcher.clone();
        async move { call(&dispatcher, "diary:record", json!({ "id": 1, "ms": 600_000 })).await }
    });
    until(async || noted(&server, "start").len() == 1).await;
    tokio::time::sleep(Duration::from_millis(50)).await;
    worker.signal("STOP");
    let error = soon(running).await.unwrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::OutcomeUnknown, "{error}");
    assert_eq!(error.message(), "the worker of `fleet` stopped reporting; the tool may have run");
    // Before it has read the call.
    let error = call(&dispatcher, "diary:record", json!({ "id": 2, "ms": 0 })).await.unwrap_err();
    assert_eq!(error.message(), "the worker of `fleet` did not accept the call in time; the tool may have run");
    worker.signal("CONT");
}

#[tokio::test]
#[ignore = "needs nats-server"]
async fn no_later_attempt_hides_that_an_earlier_one_may_have_run() {
    for policy in [RetryPolicy::Idempotent, RetryPolicy::Claimed] {
        let server = Server::start();
        let mut worker = Process::start(&server, "");
        let backend = NatsBackend::new("fleet", connect(&server))
            .accept_timeout(Duration::from_millis(300))
            .retry(policy)
            .trusted();
        let dispatcher = dispatcher(&backend, 1).await;
        worker.signal("STOP");
        let calling = call(&dispatcher, "diary:repeatable", json!({ "id": 1, "ms": 0 }));
        let dying = async {
            tokio::time::sleep(Duration::from_millis(100)).await;
            worker.kill();
        };
        let (called, ()) = tokio::join!(calling, dying);
        assert_eq!(called.unwrap_err().kind(), ErrorKind::OutcomeUnknown);
    }
}

#[tokio::test]
#[ignore = "needs nats-server"]
async fn a_worker_at_its_limit_takes_no_more_calls_than_that() {
    let server = Server::start();
    let _worker = Process::start(&server, "max_calls=4");
    let dispatcher = dispatcher(&NatsBackend::new("fleet", connect(&server)), 1).await;
    // More calls than it has room for: each runs later.
    let calls = (0..40_u64).map(|id| {
        let dispatcher = dispatcher.clone();
        tokio::spawn(async move { call(&dispatcher, "diary:record", json!({ "id": id, "ms": 20 })).await })
    });
    for call in calls.collect::<Vec<_>>() {
        soon(call).await.unwrap().unwrap();
    }
    assert!(noted(&server, "start").values().all(|n| *n == 1));
    // No room for a long time.
    let long = (100..104_u64).map(|id| {
        let dispatcher = dispatcher.clone();
        tokio::spawn(async move { call(&dispatcher, "diary:record", json!({ "id": id, "ms": 600_000 })).await })
    });
    let long: Vec<_> = long.collect();
    until(async || noted(&server, "start").len() == 44).await;
    let started = Instant::now();
    let error = call(&dispatcher, "diary:record", json!({ "id": 200, "ms": 0 })).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Overloaded, "{error}");
    println!("rejected after {:?}", started.elapsed());
    assert!(!noted(&server, "start").contains_key(&200));
    long.iter().for_each(tokio::task::JoinHandle::abort);
    until(async || call(&dispatcher, "diary:record", json!({ "id": 201, "ms": 0 })).await.is_ok()).await;
}
