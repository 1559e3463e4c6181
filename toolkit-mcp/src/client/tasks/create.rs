//! Creation of tasks.

use std::sync::Arc;

use rmcp::model::{ClientRequest, RequestMetaObject};
use rmcp::service::ServiceError;
use serde_json::Value;
use tokio::sync::oneshot;
use tokio::time::sleep;

use super::CreatedTask;
use super::cancel::{CANCEL_TIMEOUT, CancelOnDrop};
use crate::client::connection::Connection;
use crate::client::listener::Listener;

/// Returns the task that a server has created instead of responding to a call, or `None` if it has responded.
pub(in crate::client) fn created_task(
    connection: &Arc<Connection>,
    response: &Value,
    meta: Option<&RequestMetaObject>,
) -> Option<CreatedTask> {
    let task = match connection.is_legacy() {
        true if response.get("content").is_none() => response.get("task")?,
        false if response["resultType"] == "task" => response,
        _ => return None,
    };
    // An id of another type is rejected like an empty one.
    let id: Arc<str> = task["taskId"].as_str().unwrap_or_default().into();
    let mut cancel = CancelOnDrop::new(Arc::clone(connection), Arc::clone(&id), meta.cloned());
    if super::check_id(&id).is_err() {
        cancel.disarm();
    }
    Some(CreatedTask { id, cancel })
}

/// Calls a tool as a task. If the call is dropped before the server has responded, the task is canceled as soon as its
/// id is known.
pub(in crate::client) async fn create(
    connection: &Arc<Connection>,
    request: ClientRequest,
    meta: Option<RequestMetaObject>,
    listener: Arc<Listener>,
) -> (Result<Value, ServiceError>, Option<CreatedTask>) {
    let (mut sender, receiver) = oneshot::channel();
    let connection = Arc::clone(connection);
    tokio::spawn(async move {
        let answer = tokio::select! {
            answer = connection.ask(request, meta.clone(), Some(&listener)) => answer,
            () = async {
                sender.closed().await;
                sleep(CANCEL_TIMEOUT).await;
            } => return,
        };
        let task = answer.as_ref().ok().and_then(|response| created_task(&connection, response, meta.as_ref()));
        // Dropping the task cancels it.
        drop(sender.send((answer, task)));
    });
    receiver.await.unwrap_or((Err(ServiceError::TransportClosed), None))
}
