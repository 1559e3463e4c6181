//! Dispatch of messages to methods, independent of the transport, and of batches in `batch`. Calls of unknown tools end here;
//! `served` has the message with the nearest name.

mod batch;

use std::borrow::Cow;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use toolkit::call::ErrorKind;
use toolkit::mcp::{CallParams, Revision};
use toolkit::{Arguments, ToolError};
use toolkit_mcp::{BATCHES, CallRequest, Code, Malformed, Message, Meta, RpcError, json_bytes, missing};
#[cfg(feature = "http")]
use toolkit_runtime::BodyCharge;
use toolkit_runtime::RequestTarget;

pub(super) use self::batch::{Batch, is_batch};
use super::access::{Denied, Rejected};
use super::ask::Modes;
use super::call::{Call, CallTarget, begin, run};
use super::find::{self, Find};
use super::headers;
use super::initialize::{self, empty_list};
use super::listen::Listen;
use super::logging::requested_level;
use super::observe::Observed;
use super::peer::{Peer, Received};
use super::prompts::{self, PromptRequest};
use super::reply::{MessageSink, Reply};
use super::resources::{self, ResourceMethod, ResourceRequest};
use super::served::{self, ServedTools};
use super::state::ServerState;
use super::task_requests::{TaskMethod, TaskRequest, TaskResult, task_method};

/// The action that a message requires.
pub(super) enum Routed {
    /// Send this response.
    Reply(Reply),
    /// Send the response to `initialize`, which starts a session.
    Initialized { bytes: Vec<u8>, takes_batches: bool, modes: Modes },
    /// Reject the message, since the token of the caller does not grant what it needs.
    Denied(Denied),
    /// Run this call.
    Call(Arc<Call>),
    /// Answer this request of a search tool on a thread for tools.
    Find(Box<Find>),
    /// Answer this request for resources or a prompt on a thread for tools.
    Resources(Box<ResourceRequest>),
    /// Answer this request for a task.
    Task(Box<TaskRequest>),
    /// Answer this request when the task has ended.
    TaskResult(Box<TaskResult>),
    /// Process these messages.
    Batch(Batch),
    /// Send notifications of changes.
    Listen(Box<Listen>),
    /// Do nothing, since the message was a notification.
    Nothing,
}

impl Routed {
    /// Counts the memory of the message as long as the request needs it.
    #[cfg(feature = "http")]
    pub(super) fn hold(&mut self, charge: BodyCharge) {
        match self {
            Routed::Call(call) => *call.charge.lock() = Some(charge),
            Routed::Batch(batch) => batch.hold(charge),
            // The others keep no part of the message.
            _ => {}
        }
    }

    /// Answers a request, and sends the messages that precede the response. Returns `None` if there is no response.
    pub(super) async fn answer(self, sink: impl MessageSink) -> Option<Reply> {
        Some(match self {
            Routed::Reply(reply) => reply,
            Routed::Call(call) => run(call, sink).await,
            // Boxed, to keep the future of a call small.
            Routed::Find(find) => Reply::new(Box::pin(find.answer()).await),
            Routed::Resources(request) => Box::pin(request.answer()).await,
            Routed::Task(request) => Box::pin(request.answer(sink)).await,
            Routed::TaskResult(result) => Box::pin(result.answer(sink)).await,
            Routed::Batch(batch) => Reply::new(Box::pin(batch.answer()).await?),
            Routed::Initialized { .. } | Routed::Denied(_) | Routed::Listen(_) | Routed::Nothing => return None,
        })
    }
}

/// Determines the action that a message requires.
pub(super) fn route(shared: &Arc<ServerState>, message: Result<Message<'_>, Malformed<'_>>, peer: Peer<'_>) -> Routed {
    match message {
        Ok(Message::Request { id, method, params }) => {
            let meta = Meta::parse(params);
            let mut observed = Observed::start(shared.audit, &method, id, meta.as_ref().ok(), peer);
            let meta = meta.map_err(Rejected::from);
            let routed = meta.and_then(|meta| request(shared, id, &method, params, &meta, peer, &mut observed));
            observed_of(routed.unwrap_or_else(|rejected| rejection(id, rejected)), observed)
        }
        Ok(Message::Call { id, call }) => {
            let mut observed = Observed::start(shared.audit, "tools/call", id, Some(&call.meta), peer);
            let routed = call_request(shared, id, call, peer, &mut observed);
            observed_of(routed.unwrap_or_else(|rejected| rejection(id, rejected)), observed)
        }
        Ok(Message::Notification { method, params }) => {
            if let ("notifications/cancelled", Some(session)) = (&*method, peer.session) {
                cancel(shared, session, params);
            }
            Routed::Nothing
        }
        Ok(Message::Response { id, result, error }) => {
            if let (Some(id), Some(session)) = (id, peer.session) {
                let identity = peer.identity();
                shared.requests.respond(session, identity, id, result, error);
            }
            Routed::Nothing
        }
        Err(Malformed { id, fault }) => Routed::Reply(Reply::rejection(id, &fault)),
    }
}

