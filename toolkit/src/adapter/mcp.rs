//! The Model Context Protocol's `tools/list`.

use serde_json::{Value, json};

use crate::catalog::{Catalog, Naming, Problems, WireNames};

/// A revision of the protocol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Revision {
    /// 2025-11-25: results are objects.
    V2025_11_25,
    /// 2026-07-28: results are any JSON.
    #[default]
    V2026_07_28,
}

/// The result of `tools/list`: the highest version of every tool, in the order of their ids.
///
/// # Errors
///
/// Two tools would get one name, or a name that clients refuse.
pub fn list_tools(catalog: &Catalog, revision: Revision, naming: Naming) -> Result<Value, Problems> {
    let names = WireNames::of(catalog, naming)?;
    let _ = revision;
    let tools: Vec<Value> = names.iter().map(|(name, tool)| json!({"name": name, "description": tool.description(), "inputSchema": tool.input().as_value()})).collect();
    Ok(json!({ "tools": tools }))
}
