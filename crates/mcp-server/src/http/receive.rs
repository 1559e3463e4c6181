//! From the body of a request to the action that it requires, and the sessions of clients before 2026-07-28, which have no state
//! here and do not expire.

use std::collections::{HashSet, VecDeque};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, HeaderName};
use toolkit_mcp::{Code, Message, RpcError};
use toolkit_runtime::spawn_tool;

use crate::access::Access;
use crate::ask::Modes;
use crate::headers::takes_batches;
use crate::methods::{Batch, Routed, is_batch, route};
use crate::peer::Peer;
use crate::reply::Reply;
use crate::request::Caller;
use crate::state::Shared;

/// The size in bytes above which bodies are parsed on a thread for tools.
const SMALL_BODY: usize = 64 << 10;

/// Parses a body and determines the action that it requires.
pub(super) async fn receive(
    shared: &Arc<Shared>,
    body: Bytes,
    caller: Option<Arc<Caller>>,
    session: Option<&str>,
    head: &Arc<Parts>,
    address: Option<IpAddr>,
    access: Option<Access>,
) -> Routed {
    if body.len() <= SMALL_BODY {
        return read(shared, &body, caller.as_ref(), session, head, address, access.as_ref());
    }
    // Parsing a large body would block this I/O thread.
    let (at, session, head) = (Arc::clone(shared), session.map(str::to_owned), head.clone());
    let read = async move { read(&at, &body, caller.as_ref(), session.as_deref(), &head, address, access.as_ref()) };
    spawn_tool("reading of a message", read).await.unwrap_or_else(|panicked| {
        tracing::error!(%panicked, "parsing a message has panicked");
        let message = "the message could not be read: internal error";
        Routed::Reply(Reply::rejection(None, &RpcError::new(Code::Internal, message)))
    })
}

fn read(
    shared: &Arc<Shared>,
    body: &[u8],
    caller: Option<&Arc<Caller>>,
    session: Option<&str>,
    head: &Arc<Parts>,
    address: Option<IpAddr>,
    access: Option<&Access>,
) -> Routed {
    let modes = session.map_or_else(Modes::default, modes_of);
    let peer = Peer { caller, session, modes, head: Some(head), address, access, ..Peer::default() };
    match is_batch(body) && takes_batches(&head.headers) {
        true => Batch::route(shared, body, peer),
        false => route(shared, Message::parse(body), peer),
    }
}

// Sessions of clients before 2026-07-28. Their ids are random, so that one client cannot cancel the calls of another.
//
// A session has no state on the server, so it outlives a restart: what its client has declared is a part of the id. The
// server remembers only the most recently ended sessions, whose requests it rejects.

pub(super) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");

/// The number of ended sessions that are remembered.
const MAX_ENDED: usize = 4096;

/// The number of random bytes in a session id.
const N_RANDOM: usize = 16;

/// The number of bytes in a session id. The last one has the modes of the client.
const N_BYTES: usize = N_RANDOM + 1;

#[derive(Debug, Default)]
pub(super) struct Sessions {
    ended: Mutex<Ended>,
}

#[derive(Debug, Default)]
struct Ended {
    names: HashSet<Arc<str>>,
    /// The same ids, in the order in which they ended.
    order: VecDeque<Arc<str>>,
}

impl Sessions {
    /// Creates a session id: 128 random bits and the modes of the client, as lowercase hexadecimal digits.
    pub(super) fn begin(modes: Modes) -> Option<String> {
        let mut bytes = [0; N_BYTES];
        getrandom::fill(&mut bytes[..N_RANDOM]).ok()?;
        bytes[N_RANDOM] = modes.bits();
        Some(data_encoding::HEXLOWER.encode(&bytes))
    }

    /// Returns the session of a request. Returns an error for an ended session, or an id that this server cannot have
    /// created.
    pub(super) fn of<'h>(&self, headers: &'h HeaderMap) -> Result<Option<&'h str>, ()> {
        let Some(name) = headers.get(&SESSION) else {
            return Ok(None);
        };
        let name = name.to_str().ok().filter(|name| is_name(name)).ok_or(())?;
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        if ended.names.contains(name) { Err(()) } else { Ok(Some(name)) }
    }

    pub(super) fn end(&self, name: &str) {
        let name: Arc<str> = name.into();
        let mut ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        if ended.names.insert(Arc::clone(&name)) {
            ended.order.push_back(name);
        }
        if ended.order.len() > MAX_ENDED
            && let Some(oldest) = ended.order.pop_front()
        {
            ended.names.remove(&oldest);
        }
    }
}

/// Returns what the client of a session has declared.
pub(super) fn modes_of(session: &str) -> Modes {
    let bits = session.get(2 * N_RANDOM..).and_then(|digits| u8::from_str_radix(digits, 16).ok());
    Modes::from_bits(bits.unwrap_or(0))
}

/// Returns true for an id in the format of this server. Ids of other formats could equal the session names of other
/// transports.
fn is_name(name: &str) -> bool {
    name.len() == 2 * N_BYTES && name.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}
