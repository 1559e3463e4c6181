//! The state of a task, as a server reports it.

use std::collections::HashSet;
use std::time::Duration;

use rmcp::model::InputResponses;
use serde_json::{Map, Value};
use toolkit::{Context, ToolError};

use crate::questions::{self, MAX_ROUNDS};
use crate::remote::Remote;
use crate::texts::shortened;

/// The bounds of the time between two requests for the state of a task.
pub(super) const MIN_INTERVAL: Duration = Duration::from_millis(100);
const MAX_INTERVAL: Duration = Duration::from_secs(60);

/// The interval if the server does not suggest one.
const DEFAULT_INTERVAL: Duration = Duration::from_secs(1);

/// The maximum length of the id of a task in bytes. The client sends the id in a header of each request.
const MAX_ID_LEN: usize = 4096;

/// The state of a task.
pub(super) struct Snapshot {
    pub(super) status: Status,
    /// The description of the status.
    pub(super) message: Option<String>,
    /// The time until the state should be requested again.
    pub(super) interval: Duration,
    /// The other fields, such as the result.
    pub(super) fields: Map<String, Value>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Status {
    Working,
    InputRequired,
    Completed,
    Failed,
    Cancelled,
}

impl Status {
    /// Returns true if the task has ended.
    pub(super) fn is_terminal(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }
}

impl Snapshot {
    /// Reads the response to a request for the state of a task.
    ///
    /// # Errors
    ///
    /// Returns the reason why it is not the state of this task. It completes the sentence "The server responded …".
    pub(super) fn parse(id: &str, response: Value) -> Result<Self, &'static str> {
        let Value::Object(fields) = response else {
            return Err("without the state of a task");
        };
        if fields.get("taskId").and_then(Value::as_str) != Some(id) {
            return Err("with the state of another task");
        }
        let status = match fields.get("status").and_then(Value::as_str) {
            Some("working") => Status::Working,
            Some("input_required") => Status::InputRequired,
            Some("completed") => Status::Completed,
            Some("failed") => Status::Failed,
            Some("cancelled") => Status::Cancelled,
            _ => return Err("with an unknown status of a task"),
        };
        let message = fields.get("statusMessage").and_then(Value::as_str).filter(|message| !message.is_empty());
        Ok(Self { status, message: message.map(shortened), interval: interval(&fields), fields })
    }
}

/// Returns the suggested interval within the bounds.
fn interval(fields: &Map<String, Value>) -> Duration {
    let suggested = fields.get("pollIntervalMs").or_else(|| fields.get("pollInterval")).and_then(Value::as_f64);
    let milliseconds = |bound: Duration| bound.as_secs_f64() * 1000.0;
    let suggested = suggested.unwrap_or(milliseconds(DEFAULT_INTERVAL));
    let bounded = suggested.clamp(milliseconds(MIN_INTERVAL), milliseconds(MAX_INTERVAL));
    Duration::from_secs_f64(bounded / 1000.0)
}

/// Checks the id of a new task.
///
/// # Errors
///
/// Returns the reason why it is rejected, which completes the sentence "The server responded …".
pub(super) fn check_id(id: &str) -> Result<(), &'static str> {
    match id.len() {
        0 => Err("with a task without an id"),
        1..=MAX_ID_LEN => Ok(()),
        _ => Err("with a task whose id has more than 4096 bytes"),
    }
}

// Answers to the questions of a task, in the extension for tasks.

/// The answers to the questions of a task. The server repeats a question until it has processed the answer.
#[derive(Default)]
pub(super) struct Answers {
    /// The keys of the questions that were answered.
    answered: HashSet<String>,
    /// The answers that the server has not confirmed.
    unsent: Option<InputResponses>,
    n_rounds: usize,
}

impl Answers {
    /// Asks the user the questions that were not asked before.
    ///
    /// # Errors
    ///
    /// Returns an error if the server asks too often, or may not ask, or if its questions are invalid.
    pub(super) async fn ask(
        &mut self,
        remote: &Remote,
        context: &Context,
        snapshot: &Snapshot,
    ) -> Result<(), ToolError> {
        let Some(requests) = snapshot.fields.get("inputRequests").and_then(Value::as_object) else {
            return Err(remote.invalid_response("with a task that requires input without a question"));
        };
        let open = requests.iter().filter(|(key, _)| !self.answered.contains(*key));
        let open: Map<String, Value> = open.map(|(key, request)| (key.clone(), request.clone())).collect();
        if open.is_empty() {
            return Ok(());
        }
        self.n_rounds += 1;
        if self.n_rounds > MAX_ROUNDS {
            return Err(questions::too_many_rounds(remote));
        }
        if !remote.may_ask {
            return Err(questions::unsupported_request());
        }
        self.unsent = Some(questions::respond(remote, context, &open).await?);
        self.answered.extend(open.into_iter().map(|(key, _)| key));
        Ok(())
    }

    /// Returns the answers to send.
    pub(super) fn unsent(&self) -> Option<&InputResponses> {
        self.unsent.as_ref()
    }

    /// Records that the server has received the answers.
    pub(super) fn are_sent(&mut self) {
        self.unsent = None;
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_interval_is_between_a_tenth_of_a_second_and_a_minute() {
        for (suggested, milliseconds) in [
            (json!(5000), 5000),
            (json!(0), 100),
            (json!(-1e300), 100),
            (json!(99.5), 100),
            (json!(1e300), 60_000),
            (json!(u64::MAX), 60_000),
            (json!("5000"), 1000),
            (json!(null), 1000),
        ] {
            for key in ["pollInterval", "pollIntervalMs"] {
                let fields = Map::from_iter([(key.to_owned(), suggested.clone())]);
                assert_eq!(interval(&fields), Duration::from_millis(milliseconds), "{suggested}");
            }
        }
        assert_eq!(interval(&Map::new()), DEFAULT_INTERVAL);
    }
}
