//! The answers to `tasks/get`, `tasks/update` and `tasks/cancel`.

use std::sync::Arc;

use serde_json::value::RawValue;
use toolkit::Tool;
use toolkit::mcp::Revision;

use super::{Action, NotServed, unknown_task};
use crate::server::ask::{Modes, parse_answer, request};
use crate::server::call::CallResponse;
use crate::server::reply::{Code, RpcError, json_bytes, response};
use crate::server::state::Server;
use crate::server::tasks::{LiveTask, Record, TaskView};

/// The result of a request that the server has accepted.
const ACCEPTED: &[u8] = br#"{"resultType":"complete"}"#;

/// A request for a task.
pub(in crate::server) struct TaskRequest {
    pub(super) server: Server,
    pub(super) id: Box<RawValue>,
    pub(super) revision: Revision,
    pub(super) task_id: String,
    /// The identity of the caller.
    pub(super) owner: Option<String>,
    /// The session before revision 2026-07-28, and the ways in which the client can ask its user.
    pub(super) session: Option<(Box<str>, Modes)>,
    pub(super) action: Action,
}

impl TaskRequest {
    /// Returns the tool of the task; see [`Server::tool_of_task`].
    pub(in crate::server) fn tool(&self) -> Option<Result<Tool, NotServed>> {
        self.server.tool_of_task(&self.task_id, self.owner.as_deref())
    }

    /// Answers the request.
    pub(in crate::server) async fn answer(&self) -> CallResponse {
        let bytes = match self.result().await {
            Ok(result) => response(&self.id, self.server.shared.meta_fields(self.revision), &result),
            Err(error) => error.to_response(Some(&self.id)),
        };
        CallResponse { bytes, is_bad_request: false, is_cancelled: false }
    }

    async fn result(&self) -> Result<Vec<u8>, RpcError> {
        let live = self.server.shared.tasks.live(&self.task_id, self.owner.as_deref());
        match (&self.action, live) {
            (Action::Get, Some(task)) => Ok(self.write(&task.record(), Some(&task))),
            (Action::Get, None) => self.ended().await.map(|record| self.write(&record, None)),
            (Action::Cancel, live) => self.cancel(live.as_deref()).await,
            (Action::Update(answers), Some(task)) => {
                // Other keys were answered before, or never asked.
                for (key, _) in task.questions() {
                    if let Some(answer) = answers.get(&key) {
                        let answer =
                            parse_answer(answer).map_err(|reason| RpcError::new(Code::InvalidParams, reason))?;
                        task.answer(&key, answer);
                    }
                }
                Ok(ACCEPTED.to_vec())
            }
            (Action::Update(_), None) => self.ended().await.map(|_| ACCEPTED.to_vec()),
        }
    }

    async fn cancel(&self, live: Option<&LiveTask>) -> Result<Vec<u8>, RpcError> {
        let is_legacy = self.revision == Revision::V2025_11_25;
        let Some(task) = live else {
            let record = self.ended().await?;
            if is_legacy {
                let status = record.view(self.revision, None).status();
                let message = format!("the task has already ended with the status `{status}`");
                return Err(RpcError::new(Code::InvalidParams, message));
            }
            return Ok(ACCEPTED.to_vec());
        };
        task.cancel();
        if !is_legacy {
            return Ok(ACCEPTED.to_vec());
        }
        task.ended().await;
        self.ended().await.map(|record| self.write(&record, None))
    }

    /// Returns the record of a task whose call has ended.
    async fn ended(&self) -> Result<Arc<Record>, RpcError> {
        let record = self.server.shared.tasks.ended(&self.task_id, self.owner.as_deref()).await?;
        record.ok_or_else(unknown_task)
    }

    /// Writes `GetTaskResult`.
    fn write(&self, record: &Record, live: Option<&LiveTask>) -> Vec<u8> {
        let view = view(record, live, self.revision);
        match self.revision {
            Revision::V2025_11_25 => json_bytes(&view),
            _ => json_bytes(&view.result_type("complete")),
        }
    }
}

/// Returns a task with its outcome or its open questions (`DetailedTask`), and the `_meta` of a notification.
pub(in crate::server) fn detailed<'r>(record: &'r Record, live: Option<&LiveTask>, meta: &'r RawValue) -> TaskView<'r> {
    view(record, live, Revision::V2026_07_28).meta(meta)
}

fn view<'r>(record: &'r Record, live: Option<&LiveTask>, revision: Revision) -> TaskView<'r> {
    let questions = live.map(LiveTask::questions).unwrap_or_default();
    let requests = questions.iter().map(|(key, question)| (key.clone(), request(question))).collect();
    record.view(revision, (!questions.is_empty()).then_some(requests))
}
