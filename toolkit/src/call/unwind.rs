//! Conversion of panics of tools and of the host into errors of a call.

use std::future::Future;

use super::{ErrorKind, ToolError};
pub(crate) use crate::unwind::{Panic, catch, catch_future, catch_future_within, text_of};

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
