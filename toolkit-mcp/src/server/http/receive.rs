//! From the body of a request to the action that it requires.

use std::net::IpAddr;
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Response, StatusCode};

use super::body::Body;
use super::response::{accepted, json, text};
use super::session::{SESSION, Sessions, modes_of};
use crate::server::access::Access;
use crate::server::ask::Modes;
use crate::server::batch::{Batch, is_batch};
use crate::server::call::Call;
use crate::server::find::Find;
use crate::server::headers::{is_modern, takes_batches};
use crate::server::listen::Listen;
use crate::server::message::Message;
use crate::server::methods::Routed;
use crate::server::metrics::RejectReason;
use crate::server::peer::Peer;
use crate::server::reply::Code;
use crate::server::request::Caller;
use crate::server::resources::ResourceRequest;
use crate::server::state::Server;
use crate::server::task_requests::{TaskRequest, TaskResult};

/// The size in bytes above which bodies are parsed on a thread of the tool pool.
const SMALL_BODY: usize = 64 << 10;

/// The name of parsing in the tool pool.
const READ: &str = "reading of a message";

/// The action that a body requires.
#[expect(clippy::large_enum_variant, reason = "most messages are calls")]
pub(super) enum Received {
    Response(Response<Body>),
    Batch(Batch),
    Find(Find),
    Listen(Listen),
    Resources(Box<ResourceRequest>),
    Task(Box<TaskRequest>),
    TaskResult(Box<TaskResult>),
    Call(Call<'static>),
}

/// Parses a body and determines the action that it requires.
pub(super) async fn receive(
    server: &Server,
    body: Bytes,
    caller: Option<Arc<Caller>>,
    session: Option<&str>,
    headers: &HeaderMap,
    address: Option<IpAddr>,
    access: Option<Access>,
) -> Received {
    if body.len() <= SMALL_BODY {
        return read(server, &body, caller.as_ref(), session, headers, address, access.as_ref());
    }
    // Parsing a large body would block this I/O thread.
    let (at, session, headers) = (server.clone(), session.map(str::to_owned), headers.clone());
    let read = async move { read(&at, &body, caller.as_ref(), session.as_deref(), &headers, address, access.as_ref()) };
    server.shared.pool.spawn(READ, read).await.unwrap_or_else(|panicked| {
        tracing::error!(%panicked, "parsing a message has panicked");
        Received::Response(text(StatusCode::INTERNAL_SERVER_ERROR, String::new()))
    })
}

fn read(
    server: &Server,
    body: &[u8],
    caller: Option<&Arc<Caller>>,
    session: Option<&str>,
    headers: &HeaderMap,
    address: Option<IpAddr>,
    access: Option<&Access>,
) -> Received {
    let modes = session.map_or_else(Modes::default, modes_of);
    let peer = Peer { caller, session, modes, headers: Some(headers), address, access, end: None };
    if is_batch(body) && takes_batches(headers) {
        return match Batch::read(server, body, peer) {
            Ok(batch) => Received::Batch(batch),
            Err(fault) => Received::Response(json(StatusCode::BAD_REQUEST, fault.to_response(None))),
        };
    }
    Received::Response(match server.route(Message::parse(body), peer) {
        Routed::Find(find) => return Received::Find(find),
        Routed::Listen(listen) => return Received::Listen(listen),
        Routed::Resources(request) => return Received::Resources(request),
        Routed::Task(request) => return Received::Task(request),
        Routed::TaskResult(result) => return Received::TaskResult(result),
        Routed::Call(call) => return Received::Call(call.into_owned()),
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
                Code::MethodNotFound if is_modern(headers) => StatusCode::NOT_FOUND,
                _ if fault.is_bad_request => StatusCode::BAD_REQUEST,
                _ => StatusCode::OK,
            };
            if fault.is_bad_request {
                server.shared.metrics.reject(RejectReason::Malformed);
            }
            json(status, fault.to_response(id))
        }
        Routed::Nothing => accepted(),
    })
}
