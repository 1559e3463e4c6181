//! A connection to a server and its requests.

use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, Weak};
use std::time::Duration;

use rmcp::model::{
    CancelledNotification, CancelledNotificationParam, ClientRequest, CustomRequest, ErrorCode, GetExtensions,
    ListToolsRequest, PingRequest, ProtocolVersion, RequestId, SubscriptionFilter,
};
use rmcp::service::{Peer, PeerRequestOptions, RoleClient, RunningService, ServiceError};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio::time::{Instant, timeout};
use toolkit::Context;
use toolkit::call::LogLevel;
use toolkit_runtime::ObservedRequest;
use tracing::Instrument;

use super::caller::{FromCaller, Listener, log_level};
use super::exchange::{Reach, reach};
use super::observe::{Observer, outcome, with_trace};
use super::process::ExitState;
use super::questions::{Handler, RunningCall, RunningCalls};
use super::remote::{Backoff, Remote, STABLE_AFTER, Target};
use super::verbatim;
use super::watches::{self, Watches};

/// A connection to a server. Dropping it closes the connection.
pub(super) struct Connection {
    peer: Peer<RoleClient>,
    running: std::sync::Mutex<Option<RunningService<RoleClient, Handler>>>,
    /// The task that subscribes to changes of the lists, in revisions with subscriptions.
    listening: Option<AbortHandle>,
    /// The task that subscribes to the watched resources.
    subscribing: Option<AbortHandle>,
    changes: watch::Sender<u64>,
    calls: Option<RunningCalls>,
    /// The level of log messages that was requested, in revisions before 2026-07-28, and the number of changes before, one
    /// of which may have been a new session.
    log_level: std::sync::Mutex<Option<(u64, LogLevel)>>,
    exit_state: Arc<ExitState>,
    is_lost: AtomicBool,
    /// The number of requests that the server has answered.
    n_answers: AtomicU64,
    is_being_checked: AtomicBool,
    /// True while the server does not answer a check.
    is_unresponsive: AtomicBool,
    /// The time after which a server that does not answer a check is unresponsive.
    patience: Duration,
    /// The time after which the connection to an unresponsive server is lost.
    max_patience: Duration,
    observer: Observer,
}

/// The timeout of the request for log messages.
const LOG_LEVEL_TIMEOUT: Duration = Duration::from_secs(2);

/// The timeout of closing a connection. A process gets two chances to exit before it is killed.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(10);

/// The upper bound of [`Connection::patience`].
const MAX_PATIENCE: Duration = Duration::from_secs(10);

impl Connection {
    pub(super) fn new(
        running: RunningService<RoleClient, Handler>,
        exit_state: Arc<ExitState>,
        changes: watch::Sender<u64>,
        watches: &Arc<Watches>,
        remote: &Remote,
    ) -> Self {
        let peer = running.peer().clone();
        let request_timeout = remote.limits.start;
        let patience = request_timeout.min(MAX_PATIENCE);
        let version = peer.peer_info().map(|info| info.protocol_version.as_str().to_owned());
        let subscribing = has_subscriptions(&peer)
            .then(|| tokio::spawn(watches::subscribe(peer.clone(), Arc::clone(watches), request_timeout)));
        Self {
            calls: running.service().calls.clone(),
            log_level: std::sync::Mutex::default(),
            listening: listen_to_lists(&peer, changes.clone()),
            subscribing: subscribing.map(|task| task.abort_handle()),
            changes,
            peer,
            running: std::sync::Mutex::new(Some(running)),
            exit_state,
            is_lost: AtomicBool::new(false),
            n_answers: AtomicU64::new(0),
            is_being_checked: AtomicBool::new(false),
            is_unresponsive: AtomicBool::new(false),
            patience,
            max_patience: match *remote.target {
                Target::Http(_) => patience,
                // Many programs answer nothing while a tool is running, and losing the connection ends them.
                Target::Stdio(_) => patience.max(remote.limits.call),
            },
            observer: Observer::new(remote, version),
        }
    }

