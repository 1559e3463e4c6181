//! The events of a stream, from pieces of any size.

use toolkit_runtime::{EventReader, LineSplitter, ServerEvent};

/// The container of the events of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    /// `text/event-stream`.
    ServerSentEvents,
    /// One JSON value in each line.
    Lines,
}

/// Splits the bytes of a stream into the JSON texts of its events.
#[derive(Debug)]
pub(crate) enum Lines {
    Lines(LineSplitter),
    ServerSentEvents(EventReader),
}

impl Lines {
    pub(crate) fn new(framing: Framing) -> Self {
        match framing {
            Framing::Lines => Self::Lines(LineSplitter::default()),
            // The length of the whole stream is limited.
            Framing::ServerSentEvents => Self::ServerSentEvents(EventReader::new(usize::MAX)),
        }
    }

    /// Adds bytes, and passes each event that they complete to `take`.
    pub(crate) fn push<E>(&mut self, mut bytes: &[u8], mut take: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        match self {
            Self::Lines(lines) => {
                while let Some(line) = lines.next_line(&mut bytes) {
                    take_line(line, &mut take)?;
                }
            }
            Self::ServerSentEvents(events) => {
                while let Ok(Some(event)) = events.next_event(&mut bytes) {
                    take_data(event, &mut take)?;
                }
            }
        }
        Ok(())
    }

    /// Passes what is left at the end of a stream to `take`.
    pub(crate) fn finish<E>(&mut self, mut take: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        match self {
            Self::Lines(lines) => take_line(lines.rest(), &mut take),
            Self::ServerSentEvents(events) => match events.finish() {
                Ok(Some(event)) => take_data(event, &mut take),
                _ => Ok(()),
            },
        }
    }
}

fn take_line<E>(line: &[u8], take: &mut impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
    if line.trim_ascii().is_empty() { Ok(()) } else { take(line) }
}

/// Passes the data of an event to `take`. Its other fields repeat what the data contains.
fn take_data<E>(event: ServerEvent, take: &mut impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
    event.data.map_or(Ok(()), |data| take(&data))
}
