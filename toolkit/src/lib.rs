//! Turn a function into a tool that language models can call.
//!
//! [`tool`](macro@tool) on a function puts it into the catalogue of every program that links it. [`Catalog`] collects
//! the tools of a program, and [`Dispatcher`] calls them, checking what goes in and what comes out.
//!
//! ```
//! use toolkit::{Catalog, Dispatcher, tool};
//!
//! /// Adds two integers.
//! #[tool(namespace = "math", version = "1.0.0")]
//! fn add(a: i64, b: i64) -> i64 {
//!     a + b
//! }
//!
//! let dispatcher = Dispatcher::new(Catalog::linked()?)?;
//! assert_eq!(dispatcher.call_sync("math:add", r#"{"a": 1, "b": 2}"#)?.value(), 3);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | read | for |
//! |---|---|
//! | [`tool`](macro@tool), [`toolset`](macro@toolset) | what an author writes |
//! | [`Catalog`], [`catalog!`](catalog!), [`link!`] | which tools a program has |
//! | [`Dispatcher`], [`Handle`], [`Context`] | calling them |
//! | [`stream`] | calling one and seeing how far it has come |
//! | [`Chain`] | calling several, the result of one being an argument of the next |
//! | [`ToolError`], [`Content`], [`Structured`] | what a tool gives back |
//! | [`adapter`] | describing them to others |
//! | [`Tool`], [`Manifest`] | tools that are not written in Rust |
//! | `import!`, under the feature `import` | those as typed functions |
//! | [`backend`] | running those: handlers, other processes, servers |
//! | [`lint`] | what could be better, and what is meant to deceive |
//! | [`lock`] | what has changed, and whether it breaks callers |
//! | [`version`] | which version will do |
//!
//! Without the default feature `async` there is no runtime and no time limit; asynchronous tools then run on whatever
//! executor polls them.
#![forbid(unsafe_code)]

// Generated code names `::toolkit`; so does the code that is generated in here.
extern crate self as toolkit;

pub mod adapter;
pub mod backend;
pub mod bounds;
pub mod call;
pub mod catalog;
pub mod chain;
pub mod discovery;
pub mod dispatch;
#[cfg(feature = "import")]
pub mod import;
pub mod lint;
pub mod lock;
pub mod manifest;
pub mod schema;
pub mod stream;
pub mod tool;
pub mod version;

mod handle;
mod json;
mod state;
mod suggest;

#[doc(hidden)]
pub use self::private as __private;
#[doc(hidden)]
pub mod private;

