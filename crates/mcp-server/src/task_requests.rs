//! Requests for tasks (`tasks/…`).

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use tokio::sync::watch;
use tokio::task::{AbortHandle, JoinSet};
use toolkit::call::ask::Question;
use toolkit::mcp::Revision;
use toolkit::{CancelToken, Tool};
use toolkit_mcp::{Code, RpcError, json_bytes, response, text};

use super::access::{Denied, Rejected};
use super::ask::{Modes, parse_answer, request};
use super::call::{declares_tasks, missing_extension};
use super::observe::Observed;
use super::peer::{Peer, Received, Registered, cancelled_by, register};
use super::reply::{MessageSink, Reply};
use super::state::Shared;
use super::tasks::{LiveTask, Outcome, RELATED_TASK, Record, TaskTool, TaskView};

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
    shared: &Arc<Shared>,
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
    shared: &Arc<Shared>,
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
fn tool_of_task(shared: &Arc<Shared>, id: &str, owner: Option<&str>) -> Option<Result<Tool, Denied>> {
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

// The answers to `tasks/get`, `tasks/update` and `tasks/cancel`.

/// The result of a request that the server has accepted.
const ACCEPTED: &[u8] = br#"{"resultType":"complete"}"#;

/// A request for a task.
pub(super) struct TaskRequest {
    shared: Arc<Shared>,
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
        let record = self.shared.tasks.ended(&self.task_id, self.owner.as_deref()).await?;
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
pub(super) fn detailed<'r>(record: &'r Record, live: Option<&LiveTask>, meta: &'r RawValue) -> TaskView<'r> {
    view(record, live, Revision::V2026_07_28).meta(meta)
}

fn view<'r>(record: &'r Record, live: Option<&LiveTask>, revision: Revision) -> TaskView<'r> {
    let questions = live.map(LiveTask::questions).unwrap_or_default();
    let requests = questions.iter().map(|(key, question)| (key.clone(), request(question))).collect();
    record.view(revision, (!questions.is_empty()).then_some(requests))
}

// Questions to clients before revision 2026-07-28 that poll a task until its end.
//
// A task sends its questions while the client waits for `tasks/result`, which the specification recommends as soon as
// the status is `input_required`. Clients of the package `ext-tasks` never do so before the end. For them, the questions
// precede the response of the next `tasks/get`.

impl TaskRequest {
    fn questions(&self) -> Vec<Vec<u8>> {
        let (Action::Get, Some((session, modes))) = (&self.action, &self.session) else { return Vec::new() };
        let shared = &self.shared;
        let Some(task) = shared.tasks.live(&self.task_id, self.owner.as_deref()) else { return Vec::new() };
        let mut messages = Vec::new();
        for (key, question) in task.questions_of_poll(session) {
            if !modes.includes(question.mode()) {
                continue;
            }
            let Ok(mut request) = shared.requests.open(session, self.owner.clone(), &question) else { continue };
            messages.push(request.message_with_meta(related(&self.task_id)));
            let task: Arc<LiveTask> = Arc::clone(&task);
            tokio::spawn(async move {
                tokio::select! {
                    // After an error of the client, the question stays open until its timeout.
                    Ok(answer) = request.answer() => task.answer(&key, answer),
                    () = task.closed(&key) => {}
                }
            });
        }
        messages
    }
}

// `tasks/result`, which up to revision 2025-11-25 waits for the end of a task. Meanwhile, it carries the questions of
// the task to the user.

/// A client that waits for the result of a task.
pub(super) struct TaskResult {
    shared: Arc<Shared>,
    id: Box<RawValue>,
    task_id: String,
    /// The identity of the caller.
    owner: Option<String>,
    /// The session to which requests are sent, and the ways in which the client can ask its user.
    session: Option<(Box<str>, Modes)>,
    registered: Option<Registered>,
    observed: Option<Observed>,
    /// Cancelled when the client can send no more messages.
    end: Option<CancelToken>,
    /// The task while its call runs.
    live: Option<(Arc<LiveTask>, watch::Receiver<()>)>,
    /// The questions that were sent, by their keys in the task.
    sent: HashMap<String, Sent>,
    waiting: JoinSet<()>,
    messages: Vec<Vec<u8>>,
}

/// A question that was sent.
struct Sent {
    waiting: AbortHandle,
    is_answered: Arc<AtomicBool>,
    /// The notification that cancels the request.
    cancellation: Vec<u8>,
}

