//! The tasks of a server, and their store.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::{Notify, Semaphore, oneshot};
use tokio::time::sleep;
use toolkit::Tool;
use toolkit_mcp::{Code, RpcError, json_bytes};
use toolkit_runtime::{Mutex, run_tool};

use super::index::{Index, TaskTool};
use super::live::LiveTask;
use super::record::{TaskOutcome, TaskRecord};
use super::timestamp::Timestamp;
use super::{TaskLimits, TaskStore, TasksInMemory};

/// The least time for which the result of a task is kept, unless tasks live shorter.
const MIN_KEPT: Duration = Duration::from_secs(300);

/// The times after which a record that could not be stored is stored again.
const RETRIES: [Duration; 2] = [Duration::from_millis(200), Duration::from_secs(2)];

/// The number of records that are loaded at the same time, since results may be large.
const MAX_LOADS: usize = 8;

/// The tasks of a server.
pub(crate) struct Tasks {
    pub(crate) limits: TaskLimits,
    store: Arc<dyn TaskStore>,
    index: Mutex<Index>,
    loads: Semaphore,
    /// True if the store outlives the server.
    is_persistent: bool,
    /// The name of this replica, with which ids begin.
    replica: Option<String>,
    /// Notified when a task has ended, or waits for its user.
    settled: Notify,
}

/// A task whose client has not received the id yet. Dropping it removes the task.
pub(crate) struct Created {
    tasks: Arc<Tasks>,
    pub(crate) task: Arc<LiveTask>,
    is_kept: bool,
}

/// The reason why a task was not created.
#[derive(Debug)]
pub(crate) enum CreateError {
    /// There are too many tasks.
    Full,
    /// The task could not be stored.
    Store,
}

impl Tasks {
    /// Opens the stored tasks. Those without an end have failed.
    ///
    /// # Errors
    ///
    /// Returns the errors of the store.
    pub(crate) fn open(
        limits: TaskLimits,
        store: Option<Box<dyn TaskStore>>,
        replica: Option<String>,
    ) -> io::Result<Self> {
        let is_persistent = store.is_some();
        let store = store.unwrap_or_else(|| Box::new(TasksInMemory::default()));
        let mut index = Index::default();
        let now = Timestamp::now();
        for id in store.ids()? {
            let record = store.load(&id)?.and_then(|bytes| serde_json::from_slice::<TaskRecord>(&bytes).ok());
            let Some(mut record) = record.filter(|record| record.task_id == id) else {
                // It may be the record of a later version.
                tracing::warn!(id, "the record of a task cannot be read");
                continue;
            };
            if record.expires_at() <= now {
                store.remove(&id)?;
                continue;
            }
            if record.outcome.is_none() {
                record.end(TaskOutcome::failed("the server was restarted while the task ran"), &limits);
                store.save(&id, &json_bytes(&record))?;
            }
            let n_bytes = json_bytes(&record).len();
            index.insert_stored(&record, n_bytes);
        }
        let (index, loads, settled) = (Mutex::new(index), Semaphore::new(MAX_LOADS), Notify::new());
        Ok(Self { limits, store: store.into(), index, loads, is_persistent, replica, settled })
    }

    /// Creates the id of a task: 160 random bits, which another client cannot guess, after the name of the replica.
    fn new_id(&self) -> Option<String> {
        let mut bytes = [0; 20];
        getrandom::fill(&mut bytes).ok()?;
        let digits = data_encoding::HEXLOWER.encode(&bytes);
        Some(match &self.replica {
            Some(replica) => format!("{replica}.{digits}"),
            None => digits,
        })
    }

