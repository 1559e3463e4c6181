//! The bounds on the types in the signature of a tool.
//!
//! Each trait is implemented for every type that fits, and no program implements or calls one. The traits exist for the
//! error messages of rustc: one message for each missing implementation, with the code to add.
//!
//! | message of rustc | solution |
//! |---|---|
//! | cannot be a tool argument: it implements neither … | derive `Deserialize` and `JsonSchema` ([`ToolArgument`]) |
//! | … does not implement `schemars::JsonSchema` | derive it, or describe the type by another ([`DescribeArgument`]) |
//! | tool arguments … must be owned | take a `String` instead of a `&str` ([`OwnedArgument`]) |
//! | a shared pointer … cannot be a tool argument | take `&T` and pass the `Arc` to the host ([`SharedArgument`]) |
//! | cannot be injected into a tool | make the state `Send + Sync` ([`State`]) |
//! | cannot be returned from a tool | derive `Serialize` and `JsonSchema` ([`ToolResult`]) |
//! | cannot be converted to a `ToolError` | implement [`ShowError`](crate::ShowError) or `From` ([`ToolFailure`]) |

mod default;
pub(crate) mod no_arguments;

use std::marker::PhantomData;
use std::rc::Rc;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

pub use self::default::ArgumentDefault;
use self::no_arguments::NoArguments;
use crate::call::ToolError;
use crate::dispatch::host::Host;
use crate::state::StateType;

/// The bound of an argument.
///
/// A type that implements [`DeserializeArgument`] and [`DescribeArgument`] implements it.
///
/// # Examples
///
/// ```standalone_crate
/// use toolkit::{Dispatcher, catalog, tool};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Point {
///     x: f64,
///     y: f64,
/// }
///
/// /// Measures the distance of two points.
/// #[tool]
/// fn distance(from: Point, to: Point) -> f64 {
///     (from.x - to.x).hypot(from.y - to.y)
/// }
///
/// let dispatcher = Dispatcher::new(catalog![distance]?)?;
/// let result = dispatcher.call_sync("distance", r#"{"from": {"x": 0, "y": 0}, "to": {"x": 3, "y": 4}}"#)?;
/// assert_eq!(result.value(), 5.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a tool argument: it implements neither `serde::Deserialize` nor `schemars::JsonSchema`",
    label = "not a tool argument",
    note = "for an argument, add `#[derive(serde::Deserialize, schemars::JsonSchema)]` to the type",
    note = "for injected state, such as `Context`, write `&{Self}`"
)]
pub trait ToolArgument {
    #[doc(hidden)]
    const OK: () = ();
}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + JsonSchema> ToolArgument for T {}

/// An argument that can be deserialized from JSON, as [`ToolArgument`] requires.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a tool argument: it does not implement `serde::Deserialize`",
    label = "cannot be read from JSON",
    note = "add `#[derive(serde::Deserialize)]` to the type"
)]
pub trait DeserializeArgument {
    #[doc(hidden)]
    const OK: () = ();
}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned> DeserializeArgument for T {}

/// An argument that has a schema.
///
/// # Examples
///
/// A type of another crate, which is described by a type with the same JSON:
///
/// ```standalone_crate
/// use std::net::Ipv4Addr;
///
/// use toolkit::{catalog, tool};
///
/// /// Pings a machine.
/// #[tool]
/// fn ping(#[schemars(with = "String")] address: Ipv4Addr) -> bool {
///     address.is_loopback()
/// }
///
/// let catalog = catalog![ping]?;
/// assert_eq!(catalog.resolve("ping")?.input().as_value()["properties"]["address"]["type"], "string");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a tool argument: it does not implement `schemars::JsonSchema`",
    label = "has no schema",
    note = "add `#[derive(schemars::JsonSchema)]` to the type",
    note = "for a type of another crate, enable the feature of `schemars` that is named after it, such as `uuid1`, or \
            describe it by another type with `#[schemars(with = \"String\")]`"
)]
pub trait DescribeArgument {
    #[doc(hidden)]
    const OK: () = ();
}

