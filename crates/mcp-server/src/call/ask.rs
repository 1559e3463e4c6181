//! Questions of a running call to its user: in the event stream of the call, or through its task. The call does not hold
//! its permit while a question is open.

use std::convert::Infallible;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::time::{Instant, sleep, timeout};
use toolkit::ToolError;
use toolkit::call::ErrorKind;
use toolkit::call::ask::{Answer, Asker, Mode, Question};
use toolkit::dispatch::BoxFuture;
use toolkit_runtime::{CallLimiter, CallPermit};

use super::{Asks, Call, CallMessage, StreamAsks, TaskOffer, TaskSlot};
use crate::ask::{MAX_QUESTIONS, Modes, OpenQuestions, OpenRequest, Rounds, plain, too_many};
use crate::logging::CallLog;
use crate::request::{Caller, Request};
use crate::state::Shared;

/// The time between two reports that a call waits for its user.
const REPORT_INTERVAL: Duration = Duration::from_secs(12);

/// The time that a call waits for a permit after its user has answered.
const RETURN_TIMEOUT: Duration = Duration::from_secs(60);

/// Asks the user by requests in the event stream of the call, or over stdio.
pub(super) struct StreamAsker {
    pub(super) shared: Arc<Shared>,
    /// The id of the tool.
    pub(super) tool: Arc<str>,
    pub(super) asks: StreamAsks,
    /// The identity of the caller, who has to answer.
    pub(super) identity: Option<String>,
    pub(super) messages: Sender<CallMessage>,
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
        let mut asked = Asked { request, messages: &self.messages, is_answered: false };
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
        self.permit.without(&self.shared.calls, &self.tool, RETURN_TIMEOUT, answer).await
    }

    /// Reports from time to time that the call waits. Some clients end calls without progress.
    async fn report_waiting(&self) -> Infallible {
        loop {
            sleep(REPORT_INTERVAL).await;
            let _ = self.messages.try_send(CallMessage::Waiting);
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
    messages: &'a Sender<CallMessage>,
    is_answered: bool,
}

impl Asked<'_> {
    async fn answer(&mut self) -> Result<Answer, ToolError> {
        let sent = self.messages.send(CallMessage::Request(self.request.message())).await;
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
            let _ = self.messages.try_send(CallMessage::Request(self.request.cancellation()));
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

// Questions of a call that may become a task.

/// Asks the user of a call that may become a task: before, in rounds, and later through the task.
pub(super) struct TaskAsker {
    shared: Arc<Shared>,
    /// The id of the tool.
    tool: String,
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
        shared: &Arc<Shared>,
        tool: &str,
        permit: PermitSlot,
    ) -> Self {
        let (slot, modes) = (Arc::clone(offer.slot()), offer.modes);
        let questions = shared.waiting.of_call(&offer.caller);
        Self { shared: Arc::clone(shared), tool: tool.to_owned(), slot, rounds, modes, permit, questions }
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
        let patience = task.deadline().map_or(Duration::MAX, |deadline| deadline.duration_since(Instant::now()));
        self.permit.without(&self.shared.calls, &self.tool, patience, answer).await
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

// The context of a call whose client expects messages while it runs.

/// The number of messages in the queue of a slow client. Further progress reports and log messages are dropped.
const MAX_MESSAGES: usize = 64;

/// Returns the receiver of the messages that the tool sends through its context.
pub(super) fn listen(call: &mut Call) -> Receiver<CallMessage> {
    let (sender, receiver) = channel(MAX_MESSAGES);
    let mut context = std::mem::take(&mut call.context);
    if let Some(offer) = &call.task {
        let rounds = match &call.asks {
            Asks::Rounds(rounds) => Some(rounds.clone()),
            _ => None,
        };
        let permit = PermitSlot::default();
        call.permit = Some(permit.clone());
        context = context.with_asker(TaskAsker::new(offer, rounds, &call.shared, &call.entry().id, permit));
    } else if let Some(asks) = call.asks.take_stream() {
        let permit = PermitSlot::default();
        call.permit = Some(permit.clone());
        let caller = context.get::<Request>().and_then(Request::caller);
        let identity = caller.and_then(Caller::identity);
        context = context.with_asker(StreamAsker {
            shared: Arc::clone(&call.shared),
            tool: call.entry().id.clone(),
            asks,
            identity,
            messages: sender.clone(),
            permit,
            n_asked: AtomicUsize::new(0),
        });
    }
    if call.progress_token.is_some() {
        call.chunks.send_to(&sender);
    }
    if let Some(level) = call.log_level {
        let (sender, log) = (sender.clone(), CallLog::new(&call.entry().id));
        context = context.on_log(level, move |message| {
            if let Some(bytes) = log.notification(&message) {
                drop(sender.try_send(CallMessage::Log(bytes)));
            }
        });
    }
    // A task shows the message of the last progress.
    if call.progress_token.is_some() || call.task.is_some() {
        context = context.on_progress(move |progress| drop(sender.try_send(CallMessage::Progress(progress))));
    }
    call.context = context;
    receiver
}

/// The permit of a call, if it holds one.
#[derive(Clone, Default)]
pub(crate) struct PermitSlot(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    permit: Option<CallPermit>,
    n_open: usize,
}

/// An open question. Dropping it takes the permit back if one is free.
struct Away<'s> {
    slot: &'s PermitSlot,
    limiter: &'s CallLimiter,
    tool: &'s str,
    is_closed: bool,
}

impl PermitSlot {
    pub(super) fn store(&self, permit: CallPermit) {
        self.state().permit = Some(permit);
    }

    pub(super) fn clear(&self) {
        drop(self.state().permit.take());
    }

    /// Waits for the answer of a user without the permit, and takes it back afterwards, within `patience`.
    ///
    /// # Errors
    ///
    /// Returns the error of the answer, or one if no permit is free afterwards.
    pub(super) async fn without<T>(
        &self,
        limiter: &CallLimiter,
        tool: &str,
        patience: Duration,
        answer: impl Future<Output = Result<T, ToolError>>,
    ) -> Result<T, ToolError> {
        let away = self.leave(limiter, tool);
        let answer = answer.await;
        if !away.come_back(patience).await {
            let message = "the server has no free permit for the call after the answer of its user; try again later";
            return Err(ToolError::new(ErrorKind::Overloaded, message));
        }
        answer
    }

    /// Returns the permit to the limiter while a question is open. The other calls must not wait for this user.
    fn leave<'s>(&'s self, limiter: &'s CallLimiter, tool: &'s str) -> Away<'s> {
        let mut state = self.state();
        state.n_open += 1;
        drop(state.permit.take());
        Away { slot: self, limiter, tool, is_closed: false }
    }

    /// Stores a permit that was acquired for the call, unless another question is open or it has one.
    fn refill(&self, permit: CallPermit) {
        let mut state = self.state();
        if state.n_open == 0 && state.permit.is_none() {
            state.permit = Some(permit);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Away<'_> {
    /// Closes the question, and waits for a permit if it was the last open one. Returns false if none was free in time.
    async fn come_back(mut self, patience: Duration) -> bool {
        if !self.close() {
            return true;
        }
        match tokio::time::timeout(patience, self.limiter.acquire(self.tool)).await {
            Ok(Ok(permit)) => self.slot.refill(permit),
            _ => return false,
        }
        true
    }

    /// Returns true if the call needs a permit now.
    fn close(&mut self) -> bool {
        self.is_closed = true;
        let mut state = self.slot.state();
        state.n_open -= 1;
        state.n_open == 0 && state.permit.is_none()
    }
}

impl Drop for Away<'_> {
    fn drop(&mut self) {
        if !self.is_closed
            && self.close()
            && let Ok(permit) = self.limiter.try_acquire(self.tool)
        {
            self.slot.refill(permit);
        }
    }
}
