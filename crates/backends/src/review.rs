//! Decides which tools of backends are collected, and which of their claims are kept.

use std::collections::{HashMap, HashSet};
use std::fmt;

use serde_json::Value;
use toolkit::catalog::{Catalog, Diagnostic, DiagnosticKind};
use toolkit::prompt::Prompt;
use toolkit::tool::{BackendKind, Tool, ToolId};
use toolkit_schema::shown_id;

use crate::foreign::without_claims;
use crate::registered::Registered;

/// The rules by which tools of backends and their claims are accepted.
pub(crate) struct Review<'r> {
    base: &'r Catalog,
    /// The namespaces of the program, in the form of [`folded`].
    namespaces: HashSet<String>,
    /// The reviewed tools. If there is a lock, only these are collected.
    locked: Option<HashMap<&'r ToolId, &'r Tool>>,
}

impl<'r> Review<'r> {
    pub(crate) fn new(base: &'r Catalog, lock: Option<&'r [Tool]>) -> Self {
        // A program without tools of its own has its tools in backends, such as workers, in the namespaces of its prompts.
        let prompts = base.prompts().filter(|_| !base.is_empty()).map(Prompt::id);
        let ids = base.iter().map(Tool::id).chain(prompts);
        let namespaces = ids.filter_map(|id| id.namespace()).map(folded).collect();
        let locked = lock.map(|lock| lock.iter().map(|tool| (tool.id(), tool)).collect());
        Self { base, namespaces, locked }
    }

    /// Returns the tool with the claims that are kept, or the reason why it is left out. `is_trusted` is true if the host
    /// trusts the hints of the tool.
    pub(crate) fn check(&self, backend: &Registered, is_trusted: bool, tool: Tool) -> Result<Tool, Diagnostic> {
        if is_host_code(backend) {
            return Ok(tool);
        }
        if tool.id().namespace().is_some_and(|name| self.is_taken(name)) && self.base.with_id(tool.id()).is_none() {
            let message = format!(
                "the backend `{}` offers `{}`, which is left out: the namespace belongs to this program",
                backend.name(),
                shown_id(tool.id()),
            );
            return Err(Diagnostic::new(DiagnosticKind::NamespaceTaken, message, [&tool]));
        }
        match &self.locked {
            // The reviewed record, with its title and tags.
            Some(locked) => reviewed(backend, locked.get(tool.id()).copied(), &tool).cloned(),
            None if is_trusted => Ok(tool),
            None => Ok(without_claims(&tool)),
        }
    }

    /// Returns true if a namespace of the program has this name, or one with the same wire name.
    pub(crate) fn is_taken(&self, name: &str) -> bool {
        self.namespaces.contains(&folded(name))
    }

    /// Reports the tools of the lock that a backend no longer offers.
    pub(crate) fn removed(&self, backend: &Registered, offered: &HashSet<ToolId>) -> Vec<Diagnostic> {
        let locked = self.locked.iter().flat_map(HashMap::values).copied();
        let mut removed: Vec<&Tool> = locked
            .filter(|tool| tool.id().namespace() == Some(backend.name()) && !offered.contains(tool.id()))
            .collect();
        removed.sort_by_key(|tool| tool.id());
        let diagnostic = |tool: &Tool| {
            let message = format!(
                "`{}` is in the lock, and the backend `{}` no longer offers it",
                shown_id(tool.id()),
                backend.name(),
            );
            Diagnostic::new(DiagnosticKind::NotReviewed, message, [tool])
        };
        removed.into_iter().map(diagnostic).collect()
    }
}

/// Sorts tools by id. Of several tools with the same id, the first one is kept.
pub(crate) fn sorted(tools: impl IntoIterator<Item = Tool>) -> Vec<Tool> {
    let mut tools: Vec<Tool> = tools.into_iter().collect();
    tools.sort_by(|a, b| a.id().cmp(b.id()));
    tools.dedup_by(|later, first| later.id() == first.id());
    tools
}

/// Reports the tools of a lock in namespaces that no backend has.
pub(crate) fn without_backend<'n>(lock: &[Tool], names: impl Iterator<Item = &'n str>) -> Vec<Diagnostic> {
    let names: HashSet<&str> = names.collect();
    let orphans = lock.iter().filter(|tool| tool.id().namespace().is_none_or(|name| !names.contains(name)));
    let diagnostic = |tool: &Tool| {
        let message = format!("`{}` is in the lock, and no backend has this namespace", shown_id(tool.id()));
        Diagnostic::new(DiagnosticKind::NotReviewed, message, [tool])
    };
    orphans.map(diagnostic).collect()
}

/// Normalizes a namespace for comparison: a wire name may lose case and punctuation.
fn folded(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' }).collect()
}

