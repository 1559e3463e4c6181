//! Dispatch of messages and batches to methods, independent of the transport. Calls of unknown tools end here.

use std::borrow::Cow;
use std::sync::Arc;

use futures_util::stream::{self, StreamExt};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use toolkit::call::ErrorKind;
use toolkit::dispatch::BoxFuture;
use toolkit::mcp::{CallParams, Revision};
use toolkit::{Arguments, ToolError};
use toolkit_mcp::{BATCHES, CallRequest, Code, Malformed, Message, Meta, RpcError, json_bytes, missing};
use toolkit_runtime::RequestTarget;

use super::access::{Denied, Rejected};
use super::ask::Modes;
use super::call::{Call, Target, answer, begin};
use super::find::{self, Find};
use super::headers;
use super::initialize::{self, empty_list};
use super::listen::Listen;
use super::logging::requested_level;
use super::observe::Observed;
use super::peer::{Peer, Received};
use super::prompts::{self, PromptRequest};
use super::resources::{self, ResourceMethod, ResourceRequest};
use super::served;
use super::state::Shared;
use super::task_requests::{TaskMethod, TaskRequest, TaskResult, task_method};

/// The action that a message requires.
pub(super) enum Routed<'m> {
    /// Send this response.
    Reply(Vec<u8>),
    /// Send the response to `initialize`, which starts a session.
    Initialized { bytes: Vec<u8>, takes_batches: bool, modes: Modes },
    /// Send this error.
    RpcError(Option<&'m RawValue>, RpcError),
    /// Reject the message, since the token of the caller does not grant what it needs.
    Denied(Denied),
    /// Run this call.
    Call(Arc<Call>),
    /// Answer this request of a search tool on a thread for tools.
    Find(Find),
    /// Answer this request for resources or a prompt on a thread for tools.
    Resources(Box<ResourceRequest>),
    /// Answer this request for a task.
    Task(Box<TaskRequest>),
    /// Answer this request when the task has ended.
    TaskResult(Box<TaskResult>),
    /// Send notifications of changes.
    Listen(Listen),
    /// Do nothing, since the message was a notification.
    Nothing,
}

impl<'m> Routed<'m> {
    fn rejected(id: &'m RawValue, rejected: Rejected) -> Self {
        match rejected {
            Rejected::Invalid(error) => Routed::RpcError(Some(id), error),
            Rejected::Denied(denied) => Routed::Denied(denied),
        }
    }
}

/// Determines the action that a message requires.
pub(super) fn route<'m>(
    shared: &Arc<Shared>,
    message: Result<Message<'m>, Malformed<'m>>,
    peer: Peer<'_>,
) -> Routed<'m> {
    match message {
        Ok(Message::Request { id, method, params }) => {
            let meta = Meta::parse(params);
            let mut observed = Observed::start(shared.audit, &method, id, meta.as_ref().ok(), peer);
            let meta = meta.map_err(Rejected::from);
            let routed = meta.and_then(|meta| request(shared, id, &method, params, &meta, peer, &mut observed));
            observed_of(routed.unwrap_or_else(|rejected| Routed::rejected(id, rejected)), observed)
        }
        Ok(Message::Call { id, call }) => {
            let mut observed = Observed::start(shared.audit, "tools/call", id, Some(&call.meta), peer);
            let routed = call_request(shared, id, call, peer, &mut observed);
            observed_of(routed.unwrap_or_else(|rejected| Routed::rejected(id, rejected)), observed)
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
        Err(Malformed { id, fault }) => Routed::RpcError(id, fault),
    }
}

/// Passes the observation of a request on to what answers it, or ends it with the response.
fn observed_of<'m>(mut routed: Routed<'m>, observed: Option<Observed>) -> Routed<'m> {
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
        Routed::RpcError(_, fault) => observed.end(Some(ErrorKind::InvalidArguments), Some(fault.code)),
        _ => observed.end(None, None),
    }
    routed
}

fn call_request<'m>(
    shared: &Arc<Shared>,
    id: &'m RawValue,
    request: CallRequest<'m>,
    peer: Peer<'_>,
    observed: &mut Option<Observed>,
) -> Result<Routed<'m>, Rejected> {
    let CallRequest { name, arguments, meta } = request;
    let revision = match peer.headers() {
        Some(headers) => headers::check(headers, "tools/call", headers::Params::Call(name), &meta)?,
        None => meta.revision(None)?,
    };
    let arguments = arguments.map_or(Arguments::NONE, Arguments::from);
    let received = Received { id, meta: &meta, revision, peer };
    call(shared, received, name.into(), arguments, observed)
}

