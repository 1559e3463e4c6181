//! Requests for tasks (`tasks/…`).

mod answer;
mod offer;
mod poll;
mod result;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use toolkit::Tool;
use toolkit::mcp::Revision;

pub(super) use self::answer::{TaskRequest, detailed};
pub(super) use self::offer::{declares_tasks, missing_extension};
pub(super) use self::result::TaskResult;
use super::json_text::text;
use super::meta::Meta;
use super::peer::Peer;
use super::reply::{Code, RpcError};
use super::state::Server;
use super::tasks::{RELATED_TASK, TaskTool};

/// The error of a task of an earlier process whose tool is not served.
pub(super) struct NotServed;

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

impl Server {
    /// Reads a request for a task.
    pub(super) fn task_method(
        &self,
        id: &RawValue,
        method: &str,
        params: Option<&RawValue>,
        meta: &Meta<'_>,
        revision: Revision,
        peer: Peer<'_>,
    ) -> Result<TaskMethod, RpcError> {
        let is_legacy = revision == Revision::V2025_11_25;
        let is_known = match method {
            "tasks/get" | "tasks/cancel" => true,
            "tasks/result" => is_legacy,
            "tasks/update" => !is_legacy,
            _ => false,
        };
        if !is_known {
            return Err(RpcError::unknown_method(method));
        }
        if !is_legacy && !declares_tasks(meta) {
            return Err(missing_extension());
        }
        let task_id = task_id(params)?;
        let owner = peer.caller.and_then(|caller| caller.identity());
        let id = id.to_owned();
        let session = peer.session.map(|session| (session.into(), peer.modes));
        let action = match method {
            "tasks/result" => {
                let registered = match peer.session {
                    Some(session) => {
                        let registered = self.shared.running.register(session, id.get());
                        let taken =
                            || RpcError::new(Code::InvalidRequest, "a request with this `id` is already running");
                        Some(registered.ok_or_else(taken)?)
                    }
                    None => None,
                };
                return Ok(TaskMethod::Result(Box::new(TaskResult::new(
                    self,
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
            server: self.clone(),
            id,
            revision,
            task_id,
            owner,
            session: session.filter(|_| is_legacy),
            action,
        })))
    }

    /// Returns the tool of a task. Returns `None` if the caller does not have the task, and an error if its tool cannot
    /// be determined, since it is not served at the moment.
    pub(super) fn tool_of_task(&self, id: &str, owner: Option<&str>) -> Option<Result<Tool, NotServed>> {
        Some(match self.shared.tasks.tool(id, owner)? {
            TaskTool::Known(tool) => Ok(tool),
            TaskTool::Id(id) => {
                let served = self.served();
                let entry = served.entries.iter().find(|entry| entry.id == id);
                entry.map(|entry| served.tool(entry).clone()).ok_or(NotServed)
            }
        })
    }
}

/// Creates the error for an id that no task of the caller has.
fn unknown_task() -> RpcError {
    RpcError::new(Code::InvalidParams, "no task has this `taskId`, or the task has expired")
}

/// Returns the `_meta` of a message before revision 2026-07-28 that refers to a task.
fn related(task_id: &str) -> Value {
    json!({ RELATED_TASK: { "taskId": task_id } })
}

fn task_id(params: Option<&RawValue>) -> Result<String, RpcError> {
    #[derive(Deserialize)]
    struct Params<'m> {
        #[serde(borrow, rename = "taskId")]
        id: &'m RawValue,
    }
    let invalid = || RpcError::new(Code::InvalidParams, "`params` must have a string `taskId`");
    let params: Params<'_> = serde_json::from_str(params.ok_or_else(invalid)?.get()).map_err(|_| invalid())?;
    text(params.id.get()).map(|id| id.into_owned()).ok_or_else(invalid)
}

fn answers(params: Option<&RawValue>) -> Result<Map<String, Value>, RpcError> {
    #[derive(Deserialize)]
    struct Params {
        #[serde(rename = "inputResponses")]
        answers: Map<String, Value>,
    }
    let invalid = || RpcError::new(Code::InvalidParams, "`inputResponses` must be an object");
    let params: Params = serde_json::from_str(params.ok_or_else(invalid)?.get()).map_err(|_| invalid())?;
    Ok(params.answers)
}
