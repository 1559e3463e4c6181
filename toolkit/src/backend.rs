//! What runs tools that are no functions of this program: handlers, other processes, servers.
//!
//! A [`Backend`] says which tools it has, and runs them. [`Backends`] holds several, and collects their tools into one
//! catalogue and one table of [`Routes`]; the dispatcher that is given both runs them as it runs functions: it checks
//! what goes in and what comes out, keeps its limits, and lends each tool only what it requires.
//!
//! ```
//! use serde_json::{Value, json};
//! use toolkit::backend::{Backends, LocalBackend};
//! use toolkit::{Catalog, Context, Dispatcher, Tool};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
//! let shout = Tool::builder("shout").description("Says it louder.").input(json!({
//!     "type": "object",
//!     "properties": { "text": { "type": "string" } },
//!     "required": ["text"],
//! }));
//! let plugins = LocalBackend::new("plugins");
//! plugins.add(shout.build()?, |arguments: Value, _: Context| async move {
//!     Ok(json!(arguments["text"].as_str().unwrap_or_default().to_uppercase()))
//! });
//!
//! let backends = Backends::new();
//! backends.register(plugins)?;
//! let collected = backends.collect(Catalog::linked()?).await;
//! assert!(collected.diagnostics.is_empty() && collected.failures.is_empty());
//!
//! let dispatcher = Dispatcher::builder(collected.catalog).routes(collected.routes).build()?;
//! let result = dispatcher.call("plugins:shout", json!({ "text": "hello" })).await?;
//! assert_eq!(result.value(), "HELLO");
//! # Ok(()) })
//! # }
//! ```

mod answer;
mod ask;
mod call;
mod changes;
mod collect;
mod deadline;
mod hop;
mod local;
mod normalize;
mod pending;
mod registry;
mod review;
mod routes;

pub use self::answer::Answer;
pub use self::call::BackendCall;
pub(crate) use self::call::Parts;
pub use self::collect::{Collected, Failure};
pub(crate) use self::hop::without_tool_id;
pub use self::local::LocalBackend;
pub(crate) use self::normalize::{Normal, normalize};
pub use self::registry::{Backends, RegisterError};
pub use self::review::ContractChange;
pub use self::routes::Routes;
pub(crate) use self::routes::{Route, Selector};
use crate::call::BoxFuture;
use crate::call::ToolError;
use crate::catalog::Diagnostic;
use crate::tool::{BackendKind, Tool, ToolBackend};

/// What runs tools.
///
/// Every method may be called at any time, from several tasks at once. What a future of a backend does ends when the
/// future is dropped: the dispatcher drops it when the call is cancelled or takes too long. A panic in a backend is an
/// error of that call.
pub trait Backend: Send + Sync + 'static {
    /// What it is called among the backends of a program, and the namespace of those of its tools that have none.
    fn name(&self) -> &str;

    /// What kind of thing runs its tools; kinds that are nearer are preferred where a tool has several.
    fn kind(&self) -> BackendKind;

    /// Returns true if the host trusts the hints of this backend's tools: that they are read-only, idempotent, or limited
    /// to a closed domain. Otherwise hints, tags and timeouts are dropped when the tools are collected, and layers and
    /// filters treat the tools as destructive.
    ///
    /// By default only backends of kind [`BackendKind::Local`] are trusted, whose tools the host itself has added. An
    /// implementation returns what its host configured, never what the other side claims.
    fn is_trusted(&self) -> bool {
        self.kind() == BackendKind::Local
    }

    /// The tools that it runs now.
    ///
    /// # Errors
    ///
    /// It could not be asked.
    fn tools(&self) -> BoxFuture<'_, Result<Offers, ToolError>>;

    /// Waits until its tools may be others than those that [`Backend::tools`] gave last; by default for ever.
    ///
    /// A host that has dropped the future before it was ready misses nothing if it waits again.
    fn changed(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::pending())
    }

    /// Runs one of its tools. The arguments fit the tool's input schema, and the context holds of the caller's
    /// credentials what the tool requires.
    ///
    /// # Errors
    ///
    /// The tool failed, or could not be reached ([`ErrorKind::Unavailable`](crate::call::ErrorKind::Unavailable)).
    fn call<'a>(&'a self, call: BackendCall<'a>) -> BoxFuture<'a, Result<Answer, ToolError>>;

    /// Prepares it, such as by connecting; by default there is nothing to do.
    ///
    /// # Errors
    ///
    /// It cannot run tools.
    fn start(&self) -> BoxFuture<'_, Result<(), ToolError>> {
        Box::pin(async { Ok(()) })
    }

    /// Ends what [`Backend::start`] began; by default there is nothing to do.
    ///
    /// # Errors
    ///
    /// It did not end as it should.
    fn stop(&self) -> BoxFuture<'_, Result<(), ToolError>> {
        Box::pin(async { Ok(()) })
    }

    /// Whether it could run a tool now; by default it could.
    ///
    /// # Errors
    ///
    /// It could not, and why.
    fn health(&self) -> BoxFuture<'_, Result<(), ToolError>> {
        Box::pin(async { Ok(()) })
    }
}

/// The tools that a backend has, and those that it had to leave out.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Offers {
    /// Each tool, and how the backend knows it.
    pub tools: Vec<(Tool, ToolBackend)>,
    /// What is wrong with the tools that are not among them.
    pub diagnostics: Vec<Diagnostic>,
}

impl Offers {
    /// These tools, and no problems.
    #[must_use]
    pub fn new(tools: impl IntoIterator<Item = (Tool, ToolBackend)>) -> Self {
        Self { tools: tools.into_iter().collect(), diagnostics: Vec::new() }
    }

    /// Says what is wrong with tools that are left out.
    #[must_use]
    pub fn with_diagnostics(mut self, diagnostics: impl IntoIterator<Item = Diagnostic>) -> Self {
        self.diagnostics.extend(diagnostics);
        self
    }
}
