//! Tools as JSON, and their hints in words.

use serde_json::{Map, Value, json};
use toolkit::Tool;
use toolkit::tool::Annotations;

/// Returns the canonical JSON of a tool with its id and its source location.
pub(crate) fn full(tool: &Tool) -> Map<String, Value> {
    let Value::Object(mut record) = tool.to_json() else {
        return Map::new();
    };
    record.insert("id".to_owned(), tool.id().to_string().into());
    if let Some(location) = tool.location() {
        let place = json!({ "file": location.file, "line": location.line, "column": location.column });
        record.insert("location".to_owned(), place);
    }
    record
}

/// Returns the JSON of a tool without its schemas.
pub(crate) fn without_schemas(tool: &Tool) -> Map<String, Value> {
    let mut record = full(tool);
    record.retain(|name, _| !matches!(name.as_str(), "inputSchema" | "outputSchema"));
    record
}

/// Returns the hints of a tool in words, including explicit negative ones, and the one that a missing hint implies.
pub(crate) fn hints(annotations: &Annotations) -> Vec<&'static str> {
    let hint = |hint: Option<bool>, yes, no| hint.map(|hint| if hint { yes } else { no });
    [
        hint(annotations.read_only, "read-only", "writes"),
        hint(annotations.destructive, "destructive", "not destructive")
            .or(annotations.may_be_destructive().then_some("may be destructive")),
        hint(annotations.idempotent, "idempotent", "not idempotent"),
        hint(annotations.open_world, "open world", "closed world"),
    ]
    .into_iter()
    .flatten()
    .collect()
}
