//! Selection of the executor of a call: a function of this program or a backend.

use super::dispatcher::Shared;
use crate::backend::Route;
use crate::call::{ErrorKind, ToolError, unwind};
use crate::tool::Tool;
use crate::tool::entry::Entry;

/// The executor of a tool.
#[derive(Clone, Copy)]
pub(super) enum Executor<'s> {
    Function(&'static Entry),
    Backend(&'s Route),
}

impl Shared {
    /// Selects the executor of a tool.
    #[inline]
    pub(super) fn select<'s>(&'s self, tool: &'s Tool) -> Result<Executor<'s>, ToolError> {
        match tool.entry() {
            Some(entry) if self.selector.is_none() => Ok(Executor::Function(entry)),
            entry => self.select_of_several(tool, entry),
        }
    }

    #[cold]
    fn select_of_several<'s>(
        &'s self,
        tool: &'s Tool,
        entry: Option<&'static Entry>,
    ) -> Result<Executor<'s>, ToolError> {
        let selected = unwind::catch(|| self.routes.select(tool, self.selector.as_deref()));
        match (selected.map_err(unwind::Panic::into_host_error)??, entry) {
            (Some(route), _) => Ok(Executor::Backend(route)),
            (None, Some(entry)) => Ok(Executor::Function(entry)),
            (None, None) => Err(ToolError::new(ErrorKind::NoBackend, "no backend runs this tool")),
        }
    }
}
