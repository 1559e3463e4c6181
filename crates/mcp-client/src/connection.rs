//! A connection to a server and its requests.

use std::collections::HashMap;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use serde_json::{Map, Value};
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio::time::{Instant, timeout};
use toolkit::Context;
use toolkit::call::LogLevel;
use toolkit_mcp::{Code, ParamHeader};
use tracing::Instrument;

use super::backoff::{Backoff, STABLE_AFTER};
use super::caller::log_level;
use super::failure::{Failure, Reach};
use super::observe::{Observer, outcome, with_trace};
use super::outgoing::Request;
use super::peer::{Asking, Peer, PeerAnswer};
use super::process::ExitState;
use super::questions::RunningCall;
use super::remote::{Remote, RemoteTarget};
use super::server_info::ServerInfo;
use super::subscriber::subscribe;
use super::subscription::Subscription;
use super::watches::Watches;

/// A connection to a server. Dropping it closes the connection.
pub(super) struct Connection {
    peer: Arc<Peer>,
    /// What the server has declared.
    pub(super) info: ServerInfo,
    /// The arguments that headers repeat, by the name of the tool on the server.
    pub(super) param_headers: toolkit_runtime::Mutex<HashMap<String, Vec<ParamHeader>>>,
    /// The task that subscribes to changes of the lists, in revisions with subscriptions.
    listening: Option<AbortHandle>,
    /// The task that subscribes to the watched resources.
    subscribing: Option<AbortHandle>,
    changes: watch::Sender<u64>,
    /// The level of log messages that was requested, in revisions before 2026-07-28, and the number of changes before, one
    /// of which may have been a new session.
    log_level: toolkit_runtime::Mutex<Option<(u64, LogLevel)>>,
    /// The exit state of the server's process.
    pub(super) exit_state: Arc<ExitState>,
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
    pub(super) fn new(peer: Arc<Peer>, exit_state: Arc<ExitState>, watches: &Arc<Watches>, remote: &Remote) -> Self {
        let info = peer.info().expect("a connection begins with an agreement").clone();
        let request_timeout = remote.limits.start;
        let patience = request_timeout.min(MAX_PATIENCE);
        let has_subscriptions = info.has_flag("resources", "subscribe");
        let subscribing =
            has_subscriptions.then(|| tokio::spawn(subscribe(Arc::clone(&peer), Arc::clone(watches), request_timeout)));
        let observer = Observer::new(remote, Some(info.version.clone()));
        Self {
            log_level: toolkit_runtime::Mutex::default(),
            listening: listen_to_lists(&peer, &info),
            subscribing: subscribing.map(|task| task.abort_handle()),
            changes: peer.changes.clone(),
            peer,
            info,
            param_headers: toolkit_runtime::Mutex::default(),
            exit_state,
            is_lost: AtomicBool::new(false),
            n_answers: AtomicU64::new(0),
            is_being_checked: AtomicBool::new(false),
            is_unresponsive: AtomicBool::new(false),
            patience,
            max_patience: match *remote.target {
                RemoteTarget::Http(_) => patience,
                // Many programs answer nothing while a tool is running, and losing the connection ends them.
                RemoteTarget::Stdio(_) => patience.max(remote.limits.call),
            },
            observer,
        }
    }

    /// Sends a request and returns its result.
    ///
    /// Dropping the future before there is a response notifies the server that the request is canceled, and
    /// [checks](Self::check) the connection.
    pub(super) async fn ask(self: &Arc<Self>, mut request: Request) -> PeerAnswer {
        let observed = self.observer.start(&request);
        with_trace(&mut request.caller.meta, &observed);
        let mut check_on_drop = CheckOnDrop { connection: self, is_armed: true };
        let asking = Asking { sent: &|id| observed.set_id(&id), ..Asking::of(&request) };
        let answer = self.peer.ask_with(asking).instrument(observed.span().clone()).await;
        check_on_drop.is_armed = false;
        if matches!(answer, Ok(_) | Err(Failure::Rpc(_))) {
            self.n_answers.fetch_add(1, Ordering::AcqRel);
            self.is_unresponsive.store(false, Ordering::Release);
        }
        observed.end(outcome(&answer));
        answer
    }

    /// Returns the arguments that headers repeat in calls of a tool.
    pub(super) fn param_headers(&self, tool: &str) -> Vec<ParamHeader> {
        self.param_headers.lock().get(tool).cloned().unwrap_or_default()
    }

    /// Returns true if headers repeat arguments.
    pub(super) fn has_param_headers(&self) -> bool {
        !self.is_legacy() && self.peer.transport().is_http()
    }

    /// Requests the log messages that the caller receives, from a server of a revision before 2026-07-28. The level is that
    /// of the whole connection, so it only becomes less severe.
    pub(super) async fn request_logs(self: &Arc<Self>, context: &Context) {
        let has_logging = self.info.has("logging") && self.is_legacy();
        let Some(level) = log_level(context).filter(|_| has_logging) else { return };
        let n_changes = *self.changes.borrow();
        {
            let mut requested = self.log_level.lock();
            if requested.is_some_and(|(before, requested)| before == n_changes && requested <= level) {
                return;
            }
            *requested = Some((n_changes, level));
        }
        let request = Request::new("logging/setLevel").with("level", level.name());
        // Calls do not depend on it.
        let _ = timeout(LOG_LEVEL_TIMEOUT, self.ask(request)).await;
    }