    /// Sends a request and returns its result as JSON.
    ///
    /// Dropping the future before there is a response notifies the server that the request is canceled, and
    /// [checks](Self::check) the connection.
    pub(super) async fn ask(
        self: &Arc<Self>,
        mut request: ClientRequest,
        caller: FromCaller,
        listener: Option<&Arc<Listener>>,
    ) -> Result<Value, ServiceError> {
        let observed = self.observer.start(&request);
        let mut options = PeerRequestOptions::no_options();
        options.meta = with_trace(caller.meta, &observed);
        // The transport reads the headers from the extensions.
        if let Some(headers) = caller.headers {
            request.extensions_mut().insert(headers);
        }
        if let Some(listener) = listener {
            // The transport reads the listener from the extensions, and so receives even the earliest progress.
            request.extensions_mut().insert(Arc::clone(listener));
        }
        let answered = self.answered(request, options, &observed).instrument(observed.span().clone()).await;
        observed.end(outcome(&answered));
        answered
    }

    async fn answered(
        self: &Arc<Self>,
        request: ClientRequest,
        options: PeerRequestOptions,
        observed: &ObservedRequest,
    ) -> Result<Value, ServiceError> {
        let handle = self.peer.send_request_with_option(request, options).await?;
        observed.set_id(&handle.id);
        let mut cancel_on_drop = CancelOnDrop { connection: self, id: Some(handle.id.clone()) };
        let answer = handle.await_response().await;
        cancel_on_drop.id = None;
        if matches!(answer, Ok(_) | Err(ServiceError::McpError(_))) {
            self.n_answers.fetch_add(1, Ordering::AcqRel);
            self.is_unresponsive.store(false, Ordering::Release);
        }
        verbatim::whole(answer?).map_err(|_| ServiceError::UnexpectedResponse)
    }

    /// Requests the log messages that the caller receives, from a server of a revision before 2026-07-28. The level is that
    /// of the whole connection, so it only becomes less severe.
    pub(super) async fn request_logs(self: &Arc<Self>, context: &Context) {
        let has_logging = self.peer.peer_info().is_some_and(|info| info.capabilities.logging.is_some());
        let Some(level) = log_level(context).filter(|_| has_logging && self.is_legacy()) else { return };
        let n_changes = *self.changes.borrow();
        {
            let mut requested = self.log_level.lock().unwrap_or_else(PoisonError::into_inner);
            if requested.is_some_and(|(before, requested)| before == n_changes && requested <= level) {
                return;
            }
            *requested = Some((n_changes, level));
        }
        let request = CustomRequest::new("logging/setLevel", Some(json!({ "level": level.name() })));
        // Calls do not depend on it.
        let _ =
            timeout(LOG_LEVEL_TIMEOUT, self.ask(ClientRequest::CustomRequest(request), FromCaller::default(), None))
                .await;
    }

    /// Registers a call whose user the server may ask by a request.
    pub(super) fn running_call(&self, context: &Context) -> Option<RunningCall> {
        self.calls.as_ref().map(|calls| calls.add(context))
    }

    /// Returns the instructions of the server for the model.
    pub(super) fn instructions(&self) -> Option<String> {
        self.peer.peer_info()?.instructions.clone().filter(|text| !text.trim().is_empty())
    }

    /// Returns true if the server uses a revision with `initialize` and `ping`.
    pub(super) fn is_legacy(&self) -> bool {
        is_legacy(&self.peer)
    }

    /// Returns true if the server has declared that it accepts calls with a request for a task, in revision 2025-11-25.
    pub(super) fn accepts_task_requests(&self) -> bool {
        self.peer.peer_info().is_some_and(|info| {
            let experimental = info.capabilities.experimental.as_ref();
            info.protocol_version == ProtocolVersion::V_2025_11_25
                && experimental.is_some_and(|experimental| experimental.contains_key(verbatim::TASKS))
        })
    }

    /// Returns true if the server has declared the extension for tasks, in revision 2026-07-28.
    pub(super) fn has_declared_tasks(&self) -> bool {
        !self.is_legacy() && self.peer.peer_info().is_some_and(|info| info.capabilities.supports_tasks())
    }

