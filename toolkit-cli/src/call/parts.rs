//! A result that is printed part by part, as it comes.

use toolkit::RunResult;
use toolkit::stream::{CallStream, Event};

use crate::failure::Failure;
use crate::style;

/// What is printed of a call while it runs.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Parts {
    /// Nothing.
    None,
    /// The items of the result, one JSON document a line.
    Items,
    /// Every event, one JSON document a line.
    Events,
}

/// A call that has come to its end.
pub(super) struct Ended {
    pub(super) result: RunResult,
    /// Whether its result was printed while it came.
    pub(super) is_printed: bool,
}

/// Prints the parts of a call, and gives its result.
pub(super) async fn print(mut events: CallStream, parts: Parts) -> Result<Ended, Failure> {
    let mut is_printed = parts == Parts::Events;
    while let Some(event) = events.next().await {
        if parts == Parts::Events {
            style::write_line(&serde_json::to_string(&event).map_err(std::io::Error::from)?)?;
        }
        match event.event {
            Event::Chunk(chunk) if parts == Parts::Items => {
                is_printed = true;
                style::write_line(chunk.json())?;
            }
            Event::Done(result) => return Ok(Ended { result, is_printed }),
            Event::Error(error) => return Err(Failure::Tool(error)),
            _ => {}
        }
    }
    Err(std::io::Error::from(std::io::ErrorKind::UnexpectedEof).into())
}
