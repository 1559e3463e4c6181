//! The tools of one backend.

use std::time::Duration;

use serde_json::Value;
use toolkit::backend::Backend;
use toolkit::{Catalog, Dispatcher, ToolError};
use toolkit_backends::{Backends, Collected};

pub use crate::wait::{in_the_end, until};

/// Collects the tools of this backend only.
///
/// # Panics
///
/// Panics if the backend hangs.
pub async fn collected(backend: &(impl Backend + Clone)) -> Collected {
    let backends = Backends::new();
    backends.register(backend.clone()).unwrap();
    in_the_end(backends.collect(Catalog::new([]).unwrap())).await
}

/// Creates a dispatcher for the tools of this backend, all of which must be valid.
///
/// # Panics
///
/// Panics if a tool is invalid.
pub async fn dispatcher(backend: &(impl Backend + Clone)) -> Dispatcher {
    let collected = collected(backend).await;
    assert!(collected.diagnostics.is_empty() && collected.failures.is_empty(), "{collected:?}");
    Dispatcher::builder(collected.catalog).routes(collected.routes).build().unwrap()
}

/// Calls a tool and returns its value.
///
/// # Errors
///
/// Returns the error of the call.
pub async fn call(dispatcher: &Dispatcher, tool: &str, arguments: Value) -> Result<Value, ToolError> {
    in_the_end(dispatcher.call(tool, arguments)).await.map(|result| result.value())
}

/// Calls a tool of a server that is being restarted: at once, and once more after the time that the error states.
///
/// # Errors
///
/// Returns the error of the last call.
pub async fn call_restarted(dispatcher: &Dispatcher, tool: &str, arguments: Value) -> Result<Value, ToolError> {
    match call(dispatcher, tool, arguments.clone()).await {
        Err(error) if error.is_retryable() => {
            tokio::time::sleep(error.retry_after().unwrap_or_default() + Duration::from_millis(20)).await;
            call(dispatcher, tool, arguments).await
        }
        called => called,
    }
}