impl TaskResult {
    fn new(
        shared: &Arc<Shared>,
        id: Box<RawValue>,
        task_id: String,
        owner: Option<String>,
        session: Option<(Box<str>, Modes)>,
        registered: Option<Registered>,
        end: Option<CancelToken>,
    ) -> Self {
        let live = shared.tasks.live(&task_id, owner.as_deref()).map(|task| {
            let mut changes = task.changes();
            // Questions that are open already must be sent too.
            changes.mark_changed();
            (task, changes)
        });
        Self {
            shared: Arc::clone(shared),
            id,
            task_id,
            owner,
            session,
            registered,
            observed: None,
            end,
            live,
            sent: HashMap::new(),
            waiting: JoinSet::new(),
            messages: Vec::new(),
        }
    }

    /// Starts the observation of the request.
    pub(super) fn observe(&mut self, observed: Observed) {
        self.observed = Some(observed);
    }

    /// Waits for the end of the task, and sends its questions meanwhile.
    pub(super) async fn answer(mut self, mut sink: impl MessageSink) -> Reply {
        while let Some((task, changes)) = &mut self.live {
            let task = Arc::clone(task);
            let cancelled = self.registered.as_ref().map(|registered| registered.token().clone());
            tokio::select! {
                _ = changes.changed() => {}
                () = cancelled_by(cancelled) => return Reply::cancelled(),
                // The client can request the result again. A task that waits for its user must not delay the shutdown.
                () = self.shared.shutdown.cancelled() => return self.interrupted(),
                () = cancelled_by(self.end.clone()) => return self.interrupted(),
            }
            if task.has_ended() {
                self.live = None;
                self.cancel_all_but(&[]);
            } else {
                self.send_questions(&task);
            }
            for message in std::mem::take(&mut self.messages) {
                sink.send(message).await;
            }
        }
        Reply::new(self.ended().await)
    }

    /// Sends the questions that were opened, and cancels those that were closed.
    fn send_questions(&mut self, task: &Arc<LiveTask>) {
        self.cancel_all_but(&task.questions());
        let Some((session, modes)) = &self.session else { return };
        let open = task.questions_of_result(session);
        for (key, question) in open {
            if self.sent.contains_key(&key) || !modes.includes(question.mode()) {
                continue;
            }
            let requests = &self.shared.requests;
            let Ok(mut request) = requests.open(session, self.owner.clone(), &question) else { continue };
            self.messages.push(request.message_with_meta(related(&self.task_id)));
            let cancellation = request.cancellation();
            let (task, asked, is_answered) = (Arc::clone(task), key.clone(), Arc::new(AtomicBool::new(false)));
            let answered = Arc::clone(&is_answered);
            let waiting = self.waiting.spawn(async move {
                // After an error of the client, the question stays open until its timeout.
                let answer = request.answer().await;
                answered.store(true, Ordering::Release);
                if let Ok(answer) = answer {
                    task.answer(&asked, answer);
                }
            });
            self.sent.insert(key, Sent { waiting, is_answered, cancellation });
        }
    }

    /// Cancels the requests of questions that are not open any longer, since another request has answered them or the
    /// task does not wait for them.
    fn cancel_all_but(&mut self, open: &[(String, Question)]) {
        let closed = self.sent.extract_if(|key, _| !open.iter().any(|(open, _)| open == key));
        for (_, sent) in closed {
            sent.waiting.abort();
            if !sent.is_answered.load(Ordering::Acquire) {
                self.messages.push(sent.cancellation);
            }
        }
    }

    fn interrupted(&self) -> Reply {
        let message = "the server is shutting down; request the result of the task again later";
        Reply::new(RpcError::new(Code::Internal, message).to_response(Some(&self.id)))
    }

    async fn ended(&mut self) -> Vec<u8> {
        let outcome = self.result().await;
        if let Some(observed) = self.observed.take() {
            observed.end(None, outcome.as_ref().err().map(|error| error.code));
        }
        outcome.unwrap_or_else(|error| error.to_response(Some(&self.id)))
    }

    /// Returns the response of the call, with a reference to the task.
    async fn result(&self) -> Result<Vec<u8>, RpcError> {
        let record = self.shared.tasks.ended(&self.task_id, self.owner.as_deref()).await?;
        let record = record.ok_or_else(unknown_task)?;
        match record.outcome() {
            Some(Outcome::Completed { result, .. }) => {
                let mut meta = json_bytes(&json!({ "_meta": related(&self.task_id) }));
                // Removes the braces and adds a comma, so that the fields of the result can follow.
                meta.remove(0);
                meta.pop();
                meta.push(b',');
                Ok(response(&self.id, &meta, result.get().as_bytes()))
            }
            Some(Outcome::Failed(error)) => {
                let error: Value = serde_json::from_str(error.get()).unwrap_or_default();
                Ok(json_bytes(&json!({ "jsonrpc": "2.0", "id": self.id, "error": error })))
            }
            Some(Outcome::Cancelled) => Err(RpcError::new(Code::Internal, "the task was cancelled")),
            None => Err(unknown_task()),
        }
    }
}