    /// Returns the name of another replica to which the id of a task belongs.
    pub(crate) fn other_replica<'i>(&self, id: &'i str) -> Option<&'i str> {
        let (replica, _) = id.split_once('.')?;
        (self.replica.as_deref()? != replica && is_replica(replica)).then_some(replica)
    }

    /// Returns the number of tasks, including those that have ended.
    pub(crate) fn len(&self) -> usize {
        self.index.lock().len()
    }

    /// Creates a task and stores it. `n_bytes` is the size of its arguments.
    ///
    /// # Errors
    ///
    /// Returns an error if there are too many tasks, or the store fails.
    pub(crate) async fn create(
        self: &Arc<Self>,
        owner: Option<String>,
        tool: Tool,
        ttl: Duration,
        n_bytes: usize,
    ) -> Result<Created, CreateError> {
        let tasks = Arc::clone(self);
        // Not cancelled, so that a record is not removed before it is stored.
        let created = tokio::spawn(async move { tasks.create_stored(owner, tool, ttl, n_bytes).await });
        created.await.unwrap_or(Err(CreateError::Store))
    }

    async fn create_stored(
        self: Arc<Self>,
        owner: Option<String>,
        tool: Tool,
        ttl: Duration,
        n_bytes: usize,
    ) -> Result<Created, CreateError> {
        self.remove_expired();
        let id = self.new_id().ok_or(CreateError::Store)?;
        let task = Arc::new(LiveTask::new(id, owner, tool, ttl));
        let (removed, has_room) = {
            let mut index = self.index.lock();
            let (removed, has_room) = index.make_room(task.owner.as_deref(), n_bytes, &self.limits);
            if has_room {
                index.insert_live(&task, n_bytes);
            }
            (removed, has_room)
        };
        self.remove_records(removed);
        if !has_room {
            return Err(CreateError::Full);
        }
        let created = Created { tasks: Arc::clone(&self), task: Arc::clone(&task), is_kept: false };
        match self.save(&task.id, json_bytes(&task.record())).await {
            true => Ok(created),
            false => Err(CreateError::Store),
        }
    }

    /// Stores the outcome of a task, which is no longer live afterwards. Returns the time for which it is kept.
    pub(crate) async fn end(&self, task: &LiveTask, outcome: TaskOutcome) -> Duration {
        let mut record = task.record();
        record.end(outcome, &self.limits);
        let mut bytes = json_bytes(&record);
        let (removed, has_room) = self.index.lock().make_room_for_result(bytes.len());
        self.remove_records(removed);
        if !has_room {
            record.end(
                TaskOutcome::failed("the call has ended, but the server has no room for its result"),
                &self.limits,
            );
            bytes = json_bytes(&record);
        }
        let n_bytes = bytes.len();
        let mut is_stored = self.save(&task.id, bytes.clone()).await;
        for wait in RETRIES {
            if !is_stored {
                sleep(wait).await;
                is_stored = self.save(&task.id, bytes.clone()).await;
            }
        }
        let expires_at = record.expires_at();
        if is_stored {
            self.index.lock().end(&record, n_bytes);
        } else {
            record.end(TaskOutcome::failed("the call has ended, but its result could not be stored"), &self.limits);
            self.index.lock().end_unstored(record);
        }
        task.end();
        self.settled.notify_waiters();
        expires_at.since(Timestamp::now())
    }

    /// Returns true if the caller has this task.
    pub(crate) fn contains(&self, id: &str, owner: Option<&str>) -> bool {
        self.index.lock().contains(id, owner)
    }

    /// Returns the tool of a task of a caller.
    pub(crate) fn tool(&self, id: &str, owner: Option<&str>) -> Option<TaskTool> {
        self.index.lock().tool(id, owner)
    }

    /// Returns the task of a caller if its call runs.
    pub(crate) fn live(&self, id: &str, owner: Option<&str>) -> Option<Arc<LiveTask>> {
        self.index.lock().live(id, owner)
    }

    /// Returns the record of a task of a caller whose call has ended.
    ///
    /// # Errors
    ///
    /// Returns an error if the store fails.
    pub(crate) async fn ended(&self, id: &str, owner: Option<&str>) -> Result<Option<Arc<TaskRecord>>, RpcError> {
        self.remove_expired();
        {
            let index = self.index.lock();
            if !index.contains(id, owner) {
                return Ok(None);
            }
            if let Some(record) = index.unstored(id) {
                return Ok(Some(record));
            }
        }
        let _permit = self.loads.acquire().await;
        let key = id.to_owned();
        let loaded = self.work(move |store| {
            let bytes = store.load(&key)?;
            bytes.map(|bytes| serde_json::from_slice::<TaskRecord>(&bytes).map_err(io::Error::from)).transpose()
        });
        let loaded = loaded.await.map_err(|error| {
            tracing::error!(%error, "a task could not be loaded");
            RpcError::new(Code::Internal, "the task could not be loaded; try again later")
        })?;
        Ok(loaded.map(Arc::new))
    }

    /// Marks an ended task whose result is sent to its caller. If there are too many tasks, those are removed first.
    pub(crate) fn mark_read(&self, id: &str) {
        self.index.lock().mark_read(id);
    }

    /// Removes the tasks that have expired.
    pub(crate) fn remove_expired(&self) {
        let expired = self.index.lock().remove_expired(Timestamp::now());
        self.remove_records(expired);
    }

    /// Waits until each call of a task has ended or waits for its user, if its result outlives the server.
    pub(crate) async fn settled(&self) {
        let is_settled = || self.index.lock().live_tasks().all(|task| task.is_waiting());
        loop {
            let notified = self.settled.notified();
            if !self.is_persistent || is_settled() {
                return;
            }
            // Questions do not notify, so look again from time to time.
            let _ = tokio::time::timeout(Duration::from_millis(100), notified).await;
        }
    }

    /// Removes records of tasks that are not in the index any longer.
    fn remove_records(&self, ids: Vec<String>) {
        // Without a runtime, the next start of the server removes them.
        if ids.is_empty() || Handle::try_current().is_err() {
            return;
        }
        let store = Arc::clone(&self.store);
        run_tool("tasks", move || {
            for id in ids {
                if let Err(error) = store.remove(&id) {
                    tracing::error!(%error, "a task could not be removed");
                }
            }
        });
    }

    /// Stores a record. Returns false if this has failed.
    async fn save(&self, id: &str, record: Vec<u8>) -> bool {
        let id = id.to_owned();
        let saved = self.work(move |store| store.save(&id, &record)).await;
        saved.inspect_err(|error| tracing::error!(%error, "a task could not be stored")).is_ok()
    }

    /// Runs work of the store to its end, also if the future is dropped.
    async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce(&dyn TaskStore) -> io::Result<T> + Send + 'static,
    ) -> io::Result<T> {
        let (sender, receiver) = oneshot::channel();
        let store = Arc::clone(&self.store);
        run_tool("tasks", move || drop(sender.send(work(&*store))));
        receiver.await.unwrap_or_else(|_| Err(io::Error::other("the store has panicked")))
    }
}

