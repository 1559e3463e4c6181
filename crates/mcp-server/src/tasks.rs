//! Tasks: calls whose client receives an id at once and polls for the result.
//!
//! A task whose call runs is in memory ([`LiveTask`]). Its [`Record`] is stored before the client receives the id, and
//! again when the call has ended. After a restart, the stored tasks without an end have failed.
//!
//! | module | contains |
//! | --- | --- |
//! | this file | the interface of stores, and a store in memory |
//! | `directory` | a store in a directory |
//! | `registry`, `index` | the tasks of a server, and what it remembers without loading a record |
//! | `live` | tasks whose calls run, and their questions |
//! | `record` | the stored form, and the forms on the wire |

mod directory;
mod index;
mod live;
mod record;
mod registry;

use std::collections::HashMap;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

pub use self::directory::TaskDirectory;
pub(super) use self::index::TaskTool;
pub(super) use self::live::LiveTask;
pub(super) use self::record::{Outcome, Record, TaskView};
pub(super) use self::registry::{CreateError, Created, Tasks};

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

// The interface of stores.

/// A store of tasks, which outlives the server.
///
/// The server stores the record of a task when it creates the task, and again when its call has ended. The methods run on
/// threads for tools, so they may block. Ids consist of 40 lowercase hexadecimal digits. Records are JSON, and contain
/// results of tools and the identities of callers.
///
/// A store belongs to one server: when a server starts, the stored tasks without an end have failed.
///
/// # Examples
///
/// ```
/// use std::collections::HashMap;
/// use std::io;
/// use std::sync::{Mutex, PoisonError};
///
/// use toolkit_mcp_server::TaskStore;
///
/// #[derive(Default)]
/// struct InMemory(Mutex<HashMap<String, Vec<u8>>>);
///
/// impl TaskStore for InMemory {
///     fn save(&self, id: &str, record: &[u8]) -> io::Result<()> {
///         self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(id.to_owned(), record.to_vec());
///         Ok(())
///     }
///
///     fn load(&self, id: &str) -> io::Result<Option<Vec<u8>>> {
///         Ok(self.0.lock().unwrap_or_else(PoisonError::into_inner).get(id).cloned())
///     }
///
///     fn remove(&self, id: &str) -> io::Result<()> {
///         self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
///         Ok(())
///     }
///
///     fn ids(&self) -> io::Result<Vec<String>> {
///         Ok(self.0.lock().unwrap_or_else(PoisonError::into_inner).keys().cloned().collect())
///     }
/// }
/// ```
pub trait TaskStore: Send + Sync + 'static {
    /// Stores the record of a task, in place of an earlier one. It must survive a crash once the method has returned.
    ///
    /// # Errors
    ///
    /// Returns an error if the record could not be stored. The earlier one must then be intact.
    fn save(&self, id: &str, record: &[u8]) -> io::Result<()>;

    /// Returns the record of a task, or `None` if there is none.
    ///
    /// # Errors
    ///
    /// Returns an error if the record could not be read.
    fn load(&self, id: &str) -> io::Result<Option<Vec<u8>>>;

    /// Removes the record of a task. A missing one is no error.
    ///
    /// # Errors
    ///
    /// Returns an error if the record could not be removed.
    fn remove(&self, id: &str) -> io::Result<()>;

    /// Returns the ids of all tasks, when the server starts.
    ///
    /// # Errors
    ///
    /// Returns an error if the ids could not be read.
    fn ids(&self) -> io::Result<Vec<String>>;
}

// Tasks in memory.

/// A store in memory, whose tasks are lost when the process ends.
#[derive(Debug, Default)]
pub(super) struct TasksInMemory(Mutex<HashMap<String, Vec<u8>>>);

impl TasksInMemory {
    fn records(&self) -> MutexGuard<'_, HashMap<String, Vec<u8>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TaskStore for TasksInMemory {
    fn save(&self, id: &str, record: &[u8]) -> io::Result<()> {
        self.records().insert(id.to_owned(), record.to_vec());
        Ok(())
    }

    fn load(&self, id: &str) -> io::Result<Option<Vec<u8>>> {
        Ok(self.records().get(id).cloned())
    }

    fn remove(&self, id: &str) -> io::Result<()> {
        self.records().remove(id);
        Ok(())
    }

    fn ids(&self) -> io::Result<Vec<String>> {
        Ok(self.records().keys().cloned().collect())
    }
}
