//! Headers and messages of the protocol, version 1, with the credentials of a caller.
//!
//! A request to the subject of a tool has its arguments as the body. All headers are optional, so that any client of NATS can
//! call a tool:
//!
//! | header of a request | meaning |
//! |---|---|
//! | `Tk-Call` | the id of the call, 1 to 64 letters, digits and hyphens; without it, the call has only the last reply |
//! | `Tk-Deadline-Ms` | the time that is left for the call, in milliseconds |
//! | `Tk-Expires` | the Unix time in milliseconds after which the call must not start |
//! | `Tk-Stream` | the events that the caller reads: `progress`, or `progress,chunks` |
//! | `Tk-Events` | the subject of all replies but the first |
//! | `Tk-Credit` | the number of chunks that the caller has room for |
//! | `Tk-Body` | the object with the arguments, which are not in the body: `BUCKET/OBJECT;sha256=HEX;len=N` |
//! | `Tk-Bodies` | the bucket for a result that does not fit into a message |
//! | `Tk-Once` | `shared`: a worker claims the id of the call before it runs the call, and keeps the answer |
//! | `Tk-Credentials` | the credentials that the tool requires: `{"tokens", "secrets", "user_id"}` in base64url |
//! | `traceparent`, `tracestate`, `baggage` | W3C Trace Context |
//!
//! A call has one reply, or several if it takes longer than [`ACCEPT_AFTER`] or is streamed:
//!
//! | `Tk-Event` | body | meaning |
//! |---|---|---|
//! | none | JSON | the structured result; the last reply |
//! | `result` | `CallToolResult` of MCP | a result with content; the last reply |
//! | `error` | `CallToolResult` of MCP | the error, with `Tk-Error` and `Tk-Ran`; the last reply |
//! | `accepted` | | the call has begun |
//! | `beat` | | the call still runs |
//! | `progress` | `{"progress", "total", "message"}` | a progress report |
//! | `chunk` | JSON | an item of the result |
//! | `claimed` | the id of a worker | that worker has claimed the call, and has stored no answer; the last reply |
//!
//! The body of a last reply is an object if the reply has the header `Tk-Body`.
//!
//! The replies `accepted` and `beat` have a reply subject themselves, to which the caller sends `cancel`, `credit N`, or
//! `here` for each beat, and to which the server of NATS reports that the caller has gone. The message `state` is answered
//! with `running` or `ended`. `Tk-Seq` counts the other replies from 1; the last one
//! has none if it is the first.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use async_nats::HeaderMap;
use data_encoding::BASE64URL_NOPAD;
use serde::{Deserialize, Serialize};
use toolkit::Context;
use toolkit::call::Credentials;
use toolkit::tool::Requirements;

pub(crate) const CALL: &str = "Tk-Call";
pub(crate) const DEADLINE: &str = "Tk-Deadline-Ms";
pub(crate) const EXPIRES: &str = "Tk-Expires";
pub(crate) const STREAM: &str = "Tk-Stream";
pub(crate) const EVENTS: &str = "Tk-Events";
pub(crate) const CREDIT: &str = "Tk-Credit";
pub(crate) const BODY: &str = "Tk-Body";
pub(crate) const BODIES: &str = "Tk-Bodies";
pub(crate) const CREDENTIALS: &str = "Tk-Credentials";
pub(crate) const ONCE: &str = "Tk-Once";
pub(crate) const EVENT: &str = "Tk-Event";
pub(crate) const SEQ: &str = "Tk-Seq";
pub(crate) const BEAT: &str = "Tk-Beat-Ms";
pub(crate) const ERROR: &str = "Tk-Error";
pub(crate) const RAN: &str = "Tk-Ran";
pub(crate) const PAGES: &str = "Tk-Pages";

/// The messages to a worker about a call.
pub(crate) const CANCEL: &str = "cancel";
pub(crate) const MORE_CREDIT: &str = "credit ";
pub(crate) const HERE: &str = "here";
pub(crate) const STATE: &str = "state";

/// The answers to [`STATE`].
pub(crate) const RUNNING: &str = "running";
pub(crate) const ENDED: &str = "ended";

/// The value of [`ONCE`].
pub(crate) const SHARED: &str = "shared";

/// The maximum size of arguments and results in bytes.
pub(crate) const MAX_BODY: usize = 64 << 20;

/// The version of the protocol.
pub(crate) const PROTOCOL: &str = "1";

/// The time after which a worker reports that a call has begun.
pub(crate) const ACCEPT_AFTER: Duration = Duration::from_millis(5);

/// The part of the size limit of messages that is reserved for headers, in bytes.
pub(crate) const HEADER_RESERVE: usize = 16 << 10;

/// The time by which the clocks of two machines may differ.
pub(crate) const CLOCK_TOLERANCE: Duration = Duration::from_secs(1);

/// Returns a header as text.
pub(crate) fn header<'h>(headers: Option<&'h HeaderMap>, name: &'static str) -> Option<&'h str> {
    headers?.get(name).map(|value| value.as_str())
}

/// Returns a header as a number.
pub(crate) fn number(headers: Option<&HeaderMap>, name: &'static str) -> Option<u64> {
    header(headers, name)?.parse().ok()
}

/// Returns the Unix time in milliseconds.
pub(crate) fn now() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    millis(since)
}

pub(crate) fn millis(duration: Duration) -> u64 {
    duration.as_millis().try_into().unwrap_or(u64::MAX)
}

/// Returns a random id of 128 bits.
pub(crate) fn random_id() -> String {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).expect("the system has random numbers");
    data_encoding::HEXLOWER.encode(&bytes)
}

/// The maximum length of the header.
const MAX_LEN: usize = 8 << 10;

#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct Sent {
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    tokens: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    secrets: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    user_id: Option<String>,
}

/// Writes the credentials that a tool requires. Returns `None` if they are too long.
pub(crate) fn write_credentials(context: &Context, required: &Requirements) -> Option<String> {
    let tokens = required.authorization.iter().filter_map(|authorization| {
        let token = context.token(&authorization.id)?;
        Some((authorization.id.to_string(), token.expose().to_owned()))
    });
    let secrets = required.secrets.iter().filter_map(|secret| {
        let value = context.secret(&secret.id)?;
        Some((secret.id.to_string(), value.expose().to_owned()))
    });
    let user_id = required.user_id.then(|| context.user_id().ok().map(str::to_owned)).flatten();
    let sent = Sent { tokens: tokens.collect(), secrets: secrets.collect(), user_id };
    let text = BASE64URL_NOPAD.encode(&serde_json::to_vec(&sent).ok()?);
    (text.len() <= MAX_LEN).then_some(text)
}

/// Reads the credentials of a request.
pub(crate) fn read_credentials(text: &str) -> Result<Credentials, &'static str> {
    let json = BASE64URL_NOPAD.decode(text.as_bytes()).ok().filter(|_| text.len() <= MAX_LEN);
    let sent = json.and_then(|json| serde_json::from_slice::<Sent>(&json).ok());
    let Sent { tokens, secrets, user_id } = sent.ok_or("must be the credentials as JSON in base64url")?;
    let mut credentials = Credentials::new();
    for (id, token) in tokens {
        credentials = credentials.with_token(id, token);
    }
    for (id, value) in secrets {
        credentials = credentials.with_secret(id, value);
    }
    Ok(match user_id {
        Some(user_id) => credentials.with_user_id(user_id),
        None => credentials,
    })
}
