//! The dispatcher, which runs the tools of a catalog.
//!
//! [`Dispatcher::builder`] sets the state that tools borrow, the limits of calls and the layers around them. The
//! dispatcher is then immutable, and its clones share everything.
//!
//! ```standalone_crate
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

// The way of a call, by module:
//
//     prepared       resolves the name to a tool
//     layer          passes the call through the layers, if there are any
//     execute        runs the stages below in this order:
//       select       selects the function or the backend
//       scope        reduces the credentials to those that the tool requires
//       policy       rejects arguments that exceed the limits, and cancelled calls
//       limit        bounds what follows, including the wait for a permit, by the timeout
//       run          decodes the arguments (`invocation`), calls the function, encodes the result (`encode`)
//       on_backend   does the same with a backend instead of a function
//     report         adds the tool to an error, and logs its cause
//
// `blocking` moves a function to a thread that may block, `typed` is the way of a handle, `streaming` that of a stream.

#[cfg(feature = "async")]
mod blocking;
mod builder;
mod check;
mod dispatcher;
pub(crate) mod encode;
mod execute;
pub(crate) mod host;
mod invocation;
#[cfg(feature = "tower")]
mod layer;
mod limit;
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

#[cfg(feature = "async")]
pub use self::blocking::BlockingThreads;
pub use self::builder::DispatcherBuilder;
pub use self::dispatcher::Dispatcher;
#[cfg(feature = "tower")]
pub use self::layer::{Call, ToolService};
pub use self::prepared::Prepared;
pub(crate) use self::typed::{Typed, TypedCall};
pub use crate::call::BoxFuture;
#[cfg(feature = "async")]
pub use crate::call::timer::sleep;
use crate::call::{Arguments, Context, RunResult, ToolError};

impl Dispatcher {
    /// Calls a tool by any of its names.
    ///
    /// A synchronous tool runs on the thread that polls the future, unless it is marked `blocking`.
    ///
    /// ```standalone_crate
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
    /// ```standalone_crate
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
