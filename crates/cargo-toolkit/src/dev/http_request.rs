//! A request over HTTP, of which `dev` reads the head and the MCP message.

use std::io::{self, BufRead, BufReader, Read};
use std::net::TcpStream;

use super::message::{Fields, fields};

/// The maximum size of the head of a message, in bytes.
const MAX_HEAD_BYTES: u64 = 64 << 10;
/// The maximum size of a body that is read before it is passed on, in bytes.
const MAX_BODY_BYTES: usize = 64 << 20;

/// A request, of which a long body may follow.
pub(super) struct HttpRequest {
    /// The first line, and the header fields.
    head: Vec<String>,
    pub(super) body: Vec<u8>,
    is_whole: bool,
}

impl HttpRequest {
    /// Reads a request. Returns `None` at the end of the connection.
    pub(super) fn read(client: &TcpStream) -> io::Result<Option<Self>> {
        let mut client = BufReader::new(client);
        let Some(head) = read_head(&mut client)? else { return Ok(None) };
        let length = match field(&head, "transfer-encoding").or(field(&head, "expect")) {
            Some(_) => None,
            None => Some(field(&head, "content-length").and_then(|length| length.parse().ok()).unwrap_or(0)),
        };
        let (mut body, length) = (client.buffer().to_vec(), length.filter(|length| *length <= MAX_BODY_BYTES));
        if let Some(missing) = length.and_then(|length| length.checked_sub(body.len())) {
            let read = body.len();
            body.resize(read + missing, 0);
            client.get_mut().read_exact(&mut body[read..])?;
        }
        Ok(Some(Self { head, body, is_whole: length.is_some() }))
    }

    /// Returns the head that is passed on. Both ends close the connection after one response, and a response to HTTP 1.0 is not
    /// in chunks.
    pub(super) fn passed_head(&self) -> String {
        let mut head = self.head.clone();
        if self.is_whole {
            head[0] = head[0].replace("HTTP/1.1", "HTTP/1.0");
        }
        closing(&head, "keep-alive")
    }

    /// Returns the message in the body, as far as it is one, and its fields.
    pub(super) fn message(&self) -> Option<Fields<'_>> {
        let is_message = self.is_whole && self.head[0].starts_with("POST ");
        fields(str::from_utf8(&self.body).ok().filter(|_| is_message)?)
    }

    /// Returns true for a request to read a path.
    pub(super) fn reads(&self, path: &str) -> bool {
        let mut words = self.head[0].split([' ', '?']);
        words.next() == Some("GET") && words.next() == Some(path)
    }

    /// Returns true for a request of a program, or of a page of this machine. A page of others may have a name that leads here.
    pub(super) fn is_local(&self) -> bool {
        let host = field(&self.head, "host").unwrap_or_default();
        let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
        matches!(name, "localhost" | "127.0.0.1" | "[::1]")
    }
}

/// Reads the first line and the header fields of a message. Returns `None` at the end of the connection.
pub(super) fn read_head(from: &mut impl BufRead) -> io::Result<Option<Vec<String>>> {
    let (mut from, mut head) = (from.take(MAX_HEAD_BYTES), Vec::new());
    loop {
        let mut line = Vec::new();
        from.read_until(b'\n', &mut line)?;
        match line.strip_suffix(b"\r\n") {
            Some([]) => return Ok(Some(head).filter(|head| !head.is_empty())),
            // Header fields are in ASCII.
            Some(line) => head.push(String::from_utf8_lossy(line).into_owned()),
            None => return Ok(None),
        }
    }
}

/// Returns the value of a header field.
pub(super) fn field<'h>(head: &'h [String], name: &str) -> Option<&'h str> {
    let mut fields = head.iter().filter_map(|line| line.split_once(':'));
    fields.find(|(field, _)| field.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
}

/// Returns the head of a message after which the connection is closed, without a field.
pub(super) fn closing(head: &[String], without: &str) -> String {
    let is_removed = |name: &str| ["connection", without].iter().any(|removed| name.eq_ignore_ascii_case(removed));
    let is_kept = |line: &&String| !line.split(':').next().is_some_and(is_removed);
    let kept: String = head.iter().filter(is_kept).map(|line| format!("{line}\r\n")).collect();
    kept + "Connection: close\r\n\r\n"
}
