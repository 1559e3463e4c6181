//! The tasks of a server, without their results.

use std::collections::HashMap;
use std::sync::Arc;

use toolkit::Tool;

use super::TaskLimits;
use super::live::LiveTask;
use super::record::TaskRecord;
use super::timestamp::Timestamp;

/// The size of all records and of the arguments of running calls above which no task is created, in bytes.
const MAX_BYTES: usize = 256 << 20;

/// The same, for the tasks of one caller.
const MAX_BYTES_PER_CALLER: usize = 64 << 20;

/// The factor by which results may exceed these sizes, since calls that have run should not be in vain.
const TOLERANCE: usize = 2;

/// The tasks of a server.
#[derive(Debug, Default)]
pub(super) struct Index {
    tasks: HashMap<String, IndexedTask>,
}

#[derive(Debug)]
struct IndexedTask {
    owner: Option<String>,
    tool: TaskTool,
    expires_at: Timestamp,
    n_bytes: usize,
    state: IndexedState,
}

#[derive(Debug)]
enum IndexedState {
    /// The call runs.
    Live(Arc<LiveTask>),
    /// The record is stored. True if a client has read it.
    Stored { is_read: bool },
    /// The record could not be stored.
    Unstored(Arc<TaskRecord>),
}

/// The tool of a task.
#[derive(Clone, Debug)]
pub(crate) enum TaskTool {
    Known(Tool),
    /// The id of the tool of a task that was created by an earlier process.
    Id(String),
}

/// The use of a store.
#[derive(Clone, Copy, Debug)]
struct Usage {
    n_tasks: usize,
    n_live: usize,
    n_bytes: usize,
}

impl Index {
    /// Makes room for a task with arguments of this size, by removing tasks whose results were read. Returns the ids of
    /// those, and true if there is room.
    pub(super) fn make_room(
        &mut self,
        owner: Option<&str>,
        n_bytes: usize,
        limits: &TaskLimits,
    ) -> (Vec<String>, bool) {
        let mut removed = Vec::new();
        loop {
            let of_caller = self.usage(|entry| entry.owner.as_deref() == owner);
            let is_caller_full = of_caller.n_tasks >= limits.max_per_caller
                || of_caller.n_live >= (limits.max_live / 2).max(1)
                || of_caller.n_bytes + n_bytes > MAX_BYTES_PER_CALLER;
            let all = self.usage(|_| true);
            let is_full =
                all.n_tasks >= limits.max || all.n_live >= limits.max_live || all.n_bytes + n_bytes > MAX_BYTES;
            if !is_caller_full && !is_full {
                return (removed, true);
            }
            let is_candidate = |entry: &IndexedTask| !is_caller_full || entry.owner.as_deref() == owner;
            match self.remove_read(is_candidate) {
                Some(id) => removed.push(id),
                None => return (removed, false),
            }
        }
    }

    /// Makes room for a result, by removing tasks whose results were read. Returns the ids of those, and true if there
    /// is room.
    pub(super) fn make_room_for_result(&mut self, n_bytes: usize) -> (Vec<String>, bool) {
        let mut removed = Vec::new();
        while self.usage(|_| true).n_bytes + n_bytes > TOLERANCE * MAX_BYTES {
            match self.remove_read(|_| true) {
                Some(id) => removed.push(id),
                None => return (removed, false),
            }
        }
        (removed, true)
    }

    pub(super) fn insert_live(&mut self, task: &Arc<LiveTask>, n_bytes: usize) {
        let entry = IndexedTask {
            owner: task.owner.clone(),
            tool: TaskTool::Known(task.tool.clone()),
            expires_at: task.record().expires_at(),
            n_bytes,
            state: IndexedState::Live(Arc::clone(task)),
        };
        self.tasks.insert(task.id.clone(), entry);
    }

    /// Inserts a task of an earlier process.
    pub(super) fn insert_stored(&mut self, record: &TaskRecord, n_bytes: usize) {
        let entry = IndexedTask {
            owner: record.owner.clone(),
            tool: TaskTool::Id(record.tool.clone()),
            expires_at: record.expires_at(),
            n_bytes,
            state: IndexedState::Stored { is_read: false },
        };
        self.tasks.insert(record.task_id.clone(), entry);
    }

