//! The record of a task, and its forms on the wire.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use toolkit::mcp::Revision;

use super::timestamp::Timestamp;

/// The time between two requests that the server suggests to clients.
const POLL_INTERVAL_MS: u64 = 1000;

/// The maximum length of a status message, in characters.
const MAX_MESSAGE: usize = 500;

/// The stored state of a task.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TaskRecord {
    pub(super) task_id: String,
    /// The identity of the caller.
    pub(super) owner: Option<String>,
    /// The id of the tool.
    pub(super) tool: String,
    pub(super) created_at: Timestamp,
    pub(super) last_updated_at: Timestamp,
    /// The time from the creation until the task is removed.
    pub(super) ttl_ms: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) status_message: Option<String>,
    /// The end of the call. Without it, the call runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) outcome: Option<TaskOutcome>,
}

/// The end of a task.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum TaskOutcome {
    /// The call has a result, which may be an error that the model reads.
    Completed { result: Box<RawValue>, is_error: bool },
    /// The call ended with a JSON-RPC error.
    Failed(Box<RawValue>),
    /// The client has cancelled the task.
    Cancelled,
}

/// A task on the wire.
///
/// Revision 2025-11-25 has the fields `ttl` and `pollInterval`, and later ones `ttlMs` and `pollIntervalMs`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TaskView<'t> {
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    meta: Option<&'t RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result_type: Option<&'static str>,
    task_id: &'t str,
    pub(crate) status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    status_message: Option<&'t str>,
    created_at: Timestamp,
    last_updated_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    ttl: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    poll_interval: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ttl_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    poll_interval_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    input_requests: Option<Map<String, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'t RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'t RawValue>,
}

impl TaskRecord {
    /// Returns the time at which the task is removed.
    pub(super) fn expires_at(&self) -> Timestamp {
        self.created_at.saturating_add(Duration::from_millis(self.ttl_ms))
    }

    /// Returns the outcome if the call has ended.
    pub(crate) fn outcome(&self) -> Option<&TaskOutcome> {
        self.outcome.as_ref()
    }

    /// Returns the task as its client sees it. `questions` are the open ones (`inputRequests`).
    pub(crate) fn view(&self, revision: Revision, questions: Option<Map<String, Value>>) -> TaskView<'_> {
        let is_legacy = revision == Revision::V2025_11_25;
        let status = match &self.outcome {
            None if questions.is_some() => "input_required",
            None => "working",
            // Until 2025-11-25, a failed tool is a failed task.
            Some(TaskOutcome::Completed { is_error: true, .. }) if is_legacy => "failed",
            Some(TaskOutcome::Completed { .. }) => "completed",
            Some(TaskOutcome::Failed(_)) => "failed",
            Some(TaskOutcome::Cancelled) => "cancelled",
        };
        let modern = |value| (!is_legacy).then_some(value);
        let legacy = |value| is_legacy.then_some(value);
        let (result, error) = match &self.outcome {
            Some(TaskOutcome::Completed { result, .. }) if !is_legacy => (Some(&**result), None),
            Some(TaskOutcome::Failed(error)) if !is_legacy => (None, Some(&**error)),
            _ => (None, None),
        };
        TaskView {
            meta: None,
            result_type: None,
            task_id: &self.task_id,
            status,
            status_message: self.status_message.as_deref(),
            created_at: self.created_at,
            last_updated_at: self.last_updated_at,
            ttl: legacy(self.ttl_ms),
            poll_interval: legacy(POLL_INTERVAL_MS),
            ttl_ms: modern(self.ttl_ms),
            poll_interval_ms: modern(POLL_INTERVAL_MS),
            input_requests: questions.filter(|_| !is_legacy),
            result,
            error,
        }
    }
}

impl TaskOutcome {
    /// Returns the text of the error if the call has failed.
    pub(super) fn error(&self) -> Option<String> {
        #[derive(Deserialize)]
        struct Error {
            message: String,
        }
        #[derive(Deserialize)]
        struct CallResult {
            content: Vec<Content>,
        }
        #[derive(Deserialize)]
        struct Content {
            text: Option<String>,
        }
        let text = match self {
            Self::Completed { is_error: false, .. } | Self::Cancelled => None,
            Self::Completed { result, .. } => {
                let result: CallResult = serde_json::from_str(result.get()).ok()?;
                result.content.into_iter().find_map(|content| content.text)
            }
            Self::Failed(error) => serde_json::from_str(error.get()).ok().map(|error: Error| error.message),
        };
        text.map(|text| status_message(&text))
    }
}

impl<'t> TaskView<'t> {
    /// Sets `_meta`.
    pub(crate) fn meta(self, meta: &'t RawValue) -> Self {
        Self { meta: Some(meta), ..self }
    }

    /// Sets `resultType`.
    pub(crate) fn result_type(self, kind: &'static str) -> Self {
        Self { result_type: Some(kind), ..self }
    }
}

/// Creates a status message from a text of any length.
pub(super) fn status_message(text: &str) -> String {
    text.chars().take(MAX_MESSAGE).collect()
}
