//! The sender of requests about one task, over the current connection.

use std::sync::Arc;

use tokio::time::timeout;
use toolkit::call::ErrorKind;
use toolkit::{Context, ToolError};

use super::create::CreatedTask;
use super::guard::TaskGuard;
use crate::caller::FromCaller;
use crate::connection::Connection;
use crate::failure::{Failure, ServerError};
use crate::link::Link;
use crate::outgoing::Request;
use crate::questions::RunningCall;
use crate::raw::Raw;
use crate::remote::{Remote, timed_out};

/// Sends the requests about a task, over the current connection. Dropping it cancels the task, unless it has ended.
pub(super) struct Requester<'c> {
    link: &'c Link,
    pub(super) context: &'c Context,
    pub(super) connection: Arc<Connection>,
    /// The call on this connection, whose user the server may ask.
    running: Option<RunningCall>,
    pub(super) id: Arc<str>,
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
        &self.link.remote
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
