//! Credentials as one tool may see them.

use std::borrow::Cow;

use crate::call::{Context, ToolError};
use crate::tool::Tool;

/// Returns the context with the credentials that the tool requires, and no others.
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

/// Returns true if nothing has to be kept from the tool, and nothing has to be there: so it is with most calls.
#[inline]
pub(super) fn sees_all(context: &Context, tool: &Tool) -> bool {
    !context.has_credentials() && !tool.requires()
}

#[cold]
fn narrowed(context: &Context, tool: &Tool) -> Result<Context, ToolError> {
    context.scoped_to(tool.requirements()).map_err(ToolError::missing_requirements)
}
