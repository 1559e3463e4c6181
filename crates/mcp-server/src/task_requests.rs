//! Requests for tasks (`tasks/…`).

mod questions;
mod result;

use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use toolkit::Tool;
use toolkit::mcp::Revision;
use toolkit_mcp::{Code, RpcError, json_bytes, response, text};

pub(super) use self::result::TaskResult;
use super::access::{Denied, Rejected};
use super::ask::{Modes, parse_answer, request};
use super::call::{declares_tasks, missing_extension};
use super::observe::Observed;
use super::peer::{Peer, Received, register};
use super::reply::{MessageSink, Reply};
use super::state::ServerState;
use super::tasks::{LiveTask, RELATED_TASK, TaskOutcome, TaskRecord, TaskTool, TaskView, Tasks};

/// A request for a task.
pub(super) enum TaskMethod {
    /// `tasks/get`, `tasks/update` and `tasks/cancel`.
    Request(Box<TaskRequest>),
    /// `tasks/result`, whose response waits for the end of the call.
    Result(Box<TaskResult>),
}

/// The action that a request asks for.
pub(super) enum Action {
    Get,
    Cancel,
    /// The answers of the user (`inputResponses`).
    Update(Map<String, Value>),
}

/// Reads a request for a task.
pub(super) fn task_method(
    shared: &Arc<ServerState>,
    received: Received<'_>,
    method: &str,
    params: Option<&RawValue>,
) -> Result<TaskMethod, Rejected> {
    let Received { id, meta, revision, peer } = received;
    let is_legacy = revision == Revision::V2025_11_25;
    let is_known = match method {
        "tasks/get" | "tasks/cancel" => true,
        "tasks/result" => is_legacy,
        "tasks/update" => !is_legacy,
        _ => false,
    };
    if !is_known {
        return Err(RpcError::unknown_method(method).into());
    }
    if !is_legacy && !declares_tasks(meta) {
        return Err(missing_extension().into());
    }
    let task_id = task_id(params)?;
    check_tasks(shared, peer, [&*task_id])?;
    let owner = peer.identity();
    let id = id.to_owned();
    let session = peer.session.filter(|_| peer.takes_messages()).map(|session| (session.into(), peer.modes));
    let action = match method {
        "tasks/result" => {
            let registered = register(&shared.running, peer, &id)?;
            return Ok(TaskMethod::Result(Box::new(TaskResult::new(
                shared,
                id,
                task_id,
                owner,
                session,
                registered,
                peer.end.cloned(),
            ))));
        }
        "tasks/get" => Action::Get,
        "tasks/cancel" => Action::Cancel,
        _ => Action::Update(answers(params)?),
    };
    Ok(TaskMethod::Request(Box::new(TaskRequest {
        shared: Arc::clone(shared),
        id,
        revision,
        task_id,
        owner,
        session: session.filter(|_| is_legacy),
        action,
        observed: None,
    })))
}

/// Checks that the token of the caller grants calls of the tools of these tasks, as far as the caller has them.
pub(super) fn check_tasks<'t>(
    shared: &Arc<ServerState>,
    peer: Peer<'_>,
    ids: impl IntoIterator<Item = &'t str>,
) -> Result<(), Denied> {
    if peer.access.is_none() {
        return Ok(());
    }
    let owner = peer.identity();
    let tools = ids.into_iter().filter_map(|id| tool_of_task(shared, id, owner.as_deref()));
    let tools: Vec<Tool> = tools.collect::<Result<_, _>>()?;
    peer.check_tools(&tools.iter().collect::<Vec<_>>())
}

/// Returns the tool of a task. Returns `None` if the caller does not have the task, and an error if its tool cannot
/// be determined, since it is not served at the moment.
fn tool_of_task(shared: &Arc<ServerState>, id: &str, owner: Option<&str>) -> Option<Result<Tool, Denied>> {
    Some(match shared.tasks.tool(id, owner)? {
        TaskTool::Known(tool) => Ok(tool),
        TaskTool::Id(id) => {
            let served = shared.served();
            let entry = served.entries.iter().find(|entry| *entry.id == *id);
            entry.map(|entry| served.tool(entry).clone()).ok_or(Denied::UnknownTool)
        }
    })
}

/// Creates the error for an id that no task of the caller has.
fn unknown_task(tasks: &Tasks, id: &str) -> RpcError {
    let message = match tasks.other_replica(id) {
        Some(replica) => {
            format!("the task is one of the replica `{replica}`, to which the load balancer has to send its requests")
        }
        None => "no task has this `taskId`, or the task has expired".to_owned(),
    };
    RpcError::new(Code::InvalidParams, message)
}