#[diagnostic::do_not_recommend]
impl<T: JsonSchema> DescribeArgument for T {}

/// An argument that can be sent to another thread.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a tool argument: it is not `Send`",
    label = "not `Send`",
    note = "tools run on any thread; use a type that is `Send`"
)]
pub trait SendArgument {
    #[doc(hidden)]
    const OK: () = ();
}

#[diagnostic::do_not_recommend]
impl<T: Send> SendArgument for T {}

/// An argument that borrows nothing.
///
/// # Examples
///
/// A `&str` is a compile-time error, since the text exists only in the JSON of the call. A `String` is an argument:
///
/// ```standalone_crate
/// use toolkit::{Dispatcher, catalog, tool};
///
/// /// Counts the letters of a word.
/// #[tool]
/// fn length(word: String) -> usize {
///     word.chars().count()
/// }
///
/// assert_eq!(Dispatcher::new(catalog![length]?)?.call_sync("length", r#"{"word": "Lima"}"#)?.value(), 4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` borrows; tool arguments are decoded from JSON, so they must be owned",
    label = "borrowed"
)]
pub trait OwnedArgument {
    #[doc(hidden)]
    const OK: () = ();
}

#[diagnostic::do_not_recommend]
impl OwnedArgument for NoArguments {}

/// An argument that is not a shared pointer to state; see [`SharedArgument`].
pub trait UnsharedArgument {
    #[doc(hidden)]
    const OK: () = ();
}

impl UnsharedArgument for NoArguments {}

impl<T: ?Sized + SharedArgument> UnsharedArgument for Arc<T> {}

impl<T: ?Sized + SharedArgument> UnsharedArgument for Rc<T> {}

/// A bound that no type satisfies: the target of a shared pointer is state, which a tool borrows.
///
/// # Examples
///
/// ```standalone_crate
/// use std::sync::Arc;
///
/// use toolkit::{Dispatcher, catalog, tool};
///
/// struct Greeting(String);
///
/// /// Greets a person.
/// #[tool]
/// fn greet(name: String, greeting: &Greeting) -> String {
///     format!("{}, {name}!", greeting.0)
/// }
///
/// let greeting = Arc::new(Greeting("Hello".to_owned()));
/// let dispatcher = Dispatcher::builder(catalog![greet]?).shared_state(Arc::clone(&greeting)).build()?;
/// assert_eq!(dispatcher.call_sync("greet", r#"{"name": "Ada"}"#)?.value(), "Hello, Ada!");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "a shared pointer to `{Self}` cannot be a tool argument",
    label = "not a tool argument",
    note = "for injected state, write `&{Self}` and pass the `Arc` to `DispatcherBuilder::shared_state`"
)]
pub trait SharedArgument {}

/// A sole argument that is passed under its own name.
///
/// # Examples
///
/// A tool with one struct takes the fields of the struct. `#[arg]` makes the struct a property instead:
///
/// ```standalone_crate
/// use toolkit::{catalog, tool};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Query {
///     text: String,
/// }
///
/// /// Searches documents.
/// #[tool]
/// fn search(query: Query) -> String {
///     query.text
/// }
///
/// /// Counts documents.
/// #[tool]
/// fn count(#[arg] query: Query) -> usize {
///     query.text.len()
/// }
///
/// let catalog = catalog![search, count]?;
/// let required = |name| catalog.resolve(name).unwrap().input().as_value()["required"][0].clone();
/// assert_eq!((required("search"), required("count")), ("text".into(), "query".into()));
/// # Ok::<(), toolkit::catalog::Diagnostics>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "an attribute of serde or schemars needs an argument with a name; mark the argument `#[arg]` to pass it \
               under its own name, or put the attribute on a field of `{Self}`",
    label = "may be the argument struct"
)]
pub trait NamedArgument {
    #[doc(hidden)]
    const OK: () = ();
}

#[diagnostic::do_not_recommend]
impl NamedArgument for NoArguments {}

