//! The history of a server's connections, for operators.

use std::sync::{Arc, Weak};
use std::time::{Duration, SystemTime};

use toolkit::ToolError;
use toolkit::backend::{BackendState, BackendStatus};
use toolkit_runtime::Mutex;

use super::connection::Connection;

/// The history of a server's connections.
pub(super) struct History(Mutex<LinkRecord>);

struct LinkRecord {
    status: BackendStatus,
    /// The number of starts of its process, or of connections to an address.
    n_starts: u64,
    connection: Weak<Connection>,
}

impl Default for History {
    fn default() -> Self {
        let status = BackendStatus::new(BackendState::Idle);
        Self(Mutex::new(LinkRecord { status, n_starts: 0, connection: Weak::new() }))
    }
}

impl History {
    /// Records an attempt to connect, which may start a process.
    pub(super) fn connecting(&self, is_process: bool) {
        let mut record = self.0.lock();
        record.enter(BackendState::Connecting);
        if is_process {
            record.count_start();
        }
    }

    pub(super) fn connected(&self, connection: &Arc<Connection>, is_process: bool) {
        let mut record = self.0.lock();
        record.enter(BackendState::Ready);
        if !is_process {
            record.count_start();
        }
        record.connection = Arc::downgrade(connection);
    }

    pub(super) fn failed(&self, error: &ToolError) {
        let mut record = self.0.lock();
        record.enter(BackendState::BackingOff);
        // The message is written for models. The sources may contain addresses and output of the process.
        record.status.last_error = Some(error.message().to_owned());
    }

    pub(super) fn sleeping(&self) {
        self.0.lock().enter(BackendState::Asleep);
    }

    pub(super) fn stopped(&self) {
        self.0.lock().enter(BackendState::Stopped);
    }

    /// Returns the status. `left` is the time until the next attempt to connect.
    pub(super) fn status(&self, left: Option<Duration>) -> BackendStatus {
        let mut record = self.0.lock();
        record.notice_loss();
        let mut status = record.status.clone();
        let is_unresponsive = record.connection.upgrade().is_some_and(|connection| connection.is_unresponsive());
        if status.state == BackendState::Ready && is_unresponsive {
            status.state = BackendState::BackingOff;
            status.last_error = Some("the server does not respond".to_owned());
        }
        if status.state == BackendState::BackingOff {
            status.next_attempt = left.map(|left| SystemTime::now() + left);
        }
        status
    }

    /// Records that the connection is lost, if it is.
    pub(super) fn notice_loss(&self) {
        self.0.lock().notice_loss();
    }
}

impl LinkRecord {
    fn count_start(&mut self) {
        self.status.n_restarts = self.n_starts;
        self.n_starts += 1;
    }

    fn enter(&mut self, state: BackendState) {
        let is_down = |state| matches!(state, BackendState::Connecting | BackendState::BackingOff);
        // Further attempts do not change how long the server has been unreachable.
        if self.status.state != state && !(is_down(state) && is_down(self.status.state)) {
            self.status.since = Some(SystemTime::now());
        }
        self.status.state = state;
    }

    fn notice_loss(&mut self) {
        if self.status.state != BackendState::Ready {
            return;
        }
        let connection = self.connection.upgrade();
        if connection.as_ref().is_some_and(|connection| !connection.is_closed()) {
            return;
        }
        self.enter(BackendState::BackingOff);
        let reason = connection.as_ref().and_then(|connection| connection.exit_state.end());
        self.status.last_error = Some(match reason {
            Some(reason) => format!("the connection was lost: {reason}"),
            None => "the connection was lost".to_owned(),
        });
    }
}
