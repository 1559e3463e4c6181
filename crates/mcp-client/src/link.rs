//! The current connection to a server, and the delays before it is restarted.
//!
//! `idle` stops an unused process, and `sessions` has the connections of single sessions of clients.

mod idle;
mod sessions;

use std::collections::HashMap;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use serde_json::Value;
use tokio::sync::{Mutex, Semaphore, SemaphorePermit, watch};
use tokio::task::{AbortHandle, JoinHandle};
use tokio::time::{Instant, sleep_until, timeout};
use toolkit::ToolError;
use toolkit::backend::BackendStatus;
use toolkit::call::ErrorKind;
use toolkit::schema::{Schema, Violation};

use self::idle::Idle;
pub(super) use self::sessions::{MAX_SESSIONS, Sessions};
use super::backoff::Backoff;
use super::connect::{Earlier, Era, connect};
use super::connection::Connection;
use super::history::History;
use super::remote::Remote;
use super::watches::Watches;

/// The current connection to a server and its history.
pub(super) struct Link {
    pub(super) remote: Remote,
    /// The resources that clients are subscribed to, on each connection.
    pub(super) watches: Arc<Watches>,
    state: Mutex<LinkState>,
    /// Outside of the lock, which is held during an attempt to connect.
    is_stopped: AtomicBool,
    /// True if there was a connection since the last stop, so that a missing one was lost.
    was_connected: AtomicBool,
    /// Aborts the current attempt to connect.
    aborting: toolkit_runtime::Mutex<Option<AbortHandle>>,
    /// Incremented whenever the list of tools may have changed.
    changes: watch::Sender<u64>,
    /// The value of `changes` when the tools were last listed.
    seen: AtomicU64,
    /// The backoff of listing the tools.
    relisting: toolkit_runtime::Mutex<Backoff>,
    /// The permits of concurrent calls.
    calls: Semaphore,
    /// The number of calls that run as tasks.
    n_tasks: AtomicU64,
    /// The output schemas that results are compared with, by the name of the tool on the server.
    pub(super) outputs: Arc<toolkit_runtime::Mutex<HashMap<String, Schema>>>,
    /// The connections of single sessions of clients, if the server has one for each.
    pub(super) sessions: Sessions,
    history: History,
    idle: Idle,
    /// The time before which no attempt to connect is made, as in the backoff of `state`.
    not_before: toolkit_runtime::Mutex<Option<Instant>>,
}

/// The time that a call waits for a server that is being restarted.
const MAX_CALL_WAIT: Duration = Duration::from_secs(5);

#[derive(Default)]
struct LinkState {
    connection: Option<Arc<Connection>>,
    /// The running attempt to connect. It continues if its caller gives up, so that a later call finds a connection.
    attempt: Option<JoinHandle<Result<(Connection, Era), ToolError>>>,
    backoff: Backoff,
    /// The number of attempts since the last connection that have failed.
    n_failed: u32,
    /// The era of the last connection.
    era: Option<Era>,
}

impl Link {
    /// Creates a link without a connection.
    pub(super) fn new(remote: Remote) -> Self {
        Self {
            calls: Semaphore::new(remote.limits.calls),
            watches: Arc::new(Watches::new(remote.resources.clone())),
            remote,
            state: Mutex::default(),
            is_stopped: AtomicBool::new(false),
            was_connected: AtomicBool::new(false),
            aborting: toolkit_runtime::Mutex::default(),
            changes: watch::Sender::new(0),
            seen: AtomicU64::new(0),
            relisting: toolkit_runtime::Mutex::default(),
            n_tasks: AtomicU64::new(0),
            outputs: Arc::default(),
            sessions: Sessions::default(),
            history: History::default(),
            idle: Idle::default(),
            not_before: toolkit_runtime::Mutex::default(),
        }
    }

    /// Creates a link for one session of a client, without a connection.
    pub(super) fn of_session(&self) -> Self {
        Self { outputs: Arc::clone(&self.outputs), ..Self::new(self.remote.clone()) }
    }

    /// Returns the number of calls that run as tasks.
    pub(super) fn n_tasks(&self) -> u64 {
        self.n_tasks.load(Ordering::Relaxed) + self.sessions.n_tasks()
    }

    /// Compares a structured result with the output schema of its tool.
    pub(super) fn first_violation(&self, tool: &str, result: &Value) -> Option<Violation> {
        self.outputs.lock().get(tool)?.first_violation(result)
    }