    /// Returns true if the server can run calls as tasks, which servers of revision 2026-07-28 decide themselves.
    pub(super) fn has_tasks(&self) -> bool {
        !self.is_legacy() || self.accepts_task_requests()
    }

    /// Returns true if the server has declared resources.
    pub(super) fn has_resources(&self) -> bool {
        self.peer.peer_info().is_some_and(|info| info.capabilities.resources.is_some())
    }

    /// Returns true if the server has declared prompts.
    pub(super) fn has_prompts(&self) -> bool {
        self.peer.peer_info().is_some_and(|info| info.capabilities.prompts.is_some())
    }

    /// Returns true if the server has declared completions of arguments.
    pub(super) fn has_completions(&self) -> bool {
        self.peer.peer_info().is_some_and(|info| info.capabilities.completions.is_some())
    }

    /// Returns true if clients can subscribe to single resources of the server.
    pub(super) fn has_subscriptions(&self) -> bool {
        has_subscriptions(&self.peer)
    }

    pub(super) fn has_answered(&self) -> bool {
        self.n_answers.load(Ordering::Acquire) > 0
    }

    /// Returns true if the server has not answered a request, nor a check after it.
    pub(super) fn is_unresponsive(&self) -> bool {
        self.is_unresponsive.load(Ordering::Acquire)
    }

    /// Checks in the background that the server still answers, after it has not answered a request. If it does not, the
    /// connection is lost.
    pub(super) fn check(self: &Arc<Self>) {
        if !self.is_being_checked.swap(true, Ordering::AcqRel) {
            tokio::spawn(check(Arc::downgrade(self), self.peer.clone(), self.patience, self.max_patience));
        }
    }

    /// Returns a request that each server answers soon.
    pub(super) fn harmless_request(&self) -> ClientRequest {
        harmless_request(&self.peer)
    }

    pub(super) fn is_closed(&self) -> bool {
        self.is_lost.load(Ordering::Acquire) || self.peer.is_transport_closed()
    }

    /// Returns the exit state of the server's process.
    pub(super) fn exit_state(&self) -> &ExitState {
        &self.exit_state
    }

    /// Marks the connection as lost, so that the next call reconnects. Other requests may still get their responses.
    pub(super) fn lose(&self) {
        if !self.is_lost.swap(true, Ordering::AcqRel) {
            self.changes.send_modify(|n| *n += 1);
        }
    }

    /// Marks the connection as lost and closes it.
    pub(super) fn end(&self) {
        self.lose();
        drop(self.take());
    }

    /// Closes the connection and waits until it is closed.
    pub(super) async fn close(&self) {
        self.is_lost.store(true, Ordering::Release);
        self.exit_state.record("it was stopped".to_owned());
        if let Some(mut running) = self.take() {
            let _ = running.close_with_timeout(CLOSE_TIMEOUT).await;
        }
    }

    fn take(&self) -> Option<RunningService<RoleClient, Handler>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.listening.iter().chain(&self.subscribing).for_each(AbortHandle::abort);
    }
}

/// A guard that cancels a request on drop.
struct CancelOnDrop<'a> {
    connection: &'a Arc<Connection>,
    id: Option<RequestId>,
}

impl Drop for CancelOnDrop<'_> {
    fn drop(&mut self) {
        let (Some(id), Ok(runtime)) = (self.id.take(), tokio::runtime::Handle::try_current()) else {
            return;
        };
        let (peer, connection) = (self.connection.peer.clone(), Arc::downgrade(self.connection));
        runtime.spawn(async move {
            let cancelled =
                CancelledNotificationParam::new(Some(id), Some("the caller has canceled the request".to_owned()));
            let _ = peer.send_notification(CancelledNotification::new(cancelled).into()).await;
            if let Some(connection) = connection.upgrade() {
                connection.check();
            }
        });
    }
}

