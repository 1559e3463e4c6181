//! The bounds of errors.

use crate::call::ToolError;

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
    note = "implement `std::error::Error` for it: its text is then logged and masked, or shown to the model with \
            `#[derive(toolkit::ShowError)]`",
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