fn request<'m>(
    shared: &Arc<Shared>,
    id: &'m RawValue,
    method: &str,
    params: Option<&'m RawValue>,
    meta: &Meta<'m>,
    peer: Peer<'_>,
    observed: &mut Option<Observed>,
) -> Result<Routed<'m>, Rejected> {
    let revision = match peer.headers() {
        Some(headers) => headers::check(headers, method, headers::Params::Unread(params), meta)?,
        None => meta.revision(None)?,
    };
    let received = Received { id, meta, revision, peer };
    let reply = |result: &Value| Routed::Reply(shared.response(id, revision, &json_bytes(result)));
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
        "tools/list" => Routed::Reply(shared.response(id, revision, &list(shared, params, revision)?)),
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
        "subscriptions/listen" if !is_legacy => Routed::Listen(Listen::new(shared, received, params)?),
        "prompts/list" if shared.offers_prompts() => {
            Routed::Reply(shared.response(id, revision, &prompts::list(shared, params, revision)?))
        }
        "prompts/get" | "completion/complete" if shared.offers_prompts() => {
            let request = match method {
                "prompts/get" => PromptRequest::get(shared, params)?,
                _ => PromptRequest::complete(shared, params)?,
            };
            Routed::Resources(resources::prompt_request(shared, received, request)?)
        }
        _ if method.starts_with("resources/") && shared.resources.is_offered() => {
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

fn list(shared: &Arc<Shared>, params: Option<&RawValue>, revision: Revision) -> Result<Vec<u8>, RpcError> {
    let served = shared.served();
    let after = served::cursor_of(params)?;
    if shared.lists_search_tools(&served) {
        return Ok(served::whole(find::listed(), revision, shared.list_cache()));
    }
    Ok(served::page(&served, revision, after.as_deref(), shared.page_size, shared.list_cache()))
}

fn call<'m>(
    shared: &Arc<Shared>,
    received: Received<'_>,
    mut name: Cow<'m, str>,
    mut arguments: Arguments<'m>,
    observed: &mut Option<Observed>,
) -> Result<Routed<'m>, Rejected> {
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
                let id = id.to_owned();
                return Ok(Routed::Find(Find {
                    shared: Arc::clone(shared),
                    served,
                    call: call.into_owned(),
                    id,
                    revision,
                    observed: None,
                }));
            }
            Some(Err(error)) => {
                failed(observed, &name, &error);
                let result = toolkit::mcp::write_error(&error, revision);
                return Ok(Routed::Reply(shared.response(id, revision, &result)));
            }
            None => {}
        }
    }
    let Some(nth) = nth else {
        shared.metrics.unknown_tool().reject();
        if let Some(error) = served.shared_name(&name) {
            failed(observed, &name, &error);
            let result = toolkit::mcp::write_error(&error, revision);
            return Ok(Routed::Reply(shared.response(id, revision, &result)));
        }
        if let Some(message) = shared.proxied().and_then(|proxied| proxied.why_missing(&name)) {
            let error = ToolError::new(ErrorKind::Unavailable, message).retryable(None);
            failed(observed, &name, &error);
            let result = toolkit::mcp::write_error(&error, revision);
            return Ok(Routed::Reply(shared.response(id, revision, &result)));
        }
        if let Some(mut observed) = observed.take() {
            observed.set_unknown_tool(&name);
            observed.end(Some(ErrorKind::UnknownTool), Some(Code::InvalidParams));
        }
        return Err(unknown_tool(&name, served.nearest(&name)).into());
    };
    if let Some(observed) = observed {
        observed.set_target(RequestTarget::Tool(&served.entries[nth].name));
    }
    received.peer.check_tools(&[served.tool(&served.entries[nth])])?;
    Ok(Routed::Call(begin(shared, Target { served, nth, is_found }, received, arguments, observed)?))
}

/// Ends the observation of a call that does not reach a tool.
fn failed(observed: &mut Option<Observed>, name: &str, error: &ToolError) {
    if let Some(mut observed) = observed.take() {
        observed.set_unknown_tool(name);
        observed.end(Some(error.kind()), None);
    }
}

fn cancel(shared: &Arc<Shared>, session: &str, params: Option<&RawValue>) {
    #[derive(Deserialize)]
    struct Params<'m> {
        #[serde(borrow, rename = "requestId")]
        id: &'m RawValue,
    }
    if let Some(params) = params.and_then(|params| serde_json::from_str::<Params<'_>>(params.get()).ok()) {
        shared.running.cancel(session, params.id.get());
    }
}

