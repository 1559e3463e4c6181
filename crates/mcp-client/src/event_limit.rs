//! A size limit for server-sent events, and repair of their text.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use futures_util::Stream;

/// A stream of bytes that fails if an event is too long. Invalid UTF-8, which would end the stream, becomes U+FFFD.
pub(super) struct EventLimit<S> {
    bytes: Pin<Box<S>>,
    max_bytes: usize,
    /// The length of the event and of the line so far.
    n_in_event: usize,
    n_in_line: usize,
    after_return: bool,
    /// The start of a character whose end has not been read.
    cut: Vec<u8>,
}

impl<S> EventLimit<S> {
    pub(super) fn new(bytes: S, max_bytes: usize) -> Self {
        Self { bytes: Box::pin(bytes), max_bytes, n_in_event: 0, n_in_line: 0, after_return: false, cut: Vec::new() }
    }

    /// Replaces invalid UTF-8. Holds back the start of a character at the end.
    fn repaired(&mut self, bytes: Bytes) -> Bytes {
        if self.cut.is_empty() && std::str::from_utf8(&bytes).is_ok() {
            return bytes;
        }
        let mut joined = std::mem::take(&mut self.cut);
        joined.extend_from_slice(&bytes);
        let is_cut = |start: &usize| {
            let end = std::str::from_utf8(&joined[*start..]);
            end.is_err_and(|error| error.valid_up_to() == 0 && error.error_len().is_none())
        };
        let cut = (joined.len().saturating_sub(3)..joined.len()).find(is_cut);
        self.cut = joined.split_off(cut.unwrap_or(joined.len()));
        String::from_utf8_lossy(&joined).into_owned().into()
    }

    /// Counts the bytes. Returns false if an event is too long.
    fn admits(&mut self, bytes: &[u8]) -> bool {
        bytes.iter().all(|&byte| {
            let is_second_half = byte == b'\n' && std::mem::take(&mut self.after_return);
            self.after_return = byte == b'\r';
            match byte {
                b'\n' if is_second_half => {}
                // An empty line ends an event.
                b'\n' | b'\r' => {
                    if std::mem::take(&mut self.n_in_line) == 0 {
                        self.n_in_event = 0;
                    }
                }
                _ => {
                    self.n_in_line += 1;
                    self.n_in_event += 1;
                }
            }
            self.n_in_event <= self.max_bytes
        })
    }
}

impl<S: Stream<Item = reqwest::Result<Bytes>>> Stream for EventLimit<S> {
    type Item = Result<Bytes, StreamError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let next = ready!(self.bytes.as_mut().poll_next(cx));
        let next = next.map(|bytes| bytes.map(|bytes| self.repaired(bytes)));
        Poll::Ready(next.map(|bytes| match bytes {
            Ok(bytes) if self.admits(&bytes) => Ok(bytes),
            Ok(_) => Err(StreamError::TooLong(self.max_bytes)),
            Err(error) => Err(StreamError::Lost(error)),
        }))
    }
}

/// The error of a stream that was interrupted.
#[derive(Debug)]
pub(super) enum StreamError {
    TooLong(usize),
    Lost(reqwest::Error),
}

impl fmt::Display for StreamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StreamError::TooLong(max_bytes) => write!(f, "an event exceeds the limit of {max_bytes} bytes"),
            StreamError::Lost(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for StreamError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            StreamError::TooLong(_) => None,
            StreamError::Lost(error) => error.source(),
        }
    }
}
