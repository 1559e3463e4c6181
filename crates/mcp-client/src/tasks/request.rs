//! The requests about tasks, and the sender of those about one task, over the current connection.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::sync::oneshot;
use tokio::time::{sleep, timeout};
use toolkit::call::ErrorKind;
use toolkit::{Context, ToolError};

use super::request;
use crate::call_params::CallParams;
use crate::caller::FromCaller;
use crate::connection::Connection;
use crate::failure::{Failure, ServerError};
use crate::link::Link;
use crate::outgoing::Request;
use crate::peer::Answer;
use crate::questions::RunningCall;
use crate::raw::Raw;
use crate::remote::{Remote, timed_out};

/// The time for which a server should keep a task beyond the timeout of its call. The questions of a call extend the
/// timeout.
const EXTRA_TTL: Duration = Duration::from_secs(600);

/// The maximum time for which a server should keep a task.
const MAX_TTL: Duration = Duration::from_secs(24 * 60 * 60);

/// Returns the request to call a tool as a task, which ends within `limit`.
pub(crate) fn request_of_call(params: &CallParams, limit: Duration) -> Request {
    let ttl = limit.saturating_add(EXTRA_TTL).min(MAX_TTL).as_millis();
    let ttl = u64::try_from(ttl).unwrap_or(u64::MAX);
    params.request().with("task", &json!({ "ttl": ttl }))
}

/// Returns the request for the state of a task.
pub(super) fn get(id: &str) -> Request {
    Request::about("tasks/get", "taskId", id)
}

/// Returns the request for the result of a task, in revision 2025-11-25.
pub(super) fn result(id: &str) -> Request {
    Request::about("tasks/result", "taskId", id)
}

/// Returns the request with answers to the questions of a task, in the extension.
pub(super) fn update(id: &str, responses: &Map<String, Value>) -> Request {
    Request::about("tasks/update", "taskId", id).with("inputResponses", responses)
}

/// Returns the request to cancel a task.
pub(super) fn cancel(id: &str) -> Request {
    Request::about("tasks/cancel", "taskId", id)
}

// Creation of tasks.

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
) -> (Answer, Option<CreatedTask>) {
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

// Cancellation of tasks.

/// The timeout of the request to cancel a task.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(10);

/// A guard that cancels a task on drop.
pub(super) struct TaskGuard {
    /// The connection that was last used for the task, or `None` if the task need not be canceled.
    connection: Option<Arc<Connection>>,
    id: Arc<str>,
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
        let (request, caller) = (request::cancel(&self.id), std::mem::take(&mut self.caller));
        runtime.spawn(async move {
            // The task may have ended in the meantime, which is an error of the server.
            let _ = timeout(CANCEL_TIMEOUT, connection.ask(request.from(caller))).await;
        });
    }
}

/// A task that the server has created for a call. Dropping it cancels the task.
pub(crate) struct CreatedTask {
    pub(super) id: Arc<str>,
    pub(super) cancel: TaskGuard,
}

impl CreatedTask {
    pub(crate) fn id(&self) -> &Arc<str> {
        &self.id
    }
}

/// Sends the requests about a task, over the current connection. Dropping it cancels the task, unless it has ended.
pub(super) struct Requester<'c> {
    link: &'c Link,
    context: &'c Context,
    connection: Arc<Connection>,
    /// The call on this connection, whose user the server may ask.
    running: Option<RunningCall>,
    id: Arc<str>,
    cancel: TaskGuard,
}

/// The failure of a request.
pub(super) enum TaskFailure {
    /// The server cannot be reached, and may continue the task.
    Lost(ToolError),
    /// The error of the call.
    Final(ToolError),
}

impl<'c> Requester<'c> {
    pub(super) fn new(
        link: &'c Link,
        context: &'c Context,
        connection: Arc<Connection>,
        running: Option<RunningCall>,
        CreatedTask { id, cancel }: CreatedTask,
    ) -> Self {
        Self { link, context, connection, running, id, cancel }
    }

    pub(super) fn remote(&self) -> &'c Remote {
        self.link.remote()
    }

    pub(super) fn context(&self) -> &'c Context {
        self.context
    }

    pub(super) fn connection(&self) -> &Arc<Connection> {
        &self.connection
    }

    pub(super) fn id(&self) -> &Arc<str> {
        &self.id
    }

    /// Reconnects if the connection is lost.
    pub(super) async fn connect(&mut self) -> Result<(), TaskFailure> {
        let connection = self.link.connection_for_call().await.map_err(TaskFailure::Lost)?;
        if !Arc::ptr_eq(&connection, &self.connection) {
            self.cancel.use_connection(&connection);
            self.running = connection.running_call(self.context);
            if let Some(running) = &self.running {
                running.runs_as(&self.id);
            }
            self.connection = connection;
        }
        Ok(())
    }

    /// Returns what a request passes on from the caller.
    pub(super) fn caller(&self) -> Result<FromCaller, TaskFailure> {
        FromCaller::of_call(self.remote(), self.connection.is_legacy(), self.context).map_err(TaskFailure::Final)
    }

    /// Sends a request and returns its result, or the JSON-RPC error of the server.
    pub(super) async fn ask(&self, request: Request) -> Result<Result<Raw, ServerError>, TaskFailure> {
        let limit = self.remote().limits.start;
        let caller = self.caller()?;
        match timeout(limit, self.connection.ask(request.from(caller))).await {
            Ok(Ok(result)) => Ok(Ok(result)),
            Ok(Err(Failure::Rpc(error))) => Ok(Err(error)),
            Ok(Err(failure)) => Err(self.failed(failure).await),
            Err(_) => Err(TaskFailure::Lost(timed_out(self.remote(), limit))),
        }
    }

    /// Converts the failure of a request on the current connection.
    pub(super) async fn failed(&self, failure: Failure) -> TaskFailure {
        let error = self.remote().failed(&self.connection, failure).await;
        match error.kind() {
            ErrorKind::Unavailable => TaskFailure::Lost(error),
            _ => TaskFailure::Final(error),
        }
    }

    /// Records that the task has ended.
    pub(super) fn has_ended(&mut self) {
        self.cancel.disarm();
        if let Some(running) = &mut self.running {
            running.has_response();
        }
    }
}
