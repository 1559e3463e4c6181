//! Questions of a running call to its user: in the event stream of the call, or through its task. The call does not hold
//! its permit while a question is open.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::mpsc::Sender;
use tokio::time::{Instant, sleep, timeout};
use toolkit::ToolError;
use toolkit::call::ErrorKind;
use toolkit::call::ask::{Answer, Asker, Mode, Question};
use toolkit::dispatch::BoxFuture;

use super::StreamAsks;
use super::messages::CallEvent;
use super::offer::{TaskOffer, TaskSlot};
use super::permit_slot::PermitSlot;
use crate::ask::{MAX_QUESTIONS, Modes, OpenQuestions, OpenRequest, Rounds, plain, too_many};
use crate::state::ServerState;

/// The time between two reports that a call waits for its user.
const REPORT_INTERVAL: Duration = Duration::from_secs(12);

/// The time that a call waits for a permit after its user has answered.
const RETURN_TIMEOUT: Duration = Duration::from_secs(60);

/// Asks the user by requests in the event stream of the call, or over stdio.
pub(super) struct StreamAsker {
    pub(super) shared: Arc<ServerState>,
    pub(super) asks: StreamAsks,
    /// The identity of the caller, who has to answer.
    pub(super) identity: Option<String>,
    pub(super) events: Sender<CallEvent>,
    pub(super) permit: PermitSlot,
    pub(super) n_asked: AtomicUsize,
}

impl StreamAsker {
    async fn question(&self, question: &Question) -> Result<Answer, ToolError> {
        if self.n_asked.fetch_add(1, Ordering::Relaxed) >= MAX_QUESTIONS {
            return Err(too_many());
        }
        let plain_question;
        let question = match self.asks.modes.has_plain_forms() {
            true => match plain(question) {
                Some(plain) => {
                    plain_question = plain;
                    &plain_question
                }
                None => return Ok(Answer::Unsupported),
            },
            false => question,
        };
        let open = self.asks.questions.open()?;
        let request = self.shared.requests.open(&self.asks.session, self.identity.clone(), question)?;
        let mut asked = Asked { request, events: &self.events, is_answered: false };
        let limit = self.shared.ask_timeout;
        let answer = async move {
            let _open = open;
            tokio::select! {
                biased;
                // A question must not delay the shutdown.
                reason = self.ended() => Err(ToolError::failed(reason)),
                never = self.report_waiting() => match never {},
                // Sending is a part of it: a client that does not read must not keep the call waiting.
                answer = timeout(limit, asked.answer()) => answer.unwrap_or_else(|_| {
                    Err(ToolError::new(ErrorKind::TimedOut, format!("the user did not answer within {limit:?}")))
                }),
            }
        };
        self.permit.without(RETURN_TIMEOUT, answer).await
    }

    /// Reports from time to time that the call waits. Some clients end calls without progress.
    async fn report_waiting(&self) -> Infallible {
        loop {
            sleep(REPORT_INTERVAL).await;
            let _ = self.events.try_send(CallEvent::Waiting);
        }
    }

    /// Waits until no answer can arrive any longer, and returns the reason.
    async fn ended(&self) -> &'static str {
        let end = async {
            match &self.asks.end {
                Some(end) => end.cancelled().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = self.shared.shutdown.cancelled() => "the user can no longer be asked: the server is shutting down",
            () = end => "the user can no longer be asked: the client has closed the connection",
        }
    }
}

/// A question that is sent to the client. Dropping it without an answer cancels it there.
struct Asked<'a> {
    request: OpenRequest,
    events: &'a Sender<CallEvent>,
    is_answered: bool,
}

impl Asked<'_> {
    async fn answer(&mut self) -> Result<Answer, ToolError> {
        let sent = self.events.send(CallEvent::Question(self.request.message())).await;
        sent.map_err(|_| ToolError::cancelled())?;
        let answer = self.request.answer().await;
        self.is_answered = true;
        answer
    }
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        if !self.is_answered {
            // Without room in the queue, the client does not read anyway.
            let _ = self.events.try_send(CallEvent::Question(self.request.cancellation()));
        }
    }
}

impl Asker for StreamAsker {
    fn can_ask(&self, mode: Mode) -> bool {
        self.asks.modes.includes(mode)
    }

    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Result<Answer, ToolError>> {
        Box::pin(self.question(question))
    }
}

/// Asks the user of a call that may become a task: before, in rounds, and later through the task.
pub(super) struct TaskAsker {
    shared: Arc<ServerState>,
    slot: TaskSlot,
    rounds: Option<Rounds>,
    modes: Modes,
    permit: PermitSlot,
    questions: OpenQuestions,
}

impl TaskAsker {
    pub(super) fn new(
        offer: &TaskOffer,
        rounds: Option<Rounds>,
        shared: &Arc<ServerState>,
        permit: PermitSlot,
    ) -> Self {
        let (slot, modes) = (Arc::clone(&offer.slot), offer.modes);
        let questions = shared.waiting.of_call(&offer.caller);
        Self { shared: Arc::clone(shared), slot, rounds, modes, permit, questions }
    }

    async fn question(&self, question: &Question) -> Result<Answer, ToolError> {
        if let Some(rounds) = &self.rounds
            && let Some(answer) = rounds.ask_in_round(question).await
        {
            return answer;
        }
        let task = self.slot.wait().await;
        let _open = self.questions.open()?;
        let mut open = task.ask(question.clone())?;
        let limit = self.shared.ask_timeout;
        let answer = async {
            timeout(limit, open.answer()).await.unwrap_or_else(|_| {
                Err(ToolError::new(ErrorKind::TimedOut, format!("the user did not answer within {limit:?}")))
            })
        };
        // The answer must not be in vain.
        let patience = task.deadline.map_or(Duration::MAX, |deadline| deadline.duration_since(Instant::now()));
        self.permit.without(patience, answer).await
    }
}

impl Asker for TaskAsker {
    fn can_ask(&self, mode: Mode) -> bool {
        self.modes.includes(mode)
    }

    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Result<Answer, ToolError>> {
        Box::pin(self.question(question))
    }
}