impl Created {
    /// Returns the task, which now stays until it expires.
    pub(crate) fn keep(mut self) -> Arc<LiveTask> {
        self.is_kept = true;
        Arc::clone(&self.task)
    }
}

impl Drop for Created {
    fn drop(&mut self) {
        if !self.is_kept {
            self.tasks.index.lock().remove(&self.task.id);
            self.tasks.remove_records(vec![self.task.id.clone()]);
        }
    }
}

impl TaskRecord {
    /// Sets the outcome, and keeps the task long enough for its client to read it.
    fn end(&mut self, outcome: TaskOutcome, limits: &TaskLimits) {
        let now = Timestamp::now();
        let age = now.since(self.created_at);
        let least = (age + MIN_KEPT.min(limits.ttl)).as_millis().try_into().unwrap_or(u64::MAX);
        self.ttl_ms = self.ttl_ms.max(least);
        self.last_updated_at = now;
        // The last progress is outdated. Some clients before revision 2026-07-28 read the error of a task from here only.
        self.status_message = outcome.error();
        self.outcome = Some(outcome);
    }
}

impl TaskOutcome {
    /// Creates the outcome of a task that the server has ended.
    pub(crate) fn failed(message: &str) -> Self {
        let error = serde_json::json!({ "code": Code::Internal as i32, "message": message });
        Self::Failed(serde_json::value::to_raw_value(&error).unwrap_or_default())
    }
}

toolkit::debug_fields!(Tasks { limits });

/// The maximum length of the name of a replica.
const MAX_REPLICA: usize = 32;

/// Returns true for the name of a replica, which a load balancer finds before the first dot of an id.
pub(crate) fn is_replica(name: &str) -> bool {
    let is_valid = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=MAX_REPLICA).contains(&name.len()) && name.bytes().all(is_valid)
}

#[cfg(test)]
mod tests {
    use super::is_replica;

    #[test]
    fn the_name_of_a_replica_is_a_short_label_without_dots() {
        for name in ["a", "0", "-", "pod-7f9c", &"a".repeat(32)] {
            assert!(is_replica(name), "{name}");
        }
        for name in ["", "A", "a.b", "a_b", "a b", "é", &"a".repeat(33)] {
            assert!(!is_replica(name), "{name}");
        }
    }
}
