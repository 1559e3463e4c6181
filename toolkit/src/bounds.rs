//! The bounds on the types in the signature of a tool.
//!
//! Each trait is implemented for every type that fits, and no program implements or calls one. The traits exist for the
//! error messages of rustc: one message for each missing implementation, with the code to add.
//!
//! | message of rustc | solution |
//! |---|---|
//! | cannot be a tool argument: it implements neither … | derive `Deserialize` and `JsonSchema` ([`ToolArgument`]) |
//! | … does not implement `schemars::JsonSchema` | derive it, or describe the type by another ([`DescribeArgument`]) |
//! | … cannot be a tool argument; a function may borrow … | write `&str` or `&[T]` ([`BorrowedArgument`]) |
//! | tool arguments … must be owned | take a `String` instead of a reference behind an alias ([`OwnedArgument`]) |
//! | a shared pointer … cannot be a tool argument | take `&T` and pass the `Arc` to the host ([`SharedArgument`]) |
//! | cannot be injected into a tool | make the state `Send + Sync` ([`State`]) |
//! | cannot be returned from a tool | derive `Serialize` and `JsonSchema` ([`ToolResult`]) |
//! | cannot be converted to a `ToolError` | derive [`ShowError`](macro@crate::ShowError) or implement `From` ([`ToolFailure`]) |

pub(crate) mod argument;
pub(crate) mod state;

use std::borrow::Cow;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;

use self::argument::NoArguments;
pub use self::argument::{
    BorrowedArgument, DescribeArgument, DeserializeArgument, NamedArgument, OwnedArgument, SendArgument,
    SharedArgument, ToolArgument, UnsharedArgument,
};
pub use self::state::{Borrowable, Borrowed, State};
use crate::call::ToolError;

/// A value that `#[arg(default = …)]` accepts for an argument of type `T`: a `T`, a string literal if `T` owns text,
/// or the content of an `Option`.
///
/// # Examples
///
/// ```
/// use toolkit::{Dispatcher, catalog, tool};
///
/// /// Lists files.
/// #[tool]
/// fn list(#[arg(default = ".")] folder: String, #[arg(default = 10)] limit: Option<u32>) -> String {
///     format!("{folder} {limit:?}")
/// }
///
/// let dispatcher = Dispatcher::new(catalog![list]?)?;
/// assert_eq!(dispatcher.call_sync("list", "{}")?.value(), ". Some(10)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "the default of this argument must be a `{T}`",
    label = "expected `{T}`, found `{Self}`"
)]
pub trait ArgumentDefault<T> {
    /// Converts the value into the type of the argument.
    fn into_default(self) -> T;
}

#[diagnostic::do_not_recommend]
impl<T> ArgumentDefault<T> for T {
    fn into_default(self) -> T {
        self
    }
}

#[diagnostic::do_not_recommend]
impl<T> ArgumentDefault<Option<T>> for T {
    fn into_default(self) -> Option<T> {
        Some(self)
    }
}

macro_rules! text_defaults {
    ($($ty:ty),*) => {$(
        #[diagnostic::do_not_recommend]
        impl ArgumentDefault<$ty> for &'static str {
            fn into_default(self) -> $ty {
                self.into()
            }
        }

        #[diagnostic::do_not_recommend]
        impl ArgumentDefault<Option<$ty>> for &'static str {
            fn into_default(self) -> Option<$ty> {
                Some(self.into())
            }
        }
    )*};
}

text_defaults!(String, Box<str>, Cow<'static, str>, PathBuf);

/// The bound of a result.
///
/// A type that implements [`SerializeResult`] and [`DescribeResult`] implements it. A tool may also return `()`,
/// [`Content`](crate::Content), [`Structured`](crate::Structured), [`Chunks`](crate::Chunks), or a `Result` of these.
///
/// # Examples
///
/// ```
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
    note = "if the type is yours, add `#[derive(serde::Serialize, schemars::JsonSchema)]` to it",
    note = "for a type of another crate, return a type of yours with its data",
    note = "for content, return `Content` or `Vec<Content>`, which may be empty; `Structured<T>` has data beside content",
    note = "a tool may also return `()`, `Chunks<T>` or a `Result` of these"
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
    note = "if the type is yours, add `#[derive(serde::Serialize)]` to it",
    note = "for an `Arc`, return a clone of its content; for another type of another crate, a type of yours with its data"
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
    note = "if the type is yours, add `#[derive(schemars::JsonSchema)]` of `schemars` 1 to it",
    note = "for a type of another crate, enable the feature of `schemars` that is named after it, such as `uuid1`, or return \
            a type of yours with its data",
    note = "for content, return `Content` or `Vec<Content>`, which may be empty; `Structured<T>` has data beside content"
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

/// An error that can become a [`ToolError`].
///
/// # Examples
///
/// An error type that chooses for each variant what the model reads:
///
/// ```
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
    note = "if the type is yours, implement `std::error::Error` for it: its text is then logged and masked, or shown to the \
            model with `#[derive(toolkit::ShowError)]`; or implement `From<{Self}> for ToolError`",
    note = "for a type of another crate, return a `ToolError`, as in `.map_err(|error| ToolError::failed(…))`",
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