/// Determines the action of a call that has no message around it.
#[cfg(feature = "openapi")]
pub(super) fn route_plain_call(
    shared: &Arc<ServerState>,
    name: &str,
    arguments: Arguments<'_>,
    peer: Peer<'_>,
) -> Routed {
    let (id, meta) = (RawValue::NULL, Meta::default());
    let mut observed = Observed::start(shared.audit, "tools/call", id, None, peer);
    let received = Received { id, meta: &meta, revision: Revision::V2026_07_28, peer };
    let routed = call(shared, received, name.into(), arguments, &mut observed);
    observed_of(routed.unwrap_or_else(|rejected| rejection(id, rejected)), observed)
}

fn rejection(id: &RawValue, rejected: Rejected) -> Routed {
    match rejected {
        Rejected::Invalid(error) => Routed::Reply(Reply::rejection(Some(id), &error)),
        Rejected::Denied(denied) => Routed::Denied(denied),
    }
}

/// Passes the observation of a request on to what answers it, or ends it with the response.
fn observed_of(mut routed: Routed, observed: Option<Observed>) -> Routed {
    // A call has taken it.
    let Some(mut observed) = observed else { return routed };
    match &mut routed {
        Routed::Find(find) => {
            observed.set_target(RequestTarget::Tool(find.call.name()));
            find.observed = Some(observed);
        }
        Routed::Resources(request) => request.observe(observed),
        Routed::Task(request) => request.observe(observed),
        Routed::TaskResult(result) => result.observe(observed),
        Routed::Denied(denied) => {
            match denied {
                Denied::Prompt(prompt) => observed.set_target(RequestTarget::Prompt(prompt.name())),
                Denied::Resource(uri) => observed.set_target(RequestTarget::Resource(uri)),
                // The target of a call is known before.
                Denied::Tools(_) | Denied::UnknownTool => {}
            }
            observed.deny();
        }
        Routed::Reply(Reply { code: Some(code), .. }) => observed.end(Some(ErrorKind::InvalidArguments), Some(*code)),
        _ => observed.end(None, None),
    }
    routed
}

fn call_request<'m>(
    shared: &Arc<ServerState>,
    id: &'m RawValue,
    request: CallRequest<'m>,
    peer: Peer<'_>,
    observed: &mut Option<Observed>,
) -> Result<Routed, Rejected> {
    let CallRequest { name, arguments, meta } = request;
    let revision = match peer.headers() {
        Some(headers) => headers::check(headers, "tools/call", headers::HeaderParams::Call(name), &meta)?,
        None => meta.revision(None)?,
    };
    let arguments = arguments.map_or(Arguments::NONE, Arguments::from);
    let received = Received { id, meta: &meta, revision, peer };
    call(shared, received, name.into(), arguments, observed)
}

fn request<'m>(
    shared: &Arc<ServerState>,
    id: &'m RawValue,
    method: &str,
    params: Option<&'m RawValue>,
    meta: &Meta<'m>,
    peer: Peer<'_>,
    observed: &mut Option<Observed>,
) -> Result<Routed, Rejected> {
    let revision = match peer.headers() {
        Some(headers) => headers::check(headers, method, headers::HeaderParams::Unread(params), meta)?,
        None => meta.revision(None)?,
    };
    let received = Received { id, meta, revision, peer };
    let write = |result: &[u8]| Routed::Reply(Reply::new(shared.response(id, revision, result)));
    let reply = |result: &Value| write(&json_bytes(result));
    let is_legacy = revision == Revision::V2025_11_25;
    Ok(match method {
        "tools/call" => {
            let invalid = || {
                let message = "`params` must be an object with the `name` of a tool";
                RpcError::new(Code::InvalidParams, message)
            };
            let params = params.ok_or_else(invalid)?.get().as_bytes();
            let params = CallParams::parse(params).map_err(|_| invalid())?;
            call(shared, received, params.name().to_owned().into(), params.arguments(), observed)?
        }
        "tools/list" => write(&list(shared, params, revision)?),
        "initialize" if is_legacy => {
            let result = initialize::initialize(shared, params);
            let takes_batches = result["protocolVersion"] == BATCHES;
            let modes = initialize::modes(params, result["protocolVersion"].as_str().unwrap_or_default());
            Routed::Initialized { bytes: shared.response(id, revision, &json_bytes(&result)), takes_batches, modes }
        }
        "ping" if is_legacy => reply(&json!({})),
        "logging/setLevel" if is_legacy => {
            let level = requested_level(params)?;
            if let Some(session) = peer.session {
                let identity = peer.identity();
                shared.log_levels.set(identity.as_deref(), session, level);
            }
            reply(&json!({}))
        }
        "server/discover" if is_legacy => return Err(missing("protocolVersion").into()),
        "server/discover" => reply(&initialize::discover(shared)),
        "subscriptions/listen" if !is_legacy => Routed::Listen(Box::new(Listen::new(shared, received, params)?)),
        "prompts/list" if shared.offers_prompts() => write(&prompts::list(shared, params, revision)?),
        "prompts/get" | "completion/complete" if shared.offers_prompts() => {
            let request = match method {
                "prompts/get" => PromptRequest::get(shared, params)?,
                _ => PromptRequest::complete(shared, params)?,
            };
            Routed::Resources(resources::prompt_request(shared, received, request)?)
        }
        _ if (method.starts_with("resources/") && shared.resources.is_offered())
            || (method.starts_with("skills/") && shared.resources.has_skills()) =>
        {
            match resources::resource_method(shared, received, method, params)? {
                ResourceMethod::Result(result) => reply(&result),
                ResourceMethod::Request(request) => Routed::Resources(request),
            }
        }
        _ if method.starts_with("tasks/") => match task_method(shared, received, method, params)? {
            TaskMethod::Request(request) => Routed::Task(request),
            TaskMethod::Result(result) => Routed::TaskResult(result),
        },
        "prompts/list" | "resources/list" | "resources/templates/list" if shared.has_empty_prompts_and_resources => {
            reply(&empty_list(method, revision))
        }
        _ => return Err(RpcError::unknown_method(method).into()),
    })
}

