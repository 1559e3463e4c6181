//! Connections that are cut, delayed or halved by a relay, and readers that stop.

use std::time::Instant;

use serde_json::json;
use toolkit::call::CancelToken;
use toolkit::stream::Event;
use toolkit::{Context, Dispatcher};
use toolkit_nats::{Buckets, Connect, NatsBackend, RetryPolicy};

use super::load::Load;
use super::processes::{Process, noted};
use super::*;
use test_support::relay::Relay;

/// Returns a number from the environment.
fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(default)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs nats-server"]
async fn calls_of_a_caller_that_is_cut_off_are_cancelled() {
    for is_noticed in [true, false] {
        let server = Server::start();
        let relay = Relay::start(server.port()).await;
        let _worker = Process::start(&server, "beat_ms=200");
        let backend = NatsBackend::new("fleet", connect(&server));
        until(async || backend.members().await.is_ok_and(|members| members.len() == 1)).await;
        let _caller = Process::start_at(&format!("nats://{}", relay.address()), &server, "calls=100");
        until(async || noted(&server, "start").len() == 100).await;
        // The caller has answered a beat.
        tokio::time::sleep(Duration::from_millis(500)).await;
        assert!(noted(&server, "cancelled").is_empty());
        let started = Instant::now();
        match is_noticed {
            true => relay.refuse(),
            // The server still believes that the caller is connected.
            false => relay.hold([true, true]),
        }
        // The server itself notices after about a minute.
        let cancelled = until(async || noted(&server, "cancelled").len() == 100);
        tokio::time::timeout(PATIENCE / 3, cancelled).await.expect("the worker notices");
        println!("noticed by the server: {is_noticed}, cancelled after {:?}", started.elapsed());
        assert!(noted(&server, "end").is_empty());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs nats-server"]
async fn a_caller_that_is_connected_keeps_its_calls() {
    let server = Server::start();
    let relay = Relay::start(server.port()).await;
    let _worker = Process::start(&server, "beat_ms=300");
    let backend = NatsBackend::new("fleet", Connect::new(&format!("nats://{}", relay.address())).unwrap());
    let dispatcher = dispatcher(&backend, 1).await;
    // Slow, and for many beats.
    relay.delay(Duration::from_millis(50));
    assert_eq!(call(&dispatcher, "diary:record", json!({ "id": 1, "ms": 3_000 })).await.unwrap(), 1);
    // With a reader that does not read meanwhile.
    let mut events = dispatcher.stream("diary:count_up", json!({ "id": 2, "n": 100, "padding": 0 }).to_string());
    assert!(matches!(soon(events.next()).await.unwrap().event, Event::Chunk(_)));
    tokio::time::sleep(Duration::from_secs(2)).await;
    let mut n_chunks = 1;
    while let Event::Chunk(_) = soon(events.next()).await.unwrap().event {
        n_chunks += 1;
    }
    assert_eq!(n_chunks, 100);
    assert!(noted(&server, "cancelled").is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs nats-server"]
async fn connections_that_are_cut_lose_no_call_silently() {
    let seed = number("TOOLKIT_SEED", fastrand::u64(..));
    println!("TOOLKIT_SEED={seed}");
    for policy in [RetryPolicy::NotStarted, RetryPolicy::Claimed] {
        let mut random = fastrand::Rng::with_seed(seed);
        let server = Server::start();
        Buckets::new(connect(&server)).create().await.unwrap();
        let relays =
            [Relay::start(server.port()).await, Relay::start(server.port()).await, Relay::start(server.port()).await];
        let [before_caller, before_workers @ ..] = &relays;
        let _workers: Vec<Process> = before_workers
            .iter()
            .map(|relay| Process::start_at(&format!("nats://{}", relay.address()), &server, "beat_ms=100"))
            .collect();
        let backend = NatsBackend::new("fleet", Connect::new(&format!("nats://{}", before_caller.address())).unwrap())
            .accept_timeout(Duration::from_millis(500))
            .timeout(Duration::from_secs(10))
            .retry(policy);
        let dispatcher = dispatcher(&backend, 2).await;
        let load = Load::start(&dispatcher, "diary:record");
        let until = Instant::now() + Duration::from_secs(number("TOOLKIT_CUT_SECONDS", 5));
        while Instant::now() < until {
            tokio::time::sleep(Duration::from_millis(random.u64(50..300))).await;
            let relay = &relays[random.usize(..relays.len())];
            match random.u8(..5) {
                0 => relay.cut(),
                1 => relay.hold([true, false]),
                2 => relay.hold([false, true]),
                3 => relay.hold([true, true]),
                _ => relay.delay(Duration::from_millis(30)),
            }
            tokio::time::sleep(Duration::from_millis(random.u64(50..900))).await;
            relay.restore();
        }
        let outcomes = load.end().await;
        assert_eq!(outcomes.n_twice(&server), 0);
        assert!(outcomes.answered.len() > 100, "{outcomes:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs nats-server"]
async fn a_worker_holds_little_for_a_reader_that_stops() {
    let server = Server::start();
    Buckets::new(connect(&server)).create().await.unwrap();
    let worker = Process::start(&server, "");
    let backend = NatsBackend::new("fleet", connect(&server));
    let dispatcher: Dispatcher = dispatcher(&backend, 1).await;
    let n = 100_000;
    let mut events = dispatcher.stream("diary:count_up", json!({ "id": 1, "n": n, "padding": 20 }).to_string());
    let mut n_read = 0;
    while n_read < 1_000 {
        assert!(matches!(soon(events.next()).await.unwrap().event, Event::Chunk(_)));
        n_read += 1;
    }
    let before = worker.memory();
    tokio::time::sleep(Duration::from_secs(number("TOOLKIT_STOP_SECONDS", 1))).await;
    let grown = worker.memory().saturating_sub(before);
    println!("the worker grew by {grown} bytes");
    assert!(grown < 5 << 20, "{grown}");
    // Nothing is lost, and the order is kept.
    loop {
        match soon(events.next()).await.unwrap().event {
            Event::Chunk(chunk) => {
                assert_eq!(chunk.value().as_str().unwrap().trim_end(), n_read.to_string());
                n_read += 1;
            }
            Event::Done(result) => {
                assert_eq!((n_read, result.value().as_array().unwrap().len()), (n, n));
                return;
            }
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs nats-server"]
async fn an_explicit_cancellation_does_not_wait_for_a_beat() {
    let server = Server::start();
    let _worker = Process::start(&server, "beat_ms=600000");
    let dispatcher = dispatcher(&NatsBackend::new("fleet", connect(&server)), 1).await;
    let mut times = Vec::new();
    for id in 0..number("TOOLKIT_CANCELS", 10) {
        let (token, running) = (CancelToken::new(), dispatcher.clone());
        let context = Context::new().with_cancel(token.clone());
        let arguments = json!({ "id": id, "ms": 600_000 });
        let call = tokio::spawn(async move { running.call_with(&context, "diary:record", arguments).await });
        let mut tick = tokio::time::interval(Duration::from_millis(1));
        while !noted(&server, "start").contains_key(&id) {
            tick.tick().await;
        }
        // The caller knows the worker of the call, and the first beat, which is early, is over.
        tokio::time::sleep(Duration::from_millis(150)).await;
        let started = Instant::now();
        token.cancel();
        while !noted(&server, "cancelled").contains_key(&id) {
            assert!(started.elapsed() < PATIENCE);
            tick.tick().await;
        }
        times.push(started.elapsed());
        assert!(soon(call).await.unwrap().is_err());
    }
    times.sort_unstable();
    println!("cancelled after {:?} in the median, {:?} at most", times[times.len() / 2], times.last().unwrap());
}