    /// Replaces a live task by its record, which is stored.
    pub(super) fn end(&mut self, record: &TaskRecord, n_bytes: usize) {
        if let Some(entry) = self.tasks.get_mut(&record.task_id) {
            entry.expires_at = record.expires_at();
            entry.n_bytes = n_bytes;
            entry.state = IndexedState::Stored { is_read: false };
        }
    }

    /// Replaces a live task by its record, which could not be stored.
    pub(super) fn end_unstored(&mut self, record: TaskRecord) {
        if let Some(entry) = self.tasks.get_mut(&record.task_id) {
            entry.expires_at = record.expires_at();
            entry.n_bytes = 0;
            entry.state = IndexedState::Unstored(Arc::new(record));
        }
    }

    pub(super) fn remove(&mut self, id: &str) {
        self.tasks.remove(id);
    }

    /// Returns true if the caller has this task.
    pub(super) fn contains(&self, id: &str, owner: Option<&str>) -> bool {
        self.of_caller(id, owner).is_some()
    }

    /// Returns the tool of a task of the caller.
    pub(super) fn tool(&self, id: &str, owner: Option<&str>) -> Option<TaskTool> {
        Some(self.of_caller(id, owner)?.tool.clone())
    }

    /// Returns the task of the caller if its call runs.
    pub(super) fn live(&self, id: &str, owner: Option<&str>) -> Option<Arc<LiveTask>> {
        match &self.of_caller(id, owner)?.state {
            IndexedState::Live(task) => Some(Arc::clone(task)),
            _ => None,
        }
    }

    /// Returns the record of a task that could not be stored.
    pub(super) fn unstored(&self, id: &str) -> Option<Arc<TaskRecord>> {
        match &self.tasks.get(id)?.state {
            IndexedState::Unstored(record) => Some(Arc::clone(record)),
            _ => None,
        }
    }

    /// Marks a task whose result a client has read. It may be removed before it expires.
    pub(super) fn mark_read(&mut self, id: &str) {
        if let Some(IndexedState::Stored { is_read }) = self.tasks.get_mut(id).map(|entry| &mut entry.state) {
            *is_read = true;
        }
    }

    /// Removes the ended tasks that have expired, and returns their ids.
    pub(super) fn remove_expired(&mut self, now: Timestamp) -> Vec<String> {
        let is_expired = |entry: &IndexedTask| !matches!(entry.state, IndexedState::Live(_)) && entry.expires_at <= now;
        let expired = self.tasks.extract_if(|_, entry| is_expired(entry));
        expired.map(|(id, _)| id).collect()
    }

    pub(super) fn len(&self) -> usize {
        self.tasks.len()
    }

    /// Returns the live tasks.
    pub(super) fn live_tasks(&self) -> impl Iterator<Item = &Arc<LiveTask>> {
        self.tasks.values().filter_map(|entry| match &entry.state {
            IndexedState::Live(task) => Some(task),
            _ => None,
        })
    }

    fn of_caller(&self, id: &str, owner: Option<&str>) -> Option<&IndexedTask> {
        self.tasks.get(id).filter(|entry| entry.owner.as_deref() == owner)
    }

    fn usage(&self, is_counted: impl Fn(&IndexedTask) -> bool) -> Usage {
        let mut usage = Usage { n_tasks: 0, n_live: 0, n_bytes: 0 };
        for entry in self.tasks.values().filter(|entry| is_counted(entry)) {
            usage.n_tasks += 1;
            usage.n_live += usize::from(matches!(entry.state, IndexedState::Live(_)));
            usage.n_bytes += entry.n_bytes;
        }
        usage
    }

