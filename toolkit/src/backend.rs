//! Execution of tools that are not functions of this program: handlers, other processes, servers.
//!
//! A [`Backend`] lists its tools and runs them. A dispatcher that is built from these tools and a table of their
//! [`Routes`] runs them like functions: it validates arguments and results, applies its limits, and passes each tool only
//! the credentials that it requires.
//!
//! The crate `toolkit-backends` has a registry of several backends, which collects their tools into one catalog and one
//! table, and a backend whose tools are closures.
//!
//! | item | purpose |
//! |---|---|
//! | [`Backend`], [`OfferedTools`] | what a backend implements, and its tools |
//! | [`BackendCall`], [`BackendResponse`] | a call that a backend receives, and its result |
//! | [`BackendStatus`], [`BackendState`], [`BackendCalls`] | what operators learn about a backend |
//! | [`RoutedBackend`], [`Routes`] | backends as dispatchers call them |
//!
//! `normalize` reads answers and errors, and `status` has also what a [`RoutedBackend`] keeps: counters and a notification.

mod normalize;
mod routes;
pub(crate) mod status;

use std::collections::HashMap;
use std::time::Duration;

use serde_json::Value;

pub(crate) use self::normalize::{Normal, normalize, unreadable, without_tool_id};
pub(crate) use self::routes::{Route, Selector};
pub use self::routes::{RoutedBackend, Routes};
pub use self::status::{BackendCalls, BackendState, BackendStatus};
use crate::call::{Arguments, BoxFuture, Coercion, Context, ErrorKind, ToolError, check_output};
use crate::catalog::{Catalog, Diagnostic};
use crate::prompt::{Completion, CompletionRequest, Prompt};
use crate::resource::Resources;
use crate::stream::{Chunk, Queue};
use crate::tool::{Annotations, BackendKind, Tool, ToolBackend, ToolId};
use toolkit_schema::Schema;

