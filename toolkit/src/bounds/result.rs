//! The bounds of results and errors.

use schemars::JsonSchema;
use serde::Serialize;

use super::argument::NoArguments;
use crate::call::ToolError;

/// The bound of a result.
///
/// A type that implements `Serialize` and `JsonSchema` implements it. A tool may also return `()`,
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
#[derive(Debug)]
pub struct Unconvertible;

impl Unconvertible {
    /// Fails to compile with the reason.
    #[doc(hidden)]
    pub fn convert<E: ToolFailure>(self, _: E) -> ToolError {
        ToolError::internal("rustc has refused the type")
    }
}
