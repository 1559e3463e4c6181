//! Registering, enabling, disabling, starting and stopping backends.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use tokio::sync::Semaphore;
use toolkit::Tool;
use toolkit::dispatch::BoxFuture;
use toolkit_backends::RegisterError;
use tower::limit::GlobalConcurrencyLimitLayer;

use super::*;

/// Polls a future once.
async fn is_pending<T>(work: &mut Pin<Box<impl Future<Output = T>>>) -> bool {
    poll_fn(|cx| Poll::Ready(work.as_mut().poll(cx).is_pending())).await
}

#[test]
fn a_name_is_given_once_and_is_a_namespace() {
    let registry = registered([Scripted::new("one", BackendKind::Mcp, [])]);
    let taken = registry.register(Scripted::new("one", BackendKind::Local, [])).unwrap_err();
    assert_eq!(taken, RegisterError::Taken("one".to_owned()));
    for name in ["", "a:b", "a b"] {
        let error = registry.register(Scripted::new(name, BackendKind::Local, [])).unwrap_err();
        assert!(error.to_string().starts_with("the name of a backend must be a namespace: "), "{error}");
    }
    assert_eq!(registry.names(), ["one"]);
}

#[test]
fn backends_are_listed_by_kind_in_the_order_of_their_registration() {
    let registry = registered([
        Scripted::new("b", BackendKind::Provider, []),
        Scripted::new("c", BackendKind::Mcp, []),
        Scripted::new("a", BackendKind::Provider, []),
    ]);
    assert_eq!(registry.names(), ["b", "c", "a"]);
    assert_eq!(registry.names_of_kind(BackendKind::Provider), ["b", "a"]);
    assert!(registry.names_of_kind(BackendKind::Local).is_empty());
}

#[tokio::test]
async fn disabled_backends_are_not_started_and_all_are_stopped() {
    let (on, off) = (Scripted::new("on", BackendKind::Mcp, []), Scripted::new("off", BackendKind::Mcp, []));
    let registry = registered([on.clone(), off.clone()]);
    assert!(registry.disable("off") && !registry.disable("nobody"));
    assert!(registry.is_enabled("on") && !registry.is_enabled("off") && !registry.is_enabled("nobody"));

    assert!(registry.start().await.is_empty());
    assert!(registry.health().await.is_empty());
    let _ = registry.collect(base()).await;
    assert!(registry.stop().await.is_empty());
    assert_eq!(on.asked(), ["start", "health", "tools", "stop"]);
    assert_eq!(off.asked(), ["stop"]);

    assert!(registry.enable("off"));
    assert!(registry.health().await.is_empty());
    assert_eq!(off.asked(), ["stop", "health"]);
}

#[tokio::test]
async fn each_failure_is_reported_and_affects_no_other_backend() {
    let registry = registered([
        Scripted::new("failing", BackendKind::Mcp, []).in_mood(Mood::Failing),
        Scripted::new("panicking", BackendKind::Mcp, []).in_mood(Mood::Panicking),
        Scripted::new("silent", BackendKind::Mcp, []).in_mood(Mood::Silent),
        Scripted::new("well", BackendKind::Mcp, [open("tool")]),
    ]);
    let registry = registry.with_request_timeout(Duration::from_millis(50));
    for failures in [registry.start().await, registry.health().await, registry.stop().await] {
        let told: Vec<String> = failures.iter().map(ToString::to_string).collect();
        assert_eq!(
            told,
            [
                "failing: not today",
                "panicking: the tool failed with an internal error",
                "silent: no response within 50ms",
            ]
        );
    }
    let collected = registry.collect(base()).await;
    assert_eq!(collected.failures.len(), 3);
    assert!(collected.catalog.get("well:tool").is_some());
    assert!(collected.catalog.get("here:increment").is_some());
}

