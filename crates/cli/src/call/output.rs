//! Output of a successful call.

use std::io::{self, IsTerminal, Write};

use serde::Serialize;
use serde_json::value::RawValue;
use toolkit::call::Change;
use toolkit::{Content, RunResult};

use crate::style::{self, content_line, printable};

/// The result as JSON.
#[derive(Serialize)]
struct JsonResult<'r> {
    tool: &'r str,
    structured: Option<&'r RawValue>,
    content: &'r [Content],
    changes: &'r [Change],
}

/// Writes the result, its content and its changes as one JSON document.
pub(super) fn write_as_json(result: &RunResult) -> io::Result<()> {
    let structured = result.json().map(serde_json::from_slice::<&RawValue>);
    style::write_json(&JsonResult {
        tool: result.tool(),
        structured: structured.transpose()?,
        content: &result.content(),
        changes: result.changes(),
    })
}

/// Writes the result, formatted for a terminal or as is for a pipe.
pub(super) fn write(result: &RunResult) -> io::Result<()> {
    if io::stdout().is_terminal() {
        return write_for_terminal(result);
    }
    match result.json() {
        // Not parsed, since parsing could round numbers.
        Some(json) => {
            style::write_line(&String::from_utf8_lossy(json))?;
            let mut err = anstream::stderr();
            for block in own_media(result) {
                let _ = writeln!(err, "{}", printable(&content_line(&block)));
            }
            Ok(())
        }
        None => {
            for block in result.content().iter() {
                style::write_line(&content_line(block))?;
            }
            Ok(())
        }
    }
}

fn write_for_terminal(result: &RunResult) -> io::Result<()> {
    let mut out = anstream::stdout().lock();
    if result.json().is_some() {
        let text = match result.value() {
            serde_json::Value::String(text) => printable(&text).into_owned(),
            value => style::indented(&value)?,
        };
        writeln!(out, "{text}")?;
        for block in own_media(result) {
            writeln!(out, "{}", printable(&content_line(&block)))?;
        }
    } else {
        for block in result.content().iter() {
            writeln!(out, "{}", printable(&content_line(block)))?;
        }
    }
    Ok(())
}

/// Returns the content blocks other than text, which a structured result does not contain.
fn own_media(result: &RunResult) -> Vec<Content> {
    let mut blocks = result.content().into_owned();
    blocks.retain(|block| !matches!(block, Content::Text { .. }));
    blocks
}
