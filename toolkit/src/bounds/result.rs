//! The bounds of results.

use schemars::JsonSchema;
use serde::Serialize;

use super::no_arguments::NoArguments;

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
