//! The beginning of a call: what its request declares, and what its tool requires.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use tokio::sync::mpsc::Receiver;
use toolkit::call::{Credentials, ErrorKind};
use toolkit::mcp::Revision;
use toolkit::tool::TaskSupport;
use toolkit::{Arguments, CancelToken, Context, Tool, ToolError};
use toolkit_mcp::{Code, RpcError};
use tracing::Span;

use super::ask::{StreamAsker, TaskAsker};
use super::messages::{CallEvent, queue};
use super::offer::task_offer;
use super::permit_slot::PermitSlot;
use super::{Asks, Call, StreamAsks, invalid_state};
use crate::ask::{Modes, Rounds};
use crate::headers;
use crate::logging::CallLog;
use crate::observe::Observed;
use crate::peer::{Peer, Received, register};
use crate::request::{Caller, Request};
use crate::served::ServedTools;
use crate::state::ServerState;

/// The tool of a call.
pub(crate) struct CallTarget {
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
    shared: &Arc<ServerState>,
    target: CallTarget,
    received: Received<'_>,
    arguments: Arguments<'_>,
    observed: &mut Option<Observed>,
) -> Result<Arc<Call>, RpcError> {
    let CallTarget { served, nth, is_found } = target;
    let Received { id, meta, revision, peer } = received;
    let entry = &served.entries[nth];
    if let (Some(headers), Revision::V2026_07_28, false) = (peer.headers(), revision, peer.is_plain) {
        headers::check_param_headers(headers, &entry.param_headers, &arguments)?;
    }
    let log_level = match revision {
        Revision::V2025_11_25 => peer.session.and_then(|session| shared.log_levels.get(session)),
        _ => meta.log_level()?,
    };
    let task = match (entry.task_support, meta.task) {
        (TaskSupport::Forbidden, None) => None,
        _ if peer.is_plain => None,
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
    let cancel = registered.as_ref().map_or_else(CancelToken::new, |call| call.token.clone());
    context = context.with_cancel(cancel.clone());
    let observed = observed.take();
    let span = observed.as_ref().map_or_else(Span::none, |observed| observed.span().clone());
    if let Some(observed) = &observed {
        context = observed.traced(context);
    }
    let progress_token = meta.progress_token().and_then(|token| serde_json::from_str(token.get()).ok());
    let mut call = Call {
        shared: Arc::clone(shared),
        served,
        nth,
        is_found,
        arguments: arguments.into_owned(),
        id: id.to_owned(),
        revision,
        context,
        cancel,
        is_cancellable: registered.is_some(),
        progress_token,
        log_level,
        asks,
        task,
        span,
        registered,
        observed,
        events: None,
        chunks: None,
        permit: None,
        #[cfg(feature = "http")]
        charge: Default::default(),
    };
    if call.task.is_some() || call.has_messages() && peer.takes_messages() {
        let wants_chunks = meta.wants_chunks() && call.progress_token.is_some();
        call.events = Some(listen(&mut call, wants_chunks));
    }
    if let (Asks::Rounds(rounds), None) = (&call.asks, &call.task) {
        call.context = std::mem::take(&mut call.context).with_asker(rounds.clone());
    }
    Ok(Arc::new(call))
}

/// Connects the context of the tool with the client of its call: questions, log messages, progress and parts of the result.
/// Returns the receiver of these events.
fn listen(call: &mut Call, wants_chunks: bool) -> Receiver<CallEvent> {
    let (events, receiver) = queue();
    let slot = PermitSlot::new(&call.shared.calls, &call.entry().id, Request::share_of(&call.context));
    let mut context = std::mem::take(&mut call.context);
    if let Some(offer) = &call.task {
        let rounds = match &call.asks {
            Asks::Rounds(rounds) => Some(rounds.clone()),
            _ => None,
        };
        let permit = call.permit.insert(slot).clone();
        context = context.with_asker(TaskAsker::new(offer, rounds, &call.shared, permit));
    } else if let Some(asks) = call.asks.take_stream() {
        let permit = call.permit.insert(slot).clone();
        let caller = context.get::<Request>().and_then(Request::caller);
        let identity = caller.and_then(Caller::identity);
        context = context.with_asker(StreamAsker {
            shared: Arc::clone(&call.shared),
            asks,
            identity,
            events: events.clone(),
            permit,
            n_asked: AtomicUsize::new(0),
        });
    }
    if wants_chunks {
        call.chunks = Some(events.clone());
    }
    if let Some(level) = call.log_level {
        let (events, log) = (events.clone(), CallLog::new(&call.entry().id));
        context = context.on_log(level, move |message| {
            if let Some(bytes) = log.notification(&message) {
                drop(events.try_send(CallEvent::Log(bytes)));
            }
        });
    }
    // A task shows the message of the last progress.
    if call.progress_token.is_some() || call.task.is_some() {
        context = context.on_progress(move |progress| drop(events.try_send(CallEvent::Progress(progress))));
    }
    call.context = context;
    receiver
}

/// Returns how a call asks the user of its client.
fn asks(
    shared: &Arc<ServerState>,
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
pub(crate) fn credentials(shared: &ServerState, caller: Option<&Arc<Caller>>, tool: &Tool) -> Credentials {
    let held = caller.map(|caller| caller.credentials.clone());
    held.or_else(|| shared.credentials.as_ref().map(|credentials| credentials(tool))).unwrap_or_default()
}

/// Returns the context of a tool that calls other tools: each of them has to pass the filter, needs the scopes of a
/// direct call, and gets its credentials.
fn nested(shared: &Arc<ServerState>, context: Context, peer: Peer<'_>) -> Context {
    let (shared, caller, access) = (Arc::clone(shared), peer.caller.cloned(), peer.access.cloned());
    context.nested_with(move |tool, context| {
        let served = shared.served();
        let catalog = served.dispatcher.catalog();
        let is_seen = !shared.is_view || catalog.with_id(tool.id()).is_some();
        if !is_seen || !shared.filter().admits_among(tool, catalog) {
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
