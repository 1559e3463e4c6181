//! Tasks whose calls run.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::{oneshot, watch};
use tokio::time::Instant;
use toolkit::call::ask::{Answer, Question};
use toolkit::{CancelToken, Tool, ToolError};

use super::record::{Record, status_message};

/// A task whose call runs.
#[derive(Debug)]
pub(crate) struct LiveTask {
    id: String,
    owner: Option<String>,
    tool: Tool,
    created_at: Timestamp,
    ttl: Duration,
    /// `None` for a time that is too far away.
    deadline: Option<Instant>,
    state: Mutex<State>,
    changed: watch::Sender<()>,
    cancel: CancelToken,
}

#[derive(Debug)]
struct State {
    updated_at: Timestamp,
    message: Option<String>,
    open: Vec<Open>,
    /// The keys of all questions, which must not be used again.
    keys: HashSet<String>,
    has_ended: bool,
}

impl LiveTask {
    pub(super) fn new(id: String, owner: Option<String>, tool: Tool, ttl: Duration) -> Self {
        let now = Timestamp::now();
        let state = Mutex::new(State {
            updated_at: now,
            message: None,
            open: Vec::new(),
            keys: HashSet::new(),
            has_ended: false,
        });
        Self {
            id,
            owner,
            tool,
            created_at: now,
            ttl,
            deadline: Instant::now().checked_add(ttl),
            state,
            changed: watch::Sender::new(()),
            cancel: CancelToken::new(),
        }
    }

    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    pub(crate) fn owner(&self) -> Option<&str> {
        self.owner.as_deref()
    }

    pub(crate) fn tool(&self) -> &Tool {
        &self.tool
    }

    /// Returns the time at which the task is removed, unless its call ends before.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// Returns the record of the task as of now.
    pub(crate) fn record(&self) -> Record {
        let state = self.state();
        Record {
            task_id: self.id.clone(),
            owner: self.owner.clone(),
            tool: self.tool.id().to_string(),
            created_at: self.created_at,
            last_updated_at: state.updated_at,
            ttl_ms: self.ttl.as_millis().try_into().unwrap_or(u64::MAX),
            status_message: state.message.clone(),
            outcome: None,
        }
    }

    /// Records progress of the call.
    pub(crate) fn report(&self, message: &str) {
        let mut state = self.state();
        if !message.is_empty() {
            state.message = Some(status_message(message));
        }
        self.touch(&mut state);
    }

    /// Requests that the call ends.
    pub(crate) fn cancel(&self) {
        self.cancel.cancel();
    }

    pub(crate) async fn cancelled(&self) {
        self.cancel.cancelled().await;
    }

