//! Output of a call while it runs (`--stream`).

use toolkit::RunResult;
use toolkit::stream::{CallStream, Event};

use crate::error::CommandError;
use crate::style;

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
            style::write_line(&serde_json::to_string(&event).map_err(std::io::Error::from)?)?;
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
    Err(std::io::Error::from(std::io::ErrorKind::UnexpectedEof).into())
}
