//! The view of a layer on a call.

use std::borrow::Cow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;
use serde_json::{Value, json};
use toolkit::call::{ErrorKind, Stage};
use toolkit::dispatch::{Call, DispatcherBuilder};
use toolkit::{CancelToken, Coercion, Context, Dispatcher, ToolError, catalog, tool};
use tower::layer::util::Identity;
use tower::util::MapRequestLayer;

use super::tools::dispatcher;

static SCHEMAS_BUILT: AtomicUsize = AtomicUsize::new(0);

#[derive(Deserialize)]
struct Counted {
    n: u8,
}

impl JsonSchema for Counted {
    fn schema_name() -> Cow<'static, str> {
        "Counted".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        SCHEMAS_BUILT.fetch_add(1, Ordering::SeqCst);
        schemars::json_schema!({ "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"] })
    }
}

/// Takes what counts how often its schema is built.
#[tool]
async fn counted(counted: Counted) -> u8 {
    counted.n
}

/// Counts how often the schema is built while a new dispatcher streams and calls the tool, `n_times` each.
async fn n_built(n_times: usize, layers: impl FnOnce(DispatcherBuilder) -> DispatcherBuilder) -> usize {
    let before = SCHEMAS_BUILT.load(Ordering::SeqCst);
    let dispatcher = layers(Dispatcher::builder(catalog![counted].unwrap())).build().unwrap();
    for _ in 0..n_times {
        let mut events = dispatcher.stream("counted", r#"{"n":1}"#);
        while events.next().await.is_some() {}
        dispatcher.call("counted", r#"{"n":1}"#).await.unwrap();
    }
    SCHEMAS_BUILT.load(Ordering::SeqCst) - before
}

#[tokio::test]
async fn a_schema_is_built_once_for_all_calls() {
    let look = MapRequestLayer::new(|call: Call| {
        assert!(call.checked_arguments().is_ok());
        call
    });
    // Building a schema may visit the type several times.
    let once = n_built(1, |builder| builder).await;
    assert_eq!(n_built(3, |builder| builder).await, once);
    assert_eq!(n_built(3, |builder| builder.layer(Identity::new())).await, once);
    assert_eq!(n_built(3, |builder| builder.layer(look)).await, once);
}

#[tokio::test]
async fn a_layer_sees_the_arguments_that_the_tool_receives() {
    let seen = Arc::new(Mutex::new(Vec::<Result<Value, ErrorKind>>::new()));
    let layer = {
        let seen = Arc::clone(&seen);
        MapRequestLayer::new(move |call: Call| {
            seen.lock().unwrap().push(call.checked_arguments().map_err(|error: ToolError| error.kind()));
            call
        })
    };
    let (dispatcher, _) = dispatcher(|builder| builder.layer(layer).coercion(Coercion::Lenient).max_argument_bytes(64));
    let cancelled = CancelToken::new();
    cancelled.cancel();
    let cancelled = Context::new().with_cancel(cancelled);
    let (long, plain) = (format!(r#"{{"path":"{}"}}"#, "a".repeat(100)), Context::new());
    for (context, arguments, expected) in [
        (&plain, r#"{"path":"a","force":null}"#, Ok(json!({ "path": "a" }))),
        (&plain, r#"{"path":1,"force":"true"}"#, Ok(json!({ "path": "1", "force": true }))),
        (&plain, r#"{"path":[]}"#, Err(ErrorKind::InvalidArguments)),
        (&plain, r#"{"path""#, Err(ErrorKind::MalformedJson)),
        (&plain, long.as_str(), Err(ErrorKind::TooLarge)),
        (&cancelled, r#"{"path":"a"}"#, Err(ErrorKind::Cancelled)),
    ] {
        let outcome = dispatcher.call_with(context, "delete", arguments).await;
        let seen = seen.lock().unwrap().pop().unwrap();
        assert_eq!(seen, expected, "{arguments}");
        // The dispatcher has the same result.
        assert_eq!(outcome.map(drop).map_err(|error| error.kind()), expected.map(drop), "{arguments}");
    }
}

#[test]
fn debug_output_of_a_call_has_no_arguments() {
    let printed = Arc::new(Mutex::new(String::new()));
    let layer = {
        let printed = Arc::clone(&printed);
        MapRequestLayer::new(move |call: Call| {
            *printed.lock().unwrap() = format!("{call:?}");
            call
        })
    };
    let (dispatcher, _) = dispatcher(|builder| builder.layer(layer));
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(dispatcher.call("delete", r#"{"path":"hunter2"}"#)).unwrap();
    let printed = printed.lock().unwrap();
    assert!(printed.contains("delete") && !printed.contains("hunter2"), "{printed}");
}

#[test]
fn a_denied_call_has_its_own_kind_and_stage() {
    let error = ToolError::new(ErrorKind::Denied, "no");
    assert_eq!((error.kind().name(), error.stage(), error.is_retryable()), ("denied", Stage::Approve, false));
}
