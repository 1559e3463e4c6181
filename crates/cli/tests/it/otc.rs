//! Open Tool Calling in two processes: the command line provides tools, and a client calls them.

mod auth;
mod processes;
mod provider;
mod serve;

use serde_json::{Value, json};
use toolkit::backend::Backend;
use toolkit::{Catalog, Context, Dispatcher};
use toolkit_backends::Backends;

use super::TOOLS;

/// Creates a dispatcher for the tools of a backend.
async fn dispatcher_on(backend: impl Backend) -> Dispatcher {
    let backends = Backends::new();
    backends.register(backend).unwrap();
    let collected = backends.collect(Catalog::new([]).unwrap()).await;
    assert!(collected.diagnostics.is_empty(), "{:?}", collected.diagnostics);
    assert!(collected.failures.is_empty(), "{:?}", collected.failures);
    Dispatcher::builder(collected.catalog).routes(collected.routes).build().unwrap()
}