/// An executor of tools.
///
/// All methods may be called at any time and from several tasks concurrently. Dropping a future of
/// a backend must stop its work: the dispatcher drops it when the call is cancelled or exceeds its
/// timeout. A panic in a backend is an error of that call.
///
/// # Examples
///
/// ```standalone_crate
/// use std::sync::Arc;
///
/// use serde_json::json;
/// use toolkit::backend::{Backend, BackendCall, BackendResponse, OfferedTools, RoutedBackend, Routes};
/// use toolkit::call::BoxFuture;
/// use toolkit::tool::{BackendKind, ToolBackend};
/// use toolkit::{Catalog, Dispatcher, Tool, ToolError};
///
/// struct Warehouse {
///     stock: u64,
/// }
///
/// impl Backend for Warehouse {
///     fn name(&self) -> &str {
///         "warehouse"
///     }
///
///     fn kind(&self) -> BackendKind {
///         BackendKind::Provider
///     }
///
///     fn tools(&self) -> BoxFuture<'_, Result<OfferedTools, ToolError>> {
///         Box::pin(async {
///             let tool = Tool::builder("stock").description("Returns the number of parts in stock.");
///             let tool = tool.build().map_err(ToolError::internal)?;
///             let target = ToolBackend::provider("warehouse", "stock").map_err(ToolError::internal)?;
///             Ok(OfferedTools::new([(tool, target)]))
///         })
///     }
///
///     fn call<'a>(&'a self, _: BackendCall<'a>) -> BoxFuture<'a, Result<BackendResponse, ToolError>> {
///         Box::pin(async { Ok(json!(self.stock).into()) })
///     }
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let warehouse = Arc::new(RoutedBackend::new(Warehouse { stock: 12 })?);
/// let (mut tools, mut routes) = (Vec::new(), Routes::default());
/// for (tool, target) in warehouse.backend().tools().await?.tools {
///     let tool = tool.in_namespace(warehouse.name().clone());
///     routes.add(tool.id().clone(), Arc::clone(&warehouse), target);
///     tools.push(tool);
/// }
/// let dispatcher = Dispatcher::builder(Catalog::linked()?.with(tools)?).routes(routes).build()?;
/// assert_eq!(dispatcher.call("warehouse:stock", "{}").await?.value(), 12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Backend: Send + Sync + 'static {
    /// Returns the unique name of the backend, which is also the namespace of its tools that have
    /// none.
    fn name(&self) -> &str;

    /// Returns the kind of the backend. If several backends run the same tool, closer kinds are
    /// preferred.
    fn kind(&self) -> BackendKind;

    /// Returns true if the host trusts the hints of this backend's tools: that they are read-only,
    /// idempotent, or limited to a closed domain. Otherwise hints, tags and timeouts are dropped
    /// when the tools are collected, and layers and filters treat the tools as destructive.
    ///
    /// By default only backends of kind [`BackendKind::Local`] are trusted, whose tools the host
    /// itself has added. An implementation must return a setting of its host, never a claim of the
    /// other side.
    fn is_trusted(&self) -> bool {
        self.kind() == BackendKind::Local
    }

    /// Returns true if a proxy lists the tools with the name of the backend before theirs, such as `files_read`. Returns true by
    /// default. An implementation must return a setting of its host.
    fn has_prefix(&self) -> bool {
        true
    }

    /// Returns the changes that may be made to the arguments of the backend's tools, if they differ from those that the
    /// [dispatcher](crate::Dispatcher::coercion) makes. Returns `None` by default.
    fn coercion(&self) -> Option<Coercion> {
        None
    }

    /// Returns the tools that the backend runs at the moment.
    ///
    /// # Errors
    ///
    /// Returns an error if the list of tools cannot be obtained.
    fn tools(&self) -> BoxFuture<'_, Result<OfferedTools, ToolError>>;

    /// Completes when the tools may differ from those that [`Backend::tools`] returned last. Never
    /// completes by default.
    ///
    /// If the future is dropped before it completes, the next call must report the same change.
    fn changed(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::pending())
    }

    /// Runs one of the tools. The arguments match the tool's input schema, and the context holds
    /// only the credentials that the tool requires.
    ///
    /// # Errors
    ///
    /// Returns an error if the tool failed. Its kind is [`ErrorKind::Unavailable`] if
    /// the tool certainly has not started, and [`ErrorKind::OutcomeUnknown`] if the
    /// connection was lost and the tool may have run.
    fn call<'a>(&'a self, call: BackendCall<'a>) -> BoxFuture<'a, Result<BackendResponse, ToolError>>;

    /// Returns true if the tools of the backend call tools of the host, such as a tool that runs programs. Their context
    /// then prepares the contexts of these calls ([`Context::nested`](crate::Context::nested)) if the host supports it.
    /// Returns false by default.
    fn calls_tools(&self) -> bool {
        false
    }

    /// Returns this backend for callers who see only the tools of `catalog`, which run on `routes`: its tools call and
    /// describe no others, and are listed without waiting. Returns `None` by default, so that these callers do not see the
    /// tools of a backend that [calls tools](Backend::calls_tools).
    fn restricted_to(&self, catalog: &Catalog, routes: &Routes) -> Option<Box<dyn Backend>> {
        let _ = (catalog, routes);
        None
    }

    /// Runs one of the [prompts](OfferedTools::prompts), and returns the result of `prompts/get` of MCP. By default, a
    /// backend has no prompts.
    ///
    /// # Errors
    ///
    /// Returns an error if the prompt failed; see [`Backend::call`].
    fn prompt<'a>(&'a self, call: BackendCall<'a>) -> BoxFuture<'a, Result<BackendResponse, ToolError>> {
        let message = format!("the backend `{}` has no prompts", self.name());
        let _ = call;
        Box::pin(async { Err(ToolError::new(ErrorKind::NoBackend, message)) })
    }

    /// Returns values for an argument of a prompt or a resource template, under the name that it has in the backend. By
    /// default, there are none.
    ///
    /// # Errors
    ///
    /// Returns an error if the values cannot be obtained.
    fn complete<'a>(
        &'a self,
        request: &'a CompletionRequest,
        context: &'a Context,
    ) -> BoxFuture<'a, Result<Completion, ToolError>> {
        let _ = (request, context);
        Box::pin(async { Ok(Completion::default()) })
    }

    /// Returns the resources of the backend, such as those that the results of its tools link to. Returns `None` by
    /// default: the backend has no resources.
    fn resources(&self) -> Option<&dyn Resources> {
        None
    }

    /// Prepares the backend, for example by connecting. Does nothing by default.
    ///
    /// # Errors
    ///
    /// Returns an error if the backend cannot run tools.
    fn start(&self) -> BoxFuture<'_, Result<(), ToolError>> {
        Box::pin(async { Ok(()) })
    }

    /// Reverts [`Backend::start`]. Does nothing by default.
    ///
    /// # Errors
    ///
    /// Returns an error if the backend did not stop cleanly.
    fn stop(&self) -> BoxFuture<'_, Result<(), ToolError>> {
        Box::pin(async { Ok(()) })
    }

    /// Returns true if the backend holds something for each session of a client, such as a process, until
    /// [`end_session`](Backend::end_session). A server then passes on only sessions that have begun in its process. Default:
    /// false.
    fn holds_sessions(&self) -> bool {
        false
    }

    /// Ends what the backend holds for a session of a client ([`RequestParts::session`](crate::call::RequestParts::session)),
    /// which the client has ended. Does nothing by default.
    fn end_session(&self, session: &str) {
        let _ = session;
    }

    /// Checks that the backend can run a tool. Succeeds by default.
    ///
    /// # Errors
    ///
    /// Returns an error that describes why the backend cannot run tools.
    fn health(&self) -> BoxFuture<'_, Result<(), ToolError>> {
        Box::pin(async { Ok(()) })
    }

    /// Returns the state of the connection, without I/O. A backend without a connection is always
    /// [ready](BackendState::Ready), which is the default.
    fn status(&self) -> BackendStatus {
        BackendStatus::new(BackendState::Ready)
    }
}

