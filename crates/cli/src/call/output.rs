//! Output of a call: while it runs (`--stream`), and of one that has succeeded.

use std::io::{self, IsTerminal, Write};

use serde::Serialize;
use serde_json::value::RawValue;
use toolkit::call::Change;
use toolkit::stream::{CallStream, Event};
use toolkit::{Content, RunResult};

use crate::error::CommandError;
use crate::style::{self, content_line, printable};

/// The output of a call while it runs.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Streaming {
    /// Nothing.
    None,
    /// The items of the result, one JSON document per line.
    Items,
    /// Every event, one JSON document per line.
    Events,
}

/// A call that has succeeded.
pub(super) struct Finished {
    pub(super) result: RunResult,
    /// True if the result was printed while the call ran.
    pub(super) is_printed: bool,
}

/// Prints the events of a call, and returns its result.
pub(super) async fn print(mut events: CallStream, parts: Streaming) -> Result<Finished, CommandError> {
    let mut is_printed = parts == Streaming::Events;
    while let Some(event) = events.next().await {
        if parts == Streaming::Events {
            style::write_line(&serde_json::to_string(&event).map_err(io::Error::from)?)?;
        }
        match event.event {
            Event::Chunk(chunk) if parts == Streaming::Items => {
                is_printed = true;
                style::write_line(chunk.json())?;
            }
            Event::Done(result) => return Ok(Finished { result, is_printed }),
            Event::Error(error) => return Err(CommandError::Tool(error)),
            _ => {}
        }
    }
    Err(io::Error::from(io::ErrorKind::UnexpectedEof).into())
}

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
