//! Tasks: calls whose client receives an id at once and polls for the result.
//!
//! A task whose call runs is in memory ([`LiveTask`]). Its [`TaskRecord`] is stored before the client receives the id, and
//! again when the call has ended. After a restart, the stored tasks without an end have failed.
//!
//! | module | contains |
//! | --- | --- |
//! | `store` | the interface of stores |
//! | `memory`, `directory` | a store in memory, and one in a directory |
//! | `registry`, `index` | the tasks of a server, and what it remembers without loading a record |
//! | `live` | tasks whose calls run, and their questions |
//! | `record`, `timestamp` | the stored form, and the forms on the wire |

mod directory;
mod index;
mod live;
mod memory;
mod record;
mod registry;
mod store;
mod timestamp;

use std::time::Duration;

pub use self::directory::TaskDirectory;
pub(super) use self::index::TaskTool;
pub(super) use self::live::LiveTask;
pub(super) use self::memory::TasksInMemory;
pub(super) use self::record::{TaskOutcome, TaskRecord, TaskView};
pub(super) use self::registry::{CreateError, Created, Tasks, is_replica};
pub use self::store::TaskStore;

/// The name of the extension of revision 2026-07-28.
pub(super) const EXTENSION: &str = "io.modelcontextprotocol/tasks";

/// The key in `_meta` by which messages before revision 2026-07-28 refer to a task.
pub(super) const RELATED_TASK: &str = "io.modelcontextprotocol/related-task";

/// The limits of tasks.
#[derive(Clone, Debug)]
pub(super) struct TaskLimits {
    /// The time after which a call becomes a task.
    pub(super) after: Duration,
    /// The time from the creation of a task until it is removed.
    pub(super) ttl: Duration,
    /// The maximum number of tasks, including those that have ended.
    pub(super) max: usize,
    /// The maximum number of tasks of one caller.
    pub(super) max_per_caller: usize,
    /// The maximum number of tasks whose calls run. The other permits are for calls whose clients wait.
    pub(super) max_live: usize,
}