/// The tools of a backend, and diagnostics of those that are left out.
///
/// [`Backend::tools`] returns it.
///
/// # Examples
///
/// A backend offers the valid tools of a server and reports the others:
///
/// ```
/// use toolkit::Tool;
/// use toolkit::backend::OfferedTools;
/// use toolkit::tool::ToolBackend;
///
/// let mut offers = OfferedTools::default();
/// for name in ["read_file", "read file"] {
///     match Tool::builder(name).build() {
///         Ok(tool) => offers.tools.push((tool, ToolBackend::provider("files", name)?)),
///         Err(diagnostics) => offers = offers.with_diagnostics(diagnostics.iter().cloned()),
///     }
/// }
/// assert_eq!((offers.tools.len(), offers.diagnostics.len()), (1, 1));
/// # Ok::<(), toolkit::tool::NameError>(())
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct OfferedTools {
    /// The tools, each with its identity in the backend.
    pub tools: Vec<(Tool, ToolBackend)>,
    /// The prompts, each with its identity in the backend.
    pub prompts: Vec<(Prompt, ToolBackend)>,
    /// The diagnostics of tools that are left out, and of settings without effect.
    pub diagnostics: Vec<Diagnostic>,
    /// Hints about effects that the host itself has set for tools of the backend. They apply whether or not the host
    /// [trusts](Backend::is_trusted) the backend.
    pub hints: HashMap<ToolId, Annotations>,
    /// Instructions for the model on how to use the tools together.
    pub instructions: Option<String>,
    /// The time for which clients may cache the list, if the backend states one (`ttlMs` of MCP).
    pub list_ttl: Option<Duration>,
    /// True if the list may depend on the user, so that no cache may share it (`cacheScope` of MCP).
    pub is_private: bool,
}

impl OfferedTools {
    /// Creates a list of tools without diagnostics.
    #[must_use]
    pub fn new(tools: impl IntoIterator<Item = (Tool, ToolBackend)>) -> Self {
        Self { tools: tools.into_iter().collect(), ..Self::default() }
    }

    /// Adds diagnostics of tools that are left out.
    #[must_use]
    pub fn with_diagnostics(mut self, diagnostics: impl IntoIterator<Item = Diagnostic>) -> Self {
        self.diagnostics.extend(diagnostics);
        self
    }
}

