//! The call of a task, from its promotion to its end.

use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::time::sleep;

use crate::server::call::event::CallEvent;
use crate::server::call::running::{RunningCall, reached};
use crate::server::tasks::{LiveTask, Outcome};

/// The name of reading a response in the tool pool.
const READ: &str = "tasks";

/// The time by which the clock may differ from the timer.
const SLACK: Duration = Duration::from_millis(20);

/// Runs the call to its end, stores the outcome, and removes the task when it has expired.
pub(in crate::server::call) async fn run(mut call: RunningCall, task: Arc<LiveTask>) {
    let shared = Arc::clone(&call.call().shared);
    let outcome = tokio::select! {
        biased;
        () = task.cancelled() => Outcome::Cancelled,
        response = response(&mut call) => {
            let read = shared.pool.spawn(READ, async move { outcome(&response) });
            read.await.ok().flatten().unwrap_or_else(|| Outcome::failed("the call has no result"))
        }
        () = reached(task.deadline()) => Outcome::failed("the task has expired before its call had ended"),
    };
    // Cancels a call that still runs.
    drop(call);
    let kept = shared.tasks.end(&task, outcome).await;
    drop(task);
    sleep(kept.saturating_add(SLACK)).await;
    shared.tasks.remove_expired();
}

async fn response(call: &mut RunningCall) -> Vec<u8> {
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
