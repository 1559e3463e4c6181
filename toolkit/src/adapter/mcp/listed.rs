//! One tool as `tools/list` shows it.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::result::{is_wrapped, wrapped};
use super::{META_KEY, Revision};
use crate::schema::{inline, root};
use crate::tool::{Annotations, Icon, Requirements, Tool, ToolId};

/// MCP `Tool` (`$defs/Tool` of both revisions).
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Listed<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'a str>,
    description: Cow<'a, str>,
    input_schema: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_schema: Option<Value>,
    #[serde(skip_serializing_if = "nothing_said")]
    annotations: Annotations,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    icons: &'a [Icon],
    #[serde(rename = "_meta")]
    meta: Map<String, Value>,
}

impl<'a> Listed<'a> {
    pub(super) fn new(name: &'a str, tool: &'a Tool, revision: Revision) -> Self {
        Self {
            name,
            title: tool.title(),
            description: description(tool),
            input_schema: of_objects(inlined(tool.input().as_value())),
            output_schema: tool.output().map(|schema| {
                let schema = schema.as_value();
                if is_wrapped(revision, schema) {
                    wrapped(inlined(schema))
                } else if revision == Revision::V2025_11_25 {
                    of_objects(inlined(schema))
                } else {
                    inlined(schema)
                }
            }),
            annotations: tool.annotations(),
            icons: tool.icons(),
            meta: meta(tool),
        }
    }
}

fn nothing_said(annotations: &Annotations) -> bool {
    *annotations == Annotations::NONE
}

fn description(tool: &Tool) -> Cow<'_, str> {
    let text = tool.description();
    match tool.deprecated() {
        Some(instead) => Cow::Owned(format!("{}\n\nDeprecated: {instead}", text.trim_end())),
        None => Cow::Borrowed(text),
    }
}

fn inlined(schema: &Value) -> Value {
    let mut schema = schema.clone();
    inline::inline(&mut schema);
    schema
}

/// Says at the root what holds for every value that fits; a choice between objects says it in its branches only.
fn of_objects(mut schema: Value) -> Value {
    if root::is_object(&schema)
        && let Value::Object(keywords) = &mut schema
    {
        keywords.insert("type".to_owned(), "object".into());
    }
    schema
}

/// The part of a tool's record that MCP has no field for.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Record<'a> {
    id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    namespace: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<&'a str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    tags: &'a [&'static str],
    #[serde(skip_serializing_if = "Option::is_none")]
    category: Option<&'a str>,
    #[serde(skip_serializing_if = "Requirements::is_empty")]
    requirements: Requirements,
    #[serde(skip_serializing_if = "Option::is_none")]
    deprecated: Option<&'a str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    aliases: &'a [&'static str],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    examples: Vec<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    timeout_ms: Option<u64>,
}

fn meta(tool: &Tool) -> Map<String, Value> {
    let id: &ToolId = tool.id();
    let record = Record {
        id: id.to_string(),
        namespace: id.namespace(),
        version: id.version(),
        tags: tool.tags(),
        category: tool.category(),
        requirements: tool.requirements(),
        deprecated: tool.deprecated(),
        aliases: tool.aliases(),
        examples: tool.examples(),
        timeout_ms: tool.timeout().map(|limit| u64::try_from(limit.as_millis()).unwrap_or(u64::MAX)),
    };
    let mut meta = match tool.meta() {
        Some(Value::Object(meta)) => meta,
        _ => Map::new(),
    };
    meta.insert(META_KEY.to_owned(), json!(record));
    meta
}
