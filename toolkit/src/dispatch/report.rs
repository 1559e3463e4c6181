//! Completion and logging of errors.

use crate::call::{ErrorKind, ToolError, unwind};
use crate::tool::Tool;

/// Adds the tool and the backend to an error, and logs the cause, which the model must not read.
#[cold]
pub(super) fn report(tool: &Tool, error: ToolError) -> ToolError {
    let error = error.with_tool(&tool.id_text());
    let error = match tool.function_backend() {
        Some(function) => error.with_backend(function),
        None => error,
    };
    if let ErrorKind::Internal | ErrorKind::Panicked | ErrorKind::InvalidResponse | ErrorKind::InvalidOutput =
        error.kind()
    {
        let cause = std::error::Error::source(&error).map(unwind::text_of);
        tracing::error!(
            tool = &*tool.id_text(),
            kind = ?error.kind(),
            cause = cause.as_deref().unwrap_or_default(),
            "tool failed"
        );
    }
    error
}
