//! Calls that become tasks.

use std::future::pending;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use tokio::time::{Instant, sleep};
use toolkit::mcp::Revision;
use toolkit_mcp::{Code, RpcError, json_bytes, response};
use toolkit_runtime::spawn_tool;

use super::running::{RunningCall, reached};
use super::{Call, CallEvent, CallResponse, Events, TaskOffer};
use crate::tasks::{CreateError, Created, LiveTask, Outcome};

/// A task that is created when its time has come.
pub(super) struct Promotion {
    /// `None` for a time that is too far away.
    due: Option<Instant>,
    create: Pin<Box<dyn Future<Output = Result<Created, CreateError>> + Send>>,
    is_requested: bool,
}

impl Promotion {
    pub(super) fn new(offer: &TaskOffer, call: &Call) -> Self {
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
    pub(super) fn is_requested(&self) -> bool {
        self.is_requested
    }

    /// Waits until the task exists. Dropping the future loses nothing.
    pub(super) async fn created(&mut self) -> Result<Created, CreateError> {
        reached(self.due).await;
        self.create.as_mut().await
    }
}

/// Returns `CreateTaskResult`.
fn created_response(call: &Call, task: &LiveTask) -> CallResponse {
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
fn not_created_response(call: &Call, error: &CreateError) -> CallResponse {
    let message = match error {
        CreateError::Full => "the server has too many tasks; try again later",
        CreateError::Store => "the task could not be stored; try again later",
    };
    let bytes = RpcError::new(Code::Internal, message).to_response(Some(&call.id));
    CallResponse { bytes, is_bad_request: false, is_cancelled: false }
}

// The call of a task, from its promotion to its end.

/// The time by which the clock may differ from the timer.
const CLOCK_SLACK: Duration = Duration::from_millis(20);

/// Runs the call to its end, stores the outcome, and removes the task when it has expired.
pub(super) async fn run_task(mut call: RunningCall, task: Arc<LiveTask>) {
    let shared = Arc::clone(&call.call().shared);
    let outcome = tokio::select! {
        biased;
        () = task.cancelled() => Outcome::Cancelled,
        response = call.response() => {
            let read = spawn_tool("tasks", async move { outcome(&response.bytes) });
            read.await.ok().flatten().unwrap_or_else(|| Outcome::failed("the call has no result"))
        }
        () = reached(task.deadline()) => Outcome::failed("the task has expired before its call had ended"),
    };
    // Cancels a call that still runs.
    drop(call);
    let kept = shared.tasks.end(&task, outcome).await;
    drop(task);
    sleep(kept.saturating_add(CLOCK_SLACK)).await;
    shared.tasks.remove_expired();
}

/// Returns the outcome that a response contains.
fn outcome(response: &[u8]) -> Option<Outcome> {
    #[derive(Deserialize)]
    struct Response<'m> {
        #[serde(borrow)]
        result: Option<&'m RawValue>,
        #[serde(borrow)]
        error: Option<&'m RawValue>,
    }
    #[derive(Deserialize)]
    struct CallResult {
        #[serde(default, rename = "isError")]
        is_error: bool,
    }
    let response: Response<'_> = serde_json::from_slice(response).ok()?;
    if let Some(error) = response.error {
        return Some(Outcome::Failed(error.to_owned()));
    }
    let result = response.result?;
    let CallResult { is_error } = serde_json::from_str(result.get()).ok()?;
    Some(Outcome::Completed { result: result.to_owned(), is_error })
}

// The events of a call: messages, and then the response. A long call may end with the id of a task instead.

/// The events of a call. Dropping it cancels the call, unless it has become a task.
pub(crate) struct CallEvents {
    /// `None` after the response.
    call: Option<RunningCall>,
    promotion: Option<Promotion>,
}

/// Runs a call without messages while it runs.
pub(crate) fn answer(call: Arc<Call>) -> impl Future<Output = CallResponse> + Send {
    // The future of an `async fn` has room for its arguments as long as it runs.
    let mut events = CallEvents::new(call, false);
    async move { events.response().await }
}

/// Starts a call. It sends progress notifications if the client has sent a progress token, and requests if the client can
/// ask its user.
pub(crate) fn events(call: Arc<Call>) -> CallEvents {
    let sends_messages = call.sends_messages();
    CallEvents::new(call, sends_messages)
}

impl CallEvents {
    fn new(call: Arc<Call>, sends_messages: bool) -> Self {
        let promotion = call.task.as_ref().map(|offer| Promotion::new(offer, &call));
        Self { call: Some(RunningCall::start(call, sends_messages)), promotion }
    }

    /// Turns the call into a task. Returns `None` if the call is about to end.
    fn promote(&mut self, created: Created) -> Option<CallResponse> {
        let mut call = self.call.take()?;
        if !call.leave_for(created.task()) {
            self.call = Some(call);
            return None;
        }
        let task = created.keep();
        let response = created_response(call.call(), &task);
        tokio::spawn(run_task(call, task));
        Some(response)
    }
}

impl Events for CallEvents {
    async fn next(&mut self) -> CallEvent {
        loop {
            let Some(call) = &mut self.call else { return pending().await };
            let Some(promotion) = &mut self.promotion else { return call.next().await };
            let created = tokio::select! {
                biased;
                // A requested task exists before its call starts.
                event = call.next(), if !promotion.is_requested() => return event,
                created = promotion.created() => created,
            };
            let is_requested = promotion.is_requested();
            self.promotion = None;
            match created {
                Ok(created) => {
                    if let Some(response) = self.promote(created) {
                        return CallEvent::Response(response);
                    }
                }
                // The client waits for the result instead.
                Err(_) if !is_requested => {}
                Err(error) => {
                    if let Some(call) = self.call.take() {
                        return CallEvent::Response(not_created_response(call.call(), &error));
                    }
                }
            }
        }
    }
}