    /// Waits until a call may start, at most for the timeout of a call.
    ///
    /// # Errors
    ///
    /// Returns an error if too many calls are running.
    pub(super) async fn permit_in_time(&self) -> Result<SemaphorePermit<'_>, ToolError> {
        let limits = &self.remote.limits;
        let permit = timeout(limits.call, self.calls.acquire()).await.map_err(|_| {
            let remote = &self.remote;
            let message = format!("{remote} is at its limit of {} concurrent calls; try again later", limits.calls);
            ToolError::new(ErrorKind::Overloaded, message)
        })?;
        Ok(permit.expect("the semaphore is never closed"))
    }

    /// Counts a call that runs as a task, until the guard is dropped.
    pub(super) fn count_task(&self) -> RunningTask<'_> {
        self.n_tasks.fetch_add(1, Ordering::Relaxed);
        RunningTask(&self.n_tasks)
    }

    /// Returns an error if [`Link::stop`] has closed the connection.
    pub(super) fn check_stopped(&self) -> Result<(), ToolError> {
        if self.is_stopped.load(Ordering::Acquire) { Err(stopped(&self.remote)) } else { Ok(()) }
    }

    /// Returns the connection, and reconnects if necessary. Concurrent calls share one attempt.
    ///
    /// # Errors
    ///
    /// Returns an error if the server cannot be reached, or a failed attempt is too recent.
    pub(super) async fn connection(&self) -> Result<Arc<Connection>, ToolError> {
        let mut state = self.state.lock().await;
        self.check_stopped()?;
        self.history.notice_loss();
        if let Some(connection) = state.current() {
            return Ok(connection);
        }
        if let Some(left) = state.backoff.left() {
            if self.was_connected.load(Ordering::Acquire) {
                return Err(restarting(&self.remote, left));
            }
            let message = format!("{} cannot be reached; the next attempt is in {left:.1?}", self.remote);
            return Err(ToolError::new(ErrorKind::Unavailable, message).retryable(left));
        }
        self.connect(&mut state).await
    }

    /// Like [`Link::connection`], with a timeout for a lost server, so that the model gets an answer soon.
    pub(super) async fn connection_for_call(&self) -> Result<Arc<Connection>, ToolError> {
        self.idle.record_use();
        let connection = self.connection();
        if !self.was_connected.load(Ordering::Acquire) {
            return connection.await;
        }
        timeout(MAX_CALL_WAIT, connection).await.unwrap_or_else(|_| {
            let message = format!("{} is being restarted; try again", self.remote);
            Err(ToolError::new(ErrorKind::Unavailable, message).retryable(None))
        })
    }

    /// Connects now, without backoff.
    pub(super) async fn start(&self) -> Result<(), ToolError> {
        let mut state = self.state.lock().await;
        self.is_stopped.store(false, Ordering::Release);
        match state.current() {
            Some(_) => Ok(()),
            None => self.connect(&mut state).await.map(|_| ()),
        }
    }

    /// Returns the state of the connection.
    pub(super) fn status(&self) -> BackendStatus {
        let not_before = *self.not_before.lock();
        let next = not_before.max(self.relisting.lock().not_before);
        let mut status = self.history.status(next.map(|next| next.saturating_duration_since(Instant::now())));
        status.n_tasks = self.n_tasks();
        status
    }

    /// Closes the connection. [`Link::start`] allows a new one.
    pub(super) async fn stop(&self) {
        // The lock may be held by an attempt, which is aborted. The flag prevents the next waiter from starting another
        // one.
        self.is_stopped.store(true, Ordering::Release);
        self.was_connected.store(false, Ordering::Release);
        self.abort();
        let connection = {
            let mut state = self.state.lock().await;
            self.is_stopped.store(true, Ordering::Release);
            self.abort();
            state.backoff.reset();
            state.n_failed = 0;
            state.attempt = None;
            self.idle.wake();
            self.history.stopped();
            state.connection.take()
        };
        if let Some(connection) = connection {
            connection.close().await;
        }
        for session in self.sessions.take() {
            Box::pin(session.stop()).await;
        }
    }

    async fn connect(&self, state: &mut LinkState) -> Result<Arc<Connection>, ToolError> {
        let was_asleep = self.idle.wake();
        let attempt = state.attempt.get_or_insert_with(|| {
            let (remote, changes) = (self.remote.clone(), self.changes.clone());
            let earlier = Earlier { era: state.era, n_failed: state.n_failed };
            let watches = Arc::clone(&self.watches);
            let attempt = tokio::spawn(async move { connect(&remote, earlier, &changes, &watches).await });
            self.history.connecting(self.remote.is_process());
            *self.aborting.lock() = Some(attempt.abort_handle());
            if self.is_stopped.load(Ordering::Acquire) {
                self.abort();
            }
            attempt
        });
        let outcome = attempt.await;
        state.attempt = None;
        let outcome = outcome.map_err(|error| match error.is_cancelled() {
            true => stopped(&self.remote),
            false => ToolError::internal(error),
        });
        let outcome = outcome.flatten();
        state.backoff.record_failure();
        *self.not_before.lock() = state.backoff.not_before;
        let (connection, era) = outcome.inspect_err(|error| {
            self.history.failed(error);
            if was_asleep {
                // Its tools are those of a server that cannot be reached.
                self.changes.send_modify(|n| *n += 1);
            }
            state.n_failed = state.n_failed.saturating_add(1);
            // The server may have been upgraded to another revision.
            state.era = state.era.map(|_| Era::Discover);
        })?;
        (state.era, state.n_failed) = (Some(era), 0);
        self.was_connected.store(true, Ordering::Release);
        // A new connection may list other tools.
        self.changes.send_modify(|n| *n += 1);
        let connection = Arc::new(connection);
        self.history.connected(&connection, self.remote.is_process());
        state.connection = Some(Arc::clone(&connection));
        Ok(connection)
    }

    /// Lists the tools with `listed` and records the outcome for [`Link::changed`].
    pub(super) async fn listing<T>(&self, listed: impl Future<Output = Result<T, ToolError>>) -> Result<T, ToolError> {
        self.check_restart().await?;
        let mut relisting = Relisting { link: self, listed: None };
        // A new connection increments `changes`, so connect before reading it.
        self.connection().await?;
        let n_changes = *self.changes.borrow();
        let listed = listed.await?;
        relisting.listed = Some(n_changes);
        Ok(listed)
    }

    /// Returns an error while the backoff of a lost server lasts, so that listing does not restart a crashing server
    /// each time.
    async fn check_restart(&self) -> Result<(), ToolError> {
        let left = self.relisting.lock().left();
        match left {
            Some(left) if self.was_connected.load(Ordering::Acquire) && self.state.lock().await.current().is_none() => {
                Err(restarting(&self.remote, left))
            }
            _ => Ok(()),
        }
    }

    /// Waits until the tools may have changed since they were listed, or the connection is lost. If listing has failed
    /// or the connection is still lost, waits until there is a connection.
    pub(super) async fn changed(&self) {
        let mut changes = self.changes.subscribe();
        loop {
            let not_before = self.relisting.lock().not_before;
            if let Some(not_before) = not_before {
                sleep_until(not_before).await;
                if self.connection().await.is_ok() {
                    return;
                }
            } else {
                // `changed` cannot fail, since `self` owns the sender.
                let may_differ = |n: &u64| *n > self.seen.load(Ordering::Acquire) && !self.idle.is_asleep();
                let _ = changes.wait_for(may_differ).await;
                self.history.notice_loss();
                if self.state.lock().await.current().is_none() {
                    self.relisting.lock().record_failure();
                }
                return;
            }
            self.relisting.lock().record_failure();
        }
    }

    /// Aborts a running attempt to connect.
    fn abort(&self) {
        if let Some(attempt) = self.aborting.lock().take() {
            attempt.abort();
        }
    }
}

