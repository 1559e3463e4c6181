//! Calls that end before their handler.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use toolkit::{CancelToken, Tool};
use toolkit_backends::LocalBackend;

use super::*;

#[tokio::test]
async fn cancelling_and_time_limits_drop_the_backends_future() {
    struct Dropped(Arc<AtomicUsize>);
    impl Drop for Dropped {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    let dropped = Arc::new(AtomicUsize::new(0));
    let local = LocalBackend::new("l");
    let count = Arc::clone(&dropped);
    local.add(open("wait"), move |_: Value, _: Context| {
        let guard = Dropped(Arc::clone(&count));
        async move {
            let _guard = guard;
            pending::<Result<Value, ToolError>>().await
        }
    });
    let registry = Backends::new();
    registry.register(local).unwrap();
    let collected = registry.collect(base()).await;
    let dispatcher = Dispatcher::builder(collected.catalog).routes(collected.routes);
    let dispatcher = dispatcher.timeout(Duration::from_millis(30)).build().unwrap();

    let error = dispatcher.call("l:wait", "{}").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TimedOut);
    let token = CancelToken::new();
    let context = Context::new().with_cancel(token.clone());
    let call = dispatcher.call_with(&context, "l:wait", "{}");
    let cancel = async {
        tokio::task::yield_now().await;
        token.cancel();
    };
    assert_eq!(tokio::join!(call, cancel).0.unwrap_err().kind(), ErrorKind::Cancelled);
    assert_eq!(dropped.load(Ordering::SeqCst), 2);
}

/// Comparing the values with the schema takes seconds.
#[tokio::test]
async fn a_cancelled_call_stops_validating() {
    let mut branches: Vec<Value> = (0..60).map(|n| json!({ "type": "object", "required": [n.to_string()] })).collect();
    branches.push(json!({ "type": "integer" }));
    let schema = json!({ "type": "object", "properties": { "a": { "items": { "anyOf": branches } } } });
    let tool = |name| Tool::builder(name).description("Returns its arguments.");
    let tools = [tool("i").input(schema.clone()), tool("o").output(schema)].map(|tool| tool.build().unwrap());
    let registry = registered([Scripted::new("m", BackendKind::Mcp, tools)]);
    let dispatcher = dispatcher(&registry).await;
    for name in ["m:i", "m:o"] {
        let token = CancelToken::new();
        let context = Context::new().with_cancel(token.clone());
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(20));
            token.cancel();
        });
        let values = json!({ "a": vec![0; 300_000] });
        let error = dispatcher.call_with(&context, name, values).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Cancelled, "{name}");
    }
}
