//! Conversions of other errors, which decide whether a model reads their text.

use std::convert::Infallible;
use std::error::Error;
use std::io;

use super::show::is_shown;
use super::{BoxError, INTERNAL, ToolError};
use crate::call::kind::ErrorKind;
use crate::unwind::with_sources;

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
    /// Masks an error, unless the author chose to show it or one of its sources.
    pub(crate) fn masked(error: impl Into<BoxError>) -> Self {
        match error.into().downcast::<ToolError>() {
            Ok(error) => *error,
            Err(error) => Self::shown_source(&*error).unwrap_or_else(Self::hidden).caused_by(error),
        }
    }

    /// Masks the error inside of a type such as `anyhow::Error`. The box that `anyhow::Error` converts to does not reveal
    /// the type of the error.
    pub(crate) fn masked_inside<E>(error: E) -> Self
    where
        E: AsRef<dyn Error + Send + Sync> + Into<BoxError>,
    {
        Self::shown_source(error.as_ref()).unwrap_or_else(Self::hidden).caused_by(error)
    }

    fn hidden() -> Self {
        Self::new(ErrorKind::Internal, INTERNAL).mask()
    }

    /// Returns the first error among `error` and its sources that a model may read, without its source.
    fn shown_source(error: &(dyn Error + 'static)) -> Option<Self> {
        if let Some(kind) = error.downcast_ref::<io::Error>().and_then(|error| io_kind(error.kind())) {
            return Some(Self::failed(format!("input/output error: {kind}")).mask());
        }
        // The source of an `io::Error` is that of the error inside of it.
        let mut readable = with_sources(error).flat_map(|error| {
            let inside = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
            [Some(error), inside.map(|inside| inside as &(dyn Error + 'static))].into_iter().flatten()
        });
        readable.find_map(|error| match error.downcast_ref::<ToolError>() {
            Some(error) => Some(error.without_source()),
            None => is_shown(error).then(|| Self::failed(error.to_string()).mask()),
        })
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

/// Returns a text for the kinds that a model can act on, for example with another path or argument.
fn io_kind(kind: io::ErrorKind) -> Option<&'static str> {
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
    io::Error,
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
