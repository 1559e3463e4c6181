//! Error messages that passed through several programs.

use std::borrow::Cow;

use crate::catalog::Naming;
use crate::tool::ToolId;

/// Removes the id of the called tool from the start of a message. Each program prefixes messages
/// with the id under which it lists the tool, so the prefixes would accumulate.
pub(crate) fn without_tool_id<'m>(message: &'m str, called: &str) -> &'m str {
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
