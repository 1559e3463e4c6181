//! Conversions of other errors and of panics.

use std::convert::Infallible;
use std::future::Future;
use std::io;

use super::BoxError;
use super::kind::ErrorKind;
use super::show::ShowError;
use super::tool_error::ToolError;
use crate::unwind::{Panic, catch, catch_future, catch_future_within};

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

impl<E: ShowError> From<E> for ToolError {
    fn from(error: E) -> Self {
        Self::shown(error)
    }
}

impl From<Infallible> for ToolError {
    fn from(never: Infallible) -> Self {
        match never {}
    }
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

impl Panic {
    /// Returns the error of a call whose tool panicked.
    #[cold]
    pub(crate) fn into_tool_error(self) -> ToolError {
        ToolError::new(ErrorKind::Panicked, "the tool failed with an internal error").caused_by(self.0)
    }

    /// Returns the error of a call during which a layer or another part of the host panicked.
    #[cold]
    pub(crate) fn into_host_error(self) -> ToolError {
        ToolError::new(ErrorKind::Internal, "the call failed with an internal error").caused_by(self.0)
    }
}

/// Runs a tool. A panic is returned as an error.
#[inline]
pub(crate) fn caught<T>(work: impl FnOnce() -> Result<T, ToolError>) -> Result<T, ToolError> {
    catch(work).unwrap_or_else(|panic| Err(panic.into_tool_error()))
}

/// Polls the future of a tool. A panic is returned as an error.
pub async fn caught_future<T, F>(start: impl FnOnce() -> F) -> Result<T, ToolError>
where
    F: Future<Output = Result<T, ToolError>>,
{
    catch_future(start).await.unwrap_or_else(|panic| Err(panic.into_tool_error()))
}

/// Does the same as [`caught_future`], and holds what `enter` returns while the tool runs.
pub(crate) async fn caught_future_within<T, F, G>(
    enter: impl Fn() -> G,
    start: impl FnOnce() -> F,
) -> Result<T, ToolError>
where
    F: Future<Output = Result<T, ToolError>>,
{
    catch_future_within(enter, start).await.unwrap_or_else(|panic| Err(panic.into_tool_error()))
}
