//! The tools of a server that the host serves, what it changes in them, and their repair into forms that other clients accept:
//! names with other characters, and schemas of earlier drafts.

use std::collections::{BTreeMap, HashMap};

use serde::Deserialize;
use serde_json::{Map, Value, json};
use toolkit::tool::{Annotations, MAX_NAME_LEN};

/// The key in `_meta` of the name that a tool has on its server, if it is listed under another one.
pub(super) const NAME_KEY: &str = "rs.toolkit/name";

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
            meta.remove(NAME_KEY);
        }
        let has = |matches: &dyn Fn(&str) -> bool| tools.iter().any(|tool| matches(name_of(tool)));
        let patterns = self.allowed.iter().flatten().map(|pattern| ("tools", pattern));
        for (key, pattern) in patterns.chain(self.denied.iter().map(|pattern| ("disabledTools", pattern))) {
            if !has(&|name| matches(pattern, name)) {
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
                change.apply(fields);
                applied.hints.insert(name, change.hints());
            }
        }
        applied
    }

    fn admits(&self, name: &str) -> bool {
        let is_any = |patterns: &[String]| patterns.iter().any(|pattern| matches(pattern, name));
        self.allowed.as_deref().is_none_or(is_any) && !is_any(&self.denied)
    }
}

impl ToolChange {
    fn apply(&self, tool: &mut Map<String, Value>) {
        for (key, text) in [("title", &self.title), ("description", &self.description)] {
            if let Some(text) = text {
                tool.insert(key.to_owned(), text.as_str().into());
            }
        }
        if let Some(name) = &self.name {
            rename(tool, name);
        }
    }

    fn hints(&self) -> Annotations {
        let mut hints = Annotations::NONE;
        (hints.read_only, hints.destructive) = (self.read_only, self.destructive);
        (hints.idempotent, hints.open_world) = (self.idempotent, self.open_world);
        hints
    }
}

/// Lists a tool under another name. The name on the server is kept in `_meta`.
pub(super) fn rename(tool: &mut Map<String, Value>, name: &str) {
    let before = tool.insert("name".to_owned(), name.into());
    let meta = tool.entry("_meta").or_insert_with(|| Value::Object(Map::new()));
    if let (Some(before), Value::Object(meta)) = (before, meta) {
        meta.entry(NAME_KEY).or_insert(before);
    }
}

fn name_of(tool: &Value) -> &str {
    tool["name"].as_str().unwrap_or_default()
}