    /// Registers a call whose user the server may ask by a request.
    pub(super) fn running_call(&self, context: &Context) -> Option<RunningCall> {
        self.peer.users.running_call(context)
    }

    /// Returns true if the server uses a revision with `initialize` and `ping`.
    pub(super) fn is_legacy(&self) -> bool {
        self.info.is_legacy()
    }

    /// Returns true if the server can run calls as tasks, which servers of revision 2026-07-28 decide themselves.
    pub(super) fn has_tasks(&self) -> bool {
        !self.is_legacy() || self.info.accepts_task_requests()
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
            tokio::spawn(check(Arc::downgrade(self), Arc::downgrade(&self.peer), self.patience, self.max_patience));
        }
    }

    /// Returns a request that each server answers soon.
    pub(super) fn harmless_request(&self) -> Request {
        harmless_request(&self.peer)
    }

    pub(super) fn is_closed(&self) -> bool {
        self.is_lost.load(Ordering::Acquire) || self.peer.is_closed()
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
        close_later(&self.peer);
    }

    /// Closes the connection and waits until it is closed.
    pub(super) async fn close(&self) {
        self.is_lost.store(true, Ordering::Release);
        self.exit_state.record("it was stopped".to_owned());
        let _ = timeout(CLOSE_TIMEOUT, close(&self.peer)).await;
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.listening.iter().chain(&self.subscribing).for_each(AbortHandle::abort);
        close_later(&self.peer);
    }
}

async fn close(peer: &Peer) {
    peer.close();
    peer.transport().close().await;
}

fn close_later(peer: &Arc<Peer>) {
    if let Ok(runtime) = tokio::runtime::Handle::try_current() {
        let peer = Arc::clone(peer);
        runtime.spawn(async move { close(&peer).await });
    }
}

/// A guard that checks the connection on drop.
struct CheckOnDrop<'a> {
    connection: &'a Arc<Connection>,
    is_armed: bool,
}

impl Drop for CheckOnDrop<'_> {
    fn drop(&mut self) {
        if self.is_armed && tokio::runtime::Handle::try_current().is_ok() {
            self.connection.check();
        }
    }
}

/// Checks that a server answers. The references are weak, so that the connection may end meanwhile.
async fn check(connection: Weak<Connection>, peer: Weak<Peer>, patience: Duration, max_patience: Duration) {
    let n_before = connection.upgrade().map(|connection| connection.n_answers.load(Ordering::Acquire));
    let (Some(n_before), Some(peer)) = (n_before, peer.upgrade()) else { return };
    let request = harmless_request(&peer);
    let mut answer = pin!(timeout(max_patience, peer.ask(&request)));
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
        Ok(Ok(_) | Err(Failure::Rpc(_))) => true,
        Ok(Err(failure)) => matches!(failure.reach(), Reach::Responds),
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
fn harmless_request(peer: &Peer) -> Request {
    // Revision 2026-07-28 has no `ping`.
    Request::new(if peer.is_legacy() { "ping" } else { "tools/list" })
}

/// Subscribes to changes of the lists, which revision 2026-07-28 requires. Earlier servers send notifications anyway.
fn listen_to_lists(peer: &Arc<Peer>, info: &ServerInfo) -> Option<AbortHandle> {
    let lists =
        [("tools", "toolsListChanged"), ("prompts", "promptsListChanged"), ("resources", "resourcesListChanged")];
    let changing = lists.into_iter().filter(|(list, _)| info.has_flag(list, "listChanged"));
    let wanted: Map<String, Value> = changing.map(|(_, flag)| (flag.to_owned(), Value::Bool(true))).collect();
    if wanted.is_empty() || info.is_legacy() {
        return None;
    }
    Some(tokio::spawn(listen(Arc::clone(peer), wanted.into())).abort_handle())
}

/// Listens to changes of the tools. A subscription may end while the server goes on, and is then renewed. Each start
/// and end counts as a change, since notifications may have been missed.
async fn listen(peer: Arc<Peer>, wanted: Value) {
    let mut pause = Backoff::default();
    while !peer.is_closed() {
        match Subscription::start(&peer, &wanted).await {
            Ok(mut subscription) => {
                peer.changes.send_modify(|n| *n += 1);
                let begun = Instant::now();
                subscription.ended().await;
                if begun.elapsed() > STABLE_AFTER {
                    pause.reset();
                }
                // The server may be gone.
                peer.changes.send_modify(|n| *n += 1);
            }
            // The server declares `listChanged` but does not implement the method.
            Err(Failure::Rpc(error)) if error.has_code(Code::MethodNotFound) => return,
            Err(_) => {}
        }
        pause.record_failure();
        tokio::time::sleep(pause.left().unwrap_or_default()).await;
    }
}
