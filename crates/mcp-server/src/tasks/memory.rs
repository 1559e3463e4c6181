//! Tasks in memory.

use std::collections::HashMap;
use std::io;

use toolkit_runtime::Mutex;

use super::store::TaskStore;

/// A store in memory, whose tasks are lost when the process ends.
#[derive(Debug, Default)]
pub(crate) struct TasksInMemory(Mutex<HashMap<String, Vec<u8>>>);

impl TasksInMemory {}

impl TaskStore for TasksInMemory {
    fn save(&self, id: &str, record: &[u8]) -> io::Result<()> {
        self.0.lock().insert(id.to_owned(), record.to_vec());
        Ok(())
    }

    fn load(&self, id: &str) -> io::Result<Option<Vec<u8>>> {
        Ok(self.0.lock().get(id).cloned())
    }

    fn remove(&self, id: &str) -> io::Result<()> {
        self.0.lock().remove(id);
        Ok(())
    }

    fn ids(&self) -> io::Result<Vec<String>> {
        Ok(self.0.lock().keys().cloned().collect())
    }
}
