//! Open Tool Calling over HTTP: definitions, the server and the client.

mod auth;
mod cases;
mod client;
mod definitions;
mod functions;
mod http;
mod laws;
mod real;
mod repeated;
mod server;
mod serving;
mod tls;

use std::time::Duration;

use serde_json::{Value, json};
use test_support::ran;
use toolkit::backend::Backend;
use toolkit::{Catalog, Context, Dispatcher, Tool, ToolError};
use toolkit_backends::{Backends, LocalBackend};

/// A timeout for operations that must not hang.
const PATIENCE: Duration = Duration::from_secs(60);

/// Creates a dispatcher for tools of these definitions that run `handler`.
async fn dispatcher_of(
    tools: impl IntoIterator<Item = Tool>,
    handler: impl Fn(String, Value, Context) -> Result<Value, ToolError> + Clone + Send + Sync + 'static,
) -> Dispatcher {
    let local = LocalBackend::new("local");
    for tool in tools {
        let (id, handler) = (tool.id().to_string(), handler.clone());
        local.add(tool, move |arguments: Value, context: Context| {
            let outcome = handler(id.clone(), arguments, context);
            async move { outcome }
        });
    }
    dispatcher_on(local).await
}

/// Creates a dispatcher for the tools of a backend.
async fn dispatcher_on(backend: impl Backend) -> Dispatcher {
    let backends = Backends::new();
    backends.register(backend).unwrap();
    let collected = backends.collect(Catalog::new([]).unwrap()).await;
    assert!(collected.diagnostics.is_empty(), "{:?}", collected.diagnostics);
    assert!(collected.failures.is_empty(), "{:?}", collected.failures);
    Dispatcher::builder(collected.catalog).routes(collected.routes).build().unwrap()
}

/// The definitions of the cases, by their ids.
fn definition(id: &str) -> Value {
    let document: Value = serde_json::from_str(include_str!("../cases/otc_definitions.json")).unwrap();
    let definitions = document["definitions"].as_array().unwrap();
    let found = definitions.iter().map(|case| case.get("definition").unwrap_or(case));
    found.into_iter().find(|definition| definition["id"] == id).unwrap_or_else(|| panic!("no {id}")).clone()
}

fn tool_of(definition: &Value) -> Tool {
    toolkit_otc::Definition::from_json(definition).unwrap().to_tool().unwrap()
}
