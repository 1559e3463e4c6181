//! Limits on the tools of other programs, and removal of their unverified claims.

use serde_json::Value;
use toolkit::tool::{Annotations, Metadata, Tool};
use toolkit_schema::json;

/// The maximum length of the description of a foreign tool in bytes. Longer descriptions are cut.
pub const MAX_DESCRIPTION_BYTES: usize = 16 << 10;

/// The maximum length of a title, a category or a deprecation notice of a foreign tool in bytes. Longer texts are cut.
pub const MAX_TITLE_BYTES: usize = 512;

/// The maximum length of a description or title within a schema of a foreign tool in bytes. Longer texts are cut.
pub const MAX_SCHEMA_TEXT_BYTES: usize = 4 << 10;

/// The maximum size of all other parts of a foreign tool in bytes of JSON: `_meta`, icons, examples, annotations and
/// unknown fields. A tool with more is left out.
pub const MAX_RECORD_BYTES: usize = 64 << 10;

/// The mark at the end of a text that was cut.
const CUT: &str = "… [cut]";

/// Cuts the texts of a tool in the form of MCP to the limits of foreign tools, before they are read.
///
/// # Errors
///
/// Returns a description of the part that is too long and cannot be cut.
///
/// The limits are [`MAX_DESCRIPTION_BYTES`], [`MAX_TITLE_BYTES`], [`MAX_SCHEMA_TEXT_BYTES`] and [`MAX_RECORD_BYTES`].
///
/// # Examples
///
/// ```
/// use serde_json::json;
/// use toolkit_backends::{MAX_DESCRIPTION_BYTES, bound_mcp_json};
///
/// let mut tool = json!({ "name": "read", "description": "x".repeat(1_000_000), "inputSchema": {} });
/// bound_mcp_json(&mut tool)?;
/// assert!(tool["description"].as_str().unwrap().len() <= MAX_DESCRIPTION_BYTES);
///
/// let mut tool = json!({ "name": "read", "inputSchema": {}, "_meta": { "x": "x".repeat(100_000) } });
/// assert!(bound_mcp_json(&mut tool).unwrap_err().starts_with("the record has more than 65536 bytes"));
/// # Ok::<(), String>(())
/// ```
pub fn bound_mcp_json(tool: &mut Value) -> Result<(), String> {
    let Some(fields) = tool.as_object_mut() else {
        return Ok(());
    };
    let mut n_bytes = 0_usize;
    for (key, value) in fields {
        match (key.as_str(), value) {
            ("description", Value::String(text)) => cut(text, MAX_DESCRIPTION_BYTES),
            ("title", Value::String(text)) => cut(text, MAX_TITLE_BYTES),
            ("inputSchema" | "outputSchema", schema) => cut_texts(schema),
            (_, value) => {
                if let ("annotations", Some(Value::String(title))) = (key.as_str(), value.get_mut("title")) {
                    cut(title, MAX_TITLE_BYTES);
                }
                n_bytes = n_bytes.saturating_add(json::length(value, usize::MAX));
            }
        }
    }
    bound_record(n_bytes)
}

fn bound_record(n_bytes: usize) -> Result<(), String> {
    match n_bytes > MAX_RECORD_BYTES {
        true => {
            Err(format!("the record has more than {MAX_RECORD_BYTES} bytes besides the description and the schemas"))
        }
        false => Ok(()),
    }
}

/// Cuts the texts of a tool to the limits.
///
/// # Errors
///
/// Returns a description of the part that is too long and cannot be cut.
pub(crate) fn bounded(tool: &Tool) -> Result<Tool, String> {
    let mut metadata = tool.metadata().clone();
    let Metadata { title, category, deprecated, annotations, description, .. } = &mut metadata;
    let titles = [title, category, deprecated, &mut annotations.title];
    let limits = titles.map(|title| (title, MAX_TITLE_BYTES)).into_iter().chain([(description, MAX_DESCRIPTION_BYTES)]);
    for (text, limit) in limits {
        if let Some(text) = text.as_mut().filter(|text| text.len() > limit) {
            cut(text.to_mut(), limit);
        }
    }
    let [described, whole, unknown] = [
        json::length(&metadata.description, usize::MAX),
        json::length(&metadata, usize::MAX),
        json::length(&metadata.unknown, usize::MAX),
    ];
    bound_record(whole.saturating_sub(described).saturating_add(unknown))?;
    let input = with_short_texts(tool.input().as_value());
    let output = tool.output().and_then(|schema| with_short_texts(schema.as_value()));
    let is_same = metadata == *tool.metadata() && input.is_none() && output.is_none();
    Ok(if is_same { tool.clone() } else { tool.with_parts(metadata, input, output) })
}

/// Returns the tool without the claims that policies depend on: the hints about effects, the tags and the timeout.
pub(crate) fn without_claims(tool: &Tool) -> Tool {
    let mut metadata = tool.metadata().clone();
    let hints = &mut metadata.annotations;
    (hints.read_only, hints.destructive, hints.idempotent, hints.open_world) = (None, None, None, None);
    metadata.tags.clear();
    metadata.timeout = None;
    if metadata == *tool.metadata() { tool.clone() } else { tool.with_parts(metadata, None, None) }
}

/// Returns the tool with the hints that the host has set.
pub(crate) fn with_hints(tool: &Tool, hints: &Annotations) -> Tool {
    let mut metadata = tool.metadata().clone();
    let own = &mut metadata.annotations;
    own.read_only = hints.read_only.or(own.read_only);
    own.destructive = hints.destructive.or(own.destructive);
    own.idempotent = hints.idempotent.or(own.idempotent);
    own.open_world = hints.open_world.or(own.open_world);
    tool.with_parts(metadata, None, None)
}

/// Returns the schema with its texts cut, or `None` if none of them is long.
fn with_short_texts(schema: &Value) -> Option<Value> {
    has_long_text(schema).then(|| {
        let mut schema = schema.clone();
        cut_texts(&mut schema);
        schema
    })
}

/// Keywords with texts for people and models.
const TEXTS: [&str; 3] = ["description", "title", "$comment"];

/// Keywords with data, which may be compared and must not be changed.
const DATA: [&str; 5] = ["const", "default", "enum", "example", "examples"];

fn has_long_text(schema: &Value) -> bool {
    match schema {
        Value::Object(fields) => fields.iter().any(|(key, value)| match value {
            Value::String(text) => TEXTS.contains(&key.as_str()) && text.len() > MAX_SCHEMA_TEXT_BYTES,
            value => !DATA.contains(&key.as_str()) && has_long_text(value),
        }),
        Value::Array(items) => items.iter().any(has_long_text),
        _ => false,
    }
}

fn cut_texts(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            for (key, value) in fields {
                match value {
                    Value::String(text) if TEXTS.contains(&key.as_str()) => cut(text, MAX_SCHEMA_TEXT_BYTES),
                    value if !DATA.contains(&key.as_str()) => cut_texts(value),
                    _ => {}
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(cut_texts),
        _ => {}
    }
}

/// Cuts a text at a character boundary, so that it has at most `limit` bytes including the mark.
fn cut(text: &mut String, limit: usize) {
    if text.len() > limit {
        let end = text.floor_char_boundary(limit - CUT.len());
        text.truncate(end);
        text.push_str(CUT);
        text.shrink_to_fit();
    }
}