/// The bound of a result.
///
/// A type that implements [`SerializeResult`] and [`DescribeResult`] implements it. A tool may also return `()`,
/// [`Content`](crate::Content), [`Structured`](crate::Structured), [`Chunks`](crate::Chunks), or a `Result` of these.
///
/// # Examples
///
/// ```standalone_crate
/// use toolkit::{Dispatcher, catalog, tool};
///
/// #[derive(serde::Serialize, schemars::JsonSchema)]
/// struct Size {
///     bytes: usize,
///     lines: usize,
/// }
///
/// /// Measures a text.
/// #[tool]
/// fn measure(text: String) -> Size {
///     Size { bytes: text.len(), lines: text.lines().count() }
/// }
///
/// let result = Dispatcher::new(catalog![measure]?)?.call_sync("measure", r#"{"text": "a\nb"}"#)?;
/// assert_eq!(result.value(), serde_json::json!({ "bytes": 3, "lines": 2 }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be returned from a tool: it implements neither `serde::Serialize` nor \
               `schemars::JsonSchema`",
    label = "not a tool result",
    note = "add `#[derive(serde::Serialize, schemars::JsonSchema)]` to the type",
    note = "a tool may also return `()`, `Content`, `Structured<T>`, `Chunks<T>` or a `Result` of these"
)]
pub trait ToolResult {
    #[doc(hidden)]
    const OK: () = ();
}

#[diagnostic::do_not_recommend]
impl<T: Serialize + JsonSchema> ToolResult for T {}

/// A result that can be serialized to JSON, as [`ToolResult`] requires.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be returned from a tool: it does not implement `serde::Serialize`",
    label = "cannot be written as JSON",
    note = "add `#[derive(serde::Serialize)]` to the type"
)]
pub trait SerializeResult {
    #[doc(hidden)]
    const OK: () = ();
}

#[diagnostic::do_not_recommend]
impl<T: Serialize> SerializeResult for T {}

/// A result that has a schema, as [`ToolResult`] requires.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be returned from a tool: it does not implement `schemars::JsonSchema`",
    label = "has no schema",
    note = "add `#[derive(schemars::JsonSchema)]` to the type"
)]
pub trait DescribeResult {
    #[doc(hidden)]
    const OK: () = ();
}

#[diagnostic::do_not_recommend]
impl<T: JsonSchema> DescribeResult for T {}

/// A result that is complete when the function returns.
#[diagnostic::on_unimplemented(
    message = "a `blocking` tool cannot return `Chunks`, whose items are created after it returns",
    label = "a stream of items"
)]
pub trait BlockingResult {
    #[doc(hidden)]
    const OK: () = ();
}

#[diagnostic::do_not_recommend]
impl BlockingResult for NoArguments {}

/// State that a host can inject.
///
/// All threads share the state, so a tool that changes it needs a lock or an atomic.
///
/// # Examples
///
/// ```standalone_crate
/// use std::sync::Mutex;
///
/// use toolkit::{Dispatcher, catalog, tool};
///
/// type Notes = Mutex<Vec<String>>;
///
/// /// Remembers a note.
/// #[tool]
/// fn remember(note: String, notes: &Notes) -> usize {
///     let mut notes = notes.lock().unwrap();
///     notes.push(note);
///     notes.len()
/// }
///
/// let dispatcher = Dispatcher::builder(catalog![remember]?).state(Notes::default()).build()?;
/// dispatcher.call_sync("remember", r#"{"note": "milk"}"#)?;
/// assert_eq!(dispatcher.call_sync("remember", r#"{"note": "bread"}"#)?.value(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be injected into a tool",
    label = "not `Send + Sync + 'static`",
    note = "a `&T` parameter is injected state, which all threads share",
    note = "use a lock such as `Mutex` for interior mutability; the trait of a `dyn Trait` needs the supertraits `Send + Sync`"
)]
pub trait State {
    #[doc(hidden)]
    const OK: () = ();
}

#[diagnostic::do_not_recommend]
impl<T: ?Sized + Send + Sync + 'static> State for T {}

