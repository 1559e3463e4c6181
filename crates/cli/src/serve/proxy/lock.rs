//! The lock file of the tools of other servers.

use std::collections::HashMap;
use std::fs;
use std::io::Write;
use std::path::Path;

use toolkit::{Catalog, Tool, ToolId};
use toolkit_backends::{Backends, ContractChange};
use toolkit_contract::Lock;

use crate::error::CommandError;
use crate::exit::Exit;
use crate::report::counted;
use crate::style::{self, printable};

pub(super) fn read(path: &Path) -> Result<Lock, CommandError> {
    let unusable = |reason: String| failed(path, &reason);
    let text =
        fs::read_to_string(path).map_err(|error| unusable(format!("{error}; --update-lock creates the file")))?;
    Lock::from_json(&text).map_err(|error| unusable(error.to_string()))
}

/// Writes the current tools of the servers to the lock file, and reports the differences. The tools of a server that cannot
/// be reached are kept.
pub(super) async fn update(path: &Path, backends: &Backends, own: Catalog) -> Result<Exit, CommandError> {
    let before = match path.exists() {
        true => read(path)?,
        false => Lock::from_tools([]),
    };
    let collected = backends.collect(own).await;
    let mut err = anstream::stderr();
    for failure in &collected.failures {
        let _ = writeln!(err, "{} {}", style::ERROR, printable(&failure.to_string()));
    }
    for diagnostic in &collected.diagnostics {
        let _ = writeln!(err, "{} {}", style::WARNING, printable(diagnostic.message()));
    }
    let is_missing = |tool: &&Tool| {
        let namespace = tool.id().namespace();
        collected.failures.iter().any(|failure| namespace == Some(failure.backend.as_str()))
    };
    let kept = before.tools().filter(is_missing).cloned();
    let now = Lock::from_tools(collected.offered.iter().cloned().chain(kept));
    for line in differences(&before, &now) {
        let _ = writeln!(err, "{} {}", style::NOTE, printable(&line));
    }
    fs::write(path, now.to_json()).map_err(|error| failed(path, &error.to_string()))?;
    let n_tools = now.tools().count();
    let _ = writeln!(err, "{} wrote {} to {}; review it", style::NOTE, counted(n_tools, "tool"), path.display());
    Ok(if collected.failures.is_empty() { Exit::Success } else { Exit::Failed })
}

fn differences(before: &Lock, now: &Lock) -> Vec<String> {
    let by_id = |lock: &'_ Lock| -> HashMap<ToolId, Tool> {
        lock.tools().map(|tool| (tool.id().clone(), tool.clone())).collect()
    };
    let (was, is) = (by_id(before), by_id(now));
    let changed = now.tools().filter_map(|tool| match was.get(tool.id()) {
        Some(before) => ContractChange::between(before, tool).map(|change| change.to_string()),
        None => Some(format!("`{}` was added", tool.id())),
    });
    let removed = before.tools().filter(|tool| !is.contains_key(tool.id()));
    changed.chain(removed.map(|tool| format!("`{}` was removed", tool.id()))).collect()
}

fn failed(path: &Path, reason: &str) -> CommandError {
    CommandError::Other { exit: Exit::Failed, kind: "invalid_lock", message: format!("{}: {reason}", path.display()) }
}
