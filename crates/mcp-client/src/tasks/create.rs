//! Creation of tasks.

use std::sync::Arc;

use tokio::sync::oneshot;
use tokio::time::sleep;

use super::guard::{CANCEL_TIMEOUT, TaskGuard};
use crate::caller::FromCaller;
use crate::connection::Connection;
use crate::failure::Failure;
use crate::outgoing::Request;
use crate::peer::PeerAnswer;
use crate::raw::Raw;

/// Returns the task that a server has created instead of responding to a call, or `None` if it has responded.
pub(crate) fn created_task(connection: &Arc<Connection>, response: &Raw, caller: &FromCaller) -> Option<CreatedTask> {
    let task = match connection.is_legacy() {
        true => response.field("task").filter(|_| response.field("content").is_none())?,
        false => response.text_field("resultType").filter(|kind| kind == "task").map(|_| response.clone())?,
    };
    // An id of another type is rejected like an empty one.
    let id: Arc<str> = task.text_field("taskId").unwrap_or_default().into();
    let mut cancel = TaskGuard::new(Arc::clone(connection), Arc::clone(&id), caller.clone());
    if super::check_id(&id).is_err() {
        cancel.disarm();
    }
    Some(CreatedTask { id, cancel })
}

/// Calls a tool as a task. If the call is dropped before the server has responded, the task is canceled as soon as its
/// id is known.
pub(crate) async fn create(
    connection: &Arc<Connection>,
    request: Request,
    caller: FromCaller,
) -> (PeerAnswer, Option<CreatedTask>) {
    let (mut sender, receiver) = oneshot::channel();
    let connection = Arc::clone(connection);
    tokio::spawn(async move {
        let answer = tokio::select! {
            answer = connection.ask(request) => answer,
            () = async {
                sender.closed().await;
                sleep(CANCEL_TIMEOUT).await;
            } => return,
        };
        let task = answer.as_ref().ok().and_then(|response| created_task(&connection, response, &caller));
        // Dropping the task cancels it.
        drop(sender.send((answer, task)));
    });
    receiver.await.unwrap_or((Err(Failure::Closed), None))
}

/// A task that the server has created for a call. Dropping it cancels the task.
pub(crate) struct CreatedTask {
    pub(crate) id: Arc<str>,
    pub(super) cancel: TaskGuard,
}
