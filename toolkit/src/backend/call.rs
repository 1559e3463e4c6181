//! One call on its way to a backend.

use crate::call::{Arguments, Context};
use crate::tool::{Tool, ToolBackend};

/// One call on its way to a backend.
#[derive(Debug)]
pub struct BackendCall<'a> {
    tool: &'a Tool,
    target: &'a ToolBackend,
    arguments: Arguments<'a>,
    context: &'a Context,
}

impl<'a> BackendCall<'a> {
    pub(crate) fn new(tool: &'a Tool, target: &'a ToolBackend, arguments: Arguments<'a>, context: &'a Context) -> Self {
        Self { tool, target, arguments, context }
    }

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
}
