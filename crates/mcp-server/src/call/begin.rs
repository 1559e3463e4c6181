//! The beginning of a call: what its request declares, and what its tool requires.

use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use toolkit::call::{Credentials, ErrorKind, TraceContext};
use toolkit::mcp::Revision;
use toolkit::tool::TaskSupport;
use toolkit::{Arguments, CancelToken, Context, Tool, ToolError};
use toolkit_mcp::{Code, Meta, RpcError};
use toolkit_runtime::TraceParent;
use tracing::Span;

use super::{Asks, Call, ChunkSettings, StreamAsks, TaskOffer, invalid_state};
use crate::ask::{Modes, Rounds};
use crate::headers;
use crate::observe::Observed;
use crate::peer::{Peer, Received, register};
use crate::request::Caller;
use crate::served::ServedTools;
use crate::state::Shared;
use crate::tasks::EXTENSION;

/// The tool of a call.
pub(crate) struct Target {
    pub(crate) served: Arc<ServedTools>,
    /// The position in the list of served tools.
    pub(crate) nth: usize,
    /// True if `call_tool` calls the tool.
    pub(crate) is_found: bool,
}

/// Begins a call: checks what the request declares beside the arguments, and registers it for cancellation. Dropping the
/// call, or what it becomes, ends the registration.
///
/// # Errors
///
/// Returns an error if the request is invalid independently of the arguments, or its id is that of a running request.
pub(crate) fn begin(
    shared: &Arc<Shared>,
    target: Target,
    received: Received<'_>,
    arguments: Arguments<'_>,
    observed: &mut Option<Observed>,
) -> Result<Arc<Call>, RpcError> {
    let Target { served, nth, is_found } = target;
    let Received { id, meta, revision, peer } = received;
    let entry = &served.entries[nth];
    if let (Some(headers), Revision::V2026_07_28) = (peer.headers(), revision) {
        headers::check_param_headers(headers, &entry.param_headers, &arguments)?;
    }
    let log_level = match revision {
        Revision::V2025_11_25 => peer.session.and_then(|session| shared.log_levels.get(session)),
        _ => meta.log_level()?,
    };
    let task = match (entry.task_support, meta.task) {
        (TaskSupport::Forbidden, None) => None,
        (support, _) => task_offer(shared, support, received)?,
    };
    let asks = asks(shared, served.tool(entry), &arguments, received)?;
    let mut context = received.context();
    if entry.has_requirements {
        context = context.with_credentials(credentials(shared, peer.caller, served.tool(entry)));
    }
    if entry.calls_tools {
        context = nested(shared, context, peer);
    }
    let registered = register(&shared.running, peer, id)?;
    let cancel = registered.as_ref().map_or_else(CancelToken::new, |call| call.token().clone());
    context = context.with_cancel(cancel.clone());
    let observed = observed.take();
    let span = observed.as_ref().map_or_else(Span::none, |observed| observed.span().clone());
    let parent = observed.as_ref().and_then(Observed::trace_parent);
    let context = match parent {
        // Backends continue the trace from here.
        Some(parent) => context.with(forwarded(parent, meta)),
        None => context,
    };
    let shared = Arc::clone(shared);
    let progress_token = meta.progress_token().and_then(|token| serde_json::from_str(token.get()).ok());
    let id = id.to_owned();
    Ok(Arc::new(Call {
        shared,
        served,
        nth,
        is_found,
        arguments: arguments.into_owned(),
        id,
        revision,
        context,
        cancel,
        registered,
        is_cancellable: false,
        progress_token,
        chunks: ChunkSettings::new(meta.wants_chunks()),
        log_level,
        asks,
        task,
        span,
        observed,
        permit: None,
        #[cfg(feature = "http")]
        charge: Default::default(),
    }))
}

/// Returns the trace context that backends receive.
fn forwarded(parent: TraceParent, meta: &Meta<'_>) -> TraceContext {
    let mut trace = TraceContext::new(parent.traceparent);
    trace.tracestate = parent.tracestate;
    let [_, _, baggage] = meta.trace();
    trace.baggage = baggage.map(|baggage| baggage.into_owned());
    trace
}

/// Returns how a call asks the user of its client.
fn asks(
    shared: &Arc<Shared>,
    tool: &Tool,
    arguments: &Arguments<'_>,
    received: Received<'_>,
) -> Result<Asks, RpcError> {
    let Received { meta, revision, peer, .. } = received;
    if revision == Revision::V2025_11_25 {
        return Ok(match peer.session {
            Some(session) if !peer.modes.is_empty() => Asks::Stream(StreamAsks {
                session: session.into(),
                modes: peer.modes,
                questions: shared.waiting.of_call(&peer.name(session)),
                end: peer.end.cloned(),
            }),
            _ => Asks::Never,
        });
    }
    // Without the feature `ask`, no state can be sealed for the client.
    let declared = meta.client_capabilities.filter(|_| cfg!(feature = "ask"));
    let modes = declared.map_or_else(Modes::default, |declared| Modes::declared(declared.get()));
    let Some(state) = meta.input.state else {
        return Ok(if modes.is_empty() { Asks::Never } else { Asks::Rounds(Rounds::first(modes)) });
    };
    let caller = peer.caller.map(|caller| &**caller);
    let rounds = Rounds::next(modes, &shared.sealing, tool, arguments, caller, state, meta.input.responses);
    let rounds = rounds.map_err(|reason| RpcError::new(Code::InvalidParams, reason))?;
    rounds.map(Asks::Rounds).ok_or_else(invalid_state)
}