fn list(shared: &Arc<ServerState>, params: Option<&RawValue>, revision: Revision) -> Result<Vec<u8>, RpcError> {
    let served = shared.served();
    let after = served::cursor_of(params)?;
    if shared.lists_search_tools(&served) {
        return Ok(served::whole(find::listed(), revision, shared.list_cache()));
    }
    Ok(served::page(&served, revision, after.as_deref(), shared.page_size, shared.list_cache()))
}

fn call<'m>(
    shared: &Arc<ServerState>,
    received: Received<'_>,
    mut name: Cow<'m, str>,
    mut arguments: Arguments<'m>,
    observed: &mut Option<Observed>,
) -> Result<Routed, Rejected> {
    let Received { id, revision, .. } = received;
    let served = shared.served();
    let (mut nth, mut is_found) = (served.get(&name), false);
    if nth.is_none() && shared.lists_search_tools(&served) {
        match find::SearchToolCall::parse(&name, &arguments, &served.dispatcher) {
            Some(Ok(find::SearchToolCall::Call { name: target, arguments: given })) => {
                nth = served.get(&target);
                (name, arguments, is_found) = (target, given, true);
            }
            Some(Ok(call)) => {
                let (shared, id, call) = (Arc::clone(shared), id.to_owned(), call.into_owned());
                let caller = received.peer.share();
                let find = Find { shared, served, call, id, revision, observed: None, caller };
                return Ok(Routed::Find(Box::new(find)));
            }
            Some(Err(error)) => return Ok(failed(shared, received, &name, &error, observed)),
            None => {}
        }
    }
    let by_page = || {
        let claims = shared.proxied().map(|proxied| proxied.claims()).unwrap_or_default();
        served.called_by_page(&name, &claims)
    };
    let nth = nth.or_else(|| if is_found { None } else { by_page() });
    let Some(nth) = nth else { return unknown(shared, &served, received, &name, observed) };
    let entry = &served.entries[nth];
    if let Some(observed) = observed {
        observed.set_target(RequestTarget::Tool(&entry.name));
    }
    received.peer.check_tools(&[served.tool(entry)])?;
    Ok(Routed::Call(begin(shared, CallTarget { served, nth, is_found }, received, arguments, observed)?))
}

/// Ends a call whose name no served tool has.
fn unknown(
    shared: &Arc<ServerState>,
    served: &ServedTools,
    received: Received<'_>,
    name: &str,
    observed: &mut Option<Observed>,
) -> Result<Routed, Rejected> {
    shared.metrics.unknown_tool().reject();
    if let Some(error) = served.shared_name(name) {
        return Ok(failed(shared, received, name, &error, observed));
    }
    if let Some(message) = shared.proxied().and_then(|proxied| proxied.why_missing(name)) {
        let error = ToolError::new(ErrorKind::Unavailable, message).retryable(None);
        return Ok(failed(shared, received, name, &error, observed));
    }
    if let Some(mut observed) = observed.take() {
        observed.set_unknown_tool(name);
        observed.end(Some(ErrorKind::UnknownTool), Some(Code::InvalidParams));
    }
    Err(RpcError::new(Code::InvalidParams, served.not_found(name)).into())
}

/// Ends a call that does not reach a tool with an error that the model reads.
fn failed(
    shared: &ServerState,
    received: Received<'_>,
    name: &str,
    error: &ToolError,
    observed: &mut Option<Observed>,
) -> Routed {
    if let Some(mut observed) = observed.take() {
        observed.set_unknown_tool(name);
        observed.end(Some(error.kind()), None);
    }
    let Received { id, revision, .. } = received;
    Routed::Reply(Reply::new(shared.response(id, revision, &toolkit::mcp::write_error(error, revision))))
}

fn cancel(shared: &Arc<ServerState>, session: &str, params: Option<&RawValue>) {
    #[derive(Deserialize)]
    struct CancelledParams<'m> {
        #[serde(borrow, rename = "requestId")]
        id: &'m RawValue,
    }
    if let Some(params) = params.and_then(|params| serde_json::from_str::<CancelledParams<'_>>(params.get()).ok()) {
        shared.running.cancel(session, params.id.get());
    }
}
