//! A connection to a server and its requests.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use rmcp::model::{
    CancelledNotification, CancelledNotificationParam, ClientRequest, ErrorCode, GetExtensions, ProtocolVersion,
    RequestId, RequestMetaObject, SubscriptionFilter,
};
use rmcp::service::{Peer, PeerRequestOptions, RoleClient, RunningService, ServiceError};
use serde_json::Value;
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio::time::Instant;
use toolkit::Context;

use super::backoff::{Backoff, STABLE_AFTER};
use super::handler::Handler;
use super::listener::Listener;
use super::process::ExitState;
use super::running_calls::{RunningCall, RunningCalls};
use super::subscriber;
use super::verbatim;
use super::watches::Watches;

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
    exit_state: Arc<ExitState>,
    is_lost: AtomicBool,
    has_answered: AtomicBool,
}

/// The timeout of closing a connection. A process gets two chances to exit before it is killed.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(10);

impl Connection {
    pub(super) fn new(
        running: RunningService<RoleClient, Handler>,
        exit_state: Arc<ExitState>,
        changes: watch::Sender<u64>,
        watches: &Arc<Watches>,
        request_timeout: Duration,
    ) -> Self {
        let peer = running.peer().clone();
        let subscribing = has_subscriptions(&peer)
            .then(|| tokio::spawn(subscriber::subscribe(peer.clone(), Arc::clone(watches), request_timeout)));
        Self {
            calls: running.service().calls.clone(),
            listening: listen_to_lists(&peer, changes.clone()),
            subscribing: subscribing.map(|task| task.abort_handle()),
            changes,
            peer,
            running: std::sync::Mutex::new(Some(running)),
            exit_state,
            is_lost: AtomicBool::new(false),
            has_answered: AtomicBool::new(false),
        }
    }

    /// Sends a request and returns its result as JSON.
    ///
    /// Dropping the future before there is a response notifies the server that the request is canceled.
    pub(super) async fn ask(
        &self,
        mut request: ClientRequest,
        meta: Option<RequestMetaObject>,
        listener: Option<&Arc<Listener>>,
    ) -> Result<Value, ServiceError> {
        let mut options = PeerRequestOptions::no_options();
        options.meta = meta;
        if let Some(listener) = listener {
            // The transport reads the listener from the extensions, and so receives even the earliest progress.
            request.extensions_mut().insert(Arc::clone(listener));
        }
        let handle = self.peer.send_request_with_option(request, options).await?;
        let mut cancel_on_drop = CancelOnDrop { peer: &self.peer, id: Some(handle.id.clone()) };
        let answer = handle.await_response().await;
        cancel_on_drop.id = None;
        if matches!(answer, Ok(_) | Err(ServiceError::McpError(_))) {
            self.has_answered.store(true, Ordering::Release);
        }
        verbatim::whole(answer?).map_err(|_| ServiceError::UnexpectedResponse)
    }

    /// Registers a call whose user the server may ask by a request.
    pub(super) fn running_call(&self, context: &Context) -> Option<RunningCall> {
        self.calls.as_ref().map(|calls| calls.add(context))
    }

    /// Returns true if the server uses a revision with `initialize` and `ping`.
    pub(super) fn is_legacy(&self) -> bool {
        self.peer.peer_info().is_some_and(|info| info.protocol_version.has_initialize())
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

    /// Returns true if clients can subscribe to single resources of the server.
    pub(super) fn has_subscriptions(&self) -> bool {
        has_subscriptions(&self.peer)
    }

    pub(super) fn has_answered(&self) -> bool {
        self.has_answered.load(Ordering::Acquire)
    }

    pub(super) fn is_closed(&self) -> bool {
        self.is_lost.load(Ordering::Acquire) || self.peer.is_transport_closed()
    }

    /// Returns the exit state of the server's process.
    pub(super) fn exit_state(&self) -> &ExitState {
        &self.exit_state
    }

    /// Marks the connection as lost, so that the next call reconnects.
    pub(super) fn lose(&self) {
        if !self.is_lost.swap(true, Ordering::AcqRel) {
            self.changes.send_modify(|n| *n += 1);
        }
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
    peer: &'a Peer<RoleClient>,
    id: Option<RequestId>,
}

impl Drop for CancelOnDrop<'_> {
    fn drop(&mut self) {
        let (Some(id), Ok(runtime)) = (self.id.take(), tokio::runtime::Handle::try_current()) else {
            return;
        };
        let peer = self.peer.clone();
        runtime.spawn(async move {
            let cancelled =
                CancelledNotificationParam::new(Some(id), Some("the caller has canceled the request".to_owned()));
            let _ = peer.send_notification(CancelledNotification::new(cancelled).into()).await;
        });
    }
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
    if !(has_tools || has_resources) || info.protocol_version.has_initialize() {
        return None;
    }
    let task = tokio::spawn(listen(peer.clone(), changes, has_resources));
    Some(task.abort_handle())
}

/// Listens to changes of the tools. A subscription may end while the server goes on, and is then renewed. Each start
/// and end counts as a change, since notifications may have been missed.
async fn listen(peer: Peer<RoleClient>, changes: watch::Sender<u64>, has_resources: bool) {
    let mut pause = Backoff::default();
    while !peer.is_transport_closed() {
        let filter = SubscriptionFilter::builder().tools_list_changed();
        let filter = if has_resources { filter.resources_list_changed().build() } else { filter.build() };
        match peer.listen(filter).await {
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
