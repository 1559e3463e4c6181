//! Requests about a task, over the current connection.

use std::sync::Arc;

use rmcp::model::{ClientRequest, ErrorData};
use rmcp::service::ServiceError;
use serde_json::Value;
use tokio::time::timeout;
use toolkit::call::ErrorKind;
use toolkit::{Context, ToolError};

use super::request::{CancelOnDrop, CreatedTask};
use crate::caller::FromCaller;
use crate::connection::Connection;
use crate::link::Link;
use crate::list::timed_out;
use crate::remote::Remote;
use crate::running_calls::RunningCall;

/// Sends the requests about a task, over the current connection. Dropping it cancels the task, unless it has ended.
pub(super) struct Requester<'c> {
    link: &'c Link,
    context: &'c Context,
    connection: Arc<Connection>,
    /// The call on this connection, whose user the server may ask.
    running: Option<RunningCall>,
    id: Arc<str>,
    cancel: CancelOnDrop,
}

/// The failure of a request.
pub(super) enum Failure {
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
    pub(super) async fn connect(&mut self) -> Result<(), Failure> {
        let connection = self.link.connection_for_call().await.map_err(Failure::Lost)?;
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
    pub(super) fn caller(&self) -> Result<FromCaller, Failure> {
        FromCaller::of_call(self.remote(), self.connection.is_legacy(), self.context).map_err(Failure::Final)
    }

    /// Sends a request and returns its result, or the JSON-RPC error of the server.
    pub(super) async fn ask(&self, request: ClientRequest) -> Result<Result<Value, ErrorData>, Failure> {
        let limit = self.remote().limits.start;
        let caller = self.caller()?;
        match timeout(limit, self.connection.ask(request, caller, None)).await {
            Ok(Ok(result)) => Ok(Ok(result)),
            Ok(Err(ServiceError::McpError(error))) => Ok(Err(error)),
            Ok(Err(error)) => Err(self.failed(error).await),
            Err(_) => Err(Failure::Lost(timed_out(self.remote(), limit))),
        }
    }

    /// Converts the error of a request on the current connection.
    pub(super) async fn failed(&self, error: ServiceError) -> Failure {
        let error = self.remote().failed(&self.connection, error).await;
        match error.kind() {
            ErrorKind::Unavailable => Failure::Lost(error),
            _ => Failure::Final(error),
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