#[tokio::test]
async fn an_unregistered_backend_is_stopped_and_runs_nothing() {
    let backend = Scripted::new("gone", BackendKind::Provider, [open("tool")]);
    let registry = registered([backend.clone()]);
    let dispatcher = dispatcher(&registry).await;
    assert!(dispatcher.call("gone:tool", "{}").await.is_ok());

    assert!(registry.unregister("gone").await.unwrap());
    assert!(!registry.unregister("gone").await.unwrap());
    assert_eq!(backend.asked().last().unwrap(), "stop");
    let error = dispatcher.call("gone:tool", "{}").await.unwrap_err();
    assert_eq!((error.kind(), error.is_retryable()), (ErrorKind::Unavailable, true));
    assert_eq!(error.to_string(), "gone:tool: the backends of this tool are disabled: `gone`");
}

#[tokio::test]
async fn a_retired_backend_finishes_its_calls_and_runs_no_others() {
    let backend = Scripted::new("peer", BackendKind::Mcp, [open("tool")]);
    let registry = registered([backend.clone()]);
    let dispatcher = dispatcher(&registry).await;
    let mut running = Box::pin(dispatcher.call("peer:tool", "{}"));
    assert!(is_pending(&mut running).await, "the call has started");
    assert_eq!(registry.report()[0].calls.n_running, 1);
    let retired = registry.retire("peer").unwrap();
    assert!(registry.names().is_empty() && registry.retire("peer").is_none());
    let mut stopping = Box::pin(retired.stop_when_idle());
    assert!(is_pending(&mut stopping).await, "a call is running");
    let error = dispatcher.call("peer:tool", "{}").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(running.await.is_ok());
    stopping.await.unwrap();
    assert_eq!(backend.asked(), ["tools", "call tool", "stop"]);
}

#[tokio::test]
async fn a_retired_backend_is_stopped_with_all_others() {
    let backend = Scripted::new("peer", BackendKind::Mcp, [open("tool")]);
    let registry = registered([backend.clone()]);
    let retired = registry.retire("peer").unwrap();
    assert!(registry.stop().await.is_empty());
    assert_eq!(backend.asked(), ["stop"]);
    drop(retired);
    assert!(registry.stop().await.is_empty());
    assert_eq!(backend.asked(), ["stop"], "nothing refers to it");
}

#[tokio::test]
async fn the_tools_of_a_replaced_backend_stay_until_the_new_one_answers() {
    let old = Scripted::new("peer", BackendKind::Mcp, [open("tool"), open("removed")]);
    let registry = registered([old.clone()]);
    let before = dispatcher(&registry).await;
    let silent = Scripted::new("peer", BackendKind::Mcp, []).in_mood(Mood::Silent);
    let first = registry.replace(silent).unwrap().unwrap();
    let collected = registry.collect_within(base(), Duration::from_millis(10)).await;
    assert!(collected.failures[0].is_pending);
    assert!(collected.catalog.resolve("peer:removed").is_ok());
    assert!(before.call("peer:tool", "{}").await.is_ok(), "an earlier dispatcher calls the old backend");
    first.stop_when_idle().await.unwrap();

    let new = Scripted::new("peer", BackendKind::Mcp, [open("tool")]);
    let second = registry.replace(new.clone()).unwrap().unwrap();
    let after = dispatcher(&registry).await;
    assert!(after.catalog().resolve("peer:removed").is_err());
    assert!(after.call("peer:tool", "{}").await.is_ok());
    assert_eq!(
        (old.asked(), new.asked()),
        (vec!["tools".into(), "call tool".into(), "stop".into()], vec!["tools".into(), "call tool".into()])
    );
    drop(second);
    assert!(registry.replace(Scripted::new("other", BackendKind::Mcp, [])).unwrap().is_none());
    assert_eq!(registry.names(), ["peer", "other"]);
}

#[tokio::test]
async fn a_replaced_backend_finishes_calls_that_wait_in_a_layer() {
    let backend = Scripted::new("peer", BackendKind::Mcp, [open("tool")]);
    let registry = registered([backend.clone()]);
    let permits = Arc::new(Semaphore::new(0));
    let collected = registry.collect(base()).await;
    let dispatcher = Dispatcher::builder(collected.catalog).routes(collected.routes);
    let layer = GlobalConcurrencyLimitLayer::with_semaphore(Arc::clone(&permits));
    let dispatcher = dispatcher.layer(layer).build().unwrap();
    let mut waiting = Box::pin(dispatcher.call("peer:tool", "{}"));
    assert!(is_pending(&mut waiting).await, "there is no permit");
    let replaced = registry.replace(Scripted::new("peer", BackendKind::Mcp, [open("tool")])).unwrap().unwrap();
    let mut stopping = Box::pin(replaced.stop_when_idle());
    assert!(is_pending(&mut stopping).await, "a call waits");
    permits.add_permits(1);
    assert!(waiting.await.is_ok());
    stopping.await.unwrap();
    assert_eq!(backend.asked(), ["tools", "call tool", "stop"]);
}

