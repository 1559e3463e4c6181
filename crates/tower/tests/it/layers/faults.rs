//! All layers around misbehaving tools.

use std::time::Duration;

use test_support::wait::until;
use toolkit::call::ErrorKind;
use toolkit::dispatch::DispatcherBuilder;
use toolkit::stream::Event;
use toolkit::{CancelToken, Context};
use toolkit_tower::{Approval, ConcurrencyPerTool, Decision, FromTower, Rate, RateLimit, Retry, Traced};
use tower::timeout::TimeoutLayer;

use super::tools::dispatcher;

/// Adds all layers in the recommended order.
pub(crate) fn all(builder: DispatcherBuilder) -> DispatcherBuilder {
    builder
        .layer(Traced::new().arguments(true).results(true))
        .layer(RateLimit::overall(Rate::new(1_000_000, Duration::from_secs(1))))
        .layer(Approval::new(async |_| Decision::Approve))
        .layer(Retry::new().backoff(Duration::from_millis(1), Duration::from_millis(2)))
        .layer(RateLimit::per_tool(Rate::new(1_000_000, Duration::from_secs(1))))
        .layer(ConcurrencyPerTool::new(3))
        .layer(FromTower::new(TimeoutLayer::new(Duration::from_millis(40))))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_call_ends_with_the_expected_error() {
    for (tool, expected, n_runs) in [
        ("panics", ErrorKind::Panicked, 1),
        ("lies", ErrorKind::InvalidOutput, 1),
        ("hangs", ErrorKind::TimedOut, 3),
        ("blocks", ErrorKind::TimedOut, 3),
        ("stays", ErrorKind::TimedOut, 3),
    ] {
        let (dispatcher, seen) = dispatcher(all);
        let error = dispatcher.call(tool, "{}").await.unwrap_err();
        assert_eq!(error.kind(), expected, "{tool}");
        assert!(!error.to_string().contains("secret"), "{error}");
        assert_eq!(error.tool(), Some(&*format!("layers:{tool}")));
        seen.let_go();
        // A blocking tool may start after its call was dropped.
        until(async || seen.begun() >= n_runs && seen.running() == 0).await;
        assert_eq!(seen.begun(), n_runs, "{tool}");
    }
}

#[tokio::test]
async fn a_flood_of_progress_does_not_delay_the_result() {
    let (dispatcher, _) = dispatcher(all);
    let mut events = dispatcher.stream("floods", "{}");
    let (mut n_events, mut is_done) = (0, false);
    while let Some(event) = events.next().await {
        n_events += 1;
        is_done |= matches!(event.event, Event::Done(_));
    }
    assert!(is_done && n_events < 10_000, "{n_events} events");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn ten_thousand_calls_through_all_layers_end_and_release_their_permits() {
    const TOOLS: [&str; 4] = ["flaky", "panics", "lies", "flaky_reader"];

    let (dispatcher, seen) = dispatcher(|builder| {
        let limit = ConcurrencyPerTool::new(2);
        builder
            .layer(Traced::new())
            .layer(Retry::new().backoff(Duration::from_millis(1), Duration::from_millis(2)))
            .layer(limit)
    });
    let calls: Vec<_> = (0..10_000)
        .map(|n| {
            let (dispatcher, token) = (dispatcher.clone(), CancelToken::new());
            tokio::spawn(async move {
                let context = Context::new().with_cancel(token.clone());
                let call = dispatcher.call_with(&context, TOOLS[n % 4], "{}");
                let give_up = async {
                    tokio::task::yield_now().await;
                    if n % 5 == 0 {
                        token.cancel();
                    }
                };
                tokio::join!(call, give_up).0.map(drop).map_err(|error| error.kind())
            })
        })
        .collect();
    let mut n_ended = 0;
    for call in calls {
        match call.await.unwrap() {
            Ok(()) | Err(ErrorKind::Panicked | ErrorKind::InvalidOutput | ErrorKind::Cancelled) => n_ended += 1,
            Err(other) => panic!("{other:?}"),
        }
    }
    assert_eq!((n_ended, seen.running()), (10_000, 0));
    assert!(seen.most() <= 2 * TOOLS.len(), "{} ran at once", seen.most());
}
