//! The one connection to a server that a backend has at a time.

use std::future::Future;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Mutex, watch};
use tokio::task::{AbortHandle, JoinHandle};
use tokio::time::{sleep_until, timeout};
use toolkit::ToolError;
use toolkit::call::ErrorKind;

use super::McpBackend;
use super::backoff::Backoff;
use super::connect::{Era, connect};
use super::connection::Connection;

/// The one connection to a server that a backend has at a time, and what is known of those before it.
pub(super) struct Link {
    state: Mutex<State>,
    /// Beside the state, so that a stop need not wait for who waits for an attempt.
    is_stopped: AtomicBool,
    /// True once there was a connection since the last stop, so that a missing one is lost.
    was_connected: AtomicBool,
    /// Ends the latest attempt.
    aborting: std::sync::Mutex<Option<AbortHandle>>,
    /// Grows whenever the list of tools may have changed.
    changes: watch::Sender<u64>,
    /// How far it had grown when the tools were listed last.
    seen: AtomicU64,
    /// When tools that could not be listed are worth another try.
    relisting: std::sync::Mutex<Backoff>,
}

/// The longest wait of a call for a server that is being restarted.
const MAX_CALL_WAIT: Duration = Duration::from_secs(5);

#[derive(Default)]
struct State {
    connection: Option<Arc<Connection>>,
    /// Goes on when who began it waits no longer: a server that starts slowly is there for a later call.
    attempt: Option<JoinHandle<Result<(Connection, Era), ToolError>>>,
    backoff: Backoff,
    /// How the server wanted to be spoken to last time.
    era: Option<Era>,
}

impl Link {
    /// The connection, made anew if there is none that holds. Calls at the same time share one attempt.
    ///
    /// # Errors
    ///
    /// The server cannot be reached, or could not a moment ago.
    pub(super) async fn connection(&self, backend: &McpBackend) -> Result<Arc<Connection>, ToolError> {
        let mut state = self.state.lock().await;
        if self.is_stopped.load(Ordering::Acquire) {
            return Err(stopped(backend));
        }
        if let Some(connection) = state.current() {
            return Ok(connection);
        }
        if let Some(left) = state.backoff.left() {
            if self.was_connected.load(Ordering::Acquire) {
                return Err(restarting(backend, left));
            }
            let message = format!("{backend} could not be reached, and is not tried again before {left:.1?}");
            return Err(ToolError::new(ErrorKind::Unavailable, message).retryable(left));
        }
        self.connect(backend, &mut state).await
    }

    /// As [`Link::connection`], for a call: of a server that has gone and takes long to come back, a model should hear
    /// soon.
    pub(super) async fn connection_for_call(&self, backend: &McpBackend) -> Result<Arc<Connection>, ToolError> {
        let connection = self.connection(backend);
        if !self.was_connected.load(Ordering::Acquire) {
            return connection.await;
        }
        timeout(MAX_CALL_WAIT, connection).await.unwrap_or_else(|_| {
            let message = format!("{backend} is being restarted; try again");
            Err(ToolError::new(ErrorKind::Unavailable, message).retryable(None))
        })
    }

    /// Connects now, whatever came of it before.
    pub(super) async fn start(&self, backend: &McpBackend) -> Result<(), ToolError> {
        let mut state = self.state.lock().await;
        self.is_stopped.store(false, Ordering::Release);
        match state.current() {
            Some(_) => Ok(()),
            None => self.connect(backend, &mut state).await.map(|_| ()),
        }
    }

    /// Ends the connection; there is no other until [`Link::start`].
    pub(super) async fn stop(&self) {
        // Whoever waits for an attempt holds the lock until it is over, and whoever comes next is not to begin another.
        self.is_stopped.store(true, Ordering::Release);
        self.was_connected.store(false, Ordering::Release);
        self.abort();
        let connection = {
            let mut state = self.state.lock().await;
            self.is_stopped.store(true, Ordering::Release);
            self.abort();
            state.backoff.reset();
            state.attempt = None;
            state.connection.take()
        };
        if let Some(connection) = connection {
            connection.close().await;
        }
    }

