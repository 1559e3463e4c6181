//! The rounds of a call since revision 2026-07-28: it runs until it asks, ends, and runs again with the answers.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Poll, Waker};

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use toolkit::call::ask::{Answer, Asker, Mode, Question};
use toolkit::dispatch::BoxFuture;
use toolkit::{Arguments, CancelToken, Tool, ToolError};
use toolkit_mcp::text as json_text;
use toolkit_runtime::Mutex;

use super::elicitation::QuestionHash;
use super::state::{Answered, Binding, CallState, MAX_STATE, Sealing, text};
use super::{MAX_QUESTIONS, Modes, parse_answer, request, too_many};
use crate::request::Caller;

/// The answers of earlier rounds, and the questions of this one.
#[derive(Clone)]
pub(crate) struct Rounds(Arc<Inner>);

struct Inner {
    modes: Modes,
    /// The state that the client sent, if the call continues.
    resumed: Option<CallState>,
    round: Mutex<Round>,
    /// Cancelled when the round ends, so that tasks of the tool do not wait for answers that never come.
    ended: CancelToken,
}

#[derive(Default)]
struct Round {
    answered: Vec<Answered>,
    /// True for the answers that a question of this round has received.
    taken: Vec<bool>,
    open: Vec<Question>,
    /// Returns what the call keeps for the next round.
    keep: Option<Box<dyn Fn() -> Option<String> + Send + Sync>>,
    /// True if the call has become a task, which asks by itself.
    has_left: bool,
    /// Woken when a question is opened.
    waker: Option<Waker>,
}

/// The end of a round.
pub(crate) enum RoundOutcome<T> {
    /// The call has completed.
    Completed(T),
    /// The call waits for its user.
    Asked,
}

impl Rounds {
    /// Creates the first round of a call.
    pub(crate) fn first(modes: Modes) -> Self {
        Self(Arc::new(Inner { modes, resumed: None, round: Mutex::default(), ended: CancelToken::new() }))
    }

