//! Registering, enabling, disabling, starting and stopping backends.

use std::time::Duration;

use toolkit::backend::RegisterError;

use super::*;

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
