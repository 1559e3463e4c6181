//! A framework for tools that language models can call.
//!
//! The attribute [`tool`](macro@tool) turns a function into a tool. [`Catalog`] collects the tools of all crates that
//! are linked into a program, and [`Dispatcher`] calls them and validates their arguments and results.
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
//! | item | purpose |
//! |---|---|
//! | [`tool`](macro@tool), [`toolset`](macro@toolset) | Defining tools |
//! | [`Catalog`], [`catalog!`](catalog!), [`link!`] | Collecting the tools of a program |
//! | [`Dispatcher`], [`Handle`], [`Context`] | Calling tools |
//! | [`stream`] | Calling a tool with progress and partial results |
//! | [`Chain`] | Calling several tools, passing the result of one as an argument to the next |
//! | [`ToolError`], [`Content`], [`Structured`] | Errors and results of tools |
//! | [`mcp`] | Tools, parameters and results in the format of the Model Context Protocol |
//! | [`Tool`], [`Manifest`] | Tools that are not written in Rust |
//! | `import!` (feature `import`) | Typed functions for the tools of other servers |
//! | [`backend`] | Running tools elsewhere: handlers, other processes, servers |
//! | [`lint`] | Finding poorly described and deceptive tools |
//! | [`lock`] | Comparing a catalog with an earlier state, and finding breaking changes |
//! | [`version`] | Versions, requirements and compatibility |
//!
//! Without the default feature `async` there are no timeouts and no waiting for permits, and asynchronous tools run on
//! the executor that polls them.
#![forbid(unsafe_code)]

// Generated code refers to `::toolkit`, also within this crate.
extern crate self as toolkit;

