//! Contexts of the calls that tools make.

use std::sync::Arc;

use toolkit::call::ErrorKind;
use toolkit::{Context, ToolError};

use super::peer::Peer;
use super::state::Shared;

/// Returns the context of a tool that calls other tools: each of them has to pass the filter, needs the scopes of a
/// direct call, and gets its credentials.
pub(super) fn nested(shared: &Arc<Shared>, context: Context, peer: Peer<'_>) -> Context {
    let (shared, caller, access) = (Arc::clone(shared), peer.caller.cloned(), peer.access.cloned());
    context.nested_with(move |tool, context| {
        if !shared.filter.admits(tool) {
            let message = format!("no tool is named `{}`", tool.id());
            return Err(ToolError::new(ErrorKind::UnknownTool, message));
        }
        if access.as_ref().is_some_and(|access| !access.grants_tool(tool)) {
            let message = "the token does not grant the scopes that this tool requires; call it directly, so that \
                           the client can request them";
            return Err(ToolError::new(ErrorKind::MissingRequirements, message));
        }
        if tool.requirements().is_empty() {
            return Ok(context);
        }
        let held = caller.as_ref().map(|caller| caller.credentials().clone());
        let held = held.or_else(|| shared.credentials.as_ref().map(|credentials| credentials(tool)));
        Ok(context.with_credentials(held.unwrap_or_default()))
    })
}