/// The result of a backend, in the form that the backend has.
///
/// A backend returns the form that it has received, and the dispatcher validates it against the output schema.
///
/// # Examples
///
/// ```
/// use serde_json::json;
/// use toolkit::backend::BackendResponse;
///
/// /// Reads the reply of a server without parsing it.
/// fn answer(status: u16, body: Vec<u8>) -> BackendResponse {
///     match status {
///         204 => BackendResponse::Nothing,
///         _ => BackendResponse::Json(body),
///     }
/// }
///
/// assert!(matches!(answer(204, vec![]), BackendResponse::Nothing));
/// assert!(matches!(answer(200, b"[1,2]".to_vec()), BackendResponse::Json(_)));
/// assert!(matches!(BackendResponse::from(json!([1, 2])), BackendResponse::Value(_)));
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum BackendResponse {
    /// A structured result.
    Value(Value),
    /// A structured result as JSON text.
    Json(Vec<u8>),
    /// A result of an MCP server (`CallToolResult`) as JSON text, which is passed on as it is.
    Mcp(Vec<u8>),
    /// No result, for a tool without an output schema.
    Nothing,
}

impl From<Value> for BackendResponse {
    fn from(value: Value) -> Self {
        BackendResponse::Value(value)
    }
}

/// A call that is passed to a backend.
///
/// A [`Backend`] receives it in [`Backend::call`].
///
/// # Examples
///
/// A backend finds its own name of the tool in the [target](BackendCall::target):
///
/// ```
/// use serde_json::{Value, json};
/// use toolkit::ToolError;
/// use toolkit::backend::BackendCall;
/// use toolkit::call::ErrorKind;
/// use toolkit::tool::ToolBackend;
///
/// /// Returns the request that a provider expects.
/// fn request(call: &BackendCall<'_>) -> Result<Value, ToolError> {
///     if call.context().is_cancelled() {
///         return Err(ToolError::cancelled());
///     }
///     match call.target() {
///         ToolBackend::Provider { tool_id, .. } => {
///             Ok(json!({ "tool": tool_id, "arguments": call.arguments().to_value()? }))
///         }
///         other => Err(ToolError::new(ErrorKind::NoBackend, format!("{other} is another backend"))),
///     }
/// }
/// ```
#[derive(Debug)]
pub struct BackendCall<'a> {
    pub(crate) tool: &'a Tool,
    pub(crate) target: &'a ToolBackend,
    pub(crate) arguments: Arguments<'a>,
    pub(crate) context: &'a Context,
    pub(crate) parts: Option<Parts<'a>>,
}

/// The receiver of a result's parts, and the schema that each part must match.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parts<'a> {
    pub(crate) queue: &'a Queue,
    /// The output schema, if it describes nothing but a list of parts.
    pub(crate) list: Option<&'a Schema>,
}

impl<'a> BackendCall<'a> {
    /// Returns the tool as the catalog contains it, possibly in a namespace that the catalog added.
    #[must_use]
    pub fn tool(&self) -> &'a Tool {
        self.tool
    }

    /// Returns the tool's identity in the backend, as listed in [`OfferedTools`].
    #[must_use]
    pub fn target(&self) -> &'a ToolBackend {
        self.target
    }

    /// Returns the arguments, which match the input schema.
    #[must_use]
    pub fn arguments(&self) -> &Arguments<'a> {
        &self.arguments
    }

    /// Returns the context of the call: cancellation, progress, and the credentials that the tool
    /// requires.
    pub fn context(&self) -> &'a Context {
        self.context
    }

    /// Returns true if the caller consumes the parts of the result.
    #[must_use]
    pub fn is_streamed(&self) -> bool {
        self.parts.is_some()
    }

    /// Sends a part of the result to the caller, and waits while the queue is full. If the output
    /// schema describes a list, the part is an item and is validated as such. Does nothing if the
    /// result is not streamed.
    ///
    /// # Errors
    ///
    /// Returns an error if the part does not match the output schema.
    pub async fn send(&self, chunk: Chunk) -> Result<(), ToolError> {
        let Some(parts) = self.parts else {
            return Ok(());
        };
        if let Some(schema) = parts.list {
            check_output(schema, format!("[{}]", chunk.json()).as_bytes())?;
        }
        parts.queue.send(chunk).await;
        Ok(())
    }
}