/// Returns the `_meta` of a message before revision 2026-07-28 that refers to a task.
fn related(task_id: &str) -> Value {
    json!({ RELATED_TASK: { "taskId": task_id } })
}

fn task_id(params: Option<&RawValue>) -> Result<String, RpcError> {
    #[derive(Deserialize)]
    struct TaskIdParams<'m> {
        #[serde(borrow, rename = "taskId")]
        id: &'m RawValue,
    }
    let invalid = || RpcError::new(Code::InvalidParams, "`params` must have a string `taskId`");
    let params: TaskIdParams<'_> = serde_json::from_str(params.ok_or_else(invalid)?.get()).map_err(|_| invalid())?;
    text(params.id.get()).map(|id| id.into_owned()).ok_or_else(invalid)
}

fn answers(params: Option<&RawValue>) -> Result<Map<String, Value>, RpcError> {
    #[derive(Deserialize)]
    struct UpdateParams {
        #[serde(rename = "inputResponses")]
        answers: Map<String, Value>,
    }
    let invalid = || RpcError::new(Code::InvalidParams, "`inputResponses` must be an object");
    let params: UpdateParams = serde_json::from_str(params.ok_or_else(invalid)?.get()).map_err(|_| invalid())?;
    Ok(params.answers)
}

/// The result of a request that the server has accepted.
const ACCEPTED: &[u8] = br#"{"resultType":"complete"}"#;

/// A request for a task.
pub(super) struct TaskRequest {
    shared: Arc<ServerState>,
    id: Box<RawValue>,
    revision: Revision,
    task_id: String,
    /// The identity of the caller.
    owner: Option<String>,
    /// The session before revision 2026-07-28, and the ways in which the client can ask its user.
    session: Option<(Box<str>, Modes)>,
    action: Action,
    observed: Option<Observed>,
}

impl TaskRequest {
    /// Starts the observation of the request.
    pub(super) fn observe(&mut self, observed: Observed) {
        self.observed = Some(observed);
    }

    /// Answers the request, after the questions that the client must answer.
    pub(super) async fn answer(self, mut sink: impl MessageSink) -> Reply {
        for question in self.questions() {
            sink.send(question).await;
        }
        let (bytes, code) = match self.result().await {
            Ok(result) => (response(&self.id, self.shared.meta_fields(self.revision), &result), None),
            Err(error) => (error.to_response(Some(&self.id)), Some(error.code)),
        };
        if let Some(observed) = self.observed {
            observed.end(None, code);
        }
        Reply::new(bytes)
    }

    async fn result(&self) -> Result<Vec<u8>, RpcError> {
        let live = self.shared.tasks.live(&self.task_id, self.owner.as_deref());
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
                let status = record.view(self.revision, None).status;
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
    async fn ended(&self) -> Result<Arc<TaskRecord>, RpcError> {
        let record = self.shared.tasks.ended(&self.task_id, self.owner.as_deref()).await?;
        record.ok_or_else(|| unknown_task(&self.shared.tasks, &self.task_id))
    }

    /// Writes `GetTaskResult`.
    fn write(&self, record: &TaskRecord, live: Option<&LiveTask>) -> Vec<u8> {
        // In revision 2025-11-25, `tasks/result` returns the result.
        let is_legacy = self.revision == Revision::V2025_11_25;
        if live.is_none() && (!is_legacy || matches!(record.outcome(), Some(TaskOutcome::Cancelled))) {
            self.shared.tasks.mark_read(&self.task_id);
        }
        let view = view(record, live, self.revision);
        match self.revision {
            Revision::V2025_11_25 => json_bytes(&view),
            _ => json_bytes(&view.result_type("complete")),
        }
    }
}

/// Returns a task with its outcome or its open questions (`DetailedTask`), and the `_meta` of a notification.
pub(super) fn detailed<'r>(record: &'r TaskRecord, live: Option<&LiveTask>, meta: &'r RawValue) -> TaskView<'r> {
    view(record, live, Revision::V2026_07_28).meta(meta)
}

fn view<'r>(record: &'r TaskRecord, live: Option<&LiveTask>, revision: Revision) -> TaskView<'r> {
    let questions = live.map(LiveTask::questions).unwrap_or_default();
    let requests = questions.iter().map(|(key, question)| (key.clone(), request(question))).collect();
    record.view(revision, (!questions.is_empty()).then_some(requests))
}
