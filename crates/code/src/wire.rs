//! The protocol between a host and a worker, which runs one program.
//!
//! Both sides send lines of UTF-8, each with one JSON object that has one member: the name of the message and its
//! contents. Messages alternate, and the host begins:
//!
//! | host | worker | |
//! |---|---|---|
//! | `hello` | `ready` | the limits of the program; what is enforced for it |
//! | `start` | `step` | the program; what it did until it waited or ended |
//! | `resume` | `step` | the answers to calls, any number of times |
//!
//! A session of a program that calls one tool, with `limits` and `program` shortened:
//!
//! ```text
//! → {"hello":{"version":1,"limits":{…}}}
//! ← {"ready":{"version":1,"enforced":["steps","memory","network"]}}
//! → {"start":{"language":"javascript","code":"return await tools.math.add({a: 1, b: 2})",…}}
//! ← {"step":{"state":{"waiting":[{"id":1,"request":{"run_tool":{"id":"math:add","args":{"a":1,"b":2}}}}]},"usage":{…}}}
//! → {"resume":[{"id":1,"at":1763900000000,"outcome":{"Ok":3}}]}
//! ← {"step":{"state":{"done":{"outcome":{"Ok":3}}},"usage":{…}}}
//! ```
//!
//! The contents of `start`, `resume` and `step` are [`Program`], a list of [`Answer`] and [`Step`]. Instead of any of its
//! messages, a worker may send `error` with a text and exit. After the step in which the program is done, the worker
//! exits; it also exits when its input ends.
//!
//! The first message of each side has a `version`, and no later version changes the meaning of that member. Neither
//! `hello` nor `ready` is longer than [`GREETING_BYTES`], and no other line is longer than [`max_line`] for the limits in
//! `hello`. A receiver ends the session at a line that is longer, out of turn, or not a message.
//!
//! # Over HTTP
//!
//! A `server::Server` takes each message as the body of a request, and the response has the message of
//! the worker. Each request has `Authorization: Bearer TOKEN`.
//!
//! | request | message | response |
//! |---|---|---|
//! | `POST /v1/sessions` | `hello` | 201 with `ready`, and the path of the session in `Location` |
//! | `POST /v1/sessions/ID` | `start`, `resume` | 200 with `step` |
//! | `DELETE /v1/sessions/ID` | | 204; the session has ended |
//!
//! A response with another status has the message `error`: 401 without the token, 404 for a session that has ended, 413
//! for a message that is too long, 422 for limits beyond those of the server, 502 if a worker broke the protocol, and 503
//! if no session can be opened. A request that is canceled ends its session. A program that its sandbox ends is done with
//! that failure.

use std::collections::BTreeMap;
use std::{fmt, io};

use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};
use toolkit::schema::plan::Limited;

use super::engine::{Answer, Step};
use super::limits::Limits;
use super::program::Program;
use crate::limits::Enforced;

/// The version of the protocol.
pub const VERSION: u32 = 1;

/// The length of the first line of each side in bytes, at most.
pub const GREETING_BYTES: usize = 64 << 10;

/// The path of sessions over HTTP.
#[cfg(any(feature = "remote", feature = "server"))]
pub(crate) const SESSIONS: &str = "/v1/sessions";

/// The first message of a host.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Hello {
    /// The version of the protocol that the host speaks.
    pub version: u32,
    /// The limits of the program.
    pub limits: Limits,
}

impl Hello {
    /// Creates the first message for a program with these limits.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Self { version: VERSION, limits }
    }
}

/// The first message of a worker, after it has confined itself.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Ready {
    /// The version of the protocol that the worker speaks.
    pub version: u32,
    /// The guarantees of the worker, or of the kernel for it.
    pub enforced: Enforced,
    /// The mechanisms that are missing, with reasons for operators.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// The mechanisms and their versions, for operators.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub details: BTreeMap<String, String>,
}

impl Ready {
    /// Creates the first message of a worker with these guarantees.
    #[must_use]
    pub fn new(enforced: Enforced) -> Self {
        Self { version: VERSION, enforced, missing: Vec::new(), details: BTreeMap::new() }
    }
}

