//! The interface of stores of tasks.

use std::io;

/// A store of tasks, which outlives the server.
///
/// The server stores the record of a task when it creates the task, and again when its call has ended. The methods run on
/// threads for tools, so they may block. Ids consist of 40 lowercase hexadecimal digits, after the
/// [name of the replica](crate::ServerBuilder::replica) and a dot if there is one. Records are JSON, and contain
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
