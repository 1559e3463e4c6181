//! The layers around the calls of a dispatcher.

use tower_layer::Layer;
use tower_service::Service;

use super::DispatcherBuilder;
use crate::call::RunResult;
use crate::dispatch::layer::{BoxError, Call, ToolService};

impl DispatcherBuilder {
    /// Adds a layer around every call with JSON arguments. The first layer added is the outermost.
    ///
    /// A layer receives a call after its tool is resolved. An error other than [`ToolError`](crate::ToolError) is
    /// masked like any unexpected error. Calls without a runtime are rejected, because layers are asynchronous. A
    /// [`Handle`](crate::Handle), which calls a function with Rust types, bypasses the layers.
    pub fn layer<L>(mut self, layer: L) -> Self
    where
        L: Layer<ToolService> + Send + 'static,
        L::Service: Service<Call, Response = RunResult> + Clone + Send + Sync + 'static,
        <L::Service as Service<Call>>::Future: Send,
        <L::Service as Service<Call>>::Error: Into<BoxError>,
    {
        self.layers.push(Box::new(|inner| inner.wrapped_by(layer)));
        self
    }
}
