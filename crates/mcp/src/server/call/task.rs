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
use toolkit::tool::TaskSupport;

use super::running::{RunningCall, reached};
use super::{Call, CallEvent, CallResponse, Events, TaskOffer};
use crate::server::ask::Modes;
use crate::server::message::{Code, RpcError, json_bytes, response};
use crate::server::meta::Meta;
use crate::server::peer::Peer;
use crate::server::state::Shared;
use crate::server::tasks::{CreateError, Created, EXTENSION, LiveTask, Outcome};

/// A task that is created when its time has come.
pub(super) struct Promotion {
    /// `None` for a time that is too far away.
    due: Option<Instant>,
    create: Pin<Box<dyn Future<Output = Result<Created, CreateError>> + Send>>,
    is_requested: bool,
}

impl Promotion {
    pub(super) fn new(offer: &TaskOffer, call: &Call<'static>) -> Self {
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

impl RunningCall {
    /// Returns `CreateTaskResult`.
    pub(super) fn created(&self, task: &LiveTask) -> CallResponse {
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
    pub(super) fn not_created(&self, error: &CreateError) -> CallResponse {
        let message = match error {
            CreateError::Full => "the server has too many tasks; try again later",
            CreateError::Store => "the task could not be stored; try again later",
        };
        let bytes = RpcError::new(Code::Internal, message).to_response(Some(&self.call().id));
        CallResponse { bytes, is_bad_request: false, is_cancelled: false }
    }
}

// The call of a task, from its promotion to its end.

/// The name of reading a response in the tool pool.
const READ: &str = "tasks";

/// The time by which the clock may differ from the timer.
const CLOCK_SLACK: Duration = Duration::from_millis(20);

/// Runs the call to its end, stores the outcome, and removes the task when it has expired.
pub(super) async fn run_task(mut call: RunningCall, task: Arc<LiveTask>) {
    let shared = Arc::clone(&call.call().shared);
    let outcome = tokio::select! {
        biased;
        () = task.cancelled() => Outcome::Cancelled,
        response = last_response(&mut call) => {
            let read = shared.pool.spawn(READ, async move { outcome(&response) });
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

async fn last_response(call: &mut RunningCall) -> Vec<u8> {
    loop {
        if let CallEvent::Response(response) = call.next().await {
            return response.bytes;
        }
    }
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

// The negotiation of tasks.

/// The least time to live of a task that its client requests, so that the call can run.
const MIN_TTL: Duration = Duration::from_secs(60);

/// Returns the terms on which a call may become a task.
///
/// # Errors
///
/// Returns an error if the client and the tool have no common way of calling.
pub(in crate::server) fn task_offer(
    shared: &Arc<Shared>,
    support: TaskSupport,
    meta: &Meta<'_>,
    revision: Revision,
    peer: Peer<'_>,
) -> Result<Option<TaskOffer>, RpcError> {
    let ttl = shared.tasks.limits().ttl;
    if revision == Revision::V2025_11_25 {
        return match (support, meta.task) {
            (TaskSupport::Required, None) => Err(RpcError::new(
                Code::MethodNotFound,
                "the tool can only be called as a task; add `task` to `params`",
            )),
            (TaskSupport::Forbidden, Some(_)) => {
                Err(RpcError::new(Code::MethodNotFound, "the tool cannot be called as a task"))
            }
            (_, None) => Ok(None),
            (_, Some(task)) => {
                let ttl = requested_ttl(task)?.map_or(ttl, |requested| requested.max(MIN_TTL).min(ttl));
                Ok(Some(TaskOffer::new(peer, ttl, true, peer.modes)))
            }
        };
    }
    if support == TaskSupport::Forbidden {
        return Ok(None);
    }
    if !declares_tasks(meta) {
        return if support == TaskSupport::Required { Err(missing_extension()) } else { Ok(None) };
    }
    let modes = meta.client_capabilities.map_or_else(Modes::default, |declared| Modes::declared(declared.get()));
    Ok(Some(TaskOffer::new(peer, ttl, false, modes)))
}

/// Returns true if the client declares the extension for tasks.
pub(in crate::server) fn declares_tasks(meta: &Meta<'_>) -> bool {
    #[derive(Deserialize)]
    struct Capabilities<'m> {
        #[serde(borrow)]
        extensions: Option<Extensions<'m>>,
    }
    #[derive(Deserialize)]
    struct Extensions<'m> {
        #[serde(borrow, rename = "io.modelcontextprotocol/tasks")]
        tasks: Option<&'m RawValue>,
    }
    let declared = meta.client_capabilities.and_then(|declared| serde_json::from_str(declared.get()).ok());
    let extensions = declared.and_then(|declared: Capabilities<'_>| declared.extensions);
    extensions.and_then(|extensions| extensions.tasks).is_some_and(|tasks| tasks.get().starts_with('{'))
}

/// Creates the error for a client that does not declare the extension.
pub(in crate::server) fn missing_extension() -> RpcError {
    let message = format!("the client has not declared the extension `{EXTENSION}`");
    let required = json!({ "extensions": { EXTENSION: {} } });
    RpcError::bad_request(Code::MissingClientCapability, message).with_data(json!({ "requiredCapabilities": required }))
}

/// Reads the time to live that the client requests, in milliseconds.
fn requested_ttl(task: &RawValue) -> Result<Option<Duration>, RpcError> {
    #[derive(Deserialize)]
    struct Task {
        ttl: Option<u64>,
    }
    let invalid = || RpcError::new(Code::InvalidParams, "`task` must be an object, and its `ttl` an integer");
    let is_object = task.get().starts_with('{');
    let task: Task = serde_json::from_str(task.get()).map_err(|_| invalid())?;
    if is_object { Ok(task.ttl.map(Duration::from_millis)) } else { Err(invalid()) }
}

// The events of a call: messages, and then the response. A long call may end with the id of a task instead.

/// The events of a call. Dropping it cancels the call, unless it has become a task.
pub(in crate::server) struct CallEvents {
    /// `None` after the response.
    call: Option<RunningCall>,
    promotion: Option<Promotion>,
}

impl Call<'static> {
    /// Runs the call without messages while it runs.
    pub(in crate::server) async fn answer(self) -> CallResponse {
        let mut events = CallEvents::new(self, false);
        if let Some(CallEvent::Response(response)) = events.early().await {
            return response;
        }
        loop {
            if let CallEvent::Response(response) = events.next().await {
                return response;
            }
        }
    }

    /// Starts the call. It sends progress notifications if the client has sent a progress token, and requests if the
    /// client can ask its user.
    pub(in crate::server) fn events(self) -> CallEvents {
        let sends_messages = self.sends_messages();
        CallEvents::new(self, sends_messages)
    }
}

impl CallEvents {
    fn new(call: Call<'static>, sends_messages: bool) -> Self {
        let promotion = call.task.as_ref().map(|offer| Promotion::new(offer, &call));
        Self { call: Some(call.start(sends_messages)), promotion }
    }

    /// Turns the call into a task. Returns `None` if the call is about to end.
    fn promote(&mut self, created: Created) -> Option<CallResponse> {
        let mut call = self.call.take()?;
        if !call.leave_for(created.task()) {
            self.call = Some(call);
            return None;
        }
        let task = created.keep();
        let response = call.created(&task);
        tokio::spawn(run_task(call, task));
        Some(response)
    }
}

impl Events for CallEvents {
    async fn early(&mut self) -> Option<CallEvent> {
        match (&mut self.call, &self.promotion) {
            (Some(call), None) => call.early().await,
            _ => None,
        }
    }

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
                        return CallEvent::Response(call.not_created(&error));
                    }
                }
            }
        }
    }
}
