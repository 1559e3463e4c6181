//! Limits on the tools of other programs, and removal of their unverified claims.

use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use super::{Metadata, Text};
use toolkit_schema::Schema;

/// The maximum length of the description of a foreign tool in bytes. Longer descriptions are cut.
pub const MAX_DESCRIPTION_BYTES: usize = 16 << 10;

/// The maximum length of a title, a category or a deprecation notice of a foreign tool in bytes. Longer texts are cut.
pub const MAX_TITLE_BYTES: usize = 512;

/// The maximum length of a description or title within a schema of a foreign tool in bytes. Longer texts are cut.
pub const MAX_SCHEMA_TEXT_BYTES: usize = 4 << 10;

/// The maximum size of a schema of a foreign tool in bytes of JSON, after cutting its texts. A tool with a larger
/// schema is left out, because a schema without some of its parts is another contract.
pub const MAX_SCHEMA_BYTES: usize = 64 << 10;

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
/// The limits are [`MAX_DESCRIPTION_BYTES`], [`MAX_TITLE_BYTES`], [`MAX_SCHEMA_TEXT_BYTES`], [`MAX_SCHEMA_BYTES`] and
/// [`MAX_RECORD_BYTES`].
///
/// # Examples
///
/// ```
/// use serde_json::json;
/// use toolkit::tool::{MAX_DESCRIPTION_BYTES, bound_mcp_json};
///
/// let mut tool = json!({ "name": "read", "description": "x".repeat(1_000_000), "inputSchema": {} });
/// bound_mcp_json(&mut tool)?;
/// assert!(tool["description"].as_str().unwrap().len() <= MAX_DESCRIPTION_BYTES);
///
/// let mut tool = json!({ "name": "read", "inputSchema": { "enum": vec!["a"; 100_000] } });
/// assert_eq!(bound_mcp_json(&mut tool).unwrap_err(), "the input schema has more than 65536 bytes");
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
            ("inputSchema", schema) => bound_schema_json(schema, "input")?,
            ("outputSchema", schema) => bound_schema_json(schema, "output")?,
            (_, value) => {
                if let ("annotations", Some(Value::String(title))) = (key.as_str(), value.get_mut("title")) {
                    cut(title, MAX_TITLE_BYTES);
                }
                n_bytes = n_bytes.saturating_add(json_len(value));
            }
        }
    }
    bound_record(n_bytes)
}

fn bound_schema_json(schema: &mut Value, which: &str) -> Result<(), String> {
    cut_texts(schema);
    bound_schema(schema, which)
}

fn bound_schema(schema: &Value, which: &str) -> Result<(), String> {
    match json_len(schema) > MAX_SCHEMA_BYTES {
        true => Err(format!("the {which} schema has more than {MAX_SCHEMA_BYTES} bytes")),
        false => Ok(()),
    }
}

fn bound_record(n_bytes: usize) -> Result<(), String> {
    match n_bytes > MAX_RECORD_BYTES {
        true => {
            Err(format!("the record has more than {MAX_RECORD_BYTES} bytes besides the description and the schemas"))
        }
        false => Ok(()),
    }
}

/// Cuts long texts of the metadata, without a copy if there are none.
///
/// # Errors
///
/// Returns the reason if the other fields have more than [`MAX_RECORD_BYTES`].
pub(super) fn bound_metadata(metadata: &mut Arc<Metadata>) -> Result<(), String> {
    let is_long = |text: &Option<Text>, limit| text.as_ref().is_some_and(|text| text.len() > limit);
    let titles = [&metadata.title, &metadata.annotations.title, &metadata.category, &metadata.deprecated];
    let has_long = is_long(&metadata.description, MAX_DESCRIPTION_BYTES)
        || titles.iter().any(|text| is_long(text, MAX_TITLE_BYTES));
    if has_long {
        let changed = Arc::make_mut(metadata);
        let titles =
            [&mut changed.title, &mut changed.annotations.title, &mut changed.category, &mut changed.deprecated];
        for title in titles.into_iter().flatten() {
            cut(title.to_mut(), MAX_TITLE_BYTES);
        }
        if let Some(description) = &mut changed.description {
            cut(description.to_mut(), MAX_DESCRIPTION_BYTES);
        }
    }
    let described = json_len(&metadata.description);
    bound_record(json_len(&**metadata).saturating_sub(described).saturating_add(json_len(&metadata.unknown)))
}

/// Removes the hints of effects, the tags and the timeout, without a copy if there are none.
pub(super) fn remove_claims(metadata: &mut Arc<Metadata>) {
    let claims_effects = metadata.annotations.effects().iter().any(Option::is_some);
    if claims_effects || !metadata.tags.is_empty() || metadata.timeout.is_some() {
        let changed = Arc::make_mut(metadata);
        let hints = &mut changed.annotations;
        (hints.read_only, hints.destructive, hints.idempotent, hints.open_world) = (None, None, None, None);
        changed.tags.clear();
        changed.timeout = None;
    }
}

pub(super) fn bounded_schema(schema: &Arc<Schema>, which: &str) -> Result<Arc<Schema>, String> {
    let schema = match has_long_text(schema.as_value()) {
        true => {
            let mut value = schema.as_value().clone();
            cut_texts(&mut value);
            Arc::new(Schema::generated(value))
        }
        false => Arc::clone(schema),
    };
    bound_schema(schema.as_value(), which)?;
    Ok(schema)
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

fn json_len(value: &impl Serialize) -> usize {
    struct Count(usize);

    impl std::io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    let mut count = Count(0);
    match serde_json::to_writer(&mut count, value) {
        Ok(()) => count.0,
        Err(_) => usize::MAX,
    }
}
