//! The requests about tasks.

use std::time::Duration;

use rmcp::model::{CallToolRequestParams, ClientRequest, CustomRequest, InputResponses};
use serde_json::{Value, json};

/// The time for which a server should keep a task beyond the timeout of its call. The questions of a call extend the
/// timeout.
const EXTRA_TTL: Duration = Duration::from_secs(600);

/// The maximum time for which a server should keep a task.
const MAX_TTL: Duration = Duration::from_secs(24 * 60 * 60);

/// Returns the request to call a tool as a task, which ends within `limit`.
///
/// `rmcp` has the requests of the extension only, and the same name for other fields.
pub(in crate::client) fn request_of_call(params: &CallToolRequestParams, limit: Duration) -> ClientRequest {
    let ttl = limit.saturating_add(EXTRA_TTL).min(MAX_TTL).as_millis();
    let ttl = u64::try_from(ttl).unwrap_or(u64::MAX);
    custom("tools/call", json!({ "name": params.name, "arguments": params.arguments, "task": { "ttl": ttl } }))
}

/// Returns the request for the state of a task.
pub(super) fn get(id: &str) -> ClientRequest {
    custom("tasks/get", json!({ "taskId": id }))
}

/// Returns the request for the result of a task, in revision 2025-11-25.
pub(super) fn result(id: &str) -> ClientRequest {
    custom("tasks/result", json!({ "taskId": id }))
}

/// Returns the request with answers to the questions of a task, in the extension.
pub(super) fn update(id: &str, responses: &InputResponses) -> ClientRequest {
    custom("tasks/update", json!({ "taskId": id, "inputResponses": responses }))
}

/// Returns the request to cancel a task.
pub(super) fn cancel(id: &str) -> ClientRequest {
    custom("tasks/cancel", json!({ "taskId": id }))
}

fn custom(method: &str, params: Value) -> ClientRequest {
    ClientRequest::CustomRequest(CustomRequest::new(method, Some(params)))
}