#[tokio::test]
async fn a_replaced_backend_finishes_requests_for_resources() {
    let context = Context::new();
    let backend = Scripted::new("peer", BackendKind::Mcp, []);
    let registry = registered([backend.clone()]);
    let (_, resources) = registry.resources().remove(0);
    let mut requests: Vec<BoxFuture<'_, ()>> = vec![
        Box::pin(async { assert!(resources.list(&context).await.is_ok()) }),
        Box::pin(async { assert!(resources.templates(&context).await.is_ok()) }),
        Box::pin(async { assert!(resources.read("a:", &context).await.is_ok()) }),
    ];
    for request in &mut requests {
        assert!(poll_fn(|cx| Poll::Ready(request.as_mut().poll(cx).is_pending())).await);
    }
    let replaced = registry.replace(Scripted::new("peer", BackendKind::Mcp, [])).unwrap().unwrap();
    let mut stopping = Box::pin(replaced.stop_when_idle());
    for request in requests {
        assert!(is_pending(&mut stopping).await, "a request is running");
        request.await;
    }
    stopping.await.unwrap();
    assert_eq!(backend.asked(), ["list", "templates", "read", "stop"]);
    assert_eq!(registry.report()[0].calls.n_ended, 0, "they are not calls of tools");
}

#[tokio::test]
async fn a_replaced_backend_does_not_get_the_trust_of_the_new_one() {
    let hinted = || Tool::builder("tool").input(json!({ "type": "object" })).read_only(true).build().unwrap();
    let backend = || Scripted::new("peer", BackendKind::Mcp, [hinted()]);
    let hint = async |registry: &Backends| {
        let collected = registry.collect_within(base(), Duration::from_millis(10)).await;
        collected.catalog.resolve("peer:tool").unwrap().annotations().read_only
    };
    let registry = registered([backend()]);
    assert_eq!(hint(&registry).await, None);
    for _ in 0..2 {
        drop(registry.replace(backend().trusted().in_mood(Mood::Silent)).unwrap());
        assert_eq!(hint(&registry).await, None, "the untrusted backend has listed the tool");
    }
    drop(registry.replace(backend().trusted()).unwrap());
    assert_eq!(hint(&registry).await, Some(true));
    drop(registry.replace(backend().trusted().in_mood(Mood::Silent)).unwrap());
    assert_eq!(hint(&registry).await, Some(true));
    drop(registry.replace(backend().in_mood(Mood::Silent)).unwrap());
    assert_eq!(hint(&registry).await, None, "the host no longer trusts the backend");
}

#[tokio::test]
async fn calls_are_counted_by_outcome_and_a_dropped_one_is_cancelled() {
    let backend =
        Scripted::new("peer", BackendKind::Mcp, [open("tool")]).doing(
            |call| match call.arguments().to_value()?["fails"].as_bool() {
                Some(true) => Err(ToolError::failed("no")),
                _ => Ok(json!(1).into()),
            },
        );
    let registry = registered([backend]);
    let dispatcher = dispatcher(&registry).await;
    assert!(dispatcher.call("peer:tool", "{}").await.is_ok());
    assert!(dispatcher.call("peer:tool", r#"{"fails": true}"#).await.is_err());
    // Rejected before it reaches the backend.
    assert!(dispatcher.call("peer:tool", "[]").await.is_err());
    assert!(is_pending(&mut Box::pin(dispatcher.call("peer:tool", "{}"))).await);
    let calls = registry.report()[0].calls.clone();
    assert_eq!((calls.n_running, calls.n_ended), (0, 3));
    assert_eq!(calls.errors, [(ErrorKind::Failed, 1), (ErrorKind::Cancelled, 1)]);
    assert_eq!(calls.histogram.last().unwrap().1, 3);
}
