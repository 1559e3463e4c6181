//! The events of a stream, from pieces of any size.

use toolkit_runtime::{EventReader, LineSplitter, ServerEvent};

/// The container of the events of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    /// `text/event-stream`.
    ServerSentEvents,
    /// One JSON value in each line.
    Lines,
    /// `application/vnd.amazon.eventstream`: binary frames with a JSON value each, or the lines of a proxy that decodes them.
    Frames,
}

/// Splits the bytes of a stream into the JSON texts of its events.
#[derive(Debug)]
pub(crate) enum EventSplitter {
    Lines(LineSplitter),
    ServerSentEvents(EventReader),
    /// The bytes of a frame that is not complete.
    Frames(Vec<u8>),
}

impl EventSplitter {
    pub(crate) fn new(framing: Framing) -> Self {
        match framing {
            Framing::Lines => Self::Lines(LineSplitter::default()),
            Framing::Frames => Self::Frames(Vec::new()),
            // The length of the whole stream is limited.
            Framing::ServerSentEvents => Self::ServerSentEvents(EventReader::new(usize::MAX)),
        }
    }

    /// Adds bytes, and passes each event that they complete to `take`.
    pub(crate) fn push<E>(&mut self, mut bytes: &[u8], mut take: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        // No frame is so long that its length begins with another byte. Proxies decode frames, and send their events as lines.
        if matches!(self, Self::Frames(rest) if rest.is_empty()) && bytes.first().is_some_and(|first| *first > 1) {
            *self = Self::new(Framing::Lines);
        }
        match self {
            Self::Lines(lines) => {
                while let Some(line) = lines.next_line(&mut bytes) {
                    take_line(line, &mut take)?;
                }
            }
            Self::Frames(rest) => {
                rest.extend_from_slice(bytes);
                let mut start = 0;
                while let Some(frame) = first_frame(&rest[start..]) {
                    start += frame.len();
                    take(payload(frame))?;
                }
                rest.drain(..start);
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
            Self::Frames(rest) => take_line(rest, &mut take),
            Self::ServerSentEvents(events) => match events.finish() {
                Ok(Some(event)) => take_data(event, &mut take),
                _ => Ok(()),
            },
        }
    }
}

/// The length of a frame without headers and payload: two lengths and two checksums.
const MIN_FRAME_LEN: usize = 16;

/// Returns the first frame, if it is complete.
fn first_frame(bytes: &[u8]) -> Option<&[u8]> {
    bytes.get(..length_at(bytes, 0)?.max(MIN_FRAME_LEN))
}

/// Returns the payload of a frame. Its headers repeat what the payload shows, and TLS has checked its bytes.
fn payload(frame: &[u8]) -> &[u8] {
    let start = length_at(frame, 4).map_or(0, |headers| headers.saturating_add(12));
    frame.get(start..frame.len().saturating_sub(4)).unwrap_or(frame)
}

/// Reads a length of four bytes.
fn length_at(bytes: &[u8], start: usize) -> Option<usize> {
    let bytes = bytes.get(start..)?.first_chunk::<4>()?;
    usize::try_from(u32::from_be_bytes(*bytes)).ok()
}

fn take_line<E>(line: &[u8], take: &mut impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
    if line.trim_ascii().is_empty() { Ok(()) } else { take(line) }
}

/// Passes the data of an event to `take`. Its other fields repeat what the data contains.
fn take_data<E>(event: ServerEvent, take: &mut impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
    event.data.map_or(Ok(()), |data| take(&data))
}
