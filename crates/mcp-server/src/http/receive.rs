//! From a POST to its response: the session and the body, the action that the message requires, and its reply.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Buf;
use http::{HeaderMap, Response, StatusCode};
use toolkit_mcp::{Code, Message, RpcError};
use toolkit_runtime::{Panicked, RequestHead, parse_message};

use super::rejection::Rejection;
use super::response::{Body, json, reply_response, respond};
use super::service::{Inner, listening};
use super::sessions::{SESSION, modes_of};
use crate::ask::Modes;
use crate::headers::{is_modern, takes_batches};
use crate::methods::{Batch, Routed, is_batch, route};
use crate::metrics::RejectReason;
use crate::peer::Peer;
use crate::reply::{NoMessages, Reply};
use crate::request::Caller;
use crate::server::Server;
use crate::state::ServerState;

impl Inner {
    /// Responds to a message.
    pub(super) async fn message<B>(
        &self,
        server: &Server,
        head: &RequestHead,
        body: B,
        caller: Option<Arc<Caller>>,
    ) -> Result<Response<Body>, Rejection>
    where
        B: http_body::Body<Data: Buf>,
    {
        let (body, charge) = self.http.read_json(head, body).await?.into_parts();
        let headers = head.headers();
        let session = self.session(server, headers, caller.as_deref(), &body)?.map(Cow::into_owned);
        let access = caller.as_ref().and_then(|caller| self.auth.access(&server.shared, caller));
        let (shared, parts, address) = (Arc::clone(&server.shared), Arc::clone(&head.parts), head.client());
        let sender = caller.clone();
        let routed = parse_message(body.len(), move || {
            let session = session.as_deref();
            let modes = session.map_or_else(Modes::default, modes_of);
            let (caller, access) = (sender.as_ref(), access.as_ref());
            let peer = Peer { caller, session, modes, access, head: Some(&parts), address, ..Peer::default() };
            receive(&shared, &body, peer)
        });
        let mut routed = routed.await.unwrap_or_else(|Panicked| {
            let message = "the message could not be read: internal error";
            Routed::Reply(Reply::rejection(None, &RpcError::new(Code::Internal, message)))
        });
        match routed {
            Routed::Denied(denied) => Err(self.auth.reject(caller.as_deref(), headers, &server.shared, &denied)),
            Routed::Initialized { bytes, modes, .. } => {
                let mut response = json(StatusCode::OK, bytes);
                if let Some(name) = self.sessions.begin(modes).and_then(|name| name.parse().ok()) {
                    response.headers_mut().insert(SESSION, name);
                }
                Ok(response)
            }
            Routed::Listen(listen) => listening(*listen, head, caller.as_deref()),
            Routed::Reply(reply) => {
                if reply.is_bad_request {
                    server.shared.metrics.reject(RejectReason::Malformed);
                }
                let is_unknown_method = matches!(reply.code, Some(Code::MethodNotFound)) && is_modern(headers);
                let mut response = reply_response(Some(reply));
                if is_unknown_method {
                    *response.status_mut() = StatusCode::NOT_FOUND;
                }
                Ok(response)
            }
            _ => {
                routed.hold(charge);
                Ok(match head.accepts_events() {
                    true => respond(routed).await,
                    false => reply_response(routed.answer(NoMessages).await),
                })
            }
        }
    }

    /// Returns the session of a message. Revision 2026-07-28 has no sessions and ignores the header.
    fn session<'h>(
        &self,
        server: &Server,
        headers: &'h HeaderMap,
        caller: Option<&Caller>,
        body: &[u8],
    ) -> Result<Option<Cow<'h, str>>, Rejection> {
        if is_modern(headers) {
            return Ok(None);
        }
        match self.known_session(server, headers, caller) {
            // The client starts a new session with the header of the last one.
            Err(()) if is_initialize(body) => Ok(None),
            session => session.map_err(|()| {
                let message = "unknown session; send `initialize` to start a new one";
                Rejection::new(RejectReason::Malformed, StatusCode::NOT_FOUND, message)
            }),
        }
    }
}

fn is_initialize(body: &[u8]) -> bool {
    matches!(Message::parse(body), Ok(Message::Request { method, .. }) if method == "initialize")
}

/// Parses a body and determines the action that it requires.
fn receive(shared: &Arc<ServerState>, body: &[u8], peer: Peer<'_>) -> Routed {
    match is_batch(body) && peer.headers().is_some_and(takes_batches) {
        true => Batch::route(shared, body, peer),
        false => route(shared, Message::parse(body), peer),
    }
}
