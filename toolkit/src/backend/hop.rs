//! Error messages that passed through several programs.

use std::borrow::Cow;

use crate::call::ToolError;
use crate::catalog::Naming;
use crate::mcp::ERROR_KEY;
use crate::tool::ToolId;

/// Removes the id of the called tool from the start of an error. Each program prefixes its errors with the id under
/// which it lists the tool, so the prefixes would accumulate. The result of a server of another kind stays as it is.
pub(crate) fn without_tool_id(error: ToolError, called: &str) -> ToolError {
    let meta = error.mcp_result().and_then(|result| result.get("_meta"));
    let error = match meta.is_some_and(|meta| meta.get(ERROR_KEY).is_some()) {
        true => error.with_first_text(|text| without_prefix(text, called)),
        false => error,
    };
    error.with_message(|message| without_prefix(message, called))
}

fn without_prefix<'m>(message: &'m str, called: &str) -> &'m str {
    let mut rest = message;
    while let Some((first, after)) = rest.split_once(": ")
        && names(first, called)
    {
        rest = after;
    }
    rest
}

/// Returns true if a text is the id of the tool whose wire name is `called`.
fn names(text: &str, called: &str) -> bool {
    let is_id = !text.contains(char::is_whitespace) && text.len() <= 512;
    let id = is_id.then(|| text.parse::<ToolId>().ok()).flatten();
    let called: Cow<'_, str> = match called.contains('.') {
        true => called.replace('.', "_").into(),
        false => called.into(),
    };
    id.is_some_and(|id| [Naming::Name, Naming::NamespaceName].iter().any(|naming| naming.wire_name(&id) == called))
}
