//! Tasks in memory.

use std::collections::HashMap;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::store::TaskStore;

/// A store in memory, whose tasks are lost when the process ends.
#[derive(Debug, Default)]
pub(crate) struct TasksInMemory(Mutex<HashMap<String, Vec<u8>>>);

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
