//! The rules of the host for the tools of a server: which of them it serves, and what it changes in them.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap};

use serde::Deserialize;
use serde_json::{Map, Value};
use toolkit::tool::Annotations;
use toolkit_runtime::matches_wildcard;

use super::tool_names::{NAME_KEY, rename};

/// The rules of the host for the tools of a server, by their names on the server.
#[derive(Clone, Default, PartialEq)]
pub(super) struct ToolRules {
    /// Patterns of the tools to serve, or `None` for all.
    pub(super) allowed: Option<Vec<String>>,
    /// Patterns of tools not to serve.
    pub(super) denied: Vec<String>,
    pub(super) changes: BTreeMap<String, ToolChange>,
}

/// The changes of the host to a tool.
#[derive(Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(super) struct ToolChange {
    name: Option<String>,
    title: Option<String>,
    description: Option<String>,
    /// The arguments that callers neither see nor send.
    fixed_arguments: Map<String, Value>,
    read_only: Option<bool>,
    destructive: Option<bool>,
    idempotent: Option<bool>,
    open_world: Option<bool>,
}

/// The outcome of the rules for a list of tools.
#[derive(Default)]
pub(super) struct Applied {
    /// Descriptions of the rules that match no tool.
    pub(super) unmatched: Vec<String>,
    /// The hints that the host has set, by the name of the tool on the server.
    pub(super) hints: HashMap<String, Annotations>,
}

impl ToolRules {
    /// Removes the tools that are not served from a list, and changes the others.
    pub(super) fn apply(&self, tools: &mut Vec<Value>) -> Applied {
        let mut applied = Applied::default();
        // Only this client writes it.
        for meta in tools.iter_mut().filter_map(|tool| tool.get_mut("_meta")?.as_object_mut()) {
            meta.shift_remove(NAME_KEY);
        }
        let has = |matches: &dyn Fn(&str) -> bool| tools.iter().any(|tool| matches(name_of(tool)));
        let patterns = self.allowed.iter().flatten().map(|pattern| ("tools", pattern));
        for (key, pattern) in patterns.chain(self.denied.iter().map(|pattern| ("disabledTools", pattern))) {
            if !has(&|name| matches_wildcard(pattern, name)) {
                applied.unmatched.push(format!("`{}` in `{key}`", pattern.escape_debug()));
            }
        }
        for name in self.changes.keys().filter(|name| !has(&|other| *name == other)) {
            applied.unmatched.push(format!("`{}` in `toolkit.tools`", name.escape_debug()));
        }
        tools.retain(|tool| self.admits(name_of(tool)));
        for tool in tools {
            let name = name_of(tool).to_owned();
            if let (Some(change), Value::Object(fields)) = (self.changes.get(&name), tool) {
                let missing = change.apply(fields).into_iter().map(|argument| {
                    format!("`{}` in `fixedArguments` of `{}`", argument.escape_debug(), name.escape_debug())
                });
                applied.unmatched.extend(missing);
                applied.hints.insert(name, change.hints());
            }
        }
        applied
    }

    /// Returns the fixed arguments of a tool, by its name on the server.
    pub(super) fn fixed_arguments(&self, name: &str) -> Option<&Map<String, Value>> {
        self.changes.get(name).map(|change| &change.fixed_arguments).filter(|fixed| !fixed.is_empty())
    }

    fn admits(&self, name: &str) -> bool {
        let is_any = |patterns: &[String]| patterns.iter().any(|pattern| matches_wildcard(pattern, name));
        self.allowed.as_deref().is_none_or(is_any) && !is_any(&self.denied)
    }
}

impl ToolChange {
    /// Changes a tool. Returns the fixed arguments that it does not have.
    fn apply(&self, tool: &mut Map<String, Value>) -> Vec<String> {
        let mut missing = Vec::new();
        for (key, text) in [("title", &self.title), ("description", &self.description)] {
            if let Some(text) = text {
                tool.insert(key.to_owned(), text.as_str().into());
            }
        }
        if let Some(Value::Object(input)) = tool.get_mut("inputSchema") {
            for name in self.fixed_arguments.keys() {
                let properties = input.get_mut("properties").and_then(Value::as_object_mut);
                if properties.and_then(|properties| properties.shift_remove(name)).is_none() {
                    missing.push(name.clone());
                }
                if let Some(Value::Array(required)) = input.get_mut("required") {
                    required.retain(|required| required != name);
                }
            }
        }
        if let Some(name) = &self.name {
            rename(tool, name);
        }
        missing
    }

    fn hints(&self) -> Annotations {
        let mut hints = Annotations::NONE;
        (hints.read_only, hints.destructive) = (self.read_only, self.destructive);
        (hints.idempotent, hints.open_world) = (self.idempotent, self.open_world);
        hints
    }
}

fn name_of(tool: &Value) -> &str {
    tool["name"].as_str().unwrap_or_default()
}