/// A message to a worker.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToWorker {
    /// The first message.
    Hello(Hello),
    /// Starts the program.
    Start(Box<Program>),
    /// Answers calls.
    Resume(Vec<Answer>),
}

/// A message to the host.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToHost {
    /// The first message.
    Ready(Ready),
    /// The answer to a start and to answers.
    Step(Box<Step>),
    /// The reason why the worker ends.
    Error(String),
}

/// Returns the length in bytes of a line after the first, at most, including the end of the line.
///
/// It holds a program, whose characters JSON may have to escape, and its functions; or a value with what the program
/// printed; or the arguments of a call, or a result with its contents, several times over.
#[must_use]
pub fn max_line(limits: &Limits) -> usize {
    const ESCAPED: u64 = 6;
    const REST: u64 = 4 << 20;
    let texts = limits.code_bytes.saturating_add(limits.output_bytes).saturating_mul(ESCAPED);
    let values = limits.message_bytes.saturating_mul(4).saturating_add(limits.value_bytes);
    usize::try_from(texts.saturating_add(values).saturating_add(REST)).unwrap_or(usize::MAX)
}

/// Writes a message as a line.
///
/// # Errors
///
/// Returns an error if the line would be longer than `max` bytes.
pub fn encode(message: &impl Serialize, max: usize) -> Result<Vec<u8>, WireError> {
    let line = write_json(message, max.saturating_sub(1)).map_err(WireError::Json)?;
    let mut line = line.ok_or(WireError::TooLong(max))?;
    // Results are passed on as the text in which they came. In valid JSON, a line break is only white space.
    line.iter_mut().filter(|byte| **byte == b'\n').for_each(|byte| *byte = b' ');
    line.push(b'\n');
    Ok(line)
}

/// Reads a message from a line, with or without its end.
///
/// # Errors
///
/// Returns an error if the line is not a message of this kind.
pub fn decode<T: DeserializeOwned>(line: &[u8]) -> Result<T, WireError> {
    serde_json::from_slice(line).map_err(WireError::Json)
}

/// Returns an error if the first message of the other side has another version, whatever its other contents.
///
/// # Errors
///
/// Returns an error if the line is not such a message.
pub fn check_version(line: &[u8]) -> Result<(), WireError> {
    #[derive(Deserialize)]
    struct Greeting {
        version: u32,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum First {
        Hello(Greeting),
        Ready(Greeting),
        Error(IgnoredAny),
    }
    match decode(line)? {
        First::Hello(Greeting { version }) | First::Ready(Greeting { version }) if version != VERSION => {
            Err(WireError::Version(version))
        }
        First::Hello(_) | First::Ready(_) | First::Error(_) => Ok(()),
    }
}

/// The error of a line that is not a message.
#[derive(Debug)]
#[non_exhaustive]
pub enum WireError {
    /// The line is longer than so many bytes.
    TooLong(usize),
    /// The other side speaks another version.
    Version(u32),
    /// The line is not the JSON of a message.
    Json(serde_json::Error),
    /// The line cannot be read or written.
    Io(io::Error),
    /// The message is not one that is expected.
    Invalid(String),
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong(max) => write!(f, "a message is longer than {max} bytes"),
            Self::Version(other) => write!(f, "it speaks version {other} of the protocol, expected {VERSION}"),
            Self::Json(error) => write!(f, "invalid message: {error}"),
            Self::Io(error) => write!(f, "invalid message: {error}"),
            Self::Invalid(reason) => write!(f, "invalid message: {reason}"),
        }
    }
}

impl std::error::Error for WireError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Json(error) => Some(error),
            Self::Io(error) => Some(error),
            Self::TooLong(_) | Self::Version(_) | Self::Invalid(_) => None,
        }
    }
}

/// Writes a value as JSON, and ends at a maximum length.
///
/// # Errors
///
/// Returns `None` if the text would be longer than `max` bytes, and an error if the value cannot be written.
pub(crate) fn write_json(value: &impl Serialize, max: usize) -> serde_json::Result<Option<Vec<u8>>> {
    let mut json = Vec::new();
    let mut limited = Limited::new(&mut json, max);
    match serde_json::to_writer(&mut limited, value) {
        _ if limited.is_exceeded() => Ok(None),
        written => written.map(|()| Some(json)),
    }
}
