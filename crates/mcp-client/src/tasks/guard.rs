//! Cancellation of tasks.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;

use super::request;
use crate::caller::FromCaller;
use crate::connection::Connection;

/// The timeout of the request to cancel a task.
pub(super) const CANCEL_TIMEOUT: Duration = Duration::from_secs(10);

/// A guard that cancels a task on drop.
pub(super) struct TaskGuard {
    /// The connection that was last used for the task, or `None` if the task need not be canceled.
    pub(super) connection: Option<Arc<Connection>>,
    pub(super) id: Arc<str>,
    caller: FromCaller,
}

impl TaskGuard {
    pub(super) fn new(connection: Arc<Connection>, id: Arc<str>, caller: FromCaller) -> Self {
        Self { connection: Some(connection), id, caller }
    }

    /// Sets the connection for the request to cancel the task.
    pub(super) fn use_connection(&mut self, connection: &Arc<Connection>) {
        if let Some(used) = &mut self.connection {
            *used = Arc::clone(connection);
        }
    }

    /// Records that the task has ended.
    pub(super) fn disarm(&mut self) {
        self.connection = None;
    }
}

impl Drop for TaskGuard {
    fn drop(&mut self) {
        let connection = self.connection.take().filter(|connection| !connection.is_closed());
        let (Some(connection), Ok(runtime)) = (connection, tokio::runtime::Handle::try_current()) else {
            return;
        };
        let (request, caller) = (request::about("tasks/cancel", &self.id), std::mem::take(&mut self.caller));
        runtime.spawn(async move {
            // The task may have ended in the meantime, which is an error of the server.
            let _ = timeout(CANCEL_TIMEOUT, connection.ask(request.from(caller))).await;
        });
    }
}
