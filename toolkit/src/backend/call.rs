//! One call on its way to a backend.

use crate::call::check_output;
use crate::call::{Arguments, Context, ToolError};
use crate::stream::{Chunk, Queue};
use crate::tool::{Tool, ToolBackend};
use toolkit_schema::Schema;

/// One call on its way to a backend.
#[derive(Debug)]
pub struct BackendCall<'a> {
    pub(crate) tool: &'a Tool,
    pub(crate) target: &'a ToolBackend,
    pub(crate) arguments: Arguments<'a>,
    pub(crate) context: &'a Context,
    pub(crate) parts: Option<Parts<'a>>,
}

/// Who reads the parts of a result, and what each part is checked against.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parts<'a> {
    pub(crate) queue: &'a Queue,
    /// The schema of the whole, where that is a list of parts and nothing more.
    pub(crate) list: Option<&'a Schema>,
}

impl<'a> BackendCall<'a> {
    /// The tool as the catalogue has it, which may have put it into a namespace.
    #[must_use]
    pub fn tool(&self) -> &'a Tool {
        self.tool
    }

    /// How the backend knows the tool: what it said in its [`Offers`](super::Offers).
    #[must_use]
    pub fn target(&self) -> &'a ToolBackend {
        self.target
    }

    /// What the input schema accepted.
    #[must_use]
    pub fn arguments(&self) -> &Arguments<'a> {
        &self.arguments
    }

    /// What goes along with the call: cancellation, progress, and the credentials that the tool requires.
    #[must_use]
    pub fn context(&self) -> &'a Context {
        self.context
    }

    /// Whether anybody reads the parts of the result.
    #[must_use]
    pub fn is_streamed(&self) -> bool {
        self.parts.is_some()
    }

    /// Gives a part of the result to whoever reads them, once there is room. Where the tool promises a list, the part
    /// is one item of it, and is checked as such.
    ///
    /// # Errors
    ///
    /// The output schema refuses it.
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