    /// Creates the next round of a call from `requestState` and `inputResponses`. Returns `None` for a state of another
    /// call, one that has expired, and one that this server has not sealed.
    ///
    /// # Errors
    ///
    /// Returns an error for a malformed answer.
    pub(crate) fn next(
        modes: Modes,
        sealing: &Sealing,
        tool: &Tool,
        arguments: &Arguments<'_>,
        caller: Option<&Caller>,
        state: &RawValue,
        responses: Option<&RawValue>,
    ) -> Result<Option<Self>, &'static str> {
        let opened = || {
            let binding = Binding::new(&sealing.name, caller, tool, arguments)?;
            sealing.open(&json_text(state.get())?, &binding)
        };
        let Some(mut state) = opened() else {
            tracing::info!(tool = %tool.id(), "a `requestState` was rejected");
            return Ok(None);
        };
        let responses: Map<String, Value> = match responses {
            None => Map::new(),
            Some(responses) => {
                serde_json::from_str(responses.get()).map_err(|_| "`inputResponses` must be an object")?
            }
        };
        for (key, hash) in std::mem::take(&mut state.open) {
            // A question without an answer is asked again.
            if let Some(response) = responses.get(&key) {
                state.answered.push(Answered::new(hash, parse_answer(response)?));
            }
        }
        let answered = state.answered.clone();
        let round = Round { taken: vec![false; answered.len()], answered, ..Round::default() };
        let inner = Inner { modes, resumed: Some(state), round: Mutex::new(round), ended: CancelToken::new() };
        Ok(Some(Self(Arc::new(inner))))
    }

    /// Returns false if the call continues from a state that was used before, and a second use may repeat the effects of
    /// the tool.
    pub(crate) async fn may_run(&self, sealing: &Arc<Sealing>, tool: &Tool, caller: Option<&Caller>) -> bool {
        match &self.0.resumed {
            // Without an answer, nothing was approved.
            Some(state) if !tool.annotations().may_repeat() && !state.answered.is_empty() => {
                state.use_once(sealing, caller).await
            }
            _ => true,
        }
    }

    /// Polls the call until it completes or asks. Questions that it asks in one poll are asked together.
    pub(crate) async fn run<T>(&self, call: impl Future<Output = T>) -> RoundOutcome<T> {
        // Also if the call is dropped.
        let _ended = self.0.ended.drop_guard();
        let mut call = pin!(call);
        poll_fn(|cx| {
            if let Poll::Ready(output) = call.as_mut().poll(cx) {
                return Poll::Ready(RoundOutcome::Completed(output));
            }
            let mut round = self.0.round.lock();
            if !round.open.is_empty() {
                return Poll::Ready(RoundOutcome::Asked);
            }
            // A task of the tool may ask without waking the call.
            round.waker = Some(cx.waker().clone());
            Poll::Pending
        })
        .await
    }

    /// Ends the rounds of a call that becomes a task. Returns false if a question is open, which ends the call.
    pub(crate) fn leave(&self) -> bool {
        let mut round = self.0.round.lock();
        round.has_left = round.open.is_empty();
        round.has_left
    }

    /// Asks a question in this round. Returns `None` if the rounds have ended and no earlier one has an answer.
    pub(crate) async fn ask_in_round(&self, question: &Question) -> Option<Result<Answer, ToolError>> {
        let waker = {
            let mut round = self.0.round.lock();
            if let Some(answer) = round.take_answer(question) {
                return Some(Ok(answer));
            }
            if round.has_left {
                return None;
            }
            round.open.push(question.clone());
            round.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
        // The call is dropped, and runs again with the answer.
        self.0.ended.cancelled().await;
        Some(Err(ToolError::cancelled()))
    }

    /// Returns `InputRequiredResult` with the questions of this round.
    ///
    /// # Errors
    ///
    /// Returns an error if the call has asked too much.
    pub(crate) fn input_required(
        &self,
        sealing: &Sealing,
        tool: &Tool,
        arguments: &Arguments<'_>,
        caller: Option<&Caller>,
    ) -> Result<Value, ToolError> {
        let round = self.0.round.lock();
        if round.answered.len() + round.open.len() > MAX_QUESTIONS {
            return Err(too_many());
        }
        let keys = keys(&round.open);
        let hashes = round.open.iter().map(|question| text(QuestionHash::new(question)));
        let open = std::iter::zip(keys.iter().cloned(), hashes).collect();
        let kept = round.keep.as_ref().map(|keep| keep().ok_or_else(too_long)).transpose()?;
        let state = CallState::new(self.0.resumed.as_ref(), round.answered.clone(), open, kept);
        let binding = Binding::new(&sealing.name, caller, tool, arguments);
        let sealed = binding.and_then(|binding| sealing.seal(state, &binding)).ok_or_else(too_long)?;
        let requests: Map<String, Value> = std::iter::zip(keys, round.open.iter().map(request)).collect();
        Ok(json!({ "resultType": "input_required", "inputRequests": requests, "requestState": sealed }))
    }
}

impl Round {
    fn take_answer(&mut self, question: &Question) -> Option<Answer> {
        let hash = QuestionHash::new(question);
        let idx = (0..self.answered.len()).find(|&idx| !self.taken[idx] && self.answered[idx].is_to(hash))?;
        self.taken[idx] = true;
        Some(self.answered[idx].answer())
    }
}

impl Asker for Rounds {
    fn can_ask(&self, mode: Mode) -> bool {
        self.0.modes.includes(mode)
    }

    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Result<Answer, ToolError>> {
        Box::pin(async { self.ask_in_round(question).await.unwrap_or_else(|| Err(ToolError::cancelled())) })
    }

    fn kept(&self) -> Option<Arc<str>> {
        self.0.resumed.as_ref()?.kept.as_deref().map(Arc::from)
    }

    fn keep_with(&self, keep: Box<dyn Fn() -> Option<String> + Send + Sync>) {
        self.0.round.lock().keep = Some(keep);
    }
}

/// Creates the error of a call that has too much to keep until its user answers.
fn too_long() -> ToolError {
    ToolError::failed(format!(
        "the state of the call is too long to ask the user: at most {MAX_STATE} bytes can be kept until the answer; ask \
         before the call fetches much, or let it fetch less"
    ))
}

/// Returns the keys of questions in `inputRequests`, which are unique.
fn keys(questions: &[Question]) -> Vec<String> {
    let mut keys: Vec<String> = Vec::new();
    for (idx, question) in questions.iter().enumerate() {
        let numbered = (idx + 1..).map(|number| format!("question-{number}"));
        let mut own = question.key().map(str::to_owned).into_iter().chain(numbered);
        keys.extend(own.find(|key| !keys.contains(key)));
    }
    keys
}
