//! A tool in the format of `tools/list`.

use serde_json::Value;

use super::result::{is_wrapped, wrapped};
use super::revision::Revision;
use crate::tool::{Object, Tool, drop_nulls};
use toolkit_schema::{inline, root};

/// Returns the MCP `Tool` (`$defs/Tool` of both revisions).
pub(super) fn listed(name: &str, tool: &Tool, revision: Revision) -> Object {
    let mut fields = tool.mcp_fields_without_schemas();
    // Other servers write `null` for fields without a value, which no revision allows.
    drop_nulls(&mut fields);
    fields.insert("name".to_owned(), name.into());
    fields.insert("description".to_owned(), tool.full_description().into());
    fields.insert("inputSchema".to_owned(), of_objects(inlined(tool.input().as_value())));
    if let Some(schema) = tool.output() {
        let schema = schema.as_value();
        let schema = if is_wrapped(revision, schema) {
            wrapped(inlined(schema))
        } else if revision == Revision::V2025_11_25 {
            of_objects(inlined(schema))
        } else {
            inlined(schema)
        };
        fields.insert("outputSchema".to_owned(), schema);
    }
    fields
}

fn inlined(schema: &Value) -> Value {
    let mut schema = schema.clone();
    inline::inline(&mut schema);
    schema
}

/// Adds `type: object` at the root of a schema that accepts only objects; a choice between objects has it only in its
/// branches.
fn of_objects(mut schema: Value) -> Value {
    if root::is_object(&schema)
        && let Value::Object(keywords) = &mut schema
    {
        keywords.insert("type".to_owned(), "object".into());
    }
    schema
}
