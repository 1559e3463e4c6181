//! Implementation detail of the `toolkit` crate, which documents these macros.
//!
//! A function goes through `attribute` (what the author wrote) and `function` (what it means), each of which reports
//! every mistake it finds; then through `expand`, which cannot fail, or `recover`, which keeps the function.

mod arg;
mod attribute;
mod description;
mod expand;
mod function;
mod inherit;
mod json_name;
mod list;
mod module;
#[allow(dead_code, reason = "shared with `toolkit`, which shows more of it")]
mod name;
mod parameter;
mod recover;
mod report;
mod requirements;
mod returned;
mod scan;
#[cfg(test)]
mod snapshots;
#[allow(dead_code, reason = "shared with `toolkit`, which shows more of it")]
mod tags;
mod toolset;
mod value;

use proc_macro::TokenStream;

/// Makes a function a tool.
///
/// ```ignore
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
///     std::fs::create_dir_all("/tmp")?; // masked
///     Ok(reserve(train)?) // shown
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
#[proc_macro_attribute]
pub fn tool(arguments: TokenStream, item: TokenStream) -> TokenStream {
    function::tool(arguments.into(), item.into()).into()
}

/// Makes the methods of an `impl` block that are marked `#[tool]` tools of one instance, which the dispatcher is given.
///
/// It takes `namespace`, `version`, `tags`, `category`, hints, `timeout` and `crate`, which hold for every method that
/// does not say otherwise.
#[proc_macro_attribute]
pub fn toolset(arguments: TokenStream, item: TokenStream) -> TokenStream {
    toolset::toolset(arguments.into(), item.into()).into()
}

/// An explicit catalogue: `catalog![math::add, weather::forecast, Notebook::append]?`.
///
/// Each path names a function where it is defined: a re-export under another name, or of the function alone, leaves
/// its tool behind. A tool that stands twice is refused while compiling. For a renamed `toolkit`, the list starts with
/// `crate = ::path,`.
#[proc_macro]
pub fn catalog(input: TokenStream) -> TokenStream {
    list::catalog(input.into()).into()
}

/// The typed handle of a tool: `handle!(math::add).call(&dispatcher, (1, 2)).await`.
///
/// The path is as for `catalog!`.
#[proc_macro]
pub fn handle(input: TokenStream) -> TokenStream {
    list::handle(input.into()).into()
}
