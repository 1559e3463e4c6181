//! Calls that may become tasks: such a call ends for its client with the id of a task, and runs on.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use tokio::sync::mpsc::{Sender, channel};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};
use toolkit::ToolError;
use toolkit::mcp::Revision;
use toolkit_mcp::{Code, RpcError, json_bytes, response};
use toolkit_runtime::spawn_tool;

use super::early_end::reached;
use super::offer::TaskOffer;
use super::tool::failed;
use super::{Asks, Call};
use crate::peer::Registered;
use crate::reply::{MessageSink, Reply};
use crate::tasks::{CreateError, Created, LiveTask, TaskOutcome};

/// The time by which the clock may differ from the timer.
const CLOCK_SLACK: Duration = Duration::from_millis(20);

/// Runs a call on the runtime, where it outlives its request if it becomes a task.
pub(super) async fn run_with_offer(
    call: &Arc<Call>,
    offer: &TaskOffer,
    registered: Option<Registered>,
    start: impl FnOnce(ToRequest) -> JoinHandle<Reply>,
    mut sink: impl MessageSink,
) -> Reply {
    let mut promotion = Promotion::new(offer, call);
    let (to_request, mut messages) = channel(1);
    let start = || RunningTask(start(ToRequest(to_request)));
    if offer.is_requested {
        // A requested task exists before its call starts.
        let created = promotion.created().await;
        return match created {
            Ok(created) if leave(call, offer, &created) => become_task(call, start(), created),
            Ok(_) => start().reply(call).await,
            Err(error) => not_created_reply(call, &error),
        };
    }
    let mut running = start();
    let mut may_leave = true;
    loop {
        tokio::select! {
            biased;
            Some(message) = messages.recv() => sink.send(message).await,
            reply = running.reply(call) => return reply,
            created = promotion.created(), if may_leave => match created {
                Ok(created) if leave(call, offer, &created) => {
                    drop(registered);
                    return become_task(call, running, created);
                }
                // The client waits for the result instead.
                _ => may_leave = false,
            },
        }
    }
}

/// Ends everything that binds the call to its request, since it becomes a task. Returns false if the call is about to end.
fn leave(call: &Call, offer: &TaskOffer, created: &Created) -> bool {
    if call.is_cancellable && call.cancel.is_cancelled() {
        return false;
    }
    if let Asks::Rounds(rounds) = &call.asks
        && !rounds.leave()
    {
        return false;
    }
    offer.accept(&created.task);
    // From now on, the arguments count as those of the task.
    #[cfg(feature = "http")]
    drop(call.charge.lock().take());
    true
}

fn become_task(call: &Arc<Call>, running: RunningTask, created: Created) -> Reply {
    let task = created.keep();
    let reply = created_reply(call, &task);
    tokio::spawn(run_task(Arc::clone(call), running, task));
    reply
}

/// Waits for the end of the call, stores the outcome, and removes the task when it has expired.
async fn run_task(call: Arc<Call>, mut running: RunningTask, task: Arc<LiveTask>) {
    let outcome = tokio::select! {
        biased;
        () = task.cancelled() => TaskOutcome::Cancelled,
        reply = running.reply(&call) => {
            let read = spawn_tool("tasks", async move { outcome(&reply.bytes) });
            read.await.ok().flatten().unwrap_or_else(|| TaskOutcome::failed("the call has no result"))
        }
        () = reached(task.deadline) => TaskOutcome::failed("the task has expired before its call had ended"),
    };
    drop(running);
    let shared = Arc::clone(&call.shared);
    drop(call);
    let kept = shared.tasks.end(&task, outcome).await;
    drop(task);
    sleep(kept.saturating_add(CLOCK_SLACK)).await;
    shared.tasks.remove_expired();
}

/// A call that runs on the runtime. Dropping it cancels the call.
struct RunningTask(JoinHandle<Reply>);

impl RunningTask {
    /// Waits for the end of the call. Dropping the future loses nothing.
    async fn reply(&mut self, call: &Call) -> Reply {
        (&mut self.0).await.unwrap_or_else(|panicked| failed(call, ToolError::internal(panicked)))
    }
}

impl Drop for RunningTask {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Passes messages to the request of the call, as long as there is one.
pub(super) struct ToRequest(Sender<Vec<u8>>);

impl MessageSink for ToRequest {
    async fn send(&mut self, message: Vec<u8>) {
        let _ = self.0.send(message).await;
    }
}

/// A task that is created when its time has come.
struct Promotion {
    /// `None` for a time that is too far away.
    due: Option<Instant>,
    create: Pin<Box<dyn Future<Output = Result<Created, CreateError>> + Send>>,
}

impl Promotion {
    fn new(offer: &TaskOffer, call: &Call) -> Self {
        let tasks = Arc::clone(&call.shared.tasks);
        let wait = if offer.is_requested { Duration::ZERO } else { tasks.limits.after };
        let (owner, ttl) = (offer.owner.clone(), offer.ttl);
        let (tool, n_bytes) = (call.tool().clone(), call.argument_bytes());
        Self {
            due: Instant::now().checked_add(wait),
            create: Box::pin(async move { tasks.create(owner, tool, ttl, n_bytes).await }),
        }
    }

    /// Waits until the task exists. Dropping the future loses nothing.
    async fn created(&mut self) -> Result<Created, CreateError> {
        reached(self.due).await;
        self.create.as_mut().await
    }
}

/// Returns `CreateTaskResult`.
fn created_reply(call: &Call, task: &LiveTask) -> Reply {
    let record = task.record();
    let view = record.view(call.revision, None);
    let result = match call.revision {
        Revision::V2025_11_25 => json_bytes(&json!({ "task": view })),
        _ => json_bytes(&view.result_type("task")),
    };
    Reply::new(response(&call.id, call.shared.meta_fields(call.revision), &result))
}

/// Returns the error of a task that the client has requested and the server cannot create.
fn not_created_reply(call: &Call, error: &CreateError) -> Reply {
    let message = match error {
        CreateError::Full => "the server has too many tasks; try again later",
        CreateError::Store => "the task could not be stored; try again later",
    };
    Reply::new(RpcError::new(Code::Internal, message).to_response(Some(&call.id)))
}

/// Returns the outcome that a response contains.
fn outcome(response: &[u8]) -> Option<TaskOutcome> {
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
        return Some(TaskOutcome::Failed(error.to_owned()));
    }
    let result = response.result?;
    let CallResult { is_error } = serde_json::from_str(result.get()).ok()?;
    Some(TaskOutcome::Completed { result: result.to_owned(), is_error })
}
