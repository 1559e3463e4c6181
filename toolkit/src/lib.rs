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

mod arguments;
mod handle;
mod state;
mod unwind;

#[doc(hidden)]
pub mod __private;

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
/// A `#[serde(alias)]` of a parameter or of a field is a property of the schema too, also where the struct is nested; two
/// names of one argument at once are a violation. The schema lists neither an alias of an enum's variant nor the names
/// that `#[serde(other)]` stands for, and refuses both: [`lint`] reports them (`unlisted-name`), and so it
/// does for an alias of a field for which no value can be made up. Both are found by asking the type; of what serde
/// buffers before it is read (untagged and internally tagged enums, `flatten`) nothing is known, and aliases in there
/// are refused.
///
/// [`Catalog::check`] reports a map whose keys are not read from strings, such as `HashMap<(i32, i32), T>`: no call could
/// send an entry of it. Take a list of pairs. A map in a result is found when it is written, and is the error of that
/// call.
///
/// `#[schemars(range(…))]` limits numbers. On a `String` schemars drops it without a trace in the schema, so that nothing
/// can report it; for texts there are `length` and `regex`.
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
/// `#[arg(default = …)]` is the value of an argument that the caller leaves out. It is any expression of the argument's
/// type; text needs no `to_owned`, and an `Option` no `Some`. The schema shows it, if the type implements
/// `serde::Serialize`. `#[arg(default)]` is the default of the type. `#[serde(default = "path")]` does the same with a
/// function.
///
/// ```
/// # use toolkit::{catalog, tool};
/// /// Lists the files of a folder.
/// #[tool]
/// fn list(
///     #[arg(default = ".")] folder: String,
///     #[arg(default = 50)] limit: usize,
///     #[arg(default)] hidden: bool,
/// ) -> String {
///     format!("{limit} files of {folder}, hidden: {hidden}")
/// }
///
/// let dispatcher = toolkit::Dispatcher::new(catalog![list]?)?;
/// let result = dispatcher.call_sync("list", r#"{"limit": 2}"#)?;
/// assert_eq!(result.value(), "2 files of ., hidden: false");
/// let schema = dispatcher.catalog().resolve("list")?.input().as_value();
/// assert_eq!(schema["properties"]["limit"]["default"], 50);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # State
///
/// A `&T` is the value of type `T` that the host passes to `DispatcherBuilder::state`; `&dyn Trait`, and what the host
/// keeps an `Arc` of, go to `DispatcherBuilder::shared_state`. A dispatcher is not built while a value is missing.
/// `&Context` is the context of the call, and `&Dispatcher` and `&Catalog` are those that run it: a tool that calls tools
/// passes its own context on, and needs no second permit of the concurrency limit.
///
/// ```
/// # use toolkit::{Context, Dispatcher, ToolError, catalog, tool};
/// /// Doubles a number.
/// #[tool]
/// fn double(n: u64) -> u64 {
///     n * 2
/// }
///
/// /// Calls a tool for each number.
/// #[tool]
/// async fn map(tool: String, numbers: Vec<u64>, tools: &Dispatcher, ctx: &Context) -> Result<Vec<String>, ToolError> {
///     let mut results = Vec::new();
///     for n in numbers {
///         results.push(tools.call_with(ctx, &tool, format!(r#"{{"n": {n}}}"#)).await?.value().to_string());
///     }
///     Ok(results)
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let dispatcher = Dispatcher::builder(catalog![double, map]?).concurrency(1).build()?;
/// let result = dispatcher.call("map", r#"{"tool": "double", "numbers": [1, 2]}"#).await?;
/// assert_eq!(result.json(), Some(&br#"["2","4"]"#[..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Credentials
///
/// A tool declares under `requires(…)` what it needs of the caller, and sees that and nothing else. A call that lacks some
/// of it never reaches the tool. Secrets and tokens are read with `expose`, and are not printed otherwise.
///
/// ```
/// # use toolkit::call::Credentials;
/// # use toolkit::{Context, Dispatcher, ToolError, catalog, tool};
/// /// Sends a text message.
/// #[tool(requires(secret = "TWILIO_API_KEY", oauth2(id = "google", scopes = ["contacts.read"]), user_id))]
/// fn send(to: String, ctx: &Context) -> Result<String, ToolError> {
///     let (Some(key), Some(token), Some(user)) = (ctx.secret("TWILIO_API_KEY"), ctx.token("google"), ctx.user_id()) else {
///         return Err(ToolError::failed("the credentials are missing"));
///     };
///     let (key, token): (&str, &str) = (key.expose(), token.expose());
///     Ok(format!("from {user} to {to}, with a key of {} and a token of {} bytes", key.len(), token.len()))
/// }
///
/// let dispatcher = Dispatcher::new(catalog![send]?)?;
/// let error = dispatcher.call_sync("send", r#"{"to": "bob"}"#).unwrap_err();
/// assert!(error.message().contains("`TWILIO_API_KEY`"));
///
/// let credentials = Credentials::new()
///     .with_secret("TWILIO_API_KEY", "s3cr3t")
///     .with_authorization("google", "t0k3n", ["contacts.read"])
///     .with_user_id("ada");
/// let context = Context::new().with_credentials(credentials);
/// let sent = dispatcher.call_sync_with(&context, "send", r#"{"to": "bob"}"#)?;
/// assert_eq!(sent.value(), "from ada to bob, with a key of 6 and a token of 5 bytes");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Results
///
/// A result is anything that serializes and has a schema, `()`, `Content`, `Structured<T>`, `Chunks<T>`, or a `Result`
/// of these. `RunResult::json` holds it as it is, a scalar as a scalar: `3`. So does `structuredContent` of MCP
/// 2026-07-28; earlier revisions want an object there, so whatever is not an object by the tool's output schema becomes
/// `{"result": 3}`. Text for the model is the same in all revisions: `3`.
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
/// # Ok::<(), toolkit::catalog::Diagnostics>(())
/// ```
pub use toolkit_derive::tool;
/// Makes tools of the methods of an `impl` block, or gives the tools of a module what they have in common.
///
/// The methods marked `#[tool]` are tools of one instance, which the host passes to `DispatcherBuilder::state`; several
/// instances, each in a namespace of its own, go to `DispatcherBuilder::instance`.
///
/// ```
/// use toolkit::{Dispatcher, catalog, toolset};
///
/// struct Counter(u64);
///
/// #[toolset(namespace = "counter", version = "1.0.0", read_only)]
/// impl Counter {
///     /// Returns the count.
///     #[tool]
///     fn count(&self) -> u64 {
///         self.0
///     }
/// }
///
/// let builder = Dispatcher::builder(catalog![Counter::count]?);
/// let dispatcher = builder.instance("left", Counter(1)).instance("right", Counter(2)).build()?;
/// assert_eq!(dispatcher.call_sync("right:count", "{}")?.value(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Modules
///
/// On a module in place, the arguments hold for every `#[tool]` and `#[toolset]` inside that does not declare its own;
/// tags add up. A module in a file of its own is out of an attribute's sight: put one in place around its tools, and
/// re-export them with `pub use tools::*`.
///
/// ```
/// #[toolkit::toolset(namespace = "files", version = "1.2.0", tags = ["disk"], read_only)]
/// mod files {
///     use toolkit::tool;
///
///     /// Reads a file.
///     #[tool]
///     pub fn read(path: String) -> String {
///         path
///     }
///
///     /// Removes a file.
///     #[tool(destructive, tags = ["write"])]
///     pub fn remove(path: String) {}
/// }
///
/// let catalog = toolkit::catalog![files::read, files::remove]?;
/// assert_eq!(catalog.resolve("files:read")?.annotations().read_only, Some(true));
/// assert_eq!(catalog.resolve("files:remove")?.tags(), ["disk", "write"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Generic toolsets
///
/// A generic `impl` block has tools for each type that `#[concrete(…)]` names, which takes the arguments of `#[toolset]`
/// too. An associated type is written as `S::Key` where `S` has one trait bound, and else as `<S as Store>::Key`.
///
/// ```
/// use std::marker::PhantomData;
/// use toolkit::{Dispatcher, catalog, toolset};
///
/// trait Store: Send + Sync + 'static {
///     const NAME: &'static str;
/// }
///
/// struct Memory;
/// impl Store for Memory {
///     const NAME: &'static str = "memory";
/// }
///
/// struct Disk;
/// impl Store for Disk {
///     const NAME: &'static str = "disk";
/// }
///
/// struct Notes<S>(PhantomData<S>);
///
/// #[toolset(namespace = "notes")]
/// #[concrete(Notes<Memory>)]
/// #[concrete(Notes<Disk>, namespace = "archive")]
/// impl<S: Store> Notes<S> {
///     /// Returns where notes are kept.
///     #[tool]
///     fn place(&self) -> &'static str {
///         S::NAME
///     }
/// }
///
/// let catalog = catalog![Notes::<Memory>::place, Notes::<Disk>::place]?;
/// let builder = Dispatcher::builder(catalog).state(Notes::<Memory>(PhantomData)).state(Notes::<Disk>(PhantomData));
/// assert_eq!(builder.build()?.call_sync("archive:place", "{}")?.value(), "disk");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Arguments
///
/// It takes `namespace`, `version`, `tags`, `category`, hints, `timeout` and `crate`, which hold for every method that
/// does not say otherwise.
pub use toolkit_derive::toolset;
pub use toolkit_derive::{catalog, handle};
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

/// An expression: rustc names this macro where a list of tools is written as an item.
#[doc(hidden)]
#[macro_export]
macro_rules! only_valid_inside_a_function {
    ($value:expr) => {
        $value
    };
}
