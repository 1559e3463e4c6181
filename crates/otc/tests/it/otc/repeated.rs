//! Repeated calls.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;
use toolkit::CancelToken;
use toolkit_otc::{Limits, Server};

use super::*;

/// A tool that counts its runs and returns the requested number of letters.
async fn counting(n_runs: &Arc<AtomicUsize>) -> Dispatcher {
    let schema = json!({ "type": "object", "properties": { "n": { "type": "integer" } } });
    let tool = Tool::builder("Letters").namespace("Any").version("1.0.0").input(schema).build().unwrap();
    let n_runs = Arc::clone(n_runs);
    dispatcher_of([tool], move |_, arguments, _| {
        n_runs.fetch_add(1, Ordering::Relaxed);
        match arguments["n"].as_u64().unwrap_or_default() {
            0 => Err(ToolError::failed("none")),
            n => Ok(json!("x".repeat(n as usize))),
        }
    })
    .await
}

fn letters(call_id: &str, n: usize) -> Value {
    json!({ "tool_id": "Any.Letters", "call_id": call_id, "input": { "n": n } })
}

#[tokio::test]
async fn a_call_runs_once_and_gets_the_same_answer() {
    let n_runs = Arc::default();
    let router = Server::new(counting(&n_runs).await).into_service();
    // A failure is cached too.
    for n in [3, 0] {
        n_runs.store(0, Ordering::Relaxed);
        let call_id = format!("call-{n}");
        let first = http::call(&router, letters(&call_id, n)).await.is(200);
        for _ in 0..3 {
            assert_eq!(http::call(&router, letters(&call_id, n)).await.is(200).body, first.body);
        }
        assert_eq!(n_runs.load(Ordering::Relaxed), 1);
    }
}

#[tokio::test]
async fn a_rejected_call_is_not_cached() {
    let n_runs = Arc::default();
    let router = Server::new(counting(&n_runs).await).into_service();
    let wrong = json!({ "tool_id": "Any.Letters", "call_id": "1", "input": { "n": "one" } });
    http::call(&router, wrong).await.is(422);
    http::call(&router, letters("1", 1)).await.is(200);
}

#[tokio::test]
async fn the_id_of_another_call_is_rejected() {
    let n_runs = Arc::default();
    let router = Server::new(counting(&n_runs).await).into_service();
    http::call(&router, letters("1", 1)).await.is(200);
    http::call(&router, letters("1", 2)).await.is(400);
    let mut of_another_user = letters("1", 1);
    of_another_user["context"] = json!({ "user_id": "eve" });
    http::call(&router, of_another_user).await.is(400);
    assert_eq!(n_runs.load(Ordering::Relaxed), 1);
}

/// A tool that waits for a signal.
async fn waiting(n_runs: &Arc<AtomicUsize>, go_on: &CancelToken, cancelled: &CancelToken) -> Dispatcher {
    struct Guard(CancelToken, bool);
    impl Drop for Guard {
        fn drop(&mut self) {
            if !self.1 {
                self.0.cancel();
            }
        }
    }
    let (n_runs, go_on, cancelled) = (Arc::clone(n_runs), go_on.clone(), cancelled.clone());
    let local = LocalBackend::new("local");
    local.add(tool_of(&definition("Doorbell.Ring@0.1.0")), move |_: Value, _: Context| {
        let (n_runs, go_on, cancelled) = (Arc::clone(&n_runs), go_on.clone(), cancelled.clone());
        async move {
            n_runs.fetch_add(1, Ordering::Relaxed);
            let mut guard = Guard(cancelled, false);
            go_on.cancelled().await;
            guard.1 = true;
            Ok(json!(null))
        }
    });
    dispatcher_on(local).await
}

fn ring() -> Value {
    json!({ "tool_id": "Doorbell.Ring", "call_id": "1", "input": { "doorbell_id": "1" } })
}

