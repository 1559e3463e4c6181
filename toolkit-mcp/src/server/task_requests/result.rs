//! `tasks/result`, which up to revision 2025-11-25 waits for the end of a task. Meanwhile, it carries the questions of
//! the task to the user.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::{AbortHandle, JoinSet};
use toolkit::call::ask::Question;
use toolkit::{CancelToken, Tool};

use super::{NotServed, related, unknown_task};
use crate::server::ask::Modes;
use crate::server::call::{CallEvent, CallResponse, Events};
use crate::server::reply::{Code, RpcError, json_bytes, response};
use crate::server::running::{Registered, cancelled_by};
use crate::server::state::Server;
use crate::server::tasks::{LiveTask, Outcome};

/// A client that waits for the result of a task.
pub(in crate::server) struct TaskResult {
    server: Server,
    id: Box<RawValue>,
    task_id: String,
    /// The identity of the caller.
    owner: Option<String>,
    /// The session to which requests are sent, and the ways in which the client can ask its user.
    session: Option<(Box<str>, Modes)>,
    registered: Option<Registered>,
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
    pub(super) fn new(
        server: &Server,
        id: Box<RawValue>,
        task_id: String,
        owner: Option<String>,
        session: Option<(Box<str>, Modes)>,
        registered: Option<Registered>,
        end: Option<CancelToken>,
    ) -> Self {
        let live = server.shared.tasks.live(&task_id, owner.as_deref()).map(|task| {
            let mut changes = task.changes();
            // Questions that are open already must be sent too.
            changes.mark_changed();
            (task, changes)
        });
        Self {
            server: server.clone(),
            id,
            task_id,
            owner,
            session,
            registered,
            end,
            live,
            sent: HashMap::new(),
            waiting: JoinSet::new(),
            messages: Vec::new(),
        }
    }

    /// Returns the tool of the task; see [`Server::tool_of_task`].
    pub(in crate::server) fn tool(&self) -> Option<Result<Tool, NotServed>> {
        self.server.tool_of_task(&self.task_id, self.owner.as_deref())
    }

    /// Waits for the response without sending messages.
    pub(in crate::server) async fn answer(mut self) -> CallResponse {
        self.session = None;
        loop {
            if let CallEvent::Response(response) = self.next().await {
                return response;
            }
        }
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
            let requests = &self.server.shared.requests;
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

    fn interrupted(&self) -> CallEvent {
        let message = "the server is shutting down; request the result of the task again later";
        let bytes = RpcError::new(Code::Internal, message).to_response(Some(&self.id));
        CallEvent::Response(CallResponse { bytes, is_bad_request: false, is_cancelled: false })
    }

    async fn response(&self) -> Vec<u8> {
        match self.result().await {
            Ok(response) => response,
            Err(error) => error.to_response(Some(&self.id)),
        }
    }

    /// Returns the response of the call, with a reference to the task.
    async fn result(&self) -> Result<Vec<u8>, RpcError> {
        let record = self.server.shared.tasks.ended(&self.task_id, self.owner.as_deref()).await?;
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

impl Events for TaskResult {
    async fn next(&mut self) -> CallEvent {
        loop {
            if !self.messages.is_empty() {
                return CallEvent::Message(self.messages.remove(0));
            }
            let cancelled = self.registered.as_ref().map(|registered| registered.token().clone());
            let Some((task, changes)) = &mut self.live else { break };
            let task = Arc::clone(task);
            tokio::select! {
                _ = changes.changed() => {}
                () = cancelled_by(cancelled) => return CallEvent::Response(CallResponse {
                    bytes: Vec::new(),
                    is_bad_request: false,
                    is_cancelled: true,
                }),
                // The client can request the result again. A task that waits for its user must not delay the shutdown.
                () = self.server.shared.shutdown.cancelled() => return self.interrupted(),
                () = cancelled_by(self.end.clone()) => return self.interrupted(),
            }
            if task.has_ended() {
                self.live = None;
                self.cancel_all_but(&[]);
                continue;
            }
            self.send_questions(&task);
        }
        let bytes = self.response().await;
        CallEvent::Response(CallResponse { bytes, is_bad_request: false, is_cancelled: false })
    }
}