fn unknown_tool(name: &str, nearest: Option<&str>) -> RpcError {
    let shown: String = name.chars().take(120).collect();
    let shown = shown.escape_debug();
    let message = match nearest {
        Some(near) => format!("no tool is named `{shown}`; did you mean `{near}`?"),
        None => format!("no tool is named `{shown}`"),
    };
    RpcError::new(Code::InvalidParams, message)
}

// JSON-RPC batches. Servers must accept them in revision 2025-03-26 only.

/// The maximum number of messages in a batch.
const MAX_MESSAGES: usize = 64;

/// The number of messages of a batch that are processed at the same time.
const CONCURRENCY: usize = 8;

/// The future response to a message of a batch, which is `None` for a notification.
type Pending = BoxFuture<'static, Option<Vec<u8>>>;

/// A batch whose messages were parsed.
pub(super) struct Batch {
    pending: Vec<Pending>,
    max_bytes: usize,
}

/// Returns true if the text starts with `[`.
pub(super) fn is_batch(json: &[u8]) -> bool {
    json.trim_ascii_start().first() == Some(&b'[')
}

impl Batch {
    /// Parses a batch. No message of it is processed if the token of the caller does not grant all of them.
    pub(super) fn read(shared: &Arc<Shared>, json: &[u8], peer: Peer<'_>) -> Result<Self, Rejected> {
        let messages: Vec<&RawValue> = serde_json::from_slice(json)
            .map_err(|_| RpcError::bad_request(Code::ParseError, "the message is not JSON"))?;
        if messages.is_empty() || messages.len() > MAX_MESSAGES {
            let message = format!("a batch has 1 to {MAX_MESSAGES} messages, got {}", messages.len());
            return Err(RpcError::bad_request(Code::InvalidRequest, message).into());
        }
        let mut batch = Self { pending: Vec::with_capacity(messages.len()), max_bytes: shared.max_result_bytes };
        let mut denied = Vec::new();
        for message in messages {
            match pending(shared, message.get().as_bytes(), peer) {
                Ok(pending) => batch.pending.push(pending),
                Err(Denied::Tools(tools)) => denied.extend(tools),
                Err(other) => return Err(other.into()),
            }
        }
        if denied.is_empty() { Ok(batch) } else { Err(Denied::Tools(denied).into()) }
    }

    /// Processes all messages and returns the responses in order, or `None` if no message was a request.
    pub(super) async fn answer(self) -> Option<Vec<u8>> {
        let mut answers = stream::iter(self.pending).buffered(CONCURRENCY);
        let mut array = Vec::new();
        while let Some(answer) = answers.next().await {
            let Some(answer) = answer else { continue };
            array.push(if array.is_empty() { b'[' } else { b',' });
            array.extend_from_slice(&answer);
            if array.len() > self.max_bytes.saturating_mul(2) {
                let message = format!("the responses of the batch exceed the limit of {} bytes", self.max_bytes);
                return Some(RpcError::new(Code::Internal, message).to_response(None));
            }
        }
        if array.is_empty() {
            return None;
        }
        array.push(b']');
        Some(array)
    }
}

fn pending(shared: &Arc<Shared>, json: &[u8], peer: Peer<'_>) -> Result<Pending, Denied> {
    Ok(match route(shared, Message::parse(json), peer) {
        Routed::Denied(denied) => return Err(denied),
        Routed::Reply(bytes) => Box::pin(async { Some(bytes) }),
        Routed::RpcError(id, fault) => {
            let response = fault.to_response(id);
            Box::pin(async { Some(response) })
        }
        Routed::Call(call) => Box::pin(async { answer(call).await.into_answer() }),
        Routed::Find(find) => Box::pin(async { Some(find.answer().await) }),
        Routed::Resources(request) => Box::pin(async { request.answer().await.into_answer() }),
        Routed::Nothing => Box::pin(async { None }),
        // The revision with batches has no tasks.
        Routed::Initialized { .. } | Routed::Listen(_) | Routed::Task(_) | Routed::TaskResult(_) => {
            let id = Message::parse(json).ok().and_then(|message| message.id());
            let fault = RpcError::new(Code::InvalidRequest, "this request cannot be part of a batch");
            let response = fault.to_response(id);
            Box::pin(async { Some(response) })
        }
    })
}