#[tokio::test]
async fn repeated_calls_wait_for_the_first() {
    let (n_runs, go_on, cancelled) = (Arc::default(), CancelToken::new(), CancelToken::new());
    let router = Server::new(waiting(&n_runs, &go_on, &cancelled).await).into_service();
    let call = || {
        let router = router.clone();
        tokio::spawn(async move { http::call(&router, ring()).await })
    };
    let calls: Vec<_> = (0..8).map(|_| call()).collect();
    while n_runs.load(Ordering::Relaxed) == 0 {
        tokio::task::yield_now().await;
    }
    // A disconnected client, even the first, does not affect the others.
    calls[0].abort();
    tokio::task::yield_now().await;
    go_on.cancel();
    let mut dedup = Vec::new();
    for call in calls.into_iter().skip(1) {
        dedup.push(call.await.unwrap().is(200).body);
    }
    assert!(dedup.iter().all(|answer| *answer == dedup[0]));
    assert_eq!(n_runs.load(Ordering::Relaxed), 1);
    assert!(!cancelled.is_cancelled());
}

#[tokio::test]
async fn a_call_is_cancelled_when_the_last_client_disconnects() {
    let (n_runs, go_on, cancelled) = (Arc::default(), CancelToken::new(), CancelToken::new());
    let router = Server::new(waiting(&n_runs, &go_on, &cancelled).await).into_service();
    let call = tokio::spawn({
        let router = router.clone();
        async move { http::call(&router, ring()).await }
    });
    while n_runs.load(Ordering::Relaxed) == 0 {
        tokio::task::yield_now().await;
    }
    call.abort();
    tokio::time::timeout(PATIENCE, cancelled.cancelled()).await.expect("the call is cancelled");
    // The call ran, so it does not run again.
    let got = http::call(&router, ring()).await.is(200);
    assert_eq!(got.body["result"]["error"]["message"], "the call was cancelled");
    assert_eq!(n_runs.load(Ordering::Relaxed), 1);
}

proptest! {
    #![proptest_config(test_support::random(64))]

    /// The cache keeps the most recent responses up to the limit.
    #[test]
    fn the_answers_that_are_kept_are_the_last_ones(
        ids in prop::collection::vec(0_u8..8, 1..60),
        max_cached_responses in 0_usize..6,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let n_runs = Arc::default();
            let mut limits = Limits::default();
            limits.max_cached_responses = max_cached_responses;
            let router = Server::new(counting(&n_runs).await).limits(limits).into_service();
            let mut kept: Vec<u8> = Vec::new();
            let mut n_expected = 0;
            for id in ids {
                http::call(&router, letters(&id.to_string(), 1)).await.is(200);
                match kept.iter().position(|&other| other == id) {
                    Some(place) => {
                        kept.remove(place);
                    }
                    None => n_expected += 1,
                }
                kept.push(id);
                if kept.len() > max_cached_responses {
                    kept.remove(0);
                }
                prop_assert_eq!(n_runs.load(Ordering::Relaxed), n_expected);
            }
            Ok(())
        })?;
    }

    /// However long the dedup are, a few of the last fit into the limit, and more than fit are not there.
    #[test]
    fn the_answers_that_are_kept_have_no_more_bytes_than_may_be(
        lengths in prop::collection::vec(1_usize..4000, 2..40),
    ) {
        const MAX_BYTES: usize = 10_000;

        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let n_runs = Arc::default();
            let mut limits = Limits::default();
            limits.max_cached_bytes = MAX_BYTES;
            let router = Server::new(counting(&n_runs).await).limits(limits).into_service();
            for (id, &length) in lengths.iter().enumerate() {
                http::call(&router, letters(&id.to_string(), length)).await.is(200);
            }
            // From the last to the first, so that asking for one that is kept makes none go.
            let mut n_bytes = 0;
            for (id, &length) in lengths.iter().enumerate().rev() {
                let before = n_runs.load(Ordering::Relaxed);
                http::call(&router, letters(&id.to_string(), length)).await.is(200);
                if n_runs.load(Ordering::Relaxed) > before {
                    break;
                }
                n_bytes += length;
            }
            prop_assert!(n_bytes > 0 && n_bytes <= MAX_BYTES, "{n_bytes} bytes are kept");
            Ok(())
        })?;
    }
}
