//! Tools that backends run: the stages of their calls, and the selection of a backend.

mod pipeline;
mod results;
mod routes;

use std::sync::Arc;

use serde_json::{Value, json};
use test_support::block_on;
use test_support::scripted::{Scripted, numeric, open};
use toolkit::backend::{Backend, RoutedBackend, Routes};
use toolkit::call::{ErrorKind, Stage};
use toolkit::dispatch::DispatcherBuilder;
use toolkit::tool::BackendKind;
use toolkit::{Catalog, Context, Dispatcher, Tool, ToolError, tool};

/// Adds one.
#[tool(namespace = "here")]
fn increment(n: u64) -> u64 {
    n + 1
}

fn base() -> Catalog {
    toolkit::catalog![increment].unwrap()
}

/// Adds the tools of a backend to a table, in the namespace of this name.
fn add(backend: &Scripted, namespace: &str, routes: &mut Routes) -> (Vec<Tool>, Arc<RoutedBackend>) {
    let offered = block_on(backend.tools()).unwrap();
    let routed = Arc::new(RoutedBackend::new(backend.clone()).unwrap());
    let add = |(tool, target): (Tool, _)| {
        let tool = tool.in_namespace(namespace.parse().unwrap());
        routes.add(tool.id().clone(), Arc::clone(&routed), target);
        tool
    };
    (offered.tools.into_iter().map(add).collect(), Arc::clone(&routed))
}

/// Creates the builder of a dispatcher for the tools of this backend, in its namespace, and of this program.
fn builder(backend: &Scripted) -> DispatcherBuilder {
    let mut routes = Routes::default();
    let (tools, _) = add(backend, backend.name(), &mut routes);
    Dispatcher::builder(base().with(tools).unwrap()).routes(routes)
}

fn dispatcher(backend: &Scripted) -> Dispatcher {
    builder(backend).build().unwrap()
}
