//! Tower layers around calls.

use std::fmt;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll};

use serde_json::Value;
use tower_layer::Layer;
use tower_service::Service;

use super::shared::Dispatcher;
use crate::call::{Arguments, BoxError, BoxFuture, Context, RunResult, ToolError, validated_arguments};
use crate::stream::Queue;
use crate::tool::Tool;
use crate::unwind::{self, Panic};

/// A call that passes through layers. Its tool is resolved, and nothing else is checked yet.
///
/// # Examples
///
/// A line for a log of all calls, with the arguments that the tool will receive:
///
/// ```
/// use toolkit::ToolError;
/// use toolkit::dispatch::Call;
///
/// struct RequestId(u64);
///
/// fn line(call: &Call) -> Result<String, ToolError> {
///     let request = call.context().get::<RequestId>().map_or(0, |id| id.0);
///     Ok(format!("{request} {} {}", call.tool().id(), call.checked_arguments()?))
/// }
/// ```
#[derive(Clone)]
pub struct Call {
    pub(super) dispatcher: Dispatcher,
    /// The index of the tool in the catalog: a clone of the tool might build its schemas again.
    pub(super) place: usize,
    pub(super) context: Context,
    pub(super) arguments: Arguments<'static>,
    pub(super) parts: Option<Arc<Queue>>,
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
            place: dispatcher.catalog().position(tool),
            // A layer may run the inner service on another task.
            context: context.carried(),
            arguments: arguments.into_owned(),
            parts: parts.cloned(),
        }
    }

    /// Returns the tool.
    #[must_use]
    pub fn tool(&self) -> &Tool {
        self.dispatcher.catalog().at(self.place)
    }

    /// Returns the context of the call.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// Returns the context of the call for modification.
    pub fn context_mut(&mut self) -> &mut Context {
        &mut self.context
    }

    /// Returns the arguments as the caller sent them.
    #[must_use]
    pub fn arguments(&self) -> &Arguments<'static> {
        &self.arguments
    }

    /// Returns the arguments as the tool will receive them: validated, and changed according to the
    /// [`Coercion`](crate::Coercion) of the call. They are validated again before the tool runs.
    ///
    /// A layer that asks for approval should show these arguments, because the original ones may be interpreted
    /// differently.
    ///
    /// # Errors
    ///
    /// Returns the error with which the dispatcher would reject the call: no backend runs the tool, the caller lacks
    /// required credentials, the call is cancelled, or the arguments are invalid.
    pub fn checked_arguments(&self) -> Result<Value, ToolError> {
        let (tool, shared) = (self.tool(), &self.dispatcher.shared);
        shared.select(tool)?;
        let policy = &shared.policy;
        policy.admit(&self.context, tool, Some(&self.arguments))?;
        if !policy.validate_input {
            return self.arguments.to_value();
        }
        validated_arguments(tool, &self.arguments, self.dispatcher.coercion(tool)).map(|(tree, _)| tree.value)
    }

    /// Returns true if the caller consumes parts of the result before it is complete. Such a call must not be
    /// repeated, because the caller would receive the parts twice.
    #[must_use]
    pub fn is_streamed(&self) -> bool {
        self.parts.is_some()
    }
}

/// The service that a layer wraps: the inner layers and the dispatcher.
///
/// A [`Layer`] that is passed to [`DispatcherBuilder::layer`](super::DispatcherBuilder::layer) receives it and returns its own service.
///
/// # Examples
///
/// ```
/// use std::task::{Context, Poll};
///
/// use toolkit::call::{BoxFuture, ErrorKind, RunResult};
/// use toolkit::dispatch::{Call, ToolService};
/// use toolkit::{Dispatcher, ToolError, catalog, tool};
/// use tower_layer::layer_fn;
/// use tower_service::Service;
///
/// /// Rejects the tools that may change something.
/// #[derive(Clone)]
/// struct ReadOnly(ToolService);
///
/// impl Service<Call> for ReadOnly {
///     type Response = RunResult;
///     type Error = ToolError;
///     type Future = BoxFuture<'static, Result<RunResult, ToolError>>;
///
///     fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), ToolError>> {
///         self.0.poll_ready(cx)
///     }
///
///     fn call(&mut self, call: Call) -> Self::Future {
///         if call.tool().annotations().read_only == Some(true) {
///             return self.0.call(call);
///         }
///         Box::pin(async { Err(ToolError::new(ErrorKind::Denied, "this session is read-only")) })
///     }
/// }
///
/// /// Deletes a file.
/// #[tool]
/// fn delete(path: String) {
///     drop(path);
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let dispatcher = Dispatcher::builder(catalog![delete]?).layer(layer_fn(ReadOnly)).build()?;
/// let error = dispatcher.call("delete", r#"{"path": "/"}"#).await.unwrap_err();
/// assert_eq!(error.to_string(), "delete: this session is read-only");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct ToolService(Arc<dyn Run>);

/// A service of calls, with its type erased.
pub(super) trait Run: Send + Sync {
    fn run(&self, call: Call) -> BoxFuture<'static, Result<RunResult, ToolError>>;
}

impl ToolService {
    /// Returns the innermost service.
    pub(super) fn new(bottom: impl Run + 'static) -> Self {
        Self(Arc::new(bottom))
    }

    pub(super) fn wrapped_by<L>(self, layer: L) -> Self
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

struct Wrapped<S>(S);

impl<S> Run for Wrapped<S>
where
    S: Service<Call, Response = RunResult> + Clone + Send + Sync + 'static,
    S::Future: Send,
    S::Error: Into<BoxError>,
{
    fn run(&self, call: Call) -> BoxFuture<'static, Result<RunResult, ToolError>> {
        // Panics are caught for each layer, so that the outer layers receive an error.
        let service = unwind::catch(|| self.0.clone());
        Box::pin(async move {
            let mut service = service.map_err(Panic::into_host_error)?;
            let outcome = unwind::catch_future(|| async move {
                poll_fn(|cx| service.poll_ready(cx)).await.map_err(ToolError::internal)?;
                service.call(call).await.map_err(ToolError::internal)
            });
            outcome.await.unwrap_or_else(|panic| Err(panic.into_host_error()))
        })
    }
}

/// A function that wraps a service in a layer.
pub(super) type Wrap = Box<dyn FnOnce(ToolService) -> ToolService + Send>;

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
