//! Layers around every call, in the form of tower.

use std::fmt;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll};

use serde_json::Value;
use tower_layer::Layer;
use tower_service::Service;

use super::scope::scoped;
use super::{BoxFuture, Dispatcher, DispatcherBuilder};
use crate::call::unwind::{self, Panic};
use crate::call::{Arguments, Context, RunResult, ToolError, admit};
use crate::stream::Queue;
use crate::tool::Tool;

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// A call on its way through layers: its tool is found, and nothing else has been looked at.
#[derive(Clone)]
pub struct Call {
    dispatcher: Dispatcher,
    /// The place of the tool in the catalogue: a clone of a tool might build its schemas for itself.
    place: usize,
    context: Context,
    arguments: Arguments<'static>,
    parts: Option<Arc<Queue>>,
}

impl Call {
    pub(super) fn new(
        dispatcher: &Dispatcher,
        tool: &Tool,
        context: &Context,
        arguments: Arguments<'_>,
        parts: Option<&Arc<Queue>>,
    ) -> Self {
        Self {
            dispatcher: dispatcher.clone(),
            place: dispatcher.catalog().place_of(tool),
            // A layer may run what is inside of it on another task.
            context: context.carried(),
            arguments: arguments.into_owned(),
            parts: parts.cloned(),
        }
    }

    /// The tool that is called.
    #[must_use]
    pub fn tool(&self) -> &Tool {
        self.dispatcher.catalog().at(self.place)
    }

    /// What goes along with the call.
    #[must_use]
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// What goes along with the call, to add to it.
    pub fn context_mut(&mut self) -> &mut Context {
        &mut self.context
    }

    /// The arguments, as the caller sent them.
    #[must_use]
    pub fn arguments(&self) -> &Arguments<'static> {
        &self.arguments
    }

    /// The arguments as the tool will be given them: checked, and changed as far as the dispatcher's
    /// [`Coercion`](crate::Coercion) goes. They are checked again before the tool runs.
    ///
    /// Who asks somebody whether a call may be made asks about these: what was sent may read differently.
    ///
    /// # Errors
    ///
    /// What the dispatcher would refuse the call with: nothing runs the tool, the caller lacks what it requires or has
    /// given up, or the arguments do not fit.
    pub fn checked_arguments(&self) -> Result<Value, ToolError> {
        let (tool, policy) = (self.tool(), &self.dispatcher.shared.policy);
        self.dispatcher.shared.select(tool)?;
        scoped(&self.context, tool)?;
        policy.admit(&self.context, &self.arguments)?;
        if !policy.validate_input {
            return self.arguments.to_value();
        }
        admit(tool, &self.arguments, policy.coercion).map(|(tree, _)| tree.value)
    }

    /// Whether parts of the result are given before its end. Such a call is not to be made again: its reader would see
    /// the parts twice.
    #[must_use]
    pub fn is_streamed(&self) -> bool {
        self.parts.is_some()
    }
}

/// What a layer wraps: the layers inside of it, and the dispatcher at the bottom.
#[derive(Clone)]
pub struct ToolService(Arc<dyn Run>);

trait Run: Send + Sync {
    fn run(&self, call: Call) -> BoxFuture<'static, Result<RunResult, ToolError>>;
}

impl ToolService {
    /// What is inside of all layers.
    fn bottom() -> Self {
        Self(Arc::new(Bottom))
    }

    fn wrapped_by<L>(self, layer: L) -> Self
    where
        L: Layer<ToolService>,
        L::Service: Service<Call, Response = RunResult> + Clone + Send + Sync + 'static,
        <L::Service as Service<Call>>::Future: Send,
        <L::Service as Service<Call>>::Error: Into<BoxError>,
    {
        Self(Arc::new(Wrapped(layer.layer(self))))
    }

    pub(super) fn run(&self, call: Call) -> BoxFuture<'static, Result<RunResult, ToolError>> {
        self.0.run(call)
    }
}

impl Service<Call> for ToolService {
    type Response = RunResult;
    type Error = ToolError;
    type Future = BoxFuture<'static, Result<RunResult, ToolError>>;

    fn poll_ready(&mut self, _: &mut TaskContext<'_>) -> Poll<Result<(), ToolError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, call: Call) -> Self::Future {
        self.run(call)
    }
}

/// The dispatcher of the call, without layers: those of several may be inside of the same ones.
struct Bottom;

impl Run for Bottom {
    fn run(&self, call: Call) -> BoxFuture<'static, Result<RunResult, ToolError>> {
        Box::pin(async move {
            let Call { dispatcher, place, context, arguments, parts } = call;
            let tool = dispatcher.catalog().at(place);
            dispatcher.run(&context, tool, arguments, parts.as_deref()).await
        })
    }
}

struct Wrapped<S>(S);

impl<S> Run for Wrapped<S>
where
    S: Service<Call, Response = RunResult> + Clone + Send + Sync + 'static,
    S::Future: Send,
    S::Error: Into<BoxError>,
{
    fn run(&self, call: Call) -> BoxFuture<'static, Result<RunResult, ToolError>> {
        // Each layer by itself, so that those around it see an error.
        let service = unwind::catch(|| self.0.clone());
        Box::pin(async move {
            let mut service = service.map_err(Panic::of_host)?;
            let outcome = unwind::catch_future(|| async move {
                poll_fn(|cx| service.poll_ready(cx)).await.map_err(ToolError::internal)?;
                service.call(call).await.map_err(ToolError::internal)
            });
            outcome.await.unwrap_or_else(|panic| Err(panic.of_host()))
        })
    }
}

/// How a layer is put around what is inside of it.
pub(super) type Wrap = Box<dyn FnOnce(ToolService) -> ToolService + Send>;

impl Dispatcher {
    /// The same dispatcher inside of layers, the outermost first.
    pub(super) fn wrapped_by(self, layers: Vec<Wrap>) -> Self {
        if layers.is_empty() {
            return self;
        }
        let layered = layers.into_iter().rfold(ToolService::bottom(), |inner, wrap| wrap(inner));
        Self { layered: Some(layered), ..self }
    }
}

impl DispatcherBuilder {
    /// Puts a layer around every call of JSON: what was added first sees the call first and the outcome last.
    ///
    /// A layer sees a call once its tool is found. Errors that are no [`ToolError`] are masked like any that nobody
    /// expected. Calls without a runtime are refused, since a layer may wait; a [`Handle`](crate::Handle) calls a
    /// function with Rust types and passes by the layers.
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

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call")
            .field("tool", self.tool().id())
            .field("context", &self.context)
            .field("arguments", &self.arguments)
            .field("is_streamed", &self.is_streamed())
            .finish()
    }
}

impl fmt::Debug for ToolService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ToolService")
    }
}
