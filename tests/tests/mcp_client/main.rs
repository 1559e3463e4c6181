//! The MCP client: with the server of this crate over stdio and HTTP, and with a faulty server.

mod authority;
mod calls;
mod configured;
mod damaged;
mod exchanges;
mod faults;
mod fields;
mod followed;
mod forwarded;
mod http_faults;
mod limits;
mod listing;
mod logged;
mod official;
mod official_tasks;
mod operated;
mod ours;
mod proxied;
mod raw;
mod refused;
mod reloaded;
mod replies;
mod resources;
mod subscriptions;
mod tls;
mod trust;

use std::time::Duration;

use serde_json::Value;
use toolkit::backend::{Backends, Collected};
use toolkit::{Catalog, Dispatcher, ToolError};
use toolkit_mcp::client::{McpBackend, Program};

/// The faulty server.
fn peer(arguments: &[&str]) -> McpBackend {
    McpBackend::stdio("peer", Program::new(env!("CARGO_BIN_EXE_fixture_peer")).args(arguments))
}

/// Collects the tools of this server only.
async fn collected(backend: &McpBackend) -> Collected {
    let backends = Backends::new();
    backends.register(backend.clone()).unwrap();
    in_the_end(backends.collect(Catalog::new([]).unwrap())).await
}

/// Creates a dispatcher for the tools of this server, all of which must be valid.
async fn dispatcher(backend: &McpBackend) -> Dispatcher {
    let collected = collected(backend).await;
    assert!(collected.diagnostics.is_empty() && collected.failures.is_empty(), "{collected:?}");
    Dispatcher::builder(collected.catalog).routes(collected.routes).build().unwrap()
}

/// Calls a tool of the peer.
async fn call(dispatcher: &Dispatcher, tool: &str, arguments: Value) -> Result<Value, ToolError> {
    in_the_end(dispatcher.call(tool, arguments)).await.map(|result| result.value())
}

/// Awaits a future with a timeout.
async fn in_the_end<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(60), work).await.expect("it hangs")
}

/// Waits until a condition holds.
async fn until<F: Future<Output = bool>>(mut holds: impl FnMut() -> F) {
    in_the_end(async {
        while !holds().await {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    })
    .await;
}