    async fn connect(&self, backend: &McpBackend, state: &mut State) -> Result<Arc<Connection>, ToolError> {
        let attempt = state.attempt.get_or_insert_with(|| {
            let (backend, era, changes) = (backend.clone(), state.era, self.changes.clone());
            let attempt = tokio::spawn(async move { connect(&backend, era, &changes).await });
            *self.aborting() = Some(attempt.abort_handle());
            if self.is_stopped.load(Ordering::Acquire) {
                self.abort();
            }
            attempt
        });
        let outcome = attempt.await;
        state.attempt = None;
        let outcome = outcome.map_err(|error| match error.is_cancelled() {
            true => stopped(backend),
            false => ToolError::internal(error),
        });
        let outcome = outcome.flatten();
        state.backoff.set_back();
        let (connection, era) = outcome.inspect_err(|_| {
            // Perhaps it wants to be spoken to in another way now.
            state.era = state.era.map(|_| Era::Discover);
        })?;
        state.era = Some(era);
        self.was_connected.store(true, Ordering::Release);
        // What was listed before is not what this connection lists.
        self.changes.send_modify(|n| *n += 1);
        let connection = Arc::new(connection);
        state.connection = Some(Arc::clone(&connection));
        Ok(connection)
    }

    /// Remembers what came of listing the tools.
    pub(super) async fn listing<T>(
        &self,
        backend: &McpBackend,
        listed: impl Future<Output = Result<T, ToolError>>,
    ) -> Result<T, ToolError> {
        self.check_restart(backend).await?;
        let mut relisting = Relisting { link: self, listed: None };
        // A new connection is a change, and the one to be listed.
        self.connection(backend).await?;
        let n_changes = *self.changes.borrow();
        let listed = listed.await?;
        relisting.listed = Some(n_changes);
        Ok(listed)
    }

    /// Fails while a server that was lost is not to be started again yet, so that one that ends again and again is not
    /// started by each listing.
    async fn check_restart(&self, backend: &McpBackend) -> Result<(), ToolError> {
        let left = self.relisting().left();
        match left {
            Some(left) if self.was_connected.load(Ordering::Acquire) && self.state.lock().await.current().is_none() => {
                Err(restarting(backend, left))
            }
            _ => Ok(()),
        }
    }

    /// Waits until the tools may have changed since they were listed, or the connection is lost. Where they could not be
    /// listed, or the connection is lost still, that is when there is one again.
    pub(super) async fn changed(&self, backend: &McpBackend) {
        let mut changes = self.changes.subscribe();
        loop {
            let not_before = self.relisting().not_before();
            if let Some(not_before) = not_before {
                sleep_until(not_before).await;
                if self.connection(backend).await.is_ok() {
                    return;
                }
            } else {
                // The sender is here as long as this is.
                let _ = changes.wait_for(|&n| n > self.seen.load(Ordering::Acquire)).await;
                if self.state.lock().await.current().is_none() {
                    self.relisting().set_back();
                }
                return;
            }
            self.relisting().set_back();
        }
    }

    /// Ends an attempt to connect, if there is one.
    fn abort(&self) {
        if let Some(attempt) = self.aborting().take() {
            attempt.abort();
        }
    }

    fn aborting(&self) -> MutexGuard<'_, Option<AbortHandle>> {
        self.aborting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn relisting(&self) -> MutexGuard<'_, Backoff> {
        self.relisting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An attempt to list the tools. Whoever asked may stop waiting at any time, which is a failure like any other.
struct Relisting<'l> {
    link: &'l Link,
    /// How far the changes had grown that the list is as new as; `None` while there is no list.
    listed: Option<u64>,
}

impl Drop for Relisting<'_> {
    fn drop(&mut self) {
        match self.listed {
            Some(n_changes) => {
                self.link.seen.store(n_changes, Ordering::Release);
                self.link.relisting().lift();
            }
            None => self.link.relisting().set_back(),
        }
    }
}

impl State {
    /// The connection, if it holds. One that never answered is as bad as none.
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

fn restarting(backend: &McpBackend, left: Duration) -> ToolError {
    let message = format!("{backend} is being restarted; try again in {left:.1?}");
    ToolError::new(ErrorKind::Unavailable, message).retryable(left)
}

fn stopped(backend: &McpBackend) -> ToolError {
    ToolError::new(ErrorKind::Unavailable, format!("{backend} is stopped"))
}

impl Default for Link {
    fn default() -> Self {
        Self {
            state: Mutex::default(),
            is_stopped: AtomicBool::new(false),
            was_connected: AtomicBool::new(false),
            aborting: std::sync::Mutex::default(),
            changes: watch::Sender::new(0),
            seen: AtomicU64::new(0),
            relisting: std::sync::Mutex::default(),
        }
    }
}