/// Returns true if a name matches a pattern, in which `*` matches any characters.
fn matches(pattern: &str, name: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else {
        return pattern == name;
    };
    let Some(mut name) = name.strip_prefix(start) else {
        return false;
    };
    let Some((middle, end)) = rest.rsplit_once('*') else {
        return name.ends_with(rest);
    };
    for part in middle.split('*') {
        let Some(at) = name.find(part) else {
            return false;
        };
        name = &name[at + part.len()..];
    }
    name.ends_with(end)
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

// Schemas.

/// Completes an input schema that accepts any arguments, omits an empty output schema, and converts both from earlier
/// drafts.
pub(super) fn valid_schemas(tool: &mut Value) {
    let Value::Object(tool) = tool else { return };
    let input = tool.entry("inputSchema").or_insert(Value::Null);
    if matches!(input, Value::Null | Value::Bool(true)) {
        *input = json!({});
    }
    if let Value::Object(schema) = input
        && !["type", "$ref", "allOf", "anyOf", "oneOf"].iter().any(|key| schema.contains_key(*key))
    {
        schema.insert("type".to_owned(), "object".into());
    }
    if matches!(tool.get("outputSchema"), Some(Value::Null)) {
        tool.remove("outputSchema");
    }
    for key in ["inputSchema", "outputSchema"] {
        if let Some(schema) = tool.get_mut(key) {
            let draft = schema["$schema"].as_str().unwrap_or_default();
            let is_early = ["draft-03", "draft-04"].iter().any(|early| draft.contains(early));
            convert(schema, is_early);
        }
    }
}

/// Keywords whose value is never `null`. Some libraries write `null` for one that is not set.
const NEVER_NULL: [&str; 27] = [
    "$defs",
    "$ref",
    "$schema",
    "additionalProperties",
    "allOf",
    "anyOf",
    "definitions",
    "description",
    "enum",
    "examples",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "format",
    "items",
    "maxItems",
    "maxLength",
    "maximum",
    "minItems",
    "minLength",
    "minimum",
    "multipleOf",
    "not",
    "oneOf",
    "pattern",
    "properties",
    "required",
    "title",
];

/// Keywords with a schema, or a list of schemas.
const SCHEMAS: [&str; 13] = [
    "additionalProperties",
    "allOf",
    "anyOf",
    "contains",
    "else",
    "if",
    "items",
    "not",
    "oneOf",
    "prefixItems",
    "propertyNames",
    "then",
    "unevaluatedProperties",
];

/// Keywords with an object of schemas.
const MAPS: [&str; 5] = ["$defs", "definitions", "dependentSchemas", "patternProperties", "properties"];

fn convert(schema: &mut Value, is_early: bool) {
    let Value::Object(schema) = schema else { return };
    schema.retain(|key, value| !(value.is_null() && (NEVER_NULL.contains(&&**key) || key == "type")));
    if is_early {
        schema.remove("$schema");
        if schema.get("id").is_some_and(Value::is_string) {
            schema.remove("id");
        }
        if schema.get("items").is_some_and(Value::is_array) {
            let rest = schema.remove("additionalItems");
            let items = schema.remove("items").unwrap_or_default();
            schema.insert("prefixItems".to_owned(), items);
            schema.extend(rest.map(|rest| ("items".to_owned(), rest)));
        }
    }
    for (bound, exclusive) in [("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")] {
        if let Some(is_exclusive) = schema.get(exclusive).and_then(Value::as_bool) {
            schema.remove(exclusive);
            if let (true, Some(limit)) = (is_exclusive, schema.get(bound).cloned()) {
                schema.remove(bound);
                schema.insert(exclusive.to_owned(), limit);
            }
        }
    }
    lift_required(schema);
    for (key, value) in schema {
        match value {
            Value::Object(schemas) if MAPS.contains(&&**key) => {
                schemas.values_mut().for_each(|schema| convert(schema, is_early));
            }
            Value::Array(schemas) if SCHEMAS.contains(&&**key) => {
                schemas.iter_mut().for_each(|schema| convert(schema, is_early));
            }
            schema if SCHEMAS.contains(&&**key) => convert(schema, is_early),
            _ => {}
        }
    }
}

/// Converts `"required": true` of a property (draft 3) into the list of the object.
fn lift_required(schema: &mut Map<String, Value>) {
    let Some(Value::Object(properties)) = schema.get_mut("properties") else { return };
    let mut required = Vec::new();
    for (name, property) in properties {
        if let Some(is_required) = property.get("required").and_then(Value::as_bool) {
            property.as_object_mut().and_then(|property| property.remove("required"));
            required.extend(is_required.then(|| Value::from(name.as_str())));
        }
    }
    if required.is_empty() {
        return;
    }
    if let Value::Array(names) = schema.entry("required").or_insert_with(|| Value::Array(Vec::new())) {
        required.retain(|name| !names.contains(name));
        names.append(&mut required);
    }
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn a_star_matches_any_characters() {
        for (pattern, yes, no) in [
            ("read", "read", "reads"),
            ("*", "", "\u{0}"),
            ("read_*", "read_", "read"),
            ("*_file", "read_file", "read_files"),
            ("a*b*c", "aXbXbYc", "acb"),
            ("a*a", "aa", "a"),
            ("**x*", "x", "y"),
        ] {
            assert!(matches(pattern, yes), "{pattern} {yes}");
            assert!(pattern == "*" || !matches(pattern, no), "{pattern} {no}");
        }
    }
}
