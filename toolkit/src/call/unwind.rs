//! Panics of tools and of the host as errors of a call.

use std::future::Future;

use super::{ErrorKind, ToolError};
pub(crate) use crate::unwind::{Panic, catch, catch_future, shielded, text_of};

impl Panic {
    /// The error of a call whose tool panicked.
    #[cold]
    pub(crate) fn of_tool(self) -> ToolError {
        ToolError::new(ErrorKind::Panicked, "the tool failed with an internal error").caused_by(self.0)
    }

    /// The error of a call where code of the host panicked that stands between the caller and the tool.
    #[cold]
    pub(crate) fn of_host(self) -> ToolError {
        ToolError::new(ErrorKind::Internal, "the call failed with an internal error").caused_by(self.0)
    }
}

/// Runs `work` of a tool.
pub(crate) fn caught<T>(work: impl FnOnce() -> Result<T, ToolError>) -> Result<T, ToolError> {
    catch(work).unwrap_or_else(|panic| Err(panic.of_tool()))
}

/// Polls work of a tool.
pub(crate) async fn caught_future<T, F>(start: impl FnOnce() -> F) -> Result<T, ToolError>
where
    F: Future<Output = Result<T, ToolError>>,
{
    catch_future(start).await.unwrap_or_else(|panic| Err(panic.of_tool()))
}
