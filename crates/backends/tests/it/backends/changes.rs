//! Changes of tools while calls run: notifications, and the state that a new dispatcher keeps.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use toolkit::backend::Backend;
use toolkit::catalog::DiagnosticKind;
use toolkit::dispatch::Call;
use toolkit_backends::LocalBackend;
use tower::util::MapRequestLayer;

use super::*;

/// Returns true if the change is reported immediately.
async fn is_told(changed: impl Future<Output = ()>) -> bool {
    tokio::time::timeout(Duration::from_millis(20), changed).await.is_ok()
}

fn plugins(names: &[&'static str]) -> LocalBackend {
    let plugins = LocalBackend::new("plugins");
    names.iter().for_each(|name| add(&plugins, name));
    plugins
}

/// Adds a tool that returns its arguments.
fn add(plugins: &LocalBackend, name: &'static str) {
    plugins.add(open(name), |arguments: Value, _| async { Ok(arguments) });
}

fn counting() -> Catalog {
    toolkit::catalog![count].unwrap()
}

struct Counter(AtomicUsize);

/// Counts with the counter of the host.
#[tool(namespace = "here")]
fn count(counter: &Counter) -> usize {
    counter.0.fetch_add(1, Ordering::SeqCst) + 1
}

#[tokio::test]
async fn a_change_is_reported_until_the_tools_are_listed() {
    let plugins = plugins(&["one"]);
    plugins.tools().await.unwrap();
    assert!(!is_told(plugins.changed()).await);
    add(&plugins, "two");
    assert!(is_told(plugins.changed()).await && is_told(plugins.changed()).await);
    plugins.tools().await.unwrap();
    assert!(!is_told(plugins.changed()).await);
    assert!(!plugins.remove("nobody"));
    assert!(!is_told(plugins.changed()).await);
    assert!(plugins.remove("two"));
    assert!(is_told(plugins.changed()).await);
}

#[tokio::test]
async fn tasks_that_wait_already_are_notified() {
    let plugins = plugins(&[]);
    let registry = Arc::new(Backends::new());
    registry.register(plugins.clone()).unwrap();
    let _ = registry.collect(base()).await;
    let waiting: Vec<_> = (0..3)
        .map(|_| {
            let registry = Arc::clone(&registry);
            tokio::spawn(async move { registry.changed().await })
        })
        .collect();
    tokio::task::yield_now().await;
    add(&plugins, "one");
    for waiting in waiting {
        tokio::time::timeout(Duration::from_secs(30), waiting).await.expect("it is told").unwrap();
    }
}

#[tokio::test]
async fn backends_that_come_go_or_are_switched_are_a_change() {
    let registry = Backends::new();
    let _ = registry.collect(base()).await;
    assert!(!is_told(registry.changed()).await);
    registry.register(plugins(&["one"])).unwrap();
    assert!(is_told(registry.changed()).await);
    let _ = registry.collect(base()).await;
    for (switch, is_change) in [(true, false), (false, true), (false, false), (true, true)] {
        if switch {
            registry.enable("plugins")
        } else {
            registry.disable("plugins")
        };
        assert_eq!(is_told(registry.changed()).await, is_change);
        let _ = registry.collect(base()).await;
    }
    registry.unregister("plugins").await.unwrap();
    assert!(is_told(registry.changed()).await);
}

#[tokio::test]
async fn a_backend_that_is_switched_off_is_not_heard() {
    let plugins = plugins(&[]);
    let registry = Backends::new();
    registry.register(plugins.clone()).unwrap();
    registry.disable("plugins");
    let _ = registry.collect(base()).await;
    add(&plugins, "one");
    assert!(!is_told(registry.changed()).await);
}

#[tokio::test]
async fn a_dispatcher_for_other_tools_keeps_state_layers_and_limits() {
    let n_seen = Arc::new(AtomicUsize::new(0));
    let layer = MapRequestLayer::new({
        let n_seen = Arc::clone(&n_seen);
        move |call: Call| {
            n_seen.fetch_add(1, Ordering::SeqCst);
            call
        }
    });
    let plugins = plugins(&["old"]);
    let registry = Backends::new();
    registry.register(plugins.clone()).unwrap();
    let before = registry.collect(counting()).await;
    let before = Dispatcher::builder(before.catalog).routes(before.routes).layer(layer);
    let before = before.state(Counter(AtomicUsize::new(0))).max_argument_bytes(100).build().unwrap();

    plugins.remove("old");
    add(&plugins, "new");
    let after = registry.collect(counting()).await;
    let after = before.with_catalog(after.catalog, after.routes).unwrap();

    assert_eq!(before.call("here:count", "{}").await.unwrap().value(), 1);
    assert_eq!(after.call("here:count", "{}").await.unwrap().value(), 2);
    assert_eq!(after.call("plugins:new", r#"{"a":1}"#).await.unwrap().value(), json!({ "a": 1 }));
    assert_eq!(n_seen.load(Ordering::SeqCst), 3);
    let long = json!({ "a": "x".repeat(100) }).to_string();
    assert_eq!(after.call("plugins:new", long).await.unwrap_err().kind(), ErrorKind::TooLarge);
    assert_eq!(after.call("plugins:old", "{}").await.unwrap_err().kind(), ErrorKind::UnknownTool);
    assert_eq!(before.call("plugins:new", "{}").await.unwrap_err().kind(), ErrorKind::UnknownTool);
}

#[tokio::test]
async fn a_call_that_runs_is_undisturbed_and_its_place_counts_for_both() {
    let (begun, go) = (Arc::new(tokio::sync::Notify::new()), Arc::new(tokio::sync::Notify::new()));
    let plugins = plugins(&[]);
    plugins.add(open("slow"), {
        let (begun, go) = (Arc::clone(&begun), Arc::clone(&go));
        move |arguments: Value, _| {
            let (begun, go) = (Arc::clone(&begun), Arc::clone(&go));
            async move {
                begun.notify_one();
                go.notified().await;
                Ok(arguments)
            }
        }
    });
    let registry = Backends::new();
    registry.register(plugins.clone()).unwrap();
    let collected = registry.collect(base()).await;
    let before = Dispatcher::builder(collected.catalog).routes(collected.routes).concurrency(1).build().unwrap();
    let running = tokio::spawn({
        let before = before.clone();
        async move { before.call("plugins:slow", r#"{"n":1}"#).await }
    });
    begun.notified().await;

    plugins.remove("slow");
    let collected = registry.collect(base()).await;
    let after = before.with_catalog(collected.catalog, collected.routes).unwrap();
    drop(before);
    let refused = after.call_sync("here:increment", r#"{"n":1}"#).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Overloaded);
    go.notify_one();
    assert_eq!(running.await.unwrap().unwrap().value(), json!({ "n": 1 }));
    assert_eq!(after.call_sync("here:increment", r#"{"n":1}"#).unwrap().value(), 2);
}

#[test]
fn other_tools_need_state_that_is_there() {
    let before = Dispatcher::new(base()).unwrap();
    let problems = before.with_catalog(counting(), Default::default()).unwrap_err();
    assert_eq!(problems.iter().map(|problem| problem.kind()).collect::<Vec<_>>(), [DiagnosticKind::MissingState]);
}

#[tokio::test]
async fn dropped_waiters_are_removed() {
    use std::task::{Context, Wake, Waker};

    struct Nobody;
    impl Wake for Nobody {
        fn wake(self: Arc<Self>) {}
    }

    let registry = Backends::new();
    let _ = registry.collect(base()).await;
    let nobody = Arc::new(Nobody);
    let waker = Waker::from(Arc::clone(&nobody));
    let mut waiting = Box::pin(registry.changed());
    assert!(waiting.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    drop((waiting, waker));
    assert_eq!(Arc::strong_count(&nobody), 1);
}