/// Returns true if the host itself has added the tools of the backend.
pub(crate) fn is_host_code(backend: &Registered) -> bool {
    backend.backend().kind() == BackendKind::Local
}

/// Returns the tool of the lock, if it has the same contract.
fn reviewed<'l>(backend: &Registered, locked: Option<&'l Tool>, tool: &Tool) -> Result<&'l Tool, Diagnostic> {
    let message = match locked {
        Some(locked) if locked == tool || locked.contract_hash() == tool.contract_hash() => return Ok(locked),
        Some(locked) => {
            let change = ContractChange::between(locked, tool).map(|change| change.to_string()).unwrap_or_default();
            format!("{change}; it is left out, because the lock holds another contract")
        }
        None => format!(
            "the backend `{}` offers `{}`, which is left out: it is not in the lock",
            backend.name(),
            shown_id(tool.id()),
        ),
    };
    Err(Diagnostic::new(DiagnosticKind::NotReviewed, message, [tool]))
}

/// A change of a tool: of its description, its schemas, its annotations or any other field.
///
/// A proxy reports it for a tool of another server. [`ContractHash`](toolkit::tool::ContractHash) only detects a change;
/// this type locates it.
///
/// # Examples
///
/// ```
/// use serde_json::json;
/// use toolkit::Tool;
/// use toolkit_backends::ContractChange;
///
/// let tool = |maximum: u32| {
///     let limit = json!({ "type": "integer", "maximum": maximum });
///     Tool::builder("list").input(json!({ "type": "object", "properties": { "limit": limit } })).build()
/// };
/// let change = ContractChange::between(&tool(10)?, &tool(1000)?).unwrap();
/// assert_eq!(change.tool.to_string(), "list");
/// assert_eq!(change.pointers, ["/inputSchema/properties/limit/maximum"]);
/// # Ok::<(), toolkit::catalog::Diagnostics>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ContractChange {
    /// The id of the tool.
    pub tool: ToolId,
    /// JSON Pointers (RFC 6901) into the canonical form of the tool: the first [`ContractChange::MAX_POINTERS`]
    /// differences.
    pub pointers: Vec<String>,
    /// The number of further differences.
    pub n_more: usize,
}

impl ContractChange {
    /// The maximum length of [`pointers`](ContractChange::pointers).
    pub const MAX_POINTERS: usize = 8;

    /// Compares two records of a tool. Returns `None` if they are equal.
    ///
    /// ```
    /// use toolkit::Tool;
    /// use toolkit_backends::ContractChange;
    ///
    /// let old = Tool::builder("read").description("Reads a file.").build()?;
    /// let new = Tool::builder("read").description("Reads and uploads a file.").build()?;
    /// let change = ContractChange::between(&old, &new).unwrap();
    /// assert_eq!(change.to_string(), "`read` has changed at /description");
    /// # Ok::<(), toolkit::catalog::Diagnostics>(())
    /// ```
    #[must_use]
    pub fn between(old: &Tool, new: &Tool) -> Option<Self> {
        if old == new {
            return None;
        }
        let mut change = Self { tool: new.id().clone(), pointers: Vec::new(), n_more: 0 };
        change.collect("", &old.to_json(), &new.to_json());
        Some(change)
    }

    fn collect(&mut self, at: &str, old: &Value, new: &Value) {
        match (old, new) {
            _ if old == new => {}
            (Value::Object(old), Value::Object(new)) => {
                let added = new.keys().filter(|key| !old.contains_key(*key));
                for key in old.keys().chain(added) {
                    let at = format!("{at}/{}", shown(key));
                    match (old.get(key), new.get(key)) {
                        (Some(old), Some(new)) => self.collect(&at, old, new),
                        _ => self.push(at),
                    }
                }
            }
            (Value::Array(old), Value::Array(new)) if old.len() == new.len() => {
                for (idx, (old, new)) in std::iter::zip(old, new).enumerate() {
                    self.collect(&format!("{at}/{idx}"), old, new);
                }
            }
            _ => self.push(at.to_owned()),
        }
    }

    fn push(&mut self, at: String) {
        match self.pointers.len() < Self::MAX_POINTERS {
            true => self.pointers.push(at),
            false => self.n_more += 1,
        }
    }
}

/// Shortens and escapes a key of a foreign document for a message.
fn shown(key: &str) -> String {
    let short: String = key.chars().take(64).collect();
    short.replace('~', "~0").replace('/', "~1").escape_debug().to_string()
}

impl fmt::Display for ContractChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` has changed", shown_id(&self.tool))?;
        for (idx, pointer) in self.pointers.iter().enumerate() {
            write!(f, "{} {pointer}", if idx == 0 { " at" } else { "," })?;
        }
        match self.n_more {
            0 => Ok(()),
            n => write!(f, " and {n} more places"),
        }
    }
}
