//! The fields of an error.

use std::time::Duration;

use serde_json::{Map, Value};

use super::ToolError;
use crate::call::content::Content;
use crate::call::kind::{ErrorKind, Stage};
use crate::tool::{Requirements, ToolBackend};
use toolkit_schema::Violation;

impl ToolError {
    /// Returns the kind of the error.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Returns the stage that rejected the call or failed.
    #[must_use]
    pub fn stage(&self) -> Stage {
        self.kind().stage()
    }

    /// Returns the id of the tool, if the tool was found.
    #[must_use]
    pub fn tool(&self) -> Option<&str> {
        self.0.tool.as_deref()
    }

    /// Returns the message for the model, without the id of the tool.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Returns the violations of the input schema, at most the first 256.
    #[must_use]
    pub fn violations(&self) -> &[Violation] {
        &self.0.violations
    }

    /// Returns all requirements of the tool that the caller does not meet.
    #[must_use]
    pub fn missing(&self) -> &Requirements {
        &self.0.missing
    }

    /// Returns the content that the tool added for the model.
    #[must_use]
    pub fn content(&self) -> &[Content] {
        &self.0.content
    }

    /// Returns the result of the MCP server (`CallToolResult` with `isError`), if it is the error.
    #[must_use]
    pub fn mcp_result(&self) -> Option<&Map<String, Value>> {
        self.0.mcp.as_ref()
    }

    /// Returns the backend that ran or would have run the tool. For a function of this program that is
    /// [`ToolBackend::Local`] with the id of the function.
    #[must_use]
    pub fn backend(&self) -> Option<&ToolBackend> {
        self.0.backend.as_ref()
    }

    /// Returns true if the same call may succeed later.
    ///
    /// The call may have had effects nevertheless; see [`ErrorKind::may_have_started`].
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        self.0.retry.is_some()
            || matches!(self.kind(), ErrorKind::Overloaded | ErrorKind::TimedOut | ErrorKind::Unavailable)
    }

    /// Returns the time after which the same call may succeed, if it is known.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        self.0.retry?.after
    }
}
