//! Credentials that are scoped to a tool.

use std::borrow::Cow;

use crate::call::{Context, ToolError};
use crate::tool::Tool;

/// Returns the context with only the credentials that the tool requires.
///
/// # Errors
///
/// Returns an error if the caller lacks some of them.
#[inline]
pub(super) fn scoped<'c>(context: &'c Context, tool: &Tool) -> Result<Cow<'c, Context>, ToolError> {
    if sees_all(context, tool) {
        return Ok(Cow::Borrowed(context));
    }
    narrowed(context, tool).map(Cow::Owned)
}

/// Returns true if the context has no credentials and the tool requires none, which is the common case.
#[inline]
fn sees_all(context: &Context, tool: &Tool) -> bool {
    !context.has_credentials() && !tool.requires()
}

#[cold]
fn narrowed(context: &Context, tool: &Tool) -> Result<Context, ToolError> {
    context.scoped_to(tool.requirements()).map_err(ToolError::missing_requirements)
}
