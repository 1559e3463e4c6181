//! Answers to the questions of a task, in the extension for tasks.

use std::collections::HashSet;

use serde_json::{Map, Value};
use toolkit::{Context, ToolError};

use super::waiting::Snapshot;
use crate::questions::{self, MAX_ROUNDS};
use crate::remote::Remote;

/// The answers to the questions of a task. The server repeats a question until it has processed the answer.
#[derive(Default)]
pub(super) struct Answers {
    /// The keys of the questions that were answered.
    answered: HashSet<String>,
    /// The answers that the server has not confirmed.
    pub(super) unsent: Option<Map<String, Value>>,
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
        let requests = snapshot.fields.get("inputRequests").and_then(|requests| requests.parse().ok());
        let Some(requests): Option<Map<String, Value>> = requests else {
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
}
