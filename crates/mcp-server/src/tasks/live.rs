//! Tasks whose calls run.

mod questions;

use std::collections::HashSet;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;
use toolkit::{CancelToken, Tool};
use toolkit_runtime::Mutex;

use self::questions::AskedQuestion;
use super::record::{TaskRecord, status_message};
use super::timestamp::Timestamp;

/// A task whose call runs.
#[derive(Debug)]
pub(crate) struct LiveTask {
    pub(super) id: String,
    pub(super) owner: Option<String>,
    pub(super) tool: Tool,
    created_at: Timestamp,
    ttl: Duration,
    /// The time at which the task is removed, unless its call ends before; `None` for one that is too far away.
    pub(crate) deadline: Option<Instant>,
    state: Mutex<LiveState>,
    changed: watch::Sender<()>,
    cancel: CancelToken,
}

#[derive(Debug)]
struct LiveState {
    updated_at: Timestamp,
    message: Option<String>,
    open: Vec<AskedQuestion>,
    /// The keys of all questions, which must not be used again.
    keys: HashSet<String>,
    has_ended: bool,
}

impl LiveTask {
    pub(super) fn new(id: String, owner: Option<String>, tool: Tool, ttl: Duration) -> Self {
        let now = Timestamp::now();
        let state = Mutex::new(LiveState {
            updated_at: now,
            message: None,
            open: Vec::new(),
            keys: HashSet::new(),
            has_ended: false,
        });
        Self {
            id,
            owner,
            tool,
            created_at: now,
            ttl,
            deadline: Instant::now().checked_add(ttl),
            state,
            changed: watch::Sender::new(()),
            cancel: CancelToken::new(),
        }
    }

    /// Returns the record of the task as of now.
    pub(crate) fn record(&self) -> TaskRecord {
        let state = self.state.lock();
        TaskRecord {
            task_id: self.id.clone(),
            owner: self.owner.clone(),
            tool: self.tool.id().to_string(),
            created_at: self.created_at,
            last_updated_at: state.updated_at,
            ttl_ms: self.ttl.as_millis().try_into().unwrap_or(u64::MAX),
            status_message: state.message.clone(),
            outcome: None,
        }
    }

    /// Records progress of the call.
    pub(crate) fn report(&self, message: &str) {
        let mut state = self.state.lock();
        if !message.is_empty() {
            state.message = Some(status_message(message));
        }
        self.touch(&mut state);
    }

    /// Requests that the call ends.
    pub(crate) fn cancel(&self) {
        self.cancel.cancel();
    }

    pub(crate) async fn cancelled(&self) {
        self.cancel.cancelled().await;
    }

    /// Returns a receiver of changes of the task.
    pub(crate) fn changes(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    /// Returns true if the task waits for its user.
    pub(crate) fn is_waiting(&self) -> bool {
        !self.state.lock().open.is_empty()
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.state.lock().has_ended
    }

    /// Waits until the call has ended and the outcome is stored.
    pub(crate) async fn ended(&self) {
        let mut changes = self.changes();
        while !self.has_ended() && changes.changed().await.is_ok() {}
    }

    /// Marks the end of the call, once the outcome is stored.
    pub(super) fn end(&self) {
        let mut state = self.state.lock();
        state.has_ended = true;
        state.open.clear();
        self.touch(&mut state);
    }

    fn touch(&self, state: &mut LiveState) {
        state.updated_at = Timestamp::now();
        self.changed.send_replace(());
    }
}