/// Returns the credentials of the caller, or those that the host has for callers that the server does not authenticate.
pub(crate) fn credentials(shared: &Shared, caller: Option<&Arc<Caller>>, tool: &Tool) -> Credentials {
    let held = caller.map(|caller| caller.credentials().clone());
    held.or_else(|| shared.credentials.as_ref().map(|credentials| credentials(tool))).unwrap_or_default()
}

/// Returns the context of a tool that calls other tools: each of them has to pass the filter, needs the scopes of a
/// direct call, and gets its credentials.
fn nested(shared: &Arc<Shared>, context: Context, peer: Peer<'_>) -> Context {
    let (shared, caller, access) = (Arc::clone(shared), peer.caller.cloned(), peer.access.cloned());
    context.nested_with(move |tool, context| {
        if !shared.filter.admits_among(tool, shared.served().dispatcher.catalog()) {
            let message = format!("no tool is named `{}`", tool.id());
            return Err(ToolError::new(ErrorKind::UnknownTool, message));
        }
        if access.as_ref().is_some_and(|access| !access.grants_tool(tool)) {
            let message = "the token does not grant the scopes that this tool requires; call it directly, so that \
                           the client can request them";
            return Err(ToolError::new(ErrorKind::MissingRequirements, message));
        }
        if tool.requirements().is_empty() {
            return Ok(context);
        }
        Ok(context.with_credentials(credentials(&shared, caller.as_ref(), tool)))
    })
}

// The negotiation of tasks.

/// The least time to live of a task that its client requests, so that the call can run.
const MIN_TTL: Duration = Duration::from_secs(60);

/// Returns the terms on which a call may become a task.
///
/// # Errors
///
/// Returns an error if the client and the tool have no common way of calling.
pub(crate) fn task_offer(
    shared: &Arc<Shared>,
    support: TaskSupport,
    received: Received<'_>,
) -> Result<Option<TaskOffer>, RpcError> {
    let Received { meta, revision, peer, .. } = received;
    let ttl = shared.tasks.limits().ttl;
    if revision == Revision::V2025_11_25 {
        return match (support, meta.task) {
            (TaskSupport::Required, None) => Err(RpcError::new(
                Code::MethodNotFound,
                "the tool can only be called as a task; add `task` to `params`",
            )),
            (TaskSupport::Forbidden, Some(_)) => {
                Err(RpcError::new(Code::MethodNotFound, "the tool cannot be called as a task"))
            }
            (_, None) => Ok(None),
            (_, Some(task)) => {
                let ttl = requested_ttl(task)?.map_or(ttl, |requested| requested.max(MIN_TTL).min(ttl));
                Ok(Some(TaskOffer::new(peer, ttl, true, peer.modes)))
            }
        };
    }
    if support == TaskSupport::Forbidden {
        return Ok(None);
    }
    if !declares_tasks(meta) {
        return if support == TaskSupport::Required { Err(missing_extension()) } else { Ok(None) };
    }
    let modes = meta.client_capabilities.map_or_else(Modes::default, |declared| Modes::declared(declared.get()));
    Ok(Some(TaskOffer::new(peer, ttl, false, modes)))
}

/// Returns true if the client declares the extension for tasks.
pub(crate) fn declares_tasks(meta: &Meta<'_>) -> bool {
    #[derive(Deserialize)]
    struct Capabilities<'m> {
        #[serde(borrow)]
        extensions: Option<Extensions<'m>>,
    }
    #[derive(Deserialize)]
    struct Extensions<'m> {
        #[serde(borrow, rename = "io.modelcontextprotocol/tasks")]
        tasks: Option<&'m RawValue>,
    }
    let declared = meta.client_capabilities.and_then(|declared| serde_json::from_str(declared.get()).ok());
    let extensions = declared.and_then(|declared: Capabilities<'_>| declared.extensions);
    extensions.and_then(|extensions| extensions.tasks).is_some_and(|tasks| tasks.get().starts_with('{'))
}

/// Creates the error for a client that does not declare the extension.
pub(crate) fn missing_extension() -> RpcError {
    let message = format!("the client has not declared the extension `{EXTENSION}`");
    let required = json!({ "extensions": { EXTENSION: {} } });
    RpcError::bad_request(Code::MissingClientCapability, message).with_data(json!({ "requiredCapabilities": required }))
}

/// Reads the time to live that the client requests, in milliseconds.
fn requested_ttl(task: &RawValue) -> Result<Option<Duration>, RpcError> {
    #[derive(Deserialize)]
    struct Task {
        ttl: Option<u64>,
    }
    let invalid = || RpcError::new(Code::InvalidParams, "`task` must be an object, and its `ttl` an integer");
    let is_object = task.get().starts_with('{');
    let task: Task = serde_json::from_str(task.get()).map_err(|_| invalid())?;
    if is_object { Ok(task.ttl.map(Duration::from_millis)) } else { Err(invalid()) }
}
