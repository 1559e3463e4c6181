//! A request and its sender, and its running calls, which later messages can cancel.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::net::IpAddr;
use std::sync::Arc;

use http::header::AUTHORIZATION;
use http::request::Parts;
use http::{Extensions, HeaderMap};
use serde_json::value::RawValue;
use toolkit::call::{RequestParts, TraceContext};
use toolkit::mcp::Revision;
use toolkit::{CancelToken, Context, Tool};
use toolkit_mcp::{Code, Meta, RpcError};
use toolkit_runtime::{Mutex, client_network};

use super::access::{Access, Denied};
use super::ask::Modes;
use super::headers::accepts_events;
use super::request::{Caller, Request};

/// The sender of a message.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Peer<'p> {
    pub(super) caller: Option<&'p Arc<Caller>>,
    /// The scope of request ids: a session, or the other end of a pipe.
    pub(super) session: Option<&'p str>,
    /// The ways in which the client can ask its user, as declared for the session.
    pub(super) modes: Modes,
    /// The access that the token of the caller grants, or `None` for everything.
    pub(super) access: Option<&'p Access>,
    /// Cancelled when the client can send no more messages, such as answers of its user.
    pub(super) end: Option<&'p CancelToken>,
    /// The HTTP request of the message.
    pub(super) head: Option<&'p Arc<Parts>>,
    /// True for a message of a batch, whose responses are sent together.
    pub(super) is_in_batch: bool,
    /// True for a call without a message: its headers repeat nothing, and its client waits for the result of a long call.
    pub(super) is_plain: bool,
    /// The address of the client, if the server has accepted its connection.
    pub(super) address: Option<IpAddr>,
}

impl<'p> Peer<'p> {
    /// Returns the identity of the caller, if the server has authenticated it.
    pub(super) fn identity(self) -> Option<String> {
        self.caller.and_then(|caller| caller.identity())
    }

    /// Returns true if the client can receive messages before the response.
    pub(super) fn takes_messages(self) -> bool {
        !self.is_in_batch && self.headers().is_none_or(accepts_events)
    }

    /// Returns the headers of the HTTP request.
    pub(super) fn headers(self) -> Option<&'p HeaderMap> {
        self.head.map(|head| &head.headers)
    }

    /// Checks that the token of the caller grants calls of these tools.
    pub(super) fn check_tools(self, tools: &[&Tool]) -> Result<(), Denied> {
        let is_granted = self.access.is_none_or(|access| tools.iter().all(|tool| access.grants_tool(tool)));
        if is_granted { Ok(()) } else { Err(Denied::Tools(tools.iter().copied().cloned().collect())) }
    }

    /// Checks that the token of the caller grants a prompt.
    pub(super) fn check_prompt(self, prompt: &Tool) -> Result<(), Denied> {
        let is_granted = self.access.is_none_or(|access| access.grants_tool(prompt));
        if is_granted { Ok(()) } else { Err(Denied::Prompt(Box::new(prompt.clone()))) }
    }

    /// Checks that the token of the caller grants a resource.
    pub(super) fn check_resource(self, uri: &str) -> Result<(), Denied> {
        let is_granted = self.access.is_none_or(|access| access.grants_resource(uri));
        if is_granted { Ok(()) } else { Err(Denied::Resource(uri.to_owned())) }
    }

    /// Returns a function that reads the parts of the HTTP request for a tool.
    pub(super) fn request_parts(self) -> Option<impl FnOnce() -> RequestParts + Send + 'static> {
        let head = Arc::clone(self.head?);
        let (address, session) = (self.address, self.session.map(str::to_owned));
        let caller = self.caller.cloned();
        // The token is for this server, so that it must not be passed on to others.
        let is_checked = caller.is_some();
        Some(move || {
            let name = caller_name(caller.as_deref(), address, session.as_deref().unwrap_or_default());
            let parts = RequestParts::new().with_path(head.uri.path()).with_caller(&name);
            let headers = head.headers.iter().filter(|(name, _)| !(is_checked && *name == AUTHORIZATION));
            let parts = headers.fold(parts, |parts, (name, value)| parts.with_header(name.as_str(), value));
            let parts = address.into_iter().fold(parts, RequestParts::with_peer);
            session.iter().fold(parts, |parts, session| parts.with_session(session))
        })
    }

    /// Returns the name of a caller that has its own share of the calls: its subject, or else the network of its address. All
    /// clients of a local proxy have the same address.
    pub(super) fn share(self) -> Option<String> {
        let address = self.address.filter(|address| !address.is_loopback());
        self.identity().or_else(|| address.map(|address| client_network(address).to_string()))
    }

    /// Returns the [name](caller_name) of the caller for limits.
    pub(super) fn name(self, session: &str) -> String {
        caller_name(self.caller.map(|caller| &**caller), self.address, session)
    }
}