/// Checks that a server answers. The reference is weak, so that the connection may end meanwhile.
async fn check(connection: Weak<Connection>, peer: Peer<RoleClient>, patience: Duration, max_patience: Duration) {
    let Some(n_before) = connection.upgrade().map(|connection| connection.n_answers.load(Ordering::Acquire)) else {
        return;
    };
    let mut options = PeerRequestOptions::no_options();
    options.timeout = Some(max_patience);
    let request = harmless_request(&peer);
    let mut answer = pin!(async { peer.send_request_with_option(request, options).await?.await_response().await });
    let answer = match timeout(patience, &mut answer).await {
        Ok(answer) => answer,
        Err(_) => {
            if let Some(connection) = connection.upgrade()
                && connection.n_answers.load(Ordering::Acquire) == n_before
            {
                connection.is_unresponsive.store(true, Ordering::Release);
            }
            answer.await
        }
    };
    let Some(connection) = connection.upgrade() else {
        return;
    };
    let is_alive = match &answer {
        Ok(_) | Err(ServiceError::McpError(_) | ServiceError::UnexpectedResponse) => true,
        Err(ServiceError::TransportSend(error)) => matches!(reach(error), Reach::Responds),
        Err(_) => false,
    };
    if is_alive || connection.n_answers.load(Ordering::Acquire) > n_before {
        connection.is_unresponsive.store(false, Ordering::Release);
    } else {
        connection.exit_state.record("it does not respond".to_owned());
        connection.lose();
    }
    connection.is_being_checked.store(false, Ordering::Release);
}

/// Returns a request that each server answers soon.
fn harmless_request(peer: &Peer<RoleClient>) -> ClientRequest {
    match is_legacy(peer) {
        true => ClientRequest::PingRequest(PingRequest::default()),
        // The revision has no `ping`.
        false => ClientRequest::ListToolsRequest(ListToolsRequest::default()),
    }
}

fn is_legacy(peer: &Peer<RoleClient>) -> bool {
    peer.peer_info().is_some_and(|info| info.protocol_version.has_initialize())
}

fn has_subscriptions(peer: &Peer<RoleClient>) -> bool {
    let resources = peer.peer_info().and_then(|info| info.capabilities.resources.clone());
    resources.and_then(|resources| resources.subscribe) == Some(true)
}

/// Subscribes to changes of the lists, which revision 2026-07-28 requires. Earlier servers send notifications anyway.
fn listen_to_lists(peer: &Peer<RoleClient>, changes: watch::Sender<u64>) -> Option<AbortHandle> {
    let info = peer.peer_info()?;
    let has_tools = info.capabilities.tools.as_ref().and_then(|tools| tools.list_changed) == Some(true);
    let resources = info.capabilities.resources.as_ref();
    let has_resources = resources.and_then(|resources| resources.list_changed) == Some(true);
    let prompts = info.capabilities.prompts.as_ref();
    let has_prompts = prompts.and_then(|prompts| prompts.list_changed) == Some(true);
    if !(has_tools || has_prompts || has_resources) || info.protocol_version.has_initialize() {
        return None;
    }
    let filter = SubscriptionFilter::builder().tools_list_changed();
    let filter = if has_prompts { filter.prompts_list_changed() } else { filter };
    let filter = if has_resources { filter.resources_list_changed() } else { filter };
    let task = tokio::spawn(listen(peer.clone(), changes, filter.build()));
    Some(task.abort_handle())
}

/// Listens to changes of the tools. A subscription may end while the server goes on, and is then renewed. Each start
/// and end counts as a change, since notifications may have been missed.
async fn listen(peer: Peer<RoleClient>, changes: watch::Sender<u64>, filter: SubscriptionFilter) {
    let mut pause = Backoff::default();
    while !peer.is_transport_closed() {
        match peer.listen(filter.clone()).await {
            Ok(mut subscription) => {
                changes.send_modify(|n| *n += 1);
                let begun = Instant::now();
                // The transport handles the notifications.
                while let Ok(Some(_)) = subscription.next().await {}
                if begun.elapsed() > STABLE_AFTER {
                    pause.reset();
                }
                // The server may be gone.
                changes.send_modify(|n| *n += 1);
            }
            // The server declares `listChanged` but does not implement the method.
            Err(ServiceError::McpError(error)) if error.code == ErrorCode::METHOD_NOT_FOUND => return,
            Err(_) => {}
        }
        pause.record_failure();
        tokio::time::sleep(pause.left().unwrap_or_default()).await;
    }
}
