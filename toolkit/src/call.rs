//! The parts of a call: arguments, context, result and error.
//!
//! | type | role |
//! |---|---|
//! | [`Arguments`] | the input, as JSON text or as a value |
//! | [`Context`] | cancellation, progress, credentials and values of the host, which a tool receives as `&Context` |
//! | [`Coercion`], [`Change`] | corrections of arguments that do not match the schema |
//! | [`RunResult`], [`Content`], [`Structured`] | the result |
//! | [`LogLevel`], [`LogMessage`] | messages for the caller that are not a part of the result |
//! | [`ask`] | questions to the user during a call |
//! | [`ToolError`], [`ErrorKind`], [`Stage`] | the error, with a message for the model |
//! | [`RequestParts`] | the path, headers, address and session of the request by which a call arrived |
//! | [`StepId`], [`TraceContext`] | values that hosts attach to a context |
//!
//! Of the private modules, `decode` reads validated arguments into a Rust type, `coerce` corrects arguments, `result`
//! validates results, `mcp_result` keeps those of MCP servers as text, `permit` and `timer` limit calls, `convert` and `show` turn other errors and panics into errors of a call,
//! `record` is the serialized form of results and errors, and `attached` are values of the host.
//!
//! ```
//! use toolkit::call::{Context, ErrorKind, ToolError};
//! use toolkit::{Dispatcher, catalog, tool};
//!
//! /// Reads some pages of a book.
//! #[tool]
//! fn read(pages: Vec<u32>, ctx: &Context) -> Result<String, ToolError> {
//!     for (idx, page) in pages.iter().enumerate() {
//!         if *page > 300 {
//!             return Err(ToolError::failed(format!("the book has 300 pages, so there is no page {page}")));
//!         }
//!         ctx.progress((idx + 1) as f64, pages.len() as f64, "reading");
//!     }
//!     Ok(format!("{} pages", pages.len()))
//! }
//!
//! let dispatcher = Dispatcher::new(catalog![read]?)?;
//! let context = Context::new().on_progress(|progress| eprintln!("{}: {}", progress.message, progress.done));
//! let result = dispatcher.call_sync_with(&context, "read", r#"{"pages": [1, 2]}"#)?;
//! assert_eq!(result.value(), "2 pages");
//!
//! let error = dispatcher.call_sync_with(&context, "read", r#"{"pages": [301]}"#).unwrap_err();
//! assert_eq!(error.kind(), ErrorKind::Failed);
//! assert_eq!(error.message(), "the book has 300 pages, so there is no page 301");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod ask;
mod attached;
pub(crate) mod caller_token;
pub(crate) mod coerce;
mod content;
mod context;
pub(crate) mod convert;
mod credentials;
pub(crate) mod decode;
mod kind;
mod mcp_result;
pub(crate) mod permit;
mod record;
mod request;
mod result;
mod show;
#[cfg(feature = "async")]
pub(crate) mod timer;
mod tool_error;

use std::future::Future;
use std::pin::Pin;

pub use self::attached::{CancelToken, DropGuard, LogLevel, LogMessage, StepId, TraceContext};
pub use self::coerce::{Change, Coercion};
pub(crate) use self::coerce::{validated_arguments, validated_texts};
pub use self::content::{Content, Structured};
pub use self::context::{Context, Progress};
pub(crate) use self::convert::{caught, caught_future, caught_future_within};
pub use self::credentials::{Credentials, SecretString};
pub(crate) use self::decode::read_tree;
pub use self::kind::{ErrorKind, Stage};
pub(crate) use self::mcp_result::{McpResult, each_field, each_item, has_surrogates, text};
pub use self::request::RequestParts;
pub use self::result::RunResult;
pub(crate) use self::result::{check_output, check_output_tree, check_value, not_json};
pub use self::show::ShowError;
// Exported, since rustc prints the whole path of a trait that is in no public module.
#[doc(hidden)]
pub use self::show::{Registered, ShownType};
pub use self::tool_error::ToolError;
pub use crate::arguments::Arguments;

/// A boxed future, as returned by the methods of [`Backend`](crate::backend::Backend).
///
/// # Examples
///
/// ```
/// use toolkit::ToolError;
/// use toolkit::call::BoxFuture;
///
/// trait Store {
///     fn read<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<String, ToolError>>;
/// }
///
/// struct Echo;
///
/// impl Store for Echo {
///     fn read<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<String, ToolError>> {
///         Box::pin(async move { Ok(key.to_owned()) })
///     }
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// assert_eq!(Echo.read("a").await?, "a");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// An error of any type, for which [`ToolError::internal`] and layers of tower have the bound `Into<BoxError>`.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;
