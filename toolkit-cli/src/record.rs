//! The record of a tool as JSON.

use serde::Serialize;
use serde_json::Value;
use toolkit::Tool;
use toolkit::tool::{Annotations, Icon, Requirements};

/// A tool as JSON, its keys in the order in which a person asks for them.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Record<'t> {
    id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    namespace: Option<&'t str>,
    name: &'t str,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<&'t str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'t str>,
    description: &'t str,
    #[serde(skip_serializing_if = "Option::is_none")]
    category: Option<&'t str>,
    tags: &'t [&'static str],
    annotations: Annotations,
    #[serde(skip_serializing_if = "Requirements::is_empty")]
    requirements: Requirements,
    #[serde(skip_serializing_if = "Option::is_none")]
    timeout_ms: Option<u64>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    aliases: &'t [&'static str],
    #[serde(skip_serializing_if = "Option::is_none")]
    deprecated: Option<&'t str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    icons: &'t [Icon],
    #[serde(skip_serializing_if = "Option::is_none")]
    meta: Option<Value>,
    location: Place,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    examples: Vec<Value>,
    #[serde(flatten)]
    schemas: Option<Schemas<'t>>,
}

#[derive(Serialize)]
struct Place {
    file: &'static str,
    line: u32,
    column: u32,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Schemas<'t> {
    input_schema: &'t Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_schema: Option<&'t Value>,
}

/// Everything about a tool.
pub(crate) fn full(tool: &Tool) -> Record<'_> {
    let schemas =
        Schemas { input_schema: tool.input().as_value(), output_schema: tool.output().map(|schema| schema.as_value()) };
    Record { schemas: Some(schemas), ..without_schemas(tool) }
}

/// Everything but the schemas, which are most of it.
pub(crate) fn without_schemas(tool: &Tool) -> Record<'_> {
    let location = tool.location();
    Record {
        id: tool.id().to_string(),
        namespace: tool.id().namespace(),
        name: tool.name(),
        version: tool.id().version(),
        title: tool.title(),
        description: tool.description(),
        category: tool.category(),
        tags: tool.tags(),
        annotations: tool.annotations(),
        requirements: tool.requirements(),
        timeout_ms: tool.timeout().and_then(|limit| u64::try_from(limit.as_millis()).ok()),
        aliases: tool.aliases(),
        deprecated: tool.deprecated(),
        icons: tool.icons(),
        meta: tool.meta(),
        location: Place { file: location.file, line: location.line, column: location.column },
        examples: tool.examples(),
        schemas: None,
    }
}

/// What the tool says of its own effects, in words; an explicit "no" is said too.
pub(crate) fn hints(annotations: Annotations) -> Vec<&'static str> {
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