pub mod backend;
pub mod bounds;
pub mod call;
pub mod catalog;
pub mod chain;
pub mod dispatch;
#[cfg(feature = "import")]
pub mod import;
pub mod lint;
pub mod lock;
pub mod manifest;
pub mod mcp;
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
/// Creates a [`Catalog`] of the listed tools.
///
/// Each path refers to a function with [`#[tool]`](macro@tool) in the module that defines it, or to a method of a
/// [`#[toolset]`](macro@toolset). A `use` of the function alone, or under another name, does not import its tool. A tool
/// that is listed twice is a compile-time error. For a renamed `toolkit`, the list starts with `crate = ::path,`.
///
/// # Errors
///
/// The expression is a `Result`: it fails if the tools contradict each other, for example if two have the same id, or if a
/// tool is invalid.
///
/// # Examples
///
/// ```
/// mod math {
///     /// Adds two integers.
///     #[toolkit::tool(namespace = "math")]
///     pub fn add(a: i64, b: i64) -> i64 {
///         a + b
///     }
/// }
///
/// let catalog = toolkit::catalog![math::add]?;
/// assert_eq!(catalog.len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub use toolkit_derive::catalog;
/// Creates the typed [`Handle`] of a tool.
///
/// The path is one that [`catalog!`] accepts. The input is the tuple of the arguments, or the sole argument itself.
///
/// # Examples
///
/// ```
/// use toolkit::{Dispatcher, catalog, handle, tool};
///
/// /// Adds two integers.
/// #[tool]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let dispatcher = Dispatcher::new(catalog![add]?)?;
/// let sum: i64 = handle!(add).call(&dispatcher, (1, 2)).await?;
/// assert_eq!(sum, 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub use toolkit_derive::handle;
/// Registers a function as a tool.
///
/// The attribute keeps the function as it is and adds a static record of it: the id, the description, the JSON Schemas of
/// the arguments and of the result, and the code that decodes the arguments, calls the function and encodes the result.
/// [`Catalog::linked`] collects the records of all crates that are linked into a program.
///
/// ```
/// use toolkit::{Catalog, Dispatcher, tool};
///
/// /// Adds two integers.
/// #[tool(namespace = "math", version = "1.0.0", read_only)]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// let dispatcher = Dispatcher::new(Catalog::linked()?)?;
/// let result = dispatcher.call_sync("math:add", r#"{"a": 1, "b": 2}"#)?;
/// assert_eq!(result.value(), 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// The doc comment is required: it is the description, which a model reads to decide whether to call the tool. A tool
/// cannot be generic, `unsafe`, or return a reference other than `&'static`. For methods, see
/// [`toolset`](macro@toolset).
///
/// | section | content |
/// |---|---|
/// | [Arguments](#arguments), [Sole arguments](#sole-arguments) | owned parameters, decoded from JSON |
/// | [State](#state), [Context](#context) | `&T` parameters, injected by the host |
/// | [Async functions](#async-functions) | async and blocking tools |
/// | [Results](#results), [Errors](#errors) | what a caller receives |
/// | [Attribute arguments](#attribute-arguments) | each argument of `#[tool(…)]` with an example |
///
/// # Arguments
///
/// Each owned parameter is an argument: a property of the input schema under the name of the parameter. Its type
/// implements `serde::Deserialize` and `schemars::JsonSchema`. Its doc comment is the description of the property. An
/// argument is required unless its type is an `Option` or it has a default.
///
/// `#[arg(default = …)]` sets the value of an absent argument, as an expression of the argument's type. A string literal
/// needs no `to_owned`, and the value of an `Option` no `Some`. The schema contains the default if the type implements
/// `serde::Serialize`. `#[arg(default)]` uses the `Default` of the type. The attributes of serde and schemars for fields
/// are supported too.
///
/// ```
/// # use toolkit::{catalog, tool};
/// /// Lists the files of a folder.
/// #[tool]
/// fn list(
///     /// A path relative to the workspace.
///     #[arg(default = ".")]
///     folder: String,
///     #[arg(default = 50)]
///     #[schemars(range(max = 1000))]
///     limit: usize,
///     #[arg(default)] hidden: bool,
///     #[serde(rename = "type")] kind: Option<String>,
/// ) -> String {
///     format!("{limit} files of {folder}, hidden: {hidden}, type: {kind:?}")
/// }
///
/// let dispatcher = toolkit::Dispatcher::new(catalog![list]?)?;
/// let result = dispatcher.call_sync("list", r#"{"limit": 2, "type": "rs"}"#)?;
/// assert_eq!(result.value(), r#"2 files of ., hidden: false, type: Some("rs")"#);
///
/// let schema = dispatcher.catalog().resolve("list")?.input().as_value();
/// assert_eq!(schema["properties"]["folder"]["description"], "A path relative to the workspace.");
/// assert_eq!(schema["properties"]["limit"]["default"], 50);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Limits of the derived schemas:
///
/// - A `#[serde(alias)]` of a parameter or of a field is a property of the schema too; two names of one argument in the
///   same call are a violation. The schema contains neither the aliases of enum variants nor the names that
///   `#[serde(other)]` accepts, so calls with them are rejected; [`lint`] reports them as `unlisted-name`. The same holds
///   for an alias of a field if no sample value of its type can be built. Aliases inside untagged and internally tagged
///   enums and inside `flatten` are rejected too, and cannot be detected.
/// - JSON has string keys only. [`Catalog::check`] reports arguments with other keys, such as `HashMap<(i32, i32), T>`;
///   take a list of pairs instead. In a result, such a map is an error of the call.
/// - schemars ignores `range` on types that it does not apply to. `#[tool]` reports `range` on a `String`, but not on an
///   alias of it.
///
/// # Sole arguments
///
/// If a function has one owned parameter whose schema is an object with properties, the parameter is the *argument
/// struct*: the fields of the struct are the arguments. `#[arg]` turns it into a named argument. A sole argument of any
/// other type is a named argument, such as a scalar, a list, a map, an `Option`, an enum or a newtype.
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
/// # State
///
/// A parameter `&T` is injected state: the value of type `T` that the host passes to `DispatcherBuilder::state`. It is
/// not part of the input schema. Use `DispatcherBuilder::shared_state` for `&dyn Trait` and for state that the host
/// keeps in an `Arc`. Building a dispatcher fails if the state of a tool is missing.
///
/// ```
/// # use toolkit::{Dispatcher, catalog, tool};
/// use std::collections::HashMap;
///
/// struct Contacts(HashMap<String, String>);
///
/// /// Returns the phone number of a contact.
/// #[tool]
/// fn phone(name: String, contacts: &Contacts) -> Option<String> {
///     contacts.0.get(&name).cloned()
/// }
///
/// let contacts = Contacts(HashMap::from([("Ada".to_owned(), "555-0100".to_owned())]));
/// let dispatcher = Dispatcher::builder(catalog![phone]?).state(contacts).build()?;
/// assert_eq!(dispatcher.call_sync("phone", r#"{"name": "Ada"}"#)?.value(), "555-0100");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Context
///
/// A parameter [`&Context`](Context) is the context of the call: cancellation, progress, credentials, and values that
/// the host attaches. A tool that calls other tools takes the [`&Dispatcher`](Dispatcher) that runs it, or its
/// [`&Catalog`](Catalog). It passes its own context on, so that the inner calls share its cancellation and its permit of
/// the concurrency limit.
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
///     let total = numbers.len() as f64;
///     let mut results = Vec::new();
///     for (n_done, n) in numbers.into_iter().enumerate() {
///         if ctx.is_cancelled() {
///             return Err(ToolError::cancelled());
///         }
///         ctx.progress(n_done as f64, total, "calling the tool");
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
/// # Async functions
///
/// An `async` function is an async tool. Its future must be `Send`; it is dropped if the call is cancelled or reaches its
/// timeout. `Dispatcher::call` runs synchronous tools inline. A synchronous function that waits for I/O or computes for
/// long has the flag [`blocking`](#blocking), which moves it to another thread.
///
/// ```
/// # use toolkit::{Dispatcher, catalog, tool};
/// /// Waits, then answers.
/// #[tool]
/// async fn delayed(millis: u64) -> &'static str {
///     tokio::time::sleep(std::time::Duration::from_millis(millis)).await;
///     "done"
/// }
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
/// let dispatcher = Dispatcher::new(catalog![delayed]?)?;
/// assert_eq!(dispatcher.call("delayed", r#"{"millis": 1}"#).await?.value(), "done");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Results
///
/// A tool returns one of these types, or a `Result` of it:
///
/// | type | result |
/// |---|---|
/// | `T: serde::Serialize + schemars::JsonSchema` | the value as JSON, with an output schema |
/// | `()` | no value |
/// | [`Content`], `Vec<Content>` | content for the model, such as text or an image, without an output schema |
/// | [`Structured<T>`](Structured) | a value with an output schema, and separate content for the model |
/// | [`Chunks<T>`](Chunks) | a list whose items are sent while the tool runs; see [`stream`] |
///
/// `RunResult::json` contains the value without a wrapper: `3` for an integer. MCP 2026-07-28 sends the same in
/// `structuredContent`. Earlier revisions of MCP require an object there, so for them a server sends `{"result": 3}` if
/// the output schema is not that of an object. The text for the model is `3` in all revisions.
///
/// ```
/// # use toolkit::{Content, Structured, catalog, tool};
/// /// Returns the average of some numbers.
/// #[tool]
/// fn average(numbers: Vec<f64>) -> Structured<f64> {
///     let average = numbers.iter().sum::<f64>() / numbers.len() as f64;
///     Structured::new(average, [Content::text(format!("{average:.1} on average"))])
/// }
///
/// let dispatcher = toolkit::Dispatcher::new(catalog![average]?)?;
/// let result = dispatcher.call_sync("average", r#"{"numbers": [1, 2]}"#)?;
/// assert_eq!(result.value(), 1.5);
/// assert_eq!(*result.content(), [Content::text("1.5 on average")]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// By default, the text of an error is logged and masked: the model reads that the tool failed with an internal error. For
/// a `std::io::Error` the model reads the kind, such as "not found", without a path. The author decides which texts a
/// model reads, for one error, one type, or one function.
///
/// One error: `ToolError::failed` takes a message, and `ToolError::shown` shows the text of another error.
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
/// One type: `ShowError` marks an error type whose text a model reads. The `?` operator converts such an error to a
/// `ToolError`. For full control, implement `From<YourError> for ToolError`.
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
/// One function: see [`show_errors`](#show_errors).
///
/// # Attribute arguments
///
/// | argument | meaning |
/// |---|---|
/// | [`namespace`, `name`, `version`](#namespace-name-version) | the parts of the id |
/// | [`title`, `description`](#title-description) | texts for users and models |
/// | [`tags`, `category`](#tags-category) | grouping and search |
/// | [`read_only`, `destructive`, `idempotent`, `open_world`](#read_only-destructive-idempotent-open_world) | hints about effects |
/// | [`aliases`, `deprecated`](#aliases-deprecated) | earlier names, and the replacement |
/// | [`icons`, `meta`](#icons-meta) | data for clients |
/// | [`examples`](#examples) | examples of arguments |
/// | [`requires`](#requires) | required credentials |
/// | [`timeout`](#timeout) | the timeout of a call |
/// | [`blocking`](#blocking) | runs the function on a thread that may block |
/// | [`show_errors`](#show_errors) | shows the texts of errors to the model |
/// | [`crate`](#crate) | the path of a renamed `toolkit` |
///
/// A value is a literal, or `env!("…")` for a string. A flag is written as `read_only` or `read_only = false`.
///
/// ## `namespace`, `name`, `version`
///
/// The id of a tool is `namespace:name:version`. The name defaults to that of the function. The version follows Semantic
/// Versioning, and is part of the id if the tool has a namespace. Callers may leave out the version, and the namespace
/// if the name is unique.
///
/// ```
/// # use toolkit::{catalog, tool};
/// /// Adds two integers.
/// #[tool(namespace = "math", name = "sum", version = env!("CARGO_PKG_VERSION"))]
/// fn add(a: i64, b: i64) -> i64 { a + b }
///
/// let catalog = catalog![add]?;
/// assert_eq!(catalog.resolve("sum")?.id().to_string(), concat!("math:sum:", env!("CARGO_PKG_VERSION")));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// ## `title`, `description`
///
/// `title` is a display name for users. `description` replaces the doc comment, which then documents the function for
/// Rust programmers only.
///
/// ```
/// # use toolkit::{catalog, tool};
/// /// Computes the sum; panics on overflow.
/// #[tool(title = "Addition", description = "Adds two integers.")]
/// fn add(a: i64, b: i64) -> i64 { a + b }
///
/// let catalog = catalog![add]?;
/// assert_eq!(catalog.resolve("add")?.title(), Some("Addition"));
/// assert_eq!(catalog.resolve("add")?.description(), "Adds two integers.");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// ## `tags`, `category`
///
/// Tags group tools and are indexed for search. They are normalized: lowercase, with `-` for white space. A tool has at
/// most 20 tags of 64 characters each. `category` is one broad group for listings.
///
/// ```
/// # use toolkit::{catalog, tool};
/// /// Adds two integers.
/// #[tool(tags = ["Integer Arithmetic", "math"], category = "calculator")]
/// fn add(a: i64, b: i64) -> i64 { a + b }
///
/// assert_eq!(catalog![add]?.resolve("add")?.tags(), ["integer-arithmetic", "math"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// ## `read_only`, `destructive`, `idempotent`, `open_world`
///
/// The hints of MCP about effects, which clients and layers use to decide about approval and retries. A hint is unset by
/// default, and MCP then assumes the worst: destructive, not idempotent, open world. `read_only` and `destructive`
/// contradict each other.
///
/// ```
/// # use toolkit::{catalog, tool};
/// /// Deletes a file.
/// #[tool(destructive, idempotent, open_world = false)]
/// fn delete(path: String) {}
///
/// let catalog = catalog![delete]?;
/// assert_eq!(catalog.resolve("delete")?.annotations().destructive, Some(true));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// ## `aliases`, `deprecated`
///
/// `aliases` are earlier names or ids, under which the tool can still be called. `deprecated` tells a model what to use
/// instead; `#[deprecated(note = "…")]` on the function has the same effect.
///
/// ```
/// # use toolkit::{catalog, tool};
/// /// Adds two integers.
/// #[tool(namespace = "math", aliases = ["plus", "calculator:add"], deprecated = "use `math:sum`")]
/// fn add(a: i64, b: i64) -> i64 { a + b }
///
/// let catalog = catalog![add]?;
/// assert_eq!(catalog.resolve("calculator:add")?.name(), "add");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// ## `icons`, `meta`
///
/// `icons` lists icons by their source, or with their media type, sizes and theme. `meta` is a JSON object that MCP
/// clients receive as `_meta`.
///
/// ```
/// # use toolkit::{catalog, tool};
/// /// Adds two integers.
/// #[tool(
///     icons = [
///         "https://example.com/add.png",
///         icon(src = "https://example.com/add.svg", mime_type = "image/svg+xml", sizes = ["any"], theme = "dark"),
///     ],
///     meta = r#"{"com.example/owner": "arithmetic"}"#
/// )]
/// fn add(a: i64, b: i64) -> i64 { a + b }
///
/// assert_eq!(catalog![add]?.resolve("add")?.icons().len(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// ## `examples`
///
/// Argument objects as JSON, for models. Unknown names and values of the wrong kind are compile-time errors as far as the
/// macro knows the types; `Catalog::check` validates examples against the schema.
///
/// ```
/// # use toolkit::{catalog, tool};
/// /// Adds two integers.
/// #[tool(examples = [r#"{"a": 1, "b": 2}"#])]
/// fn add(a: i64, b: i64) -> i64 { a + b }
///
/// assert_eq!(catalog![add]?.resolve("add")?.examples(), [serde_json::json!({ "a": 1, "b": 2 })]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// ## `requires`
///
/// The credentials that a call must provide: secrets, OAuth 2 tokens with scopes, and the id of the user. A call without
/// them fails before the tool runs. The context of the tool contains these credentials and no others. Secrets and tokens
/// are read with `expose`; their `Debug` output is redacted.
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
/// ## `timeout`
///
/// The timeout of a call, in milliseconds, seconds or minutes: `"500ms"`, `"30s"`, `"2m"`. It takes precedence over
/// `DispatcherBuilder::timeout`. A synchronous function that is not `blocking` cannot be interrupted.
///
/// ```
/// # use std::time::Duration;
/// # use toolkit::{catalog, tool};
/// /// Fetches a page.
/// #[tool(timeout = "30s")]
/// async fn fetch(url: String) -> String { url }
///
/// assert_eq!(catalog![fetch]?.resolve("fetch")?.timeout(), Some(Duration::from_secs(30)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// ## `blocking`
///
/// Runs a synchronous function on a thread that may block, so that it does not block the executor. If the call is
/// cancelled or reaches its timeout, the caller gets an error at once and the function runs on; it can check
/// `Context::is_cancelled` to stop early.
///
/// ```
/// # use toolkit::{Context, ToolError, tool};
/// /// Counts the lines of a file.
/// #[tool(blocking)]
/// fn count_lines(path: String) -> Result<usize, ToolError> {
///     Ok(std::fs::read_to_string(path)?.lines().count())
/// }
/// ```
///
/// ## `show_errors`
///
/// Shows the text of every error of the function to the model: what `Display` prints, without the sources of the error.
/// Panics and `ToolError::internal` stay masked.
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
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// ## `crate`
///
/// The path of `toolkit`, for a dependency under another name and for macros that reexport it.
///
/// ```
/// extern crate toolkit as tk;
///
/// /// Adds two integers.
/// #[tk::tool(crate = ::tk)]
/// fn add(a: i64, b: i64) -> i64 { a + b }
/// ```
pub use toolkit_derive::tool;
/// Registers the methods of an `impl` block as tools, or sets shared arguments of the tools in a module.
///
/// # Methods
///
/// The methods with `#[tool]` become tools that share one instance, which the host passes to `DispatcherBuilder::state`.
/// For several instances, the host passes each with its own namespace to `DispatcherBuilder::instance`. A method takes
/// `&self` or no receiver.
///
/// `#[toolset]` accepts the arguments `namespace`, `version`, `tags`, `category`, `read_only`, `destructive`,
/// `idempotent`, `open_world`, `timeout`, `show_errors` and `crate` of [`tool`](macro@tool). They apply to every method
/// that does not set them itself; tags add up.
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
/// On an inline module, the arguments apply to every `#[tool]` and `#[toolset]` inside that does not set them itself; tags
/// add up. An attribute cannot see the content of a module in another file: wrap the tools in an inline module there, and
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
/// A generic `impl` block needs one `#[concrete(…)]` attribute for each type that has tools. `#[concrete]` also accepts
/// the arguments of `#[toolset]`. Write an associated type as `S::Key` if `S` has exactly one trait bound, and as
/// `<S as Store>::Key` otherwise.
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
///     /// Returns the storage of the notes.
///     #[tool]
///     fn storage(&self) -> &'static str {
///         S::NAME
///     }
/// }
///
/// let catalog = catalog![Notes::<Memory>::storage, Notes::<Disk>::storage]?;
/// let builder = Dispatcher::builder(catalog).state(Notes::<Memory>(PhantomData)).state(Notes::<Disk>(PhantomData));
/// assert_eq!(builder.build()?.call_sync("archive:storage", "{}")?.value(), "disk");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub use toolkit_derive::toolset;
/// Generates a module of typed functions for the tools of another server.
///
/// ```ignore
/// toolkit::import!(mod github = "github.json", only = ["create_issue"]);
///
/// let issue = github::create_issue::Args::new("octocat", "hello", "It works").labels(["good news"]);
/// let created = github::create_issue(&dispatcher, issue).await?;
/// ```
///
/// The path is relative to the directory of the package's `Cargo.toml`. The file contains the result of `tools/list`, an
/// array of tools, or a [`Lock`], of which the tools of one server are imported. Attributes and a visibility before `mod`
/// apply to the module.
///
/// | option | meaning |
/// |---|---|
/// | `server = "…"` | the namespace of the tools in the catalog; defaults to the name of the module |
/// | `only = ["…"]`, `except = ["…"]` | the tools to import, by their names in the file |
/// | `crate = ::path` | the path of a renamed `toolkit` |
///
/// # Generated items
///
/// - For each tool, a function, and a module of the same name with `TOOL` (an [`ImportedTool`](import::ImportedTool)),
///   `Args`, `Output` and the types of their fields.
/// - `IMPORT` (an [`Import`](import::Import)), whose `check` reports whether a catalog still matches the file.
///
/// The name of a function is the name of the tool in snake case: other characters than ASCII letters and digits become
/// `_`, and an uppercase letter starts a word. A leading digit gets the prefix `_`, and a keyword the suffix `_`, as in
/// `match_`. Two tools with the same function name are a compile-time error.
///
/// `Args::new` takes the required fields, sorted by name. Each optional field is an `Option` with a setter method, except
/// fields named `new` and `default`; all fields are public. An absent field is not sent, so that the defaults of the
/// server apply. String enumerations and alternatives of types become enums. The dispatcher checks constraints that a type
/// cannot express, such as ranges, patterns and conditions. A tool without arguments has no `Args`, and a tool without an
/// output schema returns a [`RunResult`].
///
/// The types are generated by `typify`. If it does not support the schema of a property, the property becomes a string, a
/// number or any JSON value, and the documentation of the function lists it. If no type can be generated at all, `Args` is
/// [`Arguments`]. [`Import::plainer`](import::Import::plainer) lists both.
#[cfg(feature = "import")]
pub use toolkit_import::import;
#[doc(inline)]
pub use toolkit_schema as schema;

/// Links crates whose tools are not referred to otherwise.
///
/// The linker drops a dependency without references, and its tools with it, without a warning.
///
/// ```
/// toolkit::link!(serde_json, semver);
/// ```
#[macro_export]
macro_rules! link {
    ($($krate:ident),* $(,)?) => { $( use $krate as _; )* };
}

/// Wraps an expression. rustc names this macro if `catalog!` or `handle!` is used in item position.
#[doc(hidden)]
#[macro_export]
macro_rules! only_valid_inside_a_function {
    ($value:expr) => {
        $value
    };
}
