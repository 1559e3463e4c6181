//! Conversions of other errors, which decide whether a model reads their text.

use std::convert::Infallible;

use super::{BoxError, ToolError};
use crate::call::kind::ErrorKind;

impl From<String> for ToolError {
    fn from(message: String) -> Self {
        Self::failed(message)
    }
}

impl From<&str> for ToolError {
    fn from(message: &str) -> Self {
        Self::failed(message)
    }
}

impl From<Infallible> for ToolError {
    fn from(never: Infallible) -> Self {
        match never {}
    }
}

impl ToolError {
    /// Masks an error that the author did not choose to show.
    pub(crate) fn masked(error: impl Into<BoxError>) -> Self {
        let error = match error.into().downcast::<std::io::Error>() {
            Ok(error) => return Self::from(*error),
            Err(error) => error,
        };
        match error.downcast::<ToolError>() {
            Ok(error) => *error,
            Err(error) => Self::internal(error).mask(),
        }
    }

    fn mask(mut self) -> Self {
        self.0.is_masked = true;
        self
    }

    /// Shows the text of an error created by [`masked`](Self::masked). Other errors are unchanged.
    pub(crate) fn unmask(mut self) -> Self {
        if self.0.is_masked
            && let Some(source) = &self.0.source
        {
            self.0.message = source.to_string();
            self.0.kind = ErrorKind::Failed;
            self.0.is_masked = false;
        }
        self
    }
}

/// An error whose text the model may read.
///
/// Such an error converts into a [`ToolError`] with its text, both as the result of a tool and with `?`. The text is
/// what [`Display`](std::fmt::Display) prints. The causes of the error are kept as the
/// [`source`](std::error::Error::source), for the host. To show only some variants, implement `From<YourError> for
/// ToolError` instead.
///
/// # Examples
///
/// ```standalone_crate
/// use toolkit::{ShowError, tool};
///
/// #[derive(Debug, thiserror::Error)]
/// #[error("no city is called {0}")]
/// struct NoSuchCity(String);
///
/// impl ShowError for NoSuchCity {}
///
/// /// Finds the country of a city.
/// #[tool]
/// fn country(city: String) -> Result<&'static str, NoSuchCity> {
///     if city == "Lima" { Ok("Peru") } else { Err(NoSuchCity(city)) }
/// }
///
/// let dispatcher = toolkit::Dispatcher::new(toolkit::catalog![country]?)?;
/// let error = dispatcher.call_sync("country", r#"{"city": "Atlantis"}"#).unwrap_err();
/// assert_eq!(error.message(), "no city is called Atlantis");
/// # Ok::<(), toolkit::catalog::Diagnostics>(())
/// ```
pub trait ShowError: std::error::Error + Send + Sync + 'static {}

impl<E: ShowError> From<E> for ToolError {
    fn from(error: E) -> Self {
        Self::shown(error)
    }
}

/// Converts the error by its kind, if the model can act on it. The text may contain paths of the host, so it is
/// masked.
impl From<std::io::Error> for ToolError {
    fn from(error: std::io::Error) -> Self {
        match io_kind(error.kind()) {
            Some(kind) => Self::failed(format!("input/output error: {kind}")).caused_by(error).mask(),
            None => Self::internal(error).mask(),
        }
    }
}

/// Returns a text for the kinds that a model can act on, for example with another path or argument.
fn io_kind(kind: std::io::ErrorKind) -> Option<&'static str> {
    use std::io::ErrorKind;
    Some(match kind {
        ErrorKind::NotFound => "not found",
        ErrorKind::PermissionDenied => "permission denied",
        ErrorKind::AlreadyExists => "already exists",
        ErrorKind::IsADirectory => "is a directory",
        ErrorKind::NotADirectory => "not a directory",
        ErrorKind::DirectoryNotEmpty => "the directory is not empty",
        ErrorKind::InvalidInput => "invalid argument",
        ErrorKind::InvalidData => "invalid data",
        ErrorKind::InvalidFilename => "invalid file name",
        ErrorKind::FileTooLarge => "the file is too large",
        ErrorKind::ReadOnlyFilesystem => "the file system is read-only",
        ErrorKind::StorageFull => "no space is left",
        ErrorKind::QuotaExceeded => "the quota is exceeded",
        _ => return None,
    })
}

/// Masks errors of the standard library and of JSON, which a tool returns with `?` and does not expect.
macro_rules! masked {
    ($($error:ty),* $(,)?) => {$(
        impl From<$error> for ToolError {
            fn from(error: $error) -> Self {
                Self::masked(error)
            }
        }
    )*};
}

masked!(
    BoxError,
    std::fmt::Error,
    std::env::VarError,
    std::num::ParseIntError,
    std::num::ParseFloatError,
    std::num::TryFromIntError,
    std::str::Utf8Error,
    std::string::FromUtf8Error,
    std::time::SystemTimeError,
    serde_json::Error,
);
