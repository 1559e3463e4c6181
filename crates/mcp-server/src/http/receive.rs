//! From the body of a request to the action that it requires, and the sessions of clients before 2026-07-28, which have no state
//! here and do not expire.

use std::collections::{HashSet, VecDeque};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, HeaderName, Response, StatusCode};
use toolkit_mcp::{Code, Message};
use toolkit_runtime::spawn_tool;

use super::response::{Body, accepted, json, text};
use crate::access::{Access, Denied, Rejected};
use crate::ask::Modes;
use crate::call::Call;
use crate::find::Find;
use crate::headers::{is_modern, takes_batches};
use crate::listen::Listen;
use crate::methods::route;
use crate::methods::{Batch, Routed, is_batch};
use crate::metrics::RejectReason;
use crate::peer::Peer;
use crate::request::Caller;
use crate::resources::ResourceRequest;
use crate::state::Shared;
use crate::task_requests::{TaskRequest, TaskResult};

/// The size in bytes above which bodies are parsed on a thread for tools.
const SMALL_BODY: usize = 64 << 10;

/// The action that a body requires.
pub(super) enum Received {
    Response(Response<Body>),
    Batch(Batch),
    Find(Find),
    Listen(Listen),
    Resources(Box<ResourceRequest>),
    Task(Box<TaskRequest>),
    TaskResult(Box<TaskResult>),
    Call(Arc<Call>),
    Denied(Denied),
}

/// Parses a body and determines the action that it requires.
pub(super) async fn receive(
    shared: &Arc<Shared>,
    body: Bytes,
    caller: Option<Arc<Caller>>,
    session: Option<&str>,
    head: &Arc<Parts>,
    address: Option<IpAddr>,
    access: Option<Access>,
) -> Received {
    if body.len() <= SMALL_BODY {
        return read(shared, &body, caller.as_ref(), session, head, address, access.as_ref());
    }
    // Parsing a large body would block this I/O thread.
    let (at, session, head) = (Arc::clone(shared), session.map(str::to_owned), head.clone());
    let read = async move { read(&at, &body, caller.as_ref(), session.as_deref(), &head, address, access.as_ref()) };
    spawn_tool("reading of a message", read).await.unwrap_or_else(|panicked| {
        tracing::error!(%panicked, "parsing a message has panicked");
        Received::Response(text(StatusCode::INTERNAL_SERVER_ERROR, String::new()))
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
) -> Received {
    let modes = session.map_or_else(Modes::default, modes_of);
    let peer = Peer { caller, session, modes, head: Some(head), address, access, end: None };
    if is_batch(body) && takes_batches(&head.headers) {
        return match Batch::read(shared, body, peer) {
            Ok(batch) => Received::Batch(batch),
            Err(Rejected::Denied(denied)) => Received::Denied(denied),
            Err(Rejected::Invalid(fault)) => Received::Response(json(StatusCode::BAD_REQUEST, fault.to_response(None))),
        };
    }
    Received::Response(match route(shared, Message::parse(body), peer) {
        Routed::Find(find) => return Received::Find(find),
        Routed::Listen(listen) => return Received::Listen(listen),
        Routed::Resources(request) => return Received::Resources(request),
        Routed::Task(request) => return Received::Task(request),
        Routed::TaskResult(result) => return Received::TaskResult(result),
        Routed::Call(call) => return Received::Call(call),
        Routed::Denied(denied) => return Received::Denied(denied),
        Routed::Reply(bytes) => json(StatusCode::OK, bytes),
        Routed::Initialized { bytes, modes, .. } => {
            let mut response = json(StatusCode::OK, bytes);
            if let Some(name) = Sessions::begin(modes).and_then(|name| name.parse().ok()) {
                response.headers_mut().insert(SESSION, name);
            }
            response
        }
        Routed::RpcError(id, fault) => {
            let status = match fault.code {
                Code::MethodNotFound if is_modern(&head.headers) => StatusCode::NOT_FOUND,
                _ if fault.is_bad_request => StatusCode::BAD_REQUEST,
                _ => StatusCode::OK,
            };
            if fault.is_bad_request {
                shared.metrics.reject(RejectReason::Malformed);
            }
            json(status, fault.to_response(id))
        }
        Routed::Nothing => accepted(),
    })
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