/// Returns the name of a caller for limits: its subject, or else the network of its address, or else its session.
pub(super) fn caller_name(caller: Option<&Caller>, address: Option<IpAddr>, session: &str) -> String {
    match (caller.and_then(Caller::identity), address) {
        (Some(identity), _) => format!("subject {identity}"),
        (None, Some(address)) => format!("address {}", client_network(address)),
        (None, None) => format!("session {session}"),
    }
}

/// Returns the extensions of a request, which the layers of the host have inserted, or `None` if there are none.
pub(super) fn extensions(head: &Parts) -> Option<&Arc<Extensions>> {
    head.extensions.get()
}

/// A request whose `_meta` was read, without its method and parameters.
#[derive(Clone, Copy)]
pub(super) struct Received<'r> {
    pub(super) id: &'r RawValue,
    pub(super) meta: &'r Meta<'r>,
    pub(super) revision: Revision,
    pub(super) peer: Peer<'r>,
}

impl Received<'_> {
    /// Creates the context of a call: the request of MCP and that of HTTP, and the trace context, which backends forward.
    pub(super) fn context(self) -> Context {
        let Self { meta, revision, peer, .. } = self;
        let request = Request::new(revision, meta, peer.caller, peer.share());
        let trace = TraceContext::from_values([request.traceparent(), request.tracestate(), request.baggage()]);
        let mut context = Context::new().with(request);
        if let Some(extensions) = peer.head.and_then(|head| extensions(head)) {
            context = context.with_extensions(Arc::clone(extensions));
        }
        let token = peer.caller.and_then(|caller| caller.token()).cloned();
        let context = token.into_iter().fold(context, Context::with);
        let context = peer.request_parts().into_iter().fold(context, Context::with_request);
        match trace {
            Some(trace) => context.with(trace),
            None => context,
        }
    }
}

/// The running calls, by session and request id.
#[derive(Clone, Debug, Default)]
pub(super) struct RunningRequests(Arc<Mutex<RequestTokens>>);

type RequestTokens = HashMap<RunningKey, CancelToken>;

/// A session, a line feed, which neither contains, and the id of a request.
type RunningKey = Arc<[u8]>;

fn key(session: &str, id: &str) -> RunningKey {
    session.bytes().chain([b'\n']).chain(id.bytes()).collect()
}

/// The registration of a running call. Dropping it removes the call.
#[derive(Debug)]
pub(super) struct Registered {
    running: RunningRequests,
    key: RunningKey,
    pub(super) token: CancelToken,
}

impl RunningRequests {
    /// Registers a call. Returns `None` if the session has a running call with the same id.
    fn register(&self, peer: &str, id: &str) -> Option<Registered> {
        let key = key(peer, id);
        let token = CancelToken::new();
        match self.0.lock().entry(Arc::clone(&key)) {
            Entry::Occupied(_) => return None,
            Entry::Vacant(place) => drop(place.insert(token.clone())),
        }
        Some(Registered { running: self.clone(), key, token })
    }

    pub(super) fn cancel(&self, peer: &str, id: &str) {
        let token = self.0.lock().get(&key(peer, id)).cloned();
        if let Some(token) = token {
            token.cancel();
        }
    }

    /// Cancels all calls of a session.
    pub(super) fn cancel_all_of(&self, peer: &str) {
        let calls = self.0.lock();
        let prefix = key(peer, "");
        calls.iter().filter(|(key, _)| key.starts_with(&prefix)).for_each(|(_, token)| token.cancel());
    }
}

/// Registers a request of a peer, so that it can be cancelled by its id. A peer without a session has no such requests.
///
/// # Errors
///
/// Returns an error if the session has a running request with the same id.
pub(super) fn register(
    running: &RunningRequests,
    peer: Peer<'_>,
    id: &RawValue,
) -> Result<Option<Registered>, RpcError> {
    let Some(session) = peer.session else { return Ok(None) };
    let taken = || RpcError::new(Code::InvalidRequest, "a request with this `id` is already running");
    running.register(session, id.get()).map(Some).ok_or_else(taken)
}

impl Drop for Registered {
    fn drop(&mut self) {
        self.running.0.lock().remove(&self.key);
    }
}

/// Waits until a token is cancelled. Never returns without one.
pub(super) async fn cancelled_by(token: Option<CancelToken>) {
    match token {
        Some(token) => token.cancelled().await,
        None => std::future::pending().await,
    }
}
