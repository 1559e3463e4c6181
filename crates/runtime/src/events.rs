//! Reading server-sent events (WHATWG HTML, 9.2) and other streams of lines, from pieces of any size.

use std::fmt;

/// The capacity in bytes that is kept for the next line.
const KEPT_BYTES: usize = 64 << 10;

/// Splits a stream of bytes into lines, which end with CR, LF, or both. A byte order mark at the start is skipped.
///
/// # Examples
///
/// ```
/// use toolkit_runtime::LineSplitter;
///
/// let mut splitter = LineSplitter::default();
/// let mut bytes = &b"one\r\ntw"[..];
/// assert_eq!(splitter.next_line(&mut bytes), Some(&b"one"[..]));
/// assert_eq!(splitter.next_line(&mut bytes), None);
/// let mut bytes = &b"o\nthree"[..];
/// assert_eq!(splitter.next_line(&mut bytes), Some(&b"two"[..]));
/// assert_eq!(splitter.next_line(&mut bytes), None);
/// assert_eq!(splitter.rest(), b"three");
/// ```
#[derive(Debug, Default)]
pub struct LineSplitter {
    line: Vec<u8>,
    /// True if the line was returned and is to be cleared.
    was_returned: bool,
    ends_with_cr: bool,
    is_after_first: bool,
}

impl LineSplitter {
    /// Returns the next line without its end, or `None` if it is not complete. Removes from `bytes` what was read.
    pub fn next_line(&mut self, bytes: &mut &[u8]) -> Option<&[u8]> {
        self.clear_returned();
        if let Some((first, rest)) = bytes.split_first()
            && std::mem::take(&mut self.ends_with_cr)
            && *first == b'\n'
        {
            *bytes = rest;
        }
        let Some(end) = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r')) else {
            self.line.extend_from_slice(bytes);
            *bytes = &[];
            return None;
        };
        self.line.extend_from_slice(&bytes[..end]);
        self.ends_with_cr = bytes[end] == b'\r';
        *bytes = &bytes[end + 1..];
        self.was_returned = true;
        Some(self.without_mark())
    }

    /// Returns the incomplete last line, at the end of the stream.
    pub fn rest(&mut self) -> &[u8] {
        self.clear_returned();
        self.was_returned = true;
        self.without_mark()
    }

    fn clear_returned(&mut self) {
        if std::mem::take(&mut self.was_returned) {
            self.line.clear();
            self.line.shrink_to(KEPT_BYTES);
        }
    }

    /// Returns the line. The first one loses its byte order mark.
    fn without_mark(&mut self) -> &[u8] {
        match std::mem::replace(&mut self.is_after_first, true) {
            true => &self.line,
            false => self.line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&self.line),
        }
    }
}

/// A server-sent event.
///
/// The values are bytes, since servers send invalid UTF-8, and a reader may know better what to do about it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerEvent {
    /// The field `event`.
    pub name: Option<Vec<u8>>,
    /// The lines of the fields `data`, joined by line feeds.
    pub data: Option<Vec<u8>>,
    /// The field `id`.
    pub id: Option<Vec<u8>>,
    /// The field `retry`, in milliseconds.
    pub retry: Option<u64>,
}

/// Reads server-sent events of bounded length.
///
/// Unknown fields, lines without a colon and invalid values are skipped, as the standard requires. Unlike a browser, it
/// returns events without data, because their id may be needed to resume the stream.
///
/// # Examples
///
/// ```
/// use toolkit_runtime::EventReader;
///
/// let mut events = EventReader::new(1 << 20);
/// let mut bytes = &b"event: progress\ndata: 1\ndata: 2\n\ndata: 3\n"[..];
/// let event = events.next_event(&mut bytes)?.unwrap();
/// assert_eq!((event.name, event.data), (Some(b"progress".to_vec()), Some(b"1\n2".to_vec())));
/// assert_eq!(events.next_event(&mut bytes)?, None);
/// // The end of the stream ends the last event too.
/// assert_eq!(events.finish()?.unwrap().data, Some(b"3".to_vec()));
/// # Ok::<(), toolkit_runtime::EventTooLong>(())
/// ```
#[derive(Debug)]
pub struct EventReader {
    lines: LineSplitter,
    event: ServerEvent,
    has_field: bool,
    /// The length of the complete lines of the event.
    n_bytes: usize,
    max_bytes: usize,
}

/// The error of an event that exceeds the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventTooLong {
    max_bytes: usize,
}

impl EventReader {
    /// Creates a reader of events of at most `max_bytes` bytes, without the ends of their lines.
    pub fn new(max_bytes: usize) -> Self {
        Self { lines: LineSplitter::default(), event: ServerEvent::default(), has_field: false, n_bytes: 0, max_bytes }
    }

    /// Returns the next event, or `None` if it is not complete. Removes from `bytes` what was read.
    ///
    /// # Errors
    ///
    /// Returns an error if the event is too long. The reader cannot be used after that.
    pub fn next_event(&mut self, bytes: &mut &[u8]) -> Result<Option<ServerEvent>, EventTooLong> {
        let too_long = EventTooLong { max_bytes: self.max_bytes };
        loop {
            let Some(line) = self.lines.next_line(bytes) else {
                let n_bytes = self.n_bytes.saturating_add(self.lines.line.len());
                return if n_bytes > self.max_bytes { Err(too_long) } else { Ok(None) };
            };
            self.n_bytes = self.n_bytes.saturating_add(line.len());
            if self.n_bytes > self.max_bytes {
                return Err(too_long);
            }
            if !line.is_empty() {
                self.has_field |= self.event.read_field(line);
                continue;
            }
            self.n_bytes = 0;
            if let Some(event) = self.take_event() {
                return Ok(Some(event));
            }
        }
    }

    /// Returns the event that the end of the stream has cut off, with its last line.
    ///
    /// # Errors
    ///
    /// Returns an error if the event is too long.
    pub fn finish(&mut self) -> Result<Option<ServerEvent>, EventTooLong> {
        let line = self.lines.rest();
        if self.n_bytes.saturating_add(line.len()) > self.max_bytes {
            return Err(EventTooLong { max_bytes: self.max_bytes });
        }
        self.has_field |= self.event.read_field(line);
        Ok(self.take_event())
    }

    fn take_event(&mut self) -> Option<ServerEvent> {
        std::mem::take(&mut self.has_field).then(|| std::mem::take(&mut self.event))
    }
}

impl ServerEvent {
    /// Reads a line. Returns true if it is a field.
    fn read_field(&mut self, line: &[u8]) -> bool {
        let (name, value) = match line.iter().position(|&byte| byte == b':') {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, &line[line.len()..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match name {
            b"data" => match &mut self.data {
                Some(data) => {
                    data.push(b'\n');
                    data.extend_from_slice(value);
                }
                data => *data = Some(value.to_vec()),
            },
            b"event" => self.name = Some(value.to_vec()),
            b"id" if !value.contains(&0) => self.id = Some(value.to_vec()),
            b"retry" => match str::from_utf8(value).ok().and_then(|value| value.trim_ascii().parse().ok()) {
                Some(retry) => self.retry = Some(retry),
                None => return false,
            },
            _ => return false,
        }
        true
    }
}

impl fmt::Display for EventTooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an event exceeds the limit of {} bytes", self.max_bytes)
    }
}

impl std::error::Error for EventTooLong {}
