//! The dispatcher, which runs the tools of a catalog.
//!
//! [`Dispatcher::builder`] sets the state that tools borrow, the limits of calls and the layers around them. The
//! dispatcher is then immutable, and its clones share everything.
//!
//! ```
//! use std::time::Duration;
//!
//! use toolkit::{Coercion, Dispatcher, catalog, tool};
//!
//! struct Index(Vec<&'static str>);
//!
//! /// Finds titles that contain a word.
//! #[tool(read_only)]
//! fn find(word: String, index: &Index) -> Vec<&'static str> {
//!     index.0.iter().copied().filter(|title| title.contains(&word)).collect()
//! }
//!
//! let dispatcher = Dispatcher::builder(catalog![find]?)
//!     .state(Index(vec!["Old Peter", "New Peter", "Anna"]))
//!     .timeout(Duration::from_secs(10))
//!     .concurrency(64)
//!     .max_result_bytes(1 << 20)
//!     .coercion(Coercion::Lenient)
//!     .build()?;
//! let result = dispatcher.call_sync("find", r#"{"word": "Peter"}"#)?;
//! assert_eq!(result.value(), serde_json::json!(["Old Peter", "New Peter"]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | call | method |
//! |---|---|
//! | by name, with JSON | [`Dispatcher::call`], [`Dispatcher::call_sync`] |
//! | with a context: cancellation, progress, credentials | [`Dispatcher::call_with`], [`Dispatcher::call_sync_with`] |
//! | as a stream of progress and partial results | [`Dispatcher::stream`] |
//! | many times, resolved once | [`Dispatcher::prepared`] |
//! | with Rust types | [`Handle::call`](crate::Handle::call) |

mod blocking;
mod builder;
pub(crate) mod encode;
mod execute;
pub(crate) mod host;
#[cfg(feature = "tower")]
mod layer;
mod limit;
mod missing;
mod on_backend;
mod policy;
mod prepared;
mod report;
mod result_size;
pub(crate) mod run;
mod scope;
mod select;
mod streaming;
mod typed;

use std::sync::Arc;

#[cfg(feature = "async")]
pub use self::blocking::BlockingThreads;
pub use self::builder::DispatcherBuilder;
use self::encode::Encode;
use self::host::Host;
#[cfg(feature = "tower")]
pub use self::layer::{Call, ToolService};
use self::policy::Policy;
pub use self::prepared::Prepared;
use self::run::{Invocation, Run};
pub(crate) use self::typed::{Typed, TypedCall};
use crate::backend::{Routes, Selector};
pub use crate::call::BoxFuture;
use crate::call::permit::Limiter;
#[cfg(feature = "async")]
pub use crate::call::timer::sleep;
use crate::call::{Arguments, Context, RunResult, ToolError};
use crate::catalog::Catalog;
use crate::state::States;

/// The dispatcher, which runs the tools of a catalog.
///
/// Each call passes the same stages: the name is resolved, the arguments are validated against the input schema, the
/// function or backend runs, and its result is validated against the output schema. Clones share all state.
///
/// ```
/// use toolkit::{Dispatcher, catalog, tool};
///
/// /// Adds two numbers.
/// #[tool]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// let dispatcher = Dispatcher::new(catalog![add]?)?;
/// assert_eq!(dispatcher.call_sync("add", r#"{"a": 1, "b": 2}"#)?.value(), 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Dispatcher {
    shared: Arc<Shared>,
    /// The layers, if there are any.
    #[cfg(feature = "tower")]
    layered: Option<ToolService>,
}

struct Shared {
    catalog: Catalog,
    routes: Routes,
    selector: Option<Arc<Selector>>,
    states: Arc<States>,
    policy: Policy,
    limiter: Limiter,
}

impl Dispatcher {
    /// Returns the catalog.
    #[must_use]
    pub fn catalog(&self) -> &Catalog {
        &self.shared.catalog
    }

    /// Calls a tool by any of its names.
    ///
    /// A synchronous tool runs on the thread that polls the future, unless it is marked `blocking`.
    ///
    /// ```
    /// use serde_json::json;
    /// use toolkit::{Dispatcher, catalog, tool};
    ///
    /// /// Repeats a text.
    /// #[tool]
    /// async fn repeat(text: String, times: u8) -> String {
    ///     text.repeat(times.into())
    /// }
    ///
    /// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
    /// let dispatcher = Dispatcher::new(catalog![repeat]?)?;
    /// let result = dispatcher.call("repeat", json!({ "text": "ab", "times": 2 })).await?;
    /// assert_eq!(result.value(), "abab");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if the name does not resolve, the arguments do not match the input schema, the tool fails or
    /// exceeds its timeout, or the result does not match the output schema. [`ToolError::stage`] returns the stage.
    pub async fn call<'a>(&self, name: &str, arguments: impl Into<Arguments<'a>>) -> Result<RunResult, ToolError> {
        self.call_with(Context::EMPTY, name, arguments).await
    }

    /// Calls a tool with a context.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Dispatcher::call`].
    ///
    /// # Examples
    ///
    /// A server passes the identity of the caller, which the tool reads from its context:
    ///
    /// ```
    /// use toolkit::{Context, Dispatcher, catalog, tool};
    ///
    /// struct User(String);
    ///
    /// /// Returns the name of the user.
    /// #[tool]
    /// async fn whoami(ctx: &Context) -> Option<String> {
    ///     ctx.get::<User>().map(|user| user.0.clone())
    /// }
    ///
    /// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
    /// let dispatcher = Dispatcher::new(catalog![whoami]?)?;
    /// let context = Context::new().with(User("ada".to_owned()));
    /// assert_eq!(dispatcher.call_with(&context, "whoami", "{}").await?.value(), "ada");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub async fn call_with<'a>(
        &self,
        context: &Context,
        name: &str,
        arguments: impl Into<Arguments<'a>>,
    ) -> Result<RunResult, ToolError> {
        self.prepared(name)?.call_with(context, arguments).await
    }

    /// Calls a synchronous tool on this thread, without a runtime.
    ///
    /// A timeout cannot stop the tool.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Dispatcher::call`], and an error if the tool is asynchronous.
    pub fn call_sync<'a>(&self, name: &str, arguments: impl Into<Arguments<'a>>) -> Result<RunResult, ToolError> {
        self.call_sync_with(Context::EMPTY, name, arguments)
    }

    /// Calls a synchronous tool with a context.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Dispatcher::call_sync`].
    pub fn call_sync_with<'a>(
        &self,
        context: &Context,
        name: &str,
        arguments: impl Into<Arguments<'a>>,
    ) -> Result<RunResult, ToolError> {
        self.prepared(name)?.call_sync_with(context, arguments)
    }
}

// A selector is a function, and states have arbitrary types.
impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared")
            .field("catalog", &self.catalog)
            .field("routes", &self.routes)
            .field("states", &self.states)
            .field("policy", &self.policy)
            .finish_non_exhaustive()
    }
}