pub use self::call::{Arguments, CancelToken, Coercion, Content, Context, RunResult, ShowError, Structured, ToolError};
pub use self::catalog::Catalog;
pub use self::chain::Chain;
pub use self::dispatch::Dispatcher;
pub use self::handle::Handle;
pub use self::lock::Lock;
pub use self::manifest::Manifest;
pub use self::stream::Chunks;
pub use self::tool::{Tool, ToolId};
/// Makes a function a tool.
///
/// ```
/// # use toolkit::tool;
/// /// Adds two integers.
/// #[tool(namespace = "math", version = "1.0.0", tags = ["arithmetic"], read_only)]
/// fn add(a: i64, b: i64) -> i64 { a + b }
/// ```
///
/// | argument | meaning |
/// |---|---|
/// | `namespace = "…"`, `name = "…"`, `version = "…"` | the parts of the id; the name is the function's unless given; `env!("CARGO_PKG_VERSION")` is a version too |
/// | `title = "…"`, `description = "…"` | for people, and for models; the description is the doc comment unless given |
/// | `tags = ["…"]`, `category = "…"` | for discovery |
/// | `read_only`, `destructive`, `idempotent`, `open_world` | hints, each also `= true` or `= false` |
/// | `aliases = ["…"]`, `deprecated = "…"` | former names; what to use instead |
/// | `icons = [icon(src = "…", mime_type = "…", sizes = ["…"], theme = "…")]`, `meta = "{…}"` | for clients |
/// | `examples = ["{…}"]` | argument objects, as JSON |
/// | `requires(oauth2(id = "…", scopes = ["…"]), secret = "…", user_id)` | what the host must hold |
/// | `timeout = "30s"` | how long a call may take; also `ms` and `m` |
/// | `blocking` | runs on a thread that may block |
/// | `show_errors` | a model reads the text of every error that the function returns |
/// | `crate = ::path` | where `toolkit` is, if it was renamed |
///
/// # Parameters
///
/// An owned parameter is an argument, which may carry a doc comment and attributes of serde and schemars. A borrowed
/// parameter is state that the host injects.
///
/// A `#[serde(alias)]` of a parameter, or of a field of the argument struct, is a property of the schema too; two names of
/// one argument at once are a violation. An alias further inside, of an enum's variant and `#[serde(other)]` are not in
/// the schema, which refuses them.
///
/// The only owned parameter is the *argument struct* if the schema of its type is an object with properties: then those
/// are the tool's arguments. An argument of any other type goes under its own name, like one of several: a scalar, a
/// list, a map, an `Option`, an enum, a newtype, a `Uuid`. `#[arg]` gives an argument struct a name too.
///
/// ```
/// # use toolkit::{catalog, tool};
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Query {
///     city: String,
/// }
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct CityId(u32);
///
/// /// Takes `{"city": "Lima"}`.
/// #[tool]
/// fn by_query(query: Query) {}
///
/// /// Takes `{"id": 7}`.
/// #[tool]
/// fn by_id(id: CityId) {}
///
/// /// Takes `{"query": {"city": "Lima"}}`.
/// #[tool]
/// fn nested(#[arg] query: Query) {}
///
/// let dispatcher = toolkit::Dispatcher::new(catalog![by_query, by_id, nested]?)?;
/// dispatcher.call_sync("by_query", r#"{"city": "Lima"}"#)?;
/// dispatcher.call_sync("by_id", r#"{"id": 7}"#)?;
/// dispatcher.call_sync("nested", r#"{"query": {"city": "Lima"}}"#)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Results
///
/// A result is anything that serializes and has a schema, `()`, `Content`, `Structured<T>`, `Chunks<T>`, or a `Result`
/// of these.
///
/// # Errors
///
/// A model never reads the text of an error that was not meant for it: it reads that the tool failed, and the text is
/// logged. Of a `std::io::Error` it reads the kind, such as "not found", without a path. What it reads beyond that is
/// the author's choice, for one error, one type or one function.
///
/// One error: `ToolError::failed` has a text of its own, and `ToolError::shown` that of another error.
///
/// ```
/// # use toolkit::{ToolError, tool};
/// /// Reads the port of a service.
/// #[tool]
/// fn port(service: String, text: String) -> Result<u16, ToolError> {
///     if service.is_empty() {
///         return Err(ToolError::failed("name a service"));
///     }
///     text.parse().map_err(ToolError::shown)
/// }
///
/// assert_eq!(port("ssh".into(), "x".into()).unwrap_err().message(), "invalid digit found in string");
/// ```
///
/// One type: `ShowError` marks an error whose text is for the model, here one of `thiserror`. It becomes a `ToolError`
/// by `?` too. `impl From<YourError> for ToolError` chooses a text for each variant.
///
/// ```
/// # use toolkit::{ShowError, ToolError, tool};
/// #[derive(Debug, thiserror::Error)]
/// enum BookingError {
///     #[error("no seat is left on {0}")]
///     Full(String),
/// }
///
/// impl ShowError for BookingError {}
///
/// fn reserve(train: String) -> Result<u32, BookingError> {
///     Err(BookingError::Full(train))
/// }
///
/// /// Books a seat.
/// #[tool]
/// fn book(train: String) -> Result<u32, ToolError> {
///     Ok(reserve(train)?)
/// }
///
/// assert_eq!(book("ICE 5".into()).unwrap_err().message(), "no seat is left on ICE 5");
/// ```
///
/// One function: `show_errors` shows every error that the function returns, here one of `anyhow`. The model reads what
/// `{error}` prints, which is the last context and not what caused it. A panic and `ToolError::internal` stay masked.
///
/// ```
/// # use toolkit::{catalog, tool};
/// use anyhow::Context as _;
///
/// /// Adds two numbers.
/// #[tool(show_errors)]
/// fn add(a: String, b: i64) -> anyhow::Result<i64> {
///     Ok(a.parse::<i64>().context("`a` is not an integer")? + b)
/// }
///
/// let dispatcher = toolkit::Dispatcher::new(catalog![add]?)?;
/// let error = dispatcher.call_sync("add", r#"{"a": "x", "b": 1}"#).unwrap_err();
/// assert_eq!(error.message(), "`a` is not an integer");
/// # Ok::<(), toolkit::catalog::Problems>(())
/// ```
pub use toolkit_derive::tool;
pub use toolkit_derive::{catalog, handle, toolset};
#[cfg(feature = "import")]
pub use toolkit_import::import;

/// Links crates whose tools nothing else refers to.
///
/// The linker drops a dependency that nothing refers to, and with it, silently, its tools.
///
/// ```
/// toolkit::link!(serde_json, semver);
/// ```
#[macro_export]
macro_rules! link {
    ($($krate:ident),* $(,)?) => { $( use $krate as _; )* };
}
