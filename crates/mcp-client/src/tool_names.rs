//! The names under which the tools of a server are listed: names with characters and lengths that all clients accept.

#[cfg(test)]
mod tests;

use std::collections::HashMap;

use serde_json::{Map, Value};
use toolkit::tool::MAX_NAME_LEN;

/// The key in `_meta` of the name that a tool has on its server, if it is listed under another one.
pub(super) const NAME_KEY: &str = "rs.toolkit/name";

/// Lists a tool under another name. The name on the server is kept in `_meta`.
pub(super) fn rename(tool: &mut Map<String, Value>, name: &str) {
    let before = tool.insert("name".to_owned(), name.into());
    let meta = tool.entry("_meta").or_insert_with(|| Value::Object(Map::new()));
    if let (Some(before), Value::Object(meta)) = (before, meta) {
        meta.entry(NAME_KEY).or_insert(before);
    }
}

/// The length of a listed name, with its namespace, that every client and provider accepts.
const MAX_WIRE_NAME_LEN: usize = 64;

/// The least length to which a name is shortened.
const MIN_NAME_LEN: usize = 16;

/// Renames tools whose names other programs reject. A name depends on the other names only if it would be that of
/// another tool.
pub(super) fn valid_names(tools: &mut [Value], namespace: &str) {
    let mut n_named: HashMap<String, usize> = HashMap::new();
    for name in tools.iter().filter_map(|tool| tool["name"].as_str()) {
        *n_named.entry(valid(name)).or_default() += 1;
    }
    let left = MAX_WIRE_NAME_LEN.saturating_sub(namespace.len() + 1);
    let max_len = if left < MIN_NAME_LEN { MAX_NAME_LEN } else { left };
    for tool in tools {
        let Value::Object(tool) = tool else { continue };
        let Some(name) = tool.get("name").and_then(Value::as_str).filter(|name| !name.is_empty()) else { continue };
        let mut listed = valid(name);
        let is_ambiguous = n_named[&listed] > 1 || !listed.contains(|c: char| c.is_ascii_alphanumeric());
        if listed.len() > max_len || listed != name && is_ambiguous {
            let suffix = format!("_{:08x}", hash(name));
            listed.truncate(max_len - suffix.len());
            listed.push_str(&suffix);
        }
        if listed != name {
            rename(tool, &listed);
        }
    }
}

/// Replaces the characters that are invalid in a name.
fn valid(name: &str) -> String {
    let valid = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.') { c } else { '_' };
    name.chars().map(valid).collect()
}

/// Hashes a name (FNV-1a), to the same number in every build.
fn hash(name: &str) -> u32 {
    name.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}