    /// Returns a receiver of changes of the task.
    pub(crate) fn changes(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    /// Returns true if the task waits for its user.
    pub(crate) fn is_waiting(&self) -> bool {
        !self.state().open.is_empty()
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.state().has_ended
    }

    /// Waits until the call has ended and the outcome is stored.
    pub(crate) async fn ended(&self) {
        let mut changes = self.changes();
        while !self.has_ended() && changes.changed().await.is_ok() {}
    }

    /// Marks the end of the call, once the outcome is stored.
    pub(super) fn end(&self) {
        let mut state = self.state();
        state.has_ended = true;
        state.open.clear();
        self.touch(&mut state);
    }

    fn touch(&self, state: &mut State) {
        state.updated_at = Timestamp::now();
        self.changed.send_replace(());
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// The questions of a task to the user of its client.

/// The maximum number of questions of a task.
const MAX_QUESTIONS: usize = 100;

/// An open question.
#[derive(Debug)]
struct Open {
    key: String,
    question: Question,
    sender: oneshot::Sender<Answer>,
    delivery: Delivery,
}

/// The way of a question to a client before revision 2026-07-28.
#[derive(Debug, PartialEq, Eq)]
enum Delivery {
    /// No request has shown that the task waits for its user.
    Unseen,
    /// A response of `tasks/get` has shown the session that the task waits for its user.
    Seen(Box<str>),
    /// The question was sent to the session before a response of `tasks/get`.
    Polled(Box<str>),
    /// A request `tasks/result` has received the question.
    Awaited,
}

/// An open question of a task. Dropping it closes the question.
pub(crate) struct OpenQuestion {
    task: Arc<LiveTask>,
    key: String,
    answer: oneshot::Receiver<Answer>,
}

impl LiveTask {
    /// Opens a question to the user of the client.
    ///
    /// # Errors
    ///
    /// Returns an error if the task has asked too much.
    pub(crate) fn ask(self: &Arc<Self>, question: Question) -> Result<OpenQuestion, ToolError> {
        let (sender, answer) = oneshot::channel();
        let mut state = self.state();
        if state.keys.len() >= MAX_QUESTIONS {
            return Err(ToolError::failed(format!("a task can ask at most {MAX_QUESTIONS} questions")));
        }
        let numbered = (state.keys.len() + 1..).map(|number| format!("question-{number}"));
        let mut names = question.key().map(str::to_owned).into_iter().chain(numbered);
        let key = names.find(|key| !state.keys.contains(key)).unwrap_or_default();
        state.keys.insert(key.clone());
        state.open.push(Open { key: key.clone(), question, sender, delivery: Delivery::Unseen });
        self.touch(&mut state);
        drop(state);
        Ok(OpenQuestion { task: Arc::clone(self), key, answer })
    }

    /// Returns the open questions with their keys.
    pub(crate) fn questions(&self) -> Vec<(String, Question)> {
        self.state().open.iter().map(|open| (open.key.clone(), open.question.clone())).collect()
    }

    /// Returns the open questions for a session that polls the task although it has seen that the task waits for its
    /// user. Each is returned once.
    pub(crate) fn questions_of_poll(&self, session: &str) -> Vec<(String, Question)> {
        let mut due = Vec::new();
        for open in &mut self.state().open {
            match &open.delivery {
                Delivery::Seen(seen) if **seen == *session => {
                    open.delivery = Delivery::Polled(session.into());
                    due.push((open.key.clone(), open.question.clone()));
                }
                Delivery::Unseen | Delivery::Seen(_) => open.delivery = Delivery::Seen(session.into()),
                Delivery::Polled(_) | Delivery::Awaited => {}
            }
        }
        due
    }

    /// Returns the open questions for a request `tasks/result`, without those that the session has received before.
    pub(crate) fn questions_of_result(&self, session: &str) -> Vec<(String, Question)> {
        let mut due = Vec::new();
        for open in &mut self.state().open {
            if !matches!(&open.delivery, Delivery::Polled(to) if **to == *session) {
                open.delivery = Delivery::Awaited;
                due.push((open.key.clone(), open.question.clone()));
            }
        }
        due
    }

    /// Waits until a question is closed.
    pub(crate) async fn closed(&self, key: &str) {
        let mut changes = self.changes();
        while self.state().open.iter().any(|open| open.key == key) && changes.changed().await.is_ok() {}
    }

    /// Passes on the answer to a question. An answer to a question that is not open is ignored.
    pub(crate) fn answer(&self, key: &str, answer: Answer) {
        let mut state = self.state();
        let Some(idx) = state.open.iter().position(|open| open.key == key) else { return };
        let open = state.open.remove(idx);
        self.touch(&mut state);
        let _ = open.sender.send(answer);
    }
}

impl OpenQuestion {
    /// Waits for the answer of the user.
    ///
    /// # Errors
    ///
    /// Returns an error if the task ends before.
    pub(crate) async fn answer(&mut self) -> Result<Answer, ToolError> {
        (&mut self.answer).await.map_err(|_| ToolError::cancelled())
    }
}

impl Drop for OpenQuestion {
    fn drop(&mut self) {
        let mut state = self.task.state();
        let n_before = state.open.len();
        state.open.retain(|open| open.key != self.key);
        if state.open.len() < n_before {
            self.task.touch(&mut state);
        }
    }
}
