//! Cancellation of tasks.

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::RequestMetaObject;
use tokio::time::timeout;

use super::request;
use crate::client::connection::Connection;

/// The timeout of the request to cancel a task.
pub(super) const CANCEL_TIMEOUT: Duration = Duration::from_secs(10);

/// A guard that cancels a task on drop.
pub(super) struct CancelOnDrop {
    /// The connection that was last used for the task, or `None` if the task need not be canceled.
    connection: Option<Arc<Connection>>,
    id: Arc<str>,
    meta: Option<RequestMetaObject>,
}

impl CancelOnDrop {
    pub(super) fn new(connection: Arc<Connection>, id: Arc<str>, meta: Option<RequestMetaObject>) -> Self {
        Self { connection: Some(connection), id, meta }
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

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        let connection = self.connection.take().filter(|connection| !connection.is_closed());
        let (Some(connection), Ok(runtime)) = (connection, tokio::runtime::Handle::try_current()) else {
            return;
        };
        let (request, meta) = (request::cancel(&self.id), self.meta.take());
        runtime.spawn(async move {
            // The task may have ended in the meantime, which is an error of the server.
            let _ = timeout(CANCEL_TIMEOUT, connection.ask(request, meta, None)).await;
        });
    }
}