    /// Removes the task that expires first of those whose results were read.
    fn remove_read(&mut self, is_candidate: impl Fn(&IndexedTask) -> bool) -> Option<String> {
        let is_read =
            |entry: &&IndexedTask| matches!(entry.state, IndexedState::Stored { is_read: true }) && is_candidate(entry);
        let read = self.tasks.iter().filter(|(_, entry)| is_read(entry));
        let id = read.min_by_key(|(_, entry)| entry.expires_at).map(|(id, _)| id.clone())?;
        self.tasks.remove(&id);
        Some(id)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const LIMITS: TaskLimits =
        TaskLimits { after: Duration::ZERO, ttl: Duration::ZERO, max: 6, max_per_caller: 4, max_live: 4 };

    fn record(id: &str, owner: &str, ttl_ms: u64) -> TaskRecord {
        let now = Timestamp::now();
        TaskRecord {
            task_id: id.to_owned(),
            owner: Some(owner.to_owned()),
            tool: "tool".to_owned(),
            created_at: now,
            last_updated_at: now,
            ttl_ms,
            status_message: None,
            outcome: None,
        }
    }

    /// Returns the stored tasks of these callers, each with its size in MiB. They expire in this order, and their ids are numbers.
    fn index(tasks: &[(&str, usize)]) -> Index {
        let mut index = Index::default();
        for (id, (owner, n_mib)) in tasks.iter().enumerate() {
            index.insert_stored(&record(&id.to_string(), owner, 1000 * (id as u64 + 1)), n_mib << 20);
        }
        index
    }

    #[test]
    fn tasks_whose_results_were_read_make_room_for_one_of_their_caller() {
        let mut tasks = index(&[("ada", 0), ("ada", 0), ("bob", 0), ("ada", 0), ("ada", 0)]);
        assert_eq!(tasks.make_room(Some("bob"), 0, &LIMITS), (vec![], true));
        assert_eq!(tasks.make_room(Some("ada"), 0, &LIMITS), (vec![], false), "four are the limit of a caller");
        for id in ["3", "2", "1"] {
            tasks.mark_read(id);
        }
        assert_eq!(tasks.make_room(Some("ada"), 0, &LIMITS), (vec!["1".to_owned()], true), "the first to expire");
        tasks.insert_stored(&record("5", "bob", 1), 0);
        tasks.insert_stored(&record("6", "bob", 1), 0);
        assert_eq!(tasks.make_room(Some("eve"), 0, &LIMITS), (vec!["2".to_owned()], true), "six are the limit of all");
        assert_eq!(tasks.len(), 5);
    }

    #[test]
    fn the_bytes_of_tasks_are_limited_for_a_caller_and_in_all() {
        const MIB: usize = 1 << 20;

        for (tasks, n_bytes, has_room) in [
            (vec![("ada", 63)], MIB, true),
            (vec![("ada", 63)], MIB + 1, false),
            (vec![("bob", 63)], 64 * MIB, true),
            (vec![("bob", 64), ("bob", 64), ("eve", 64)], 64 * MIB, true),
            (vec![("bob", 64), ("bob", 64), ("eve", 64)], 64 * MIB + 1, false),
            (vec![("bob", 64), ("bob", 64), ("eve", 65)], 63 * MIB + 1, false),
        ] {
            assert_eq!(index(&tasks).make_room(Some("ada"), n_bytes, &LIMITS).1, has_room, "{tasks:?} {n_bytes}");
        }
        // Results may take twice as much.
        let mut tasks = index(&[("ada", 256), ("bob", 255)]);
        assert_eq!(tasks.make_room_for_result(MIB), (vec![], true));
        assert_eq!(tasks.make_room_for_result(MIB + 1), (vec![], false));
        tasks.mark_read("1");
        assert_eq!(tasks.make_room_for_result(MIB + 1), (vec!["1".to_owned()], true));
    }

    #[test]
    fn an_ended_task_is_removed_when_it_expires() {
        let mut tasks = index(&[("ada", 0), ("ada", 0), ("ada", 0)]);
        let now = Timestamp::now();
        assert!(tasks.remove_expired(now).is_empty());
        assert_eq!(tasks.remove_expired(now.saturating_add(Duration::from_millis(1500))), ["0"]);
        tasks.remove("1");
        assert!(tasks.contains("2", Some("ada")) && !tasks.contains("1", Some("ada")));
        assert!(!tasks.contains("2", Some("bob")) && !tasks.contains("2", None));
        assert!(matches!(tasks.tool("2", Some("ada")), Some(TaskTool::Id(tool)) if tool == "tool"));
        assert!(tasks.tool("2", None).is_none() && tasks.live("2", Some("ada")).is_none());
        assert!(tasks.live_tasks().next().is_none() && tasks.unstored("2").is_none());
        tasks.end_unstored(record("2", "ada", 1));
        assert_eq!(tasks.unstored("2").map(|record| record.task_id.clone()).as_deref(), Some("2"));
        tasks.end(&record("2", "ada", 60_000), 7);
        assert!(tasks.unstored("2").is_none() && tasks.remove_expired(now.saturating_add(LIMITS.ttl)).is_empty());
    }
}
