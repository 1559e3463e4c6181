//! Changes of tasks, for clients that subscribe to them (`notifications/tasks`).

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::select_all;
use serde_json::value::RawValue;
use tokio::sync::watch;
use tokio::time::sleep;
use toolkit_mcp::{Code, RpcError};

use crate::state::ServerState;
use crate::task_requests::detailed;
use crate::tasks::{LiveTask, TaskRecord, TaskView};

/// The maximum number of tasks that a client subscribes to with one request.
const MAX_TASKS: usize = 100;

/// The time after which a record is loaded again if the store has failed.
const RETRY: Duration = Duration::from_secs(1);

/// The tasks that a client has subscribed to.
pub(crate) struct TaskUpdates {
    pub(super) shared: Arc<ServerState>,
    /// The identity of the caller.
    owner: Option<String>,
    watched: Vec<Watched>,
}

/// The state of a task after a change.
pub(crate) struct Update {
    record: Arc<TaskRecord>,
    /// The task while its call runs.
    live: Option<Arc<LiveTask>>,
}

impl Update {
    /// Writes the parameters of the notification.
    pub(crate) fn params<'u>(&'u self, meta: &'u RawValue) -> TaskView<'u> {
        detailed(&self.record, self.live.as_deref(), meta)
    }
}

struct Watched {
    pub(super) id: String,
    /// The task while its call runs.
    live: Option<(Arc<LiveTask>, watch::Receiver<()>)>,
}

impl TaskUpdates {
    /// Subscribes to those of the tasks that the caller has.
    ///
    /// # Errors
    ///
    /// Returns an error if there are too many.
    pub(crate) fn new(
        shared: &Arc<ServerState>,
        owner: Option<String>,
        mut ids: Vec<String>,
    ) -> Result<Self, RpcError> {
        if ids.len() > MAX_TASKS {
            let message = format!("`taskIds` has {} ids, more than the limit of {MAX_TASKS}", ids.len());
            return Err(RpcError::new(Code::InvalidParams, message));
        }
        ids.sort();
        ids.dedup();
        let tasks = &shared.tasks;
        ids.retain(|id| tasks.contains(id, owner.as_deref()));
        let watched = ids.into_iter().map(|id| {
            let live = tasks.live(&id, owner.as_deref());
            let live = live.map(|task| {
                let mut changes = task.changes();
                // The first notification has the current state, which may be one without another change.
                changes.mark_changed();
                (task, changes)
            });
            Watched { id, live }
        });
        let watched = watched.collect();
        Ok(Self { shared: Arc::clone(shared), owner, watched })
    }

    /// Returns the ids of the tasks.
    pub(crate) fn ids(&self) -> Vec<&str> {
        self.watched.iter().map(|watched| &*watched.id).collect()
    }

    /// Waits until a task has changed. Never returns if no task can change. Dropping the future loses no change.
    pub(crate) async fn next(&mut self) -> Update {
        loop {
            if self.watched.is_empty() {
                return std::future::pending().await;
            }
            let changes = self.watched.iter_mut().map(|watched| {
                Box::pin(async {
                    if let Some((_, changes)) = &mut watched.live {
                        let _ = changes.changed().await;
                    }
                })
            });
            let ((), idx, _) = pin!(select_all(changes)).await;
            let watched = &mut self.watched[idx];
            if let Some((task, _)) = &watched.live
                && !task.has_ended()
            {
                let update = Update { record: Arc::new(task.record()), live: Some(Arc::clone(task)) };
                // A task that changes often must not hide the others.
                let last = self.watched.remove(idx);
                self.watched.push(last);
                return update;
            }
            // The task stays in the list until its last state is read, since the future may be dropped before.
            watched.live = None;
            let Ok(ended) = self.shared.tasks.ended(&watched.id, self.owner.as_deref()).await else {
                sleep(RETRY).await;
                continue;
            };
            let watched = self.watched.remove(idx);
            // It may have expired meanwhile.
            if let Some(record) = ended {
                self.shared.tasks.mark_read(&watched.id);
                return Update { record, live: None };
            }
        }
    }
}
