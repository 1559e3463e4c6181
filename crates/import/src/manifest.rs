//! Reading the tools of a file.

use std::fs;
use std::path::Path;

use serde_json::Value;

/// A tool of a manifest.
pub(crate) struct Listed {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) input: Value,
    pub(crate) output: Option<Value>,
}

/// Reads the tools of `server` in the file at `path`. Error messages contain `shown` as the name of the file.
///
/// The file contains the result of `tools/list`, an array of tools, or a lock with the tools of several servers.
pub(crate) fn read(path: &Path, shown: &str, server: &str) -> Result<Vec<Listed>, String> {
    let text = fs::read_to_string(path)
        .map_err(|error| format!("cannot read `{shown}`, relative to the directory of Cargo.toml: {error}"))?;
    let document: Value = serde_json::from_str(&text).map_err(|error| format!("`{shown}` is not JSON: {error}"))?;
    let tools = match &document {
        Value::Array(tools) => Some(tools),
        document => document.get("tools").and_then(Value::as_array),
    };
    let Some(tools) = tools else {
        let hint = if document.get("result").is_some() {
            "; the file is a JSON-RPC response, so keep only its `result`"
        } else {
            ""
        };
        return Err(format!(
            "`{shown}` has no `tools`; expected the result of `tools/list`, an array of tools, or a lock{hint}"
        ));
    };
    let is_canonical = document.get("lockVersion").is_some() || tools.iter().any(|tool| tool["namespace"].is_string());
    let is_of_server = |tool: &&Value| !is_canonical || tool["namespace"] == server;
    let listed: Vec<Listed> = tools
        .iter()
        .enumerate()
        .filter(|(_, tool)| is_of_server(tool))
        .map(|(idx, tool)| listed(tool).ok_or_else(|| format!("the tool at index {idx} of `{shown}` has no name")))
        .collect::<Result<_, _>>()?;
    if listed.is_empty() && !tools.is_empty() {
        let mut others: Vec<&str> = tools.iter().filter_map(|tool| tool["namespace"].as_str()).collect();
        others.sort_unstable();
        others.dedup();
        others.truncate(8);
        let others = others.join("`, `");
        return Err(format!(
            "`{shown}` has no tools of the server `{server}`; set `server = \"…\"` to one of `{others}`"
        ));
    }
    if listed.is_empty() {
        return Err(format!("`{shown}` has no tools"));
    }
    Ok(listed)
}

fn listed(tool: &Value) -> Option<Listed> {
    let name = tool["name"].as_str()?.to_owned();
    let description = tool["description"].as_str().or(tool["title"].as_str()).unwrap_or_default().to_owned();
    let output = Some(&tool["outputSchema"]).filter(|schema| !schema.is_null()).cloned();
    Some(Listed { name, description, input: tool["inputSchema"].clone(), output })
}
