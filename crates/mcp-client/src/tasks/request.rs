//! The requests about tasks.

use std::time::Duration;

use serde_json::json;

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

/// Returns a request about a task.
pub(super) fn about(method: &'static str, id: &str) -> Request {
    Request::about(method, "taskId", id)
}
