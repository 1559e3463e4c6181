//! The requests about tasks.

use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::call_params::CallParams;
use crate::outgoing::Request;

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
