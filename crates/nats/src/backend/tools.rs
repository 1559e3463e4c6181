//! The tools of all workers.

use std::collections::HashMap;

use toolkit::backend::OfferedTools;
use toolkit::catalog::{Diagnostic, DiagnosticKind};
use toolkit::tool::ToolBackend;

use super::definitions::Definition;
use super::fleet::Fleet;

/// Lists the tools of all workers. If workers have different contracts of a tool, that of the worker that started last is
/// listed.
pub(super) fn offered(name: &str, fleet: &Fleet) -> OfferedTools {
    fleet.mark_listed();
    let mut toolsets = fleet.toolsets();
    toolsets.sort_by_key(|(_, _, started)| std::cmp::Reverse(*started));
    let mut listed: HashMap<&str, &Definition> = HashMap::new();
    let (mut tools, mut diagnostics) = (Vec::new(), Vec::new());
    for (definitions, n_workers, _) in &toolsets {
        diagnostics.extend(definitions.diagnostics.iter().cloned());
        for (tokens, definition) in &definitions.tools {
            if let Some(newer) = listed.get(&**tokens) {
                if newer.contract != definition.contract {
                    let id = definition.tool.id();
                    let message =
                        format!("{n_workers} workers have an older definition of `{id}`, which is not listed");
                    diagnostics.push(Diagnostic::new(DiagnosticKind::Malformed, message, []));
                }
                continue;
            }
            listed.insert(tokens, definition);
            match ToolBackend::provider(name, target(tokens, &definition.contract)) {
                Ok(target) => tools.push((definition.tool.clone(), target)),
                Err(error) => diagnostics.push(Diagnostic::new(DiagnosticKind::Malformed, error.to_string(), [])),
            }
        }
    }
    tools.sort_by(|(one, _), (other, _)| one.id().cmp(other.id()));
    OfferedTools::new(tools).with_diagnostics(diagnostics)
}

/// Returns the identity of a tool in the backend.
fn target(tokens: &str, contract: &str) -> String {
    format!("{tokens}#{contract}")
}

/// Returns the tokens of the tool's subject, and its contract.
pub(super) fn read_target(target: &ToolBackend) -> Option<(&str, &str)> {
    match target {
        ToolBackend::Provider { tool_id, .. } => tool_id.rsplit_once('#'),
        _ => None,
    }
}
