//! Backends: the registry, collection of their tools, the stages of a call, the cases.

mod cancelled;
mod cases;
mod changes;
mod collect;
#[cfg(target_os = "linux")]
mod large_results;
mod offered;
mod registry;
mod resources;
mod typed;

use serde_json::{Value, json};
use toolkit::call::{ErrorKind, Stage};
use toolkit::tool::BackendKind;
use toolkit::{Catalog, Context, Dispatcher, ToolError, tool};
use toolkit_backends::Backends;

use test_support::scripted::{Mood, Scripted, numeric, open};

/// Adds one.
#[tool(namespace = "here")]
fn increment(n: u64) -> u64 {
    n + 1
}

/// A function of this program that backends also offer.
#[tool(namespace = "there", name = "shared")]
fn shared(n: u64) -> u64 {
    n
}

fn base() -> Catalog {
    toolkit::catalog![increment, shared].unwrap()
}

/// Creates a dispatcher over `base` and these backends, whose tools do not conflict.
async fn dispatcher(backends: &Backends) -> Dispatcher {
    let collected = backends.collect(base()).await;
    assert!(collected.diagnostics.is_empty() && collected.failures.is_empty(), "{collected:?}");
    Dispatcher::builder(collected.catalog).routes(collected.routes).build().unwrap()
}

fn registered(backends: impl IntoIterator<Item = Scripted>) -> Backends {
    let registry = Backends::new();
    for backend in backends {
        registry.register(backend).unwrap();
    }
    registry
}
