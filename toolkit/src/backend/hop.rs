//! Messages that came through several programs.

use std::borrow::Cow;

use crate::catalog::Naming;
use crate::tool::ToolId;

/// A message without the id of the called tool in front of it. Each program puts the id by which it knows the tool
/// before a message; without this, a message would have one more with every program that it came through.
pub(crate) fn without_tool_id<'m>(message: &'m str, called: &str) -> &'m str {
    let mut rest = message;
    while let Some((first, after)) = rest.split_once(": ")
        && names(first, called)
    {
        rest = after;
    }
    rest
}

/// Returns true if a text is the id of the tool that goes by the name `called` on the wire.
fn names(text: &str, called: &str) -> bool {
    let is_id = !text.contains(char::is_whitespace) && text.len() <= 512;
    let id = is_id.then(|| text.parse::<ToolId>().ok()).flatten();
    let called: Cow<'_, str> = match called.contains('.') {
        true => called.replace('.', "_").into(),
        false => called.into(),
    };
    id.is_some_and(|id| [Naming::Name, Naming::NamespaceName].iter().any(|naming| naming.wire_name(&id) == called))
}
