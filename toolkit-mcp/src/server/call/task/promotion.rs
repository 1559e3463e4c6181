//! The transition of a call to a task.

use std::pin::Pin;
use std::sync::Arc;

use serde_json::json;
use tokio::time::Instant;
use toolkit::mcp::Revision;

use crate::server::call::event::CallResponse;
use crate::server::call::offer::TaskOffer;
use crate::server::call::request::Call;
use crate::server::call::running::{RunningCall, reached};
use crate::server::reply::{Code, RpcError, json_bytes, response};
use crate::server::tasks::{CreateError, Created, LiveTask};

/// A task that is created when its time has come.
pub(in crate::server::call) struct Promotion {
    /// `None` for a time that is too far away.
    due: Option<Instant>,
    create: Pin<Box<dyn Future<Output = Result<Created, CreateError>> + Send>>,
    is_requested: bool,
}

impl Promotion {
    pub(in crate::server::call) fn new(offer: &TaskOffer, call: &Call<'static>) -> Self {
        let tasks = Arc::clone(&call.shared.tasks);
        let wait = if offer.is_requested { std::time::Duration::ZERO } else { tasks.limits().after };
        let (owner, tool, ttl, n_bytes) = (offer.owner.clone(), call.tool().clone(), offer.ttl, call.argument_bytes());
        Self {
            due: Instant::now().checked_add(wait),
            create: Box::pin(async move { tasks.create(owner, tool, ttl, n_bytes).await }),
            is_requested: offer.is_requested,
        }
    }

    /// Returns true if the client has requested the task.
    pub(in crate::server::call) fn is_requested(&self) -> bool {
        self.is_requested
    }

    /// Waits until the task exists. Dropping the future loses nothing.
    pub(in crate::server::call) async fn created(&mut self) -> Result<Created, CreateError> {
        reached(self.due).await;
        self.create.as_mut().await
    }
}

impl RunningCall {
    /// Returns `CreateTaskResult`.
    pub(in crate::server::call) fn created(&self, task: &LiveTask) -> CallResponse {
        let call = self.call();
        let record = task.record();
        let view = record.view(call.revision, None);
        let result = match call.revision {
            Revision::V2025_11_25 => json_bytes(&json!({ "task": view })),
            _ => json_bytes(&view.result_type("task")),
        };
        let bytes = response(&call.id, call.shared.meta_fields(call.revision), &result);
        CallResponse { bytes, is_bad_request: false, is_cancelled: false }
    }

    /// Returns the error of a task that the client has requested and the server cannot create.
    pub(in crate::server::call) fn not_created(&self, error: &CreateError) -> CallResponse {
        let message = match error {
            CreateError::Full => "the server has too many tasks; try again later",
            CreateError::Store => "the task could not be stored; try again later",
        };
        let bytes = RpcError::new(Code::Internal, message).to_response(Some(&self.call().id));
        CallResponse { bytes, is_bad_request: false, is_cancelled: false }
    }
}
