//! The record of a tool as JSON, and its hints in words.

use serde_json::{Map, Value, json};
use toolkit::Tool;
use toolkit::tool::Annotations;

/// Everything about a tool: its canonical form, its id, and where it was written.
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

/// Everything but the schemas, which are most of it.
pub(crate) fn without_schemas(tool: &Tool) -> Map<String, Value> {
    let mut record = full(tool);
    record.retain(|name, _| !matches!(name.as_str(), "inputSchema" | "outputSchema"));
    record
}

/// What the tool says of its own effects, in words; an explicit "no" is said too.
pub(crate) fn hints(annotations: &Annotations) -> Vec<&'static str> {
    let hint = |said: Option<bool>, yes, no| said.map(|said| if said { yes } else { no });
    [
        hint(annotations.read_only, "read-only", "writes"),
        hint(annotations.destructive, "destructive", "not destructive"),
        hint(annotations.idempotent, "idempotent", "not idempotent"),
        hint(annotations.open_world, "open world", "closed world"),
    ]
    .into_iter()
    .flatten()
    .collect()
}
