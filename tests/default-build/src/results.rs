//! Results, metadata, state and toolsets.

use std::collections::BTreeMap;
use std::num::NonZeroI16;
use std::sync::Mutex;

use schemars::JsonSchema;
use serde::Serialize;
use toolkit::{Chunks, Content, Context, Structured, ToolError, tool, toolset};

#[derive(Serialize, JsonSchema)]
struct Report {
    /// Never zero.
    change: NonZeroI16,
    #[schemars(regex(pattern = r"(?i)^[\p{L}'& ]+$"))]
    title: String,
    by_year: BTreeMap<u16, f64>,
    #[serde(flatten)]
    state: State,
    #[serde(flatten)]
    source: Source,
}

#[derive(Serialize, JsonSchema)]
#[serde(tag = "state")]
enum State {
    Draft {
        author: String,
    },
    #[allow(dead_code)]
    Final,
}

#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
enum Source {
    #[allow(dead_code)]
    File {
        file: String,
    },
    Url {
        url: String,
    },
}

/// Returns a structure.
#[tool(namespace = "results")]
fn report() -> Report {
    Report {
        change: NonZeroI16::new(-3).unwrap_or(NonZeroI16::MIN),
        title: "Ärger & Glück".to_owned(),
        by_year: BTreeMap::from([(2024, 0.5)]),
        state: State::Draft { author: "ada".to_owned() },
        source: Source::Url { url: "https://example.com".to_owned() },
    }
}

/// Returns nothing.
#[tool(namespace = "results")]
fn nothing() {}

/// Returns content.
#[tool(namespace = "results")]
fn content() -> Content {
    Content::text("text")
}

/// Returns several blocks of content.
#[tool(namespace = "results")]
fn contents() -> Result<Vec<Content>, ToolError> {
    Ok(vec![Content::text("text"), Content::image(&[1, 2, 3], "image/png")])
}

/// Returns a value with its own content.
#[tool(namespace = "results")]
fn structured(text: String) -> Structured<usize> {
    let n_bytes = text.len();
    Structured::new(n_bytes, [Content::text(format!("{n_bytes} bytes"))])
}

/// Returns a list in parts.
#[tool(namespace = "results")]
fn chunks(text: String) -> Chunks<String> {
    Chunks::emit(async move |emitter| {
        for word in text.split(' ') {
            emitter.send(word.to_owned()).await?;
        }
        Ok(())
    })
}

const DESCRIPTION: &str = "Has all metadata.";

/// Has all metadata.
#[tool(
    namespace = "metadata",
    name = "full",
    version = "1.2.0",
    title = "Full",
    description = DESCRIPTION,
    tags = ["a", "b"],
    category = "c",
    read_only,
    destructive = false,
    idempotent,
    open_world = false,
    aliases = ["whole"],
    examples = [r#"{"text": "pen"}"#],
    icons = ["https://example.com/a.png"],
    meta = r#"{"example.com/a": 1}"#,
    requires(user_id),
    timeout = "10s",
    show_errors,
    task
)]
async fn metadata(text: String, ctx: &Context) -> Result<String, std::io::Error> {
    Ok(format!("{text} {}", ctx.user_id().unwrap_or_default()))
}

/// Is replaced.
#[tool(namespace = "metadata", deprecated = "metadata:full")]
fn old(text: String) -> String {
    text
}

#[derive(Default)]
pub struct Notes(Mutex<Vec<String>>);

/// Uses state.
#[tool(namespace = "state")]
fn append(text: String, notes: &Notes) -> usize {
    let mut notes = notes.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    notes.push(text);
    notes.len()
}

pub struct Tracker(pub &'static str);

#[toolset(namespace = "tracker", version = "2.0.0")]
impl Tracker {
    /// Returns the address of an issue.
    #[tool(read_only)]
    fn address(&self, issue: u32) -> String {
        format!("{}/{issue}", self.0)
    }
}