/// The resolution of a parameter `&T` from the host.
///
/// `Borrowed::<T>::from_host` resolves to the inherent functions below for special types, and otherwise to that of
/// `FromHost`. The type decides, so an alias changes nothing. `X` defers the check of the rejecting bounds to the
/// call.
#[doc(hidden)]
#[derive(Debug)]
pub struct Borrowed<T: ?Sized, X = ()>(PhantomData<(X, Box<T>)>);

/// A bound that no type satisfies, on the types that are always meant as arguments.
#[diagnostic::on_unimplemented(
    message = "tool arguments are decoded from JSON, so they must be owned; use `{Self}`",
    label = "borrowed"
)]
#[doc(hidden)]
pub trait Borrowable<X> {}

impl<X> Borrowed<str, X> {
    #[doc(hidden)]
    pub const STATE: Option<StateType> = None;

    #[doc(hidden)]
    pub fn from_host(_: Host<'_>) -> Result<&str, ToolError>
    where
        String: Borrowable<X>,
    {
        Ok("")
    }
}

impl<X> Borrowed<String, X> {
    #[doc(hidden)]
    pub const STATE: Option<StateType> = None;

    #[doc(hidden)]
    pub fn from_host(host: Host<'_>) -> Result<&String, ToolError>
    where
        String: Borrowable<X>,
    {
        host.state()
    }
}

impl<T: 'static, X> Borrowed<[T], X> {
    #[doc(hidden)]
    pub const STATE: Option<StateType> = None;

    #[doc(hidden)]
    pub fn from_host(_: Host<'_>) -> Result<&[T], ToolError>
    where
        Vec<T>: Borrowable<X>,
    {
        Ok(&[])
    }
}

impl<T: 'static, X> Borrowed<Vec<T>, X> {
    #[doc(hidden)]
    pub const STATE: Option<StateType> = None;

    #[doc(hidden)]
    pub fn from_host(host: Host<'_>) -> Result<&Vec<T>, ToolError>
    where
        Vec<T>: Borrowable<X>,
    {
        host.state()
    }
}

/// An error that can become a [`ToolError`].
///
/// # Examples
///
/// An error type that chooses for each variant what the model reads:
///
/// ```standalone_crate
/// use toolkit::{Dispatcher, ToolError, catalog, tool};
///
/// enum ReadError {
///     NotFound(String),
///     Disk(std::io::Error),
/// }
///
/// impl From<ReadError> for ToolError {
///     fn from(error: ReadError) -> Self {
///         match error {
///             ReadError::NotFound(name) => ToolError::failed(format!("there is no note `{name}`")),
///             ReadError::Disk(error) => ToolError::internal(error),
///         }
///     }
/// }
///
/// /// Reads a note.
/// #[tool]
/// fn read(name: String) -> Result<String, ReadError> {
///     match &*name {
///         "disk" => Err(ReadError::Disk(std::io::Error::other("/dev/sda1 is broken"))),
///         _ => Err(ReadError::NotFound(name)),
///     }
/// }
///
/// let dispatcher = Dispatcher::new(catalog![read]?)?;
/// let message = |json| dispatcher.call_sync("read", json).unwrap_err().message().to_owned();
/// assert_eq!(message(r#"{"name": "x"}"#), "there is no note `x`");
/// assert_eq!(message(r#"{"name": "disk"}"#), "the tool failed with an internal error");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be converted to a `ToolError`",
    label = "not a tool error",
    note = "implement `std::error::Error` for it: its text is then logged and masked, or shown to the model with \
            `impl toolkit::ShowError for {Self} {{}}`",
    note = "implement `From<{Self}> for ToolError` to choose what a model reads",
    note = "a boxed error is `Box<dyn std::error::Error + Send + Sync>`"
)]
pub trait ToolFailure {}

/// An error type without a conversion.
#[doc(hidden)]
#[derive(Debug)]
pub struct Unconvertible;

impl Unconvertible {
    /// Fails to compile with the reason.
    #[doc(hidden)]
    pub fn convert<E: ToolFailure>(self, _: E) -> ToolError {
        ToolError::internal("rustc has refused the type")
    }
}
