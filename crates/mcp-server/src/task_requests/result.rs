//! `tasks/result`, which up to revision 2025-11-25 waits for the end of a task. Meanwhile, it carries the questions of
//! the task to the user.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::{AbortHandle, JoinSet};
use toolkit::CancelToken;
use toolkit::call::ask::Question;
use toolkit_mcp::{Code, RpcError, json_bytes, meta_fields, response};

use super::{related, unknown_task};
use crate::ask::Modes;
use crate::observe::Observed;
use crate::peer::{Registered, cancelled_by};
use crate::reply::{MessageSink, Reply};
use crate::state::ServerState;
use crate::tasks::{LiveTask, TaskOutcome};

/// A client that waits for the result of a task.
pub(crate) struct TaskResult {
    pub(super) shared: Arc<ServerState>,
    pub(super) id: Box<RawValue>,
    pub(super) task_id: String,
    /// The identity of the caller.
    pub(super) owner: Option<String>,
    /// The session to which requests are sent, and the ways in which the client can ask its user.
    pub(super) session: Option<(Box<str>, Modes)>,
    registered: Option<Registered>,
    pub(super) observed: Option<Observed>,
    /// Cancelled when the client can send no more messages.
    pub(super) end: Option<CancelToken>,
    /// The task while its call runs.
    pub(super) live: Option<(Arc<LiveTask>, watch::Receiver<()>)>,
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
        shared: &Arc<ServerState>,
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
    pub(crate) fn observe(&mut self, observed: Observed) {
        self.observed = Some(observed);
    }

    /// Waits for the end of the task, and sends its questions meanwhile.
    pub(crate) async fn answer(mut self, mut sink: impl MessageSink) -> Reply {
        while let Some((task, changes)) = &mut self.live {
            let task = Arc::clone(task);
            let cancelled = self.registered.as_ref().map(|registered| registered.token.clone());
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

    pub(super) async fn ended(&mut self) -> Vec<u8> {
        let outcome = self.result().await;
        if let Some(observed) = self.observed.take() {
            observed.end(None, outcome.as_ref().err().map(|error| error.code));
        }
        outcome.unwrap_or_else(|error| error.to_response(Some(&self.id)))
    }

    /// Returns the response of the call, with a reference to the task.
    pub(super) async fn result(&self) -> Result<Vec<u8>, RpcError> {
        let record = self.shared.tasks.ended(&self.task_id, self.owner.as_deref()).await?;
        let record = record.ok_or_else(|| unknown_task(&self.shared.tasks, &self.task_id))?;
        self.shared.tasks.mark_read(&self.task_id);
        match record.outcome() {
            Some(TaskOutcome::Completed { result, .. }) => {
                let meta = meta_fields(&json!({ "_meta": related(&self.task_id) }));
                Ok(response(&self.id, &meta, result.get().as_bytes()))
            }
            Some(TaskOutcome::Failed(error)) => {
                let error: Value = serde_json::from_str(error.get()).unwrap_or_default();
                Ok(json_bytes(&json!({ "jsonrpc": "2.0", "id": self.id, "error": error })))
            }
            Some(TaskOutcome::Cancelled) => Err(RpcError::new(Code::Internal, "the task was cancelled")),
            None => Err(unknown_task(&self.shared.tasks, &self.task_id)),
        }
    }
}