/// A guard that counts a call that runs as a task.
pub(super) struct RunningTask<'l>(&'l AtomicU64);

impl Drop for RunningTask<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A guard for listing the tools. Dropping it without a list counts as a failure.
struct Relisting<'l> {
    link: &'l Link,
    /// The value of `changes` before the tools were listed, or `None` if listing failed.
    listed: Option<u64>,
}

impl Drop for Relisting<'_> {
    fn drop(&mut self) {
        match self.listed {
            Some(n_changes) => {
                self.link.seen.store(n_changes, Ordering::Release);
                self.link.relisting.lock().record_success();
            }
            None => self.link.relisting.lock().record_failure(),
        }
    }
}

impl LinkState {
    /// Returns the connection if it is open. Resets the backoff once the server has answered a request.
    fn current(&mut self) -> Option<Arc<Connection>> {
        let connection = self.connection.as_ref()?;
        if connection.has_answered() {
            self.backoff.reset();
        }
        if connection.is_closed() {
            self.connection = None;
        }
        self.connection.clone()
    }
}

fn restarting(remote: &Remote, left: Duration) -> ToolError {
    let message = format!("{remote} is being restarted; try again in {left:.1?}");
    ToolError::new(ErrorKind::Unavailable, message).retryable(left)
}

fn stopped(remote: &Remote) -> ToolError {
    ToolError::new(ErrorKind::Unavailable, format!("{remote} is stopped"))
}
