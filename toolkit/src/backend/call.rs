//! A call that is passed to a backend.

use crate::call::check_output;
use crate::call::{Arguments, Context, ToolError};
use crate::stream::{Chunk, Queue};
use crate::tool::{Tool, ToolBackend};
use toolkit_schema::Schema;

/// A call that is passed to a backend.
///
/// A [`Backend`](super::Backend) receives it in [`Backend::call`](super::Backend::call).
///
/// # Examples
///
/// A backend finds its own name of the tool in the [target](BackendCall::target):
///
/// ```
/// use serde_json::{Value, json};
/// use toolkit::ToolError;
/// use toolkit::backend::BackendCall;
/// use toolkit::call::ErrorKind;
/// use toolkit::tool::ToolBackend;
///
/// /// Returns the request that a provider expects.
/// fn request(call: &BackendCall<'_>) -> Result<Value, ToolError> {
///     if call.context().is_cancelled() {
///         return Err(ToolError::cancelled());
///     }
///     match call.target() {
///         ToolBackend::Provider { tool_id, .. } => {
///             Ok(json!({ "tool": tool_id, "arguments": call.arguments().to_value()? }))
///         }
///         other => Err(ToolError::new(ErrorKind::NoBackend, format!("{other} is another backend"))),
///     }
/// }
/// ```
#[derive(Debug)]
pub struct BackendCall<'a> {
    pub(crate) tool: &'a Tool,
    pub(crate) target: &'a ToolBackend,
    pub(crate) arguments: Arguments<'a>,
    pub(crate) context: &'a Context,
    pub(crate) parts: Option<Parts<'a>>,
}

/// The receiver of a result's parts, and the schema that each part must match.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parts<'a> {
    pub(crate) queue: &'a Queue,
    /// The output schema, if it describes nothing but a list of parts.
    pub(crate) list: Option<&'a Schema>,
}

impl<'a> BackendCall<'a> {
    /// Returns the tool as the catalog contains it, possibly in a namespace that the catalog added.
    #[must_use]
    pub fn tool(&self) -> &'a Tool {
        self.tool
    }

    /// Returns the tool's identity in the backend, as listed in [`OfferedTools`](super::OfferedTools).
    #[must_use]
    pub fn target(&self) -> &'a ToolBackend {
        self.target
    }

    /// Returns the arguments, which match the input schema.
    #[must_use]
    pub fn arguments(&self) -> &Arguments<'a> {
        &self.arguments
    }

    /// Returns the context of the call: cancellation, progress, and the credentials that the tool
    /// requires.
    #[must_use]
    pub fn context(&self) -> &'a Context {
        self.context
    }

    /// Returns true if the caller consumes the parts of the result.
    #[must_use]
    pub fn is_streamed(&self) -> bool {
        self.parts.is_some()
    }

    /// Sends a part of the result to the caller, and waits while the queue is full. If the output
    /// schema describes a list, the part is an item and is validated as such. Does nothing if the
    /// result is not streamed.
    ///
    /// # Errors
    ///
    /// Returns an error if the part does not match the output schema.
    pub async fn send(&self, chunk: Chunk) -> Result<(), ToolError> {
        let Some(parts) = self.parts else {
            return Ok(());
        };
        if let Some(schema) = parts.list {
            check_output(schema, format!("[{}]", chunk.json()).as_bytes())?;
        }
        parts.queue.send(chunk).await;
        Ok(())
    }
}
