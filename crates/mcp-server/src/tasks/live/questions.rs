//! The questions of a task to the user of its client.

use std::sync::Arc;

use tokio::sync::oneshot;
use toolkit::ToolError;
use toolkit::call::ask::{Answer, Question};

use super::LiveTask;

/// The maximum number of questions of a task.
const MAX_QUESTIONS: usize = 100;

/// An open question.
#[derive(Debug)]
pub(super) struct AskedQuestion {
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
        let mut state = self.state.lock();
        if state.keys.len() >= MAX_QUESTIONS {
            return Err(ToolError::failed(format!("a task can ask at most {MAX_QUESTIONS} questions")));
        }
        let numbered = (state.keys.len() + 1..).map(|number| format!("question-{number}"));
        let mut names = question.key().map(str::to_owned).into_iter().chain(numbered);
        let key = names.find(|key| !state.keys.contains(key)).unwrap_or_default();
        state.keys.insert(key.clone());
        state.open.push(AskedQuestion { key: key.clone(), question, sender, delivery: Delivery::Unseen });
        self.touch(&mut state);
        drop(state);
        Ok(OpenQuestion { task: Arc::clone(self), key, answer })
    }

    /// Returns the open questions with their keys.
    pub(crate) fn questions(&self) -> Vec<(String, Question)> {
        self.state.lock().open.iter().map(|open| (open.key.clone(), open.question.clone())).collect()
    }

    /// Returns the open questions for a session that polls the task although it has seen that the task waits for its
    /// user. Each is returned once.
    pub(crate) fn questions_of_poll(&self, session: &str) -> Vec<(String, Question)> {
        let mut due = Vec::new();
        for open in &mut self.state.lock().open {
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
        for open in &mut self.state.lock().open {
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
        while self.state.lock().open.iter().any(|open| open.key == key) && changes.changed().await.is_ok() {}
    }

    /// Passes on the answer to a question. An answer to a question that is not open is ignored.
    pub(crate) fn answer(&self, key: &str, answer: Answer) {
        let mut state = self.state.lock();
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
        let mut state = self.task.state.lock();
        let n_before = state.open.len();
        state.open.retain(|open| open.key != self.key);
        if state.open.len() < n_before {
            self.task.touch(&mut state);
        }
    }
}
