//! Announcements of the status of a task.

use std::sync::Arc;

use tokio::sync::Notify;

/// A task whose state is requested. Its requests have it as an extension.
pub(super) struct TaskWatch {
    pub(super) id: Arc<str>,
    changed: Notify,
}

impl TaskWatch {
    pub(super) fn new(id: &Arc<str>) -> Self {
        Self { id: Arc::clone(id), changed: Notify::new() }
    }

    /// Records that the server has announced a change.
    pub(super) fn announce(&self) {
        self.changed.notify_one();
    }

    /// Waits until the server has announced a change of the status since the last wait.
    pub(super) async fn changed(&self) {
        self.changed.notified().await;
    }
}
