//! Questions of a tool, which end its attempt: the next one finds the answer.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use serde_json::json;
use toolkit::ToolError;
use toolkit::call::ask::{Answer, Asker, Mode, Question};
use toolkit::call::{BoxFuture, ErrorKind};

use crate::decision::Decision;
use crate::record::Pause;

/// A question, and the decision about it; `None` if there was none in time.
#[derive(Clone, Debug)]
pub(super) struct Answered {
    pub(super) pause: Pause,
    pub(super) decision: Option<Decision>,
}

/// The end of an attempt.
pub(super) enum End<T> {
    Completed(T),
    Asked(Question),
}

/// The answers of earlier attempts, in the order of the questions, and the first question of this attempt without one.
#[derive(Clone)]
pub(super) struct Answers(Arc<Mutex<State>>);

struct State {
    answered: Vec<Option<Answered>>,
    open: Option<Question>,
    /// Woken when a question is opened.
    waker: Option<Waker>,
}

impl Answers {
    pub(super) fn new(answered: Vec<Answered>) -> Self {
        let answered = answered.into_iter().map(Some).collect();
        Self(Arc::new(Mutex::new(State { answered, open: None, waker: None })))
    }

    /// Polls the call until it completes or asks.
    pub(super) async fn run<T>(&self, call: impl Future<Output = T>) -> End<T> {
        let mut call = pin!(call);
        poll_fn(|cx| {
            if let Poll::Ready(output) = call.as_mut().poll(cx) {
                return Poll::Ready(End::Completed(output));
            }
            let mut state = self.state();
            if let Some(question) = state.open.take() {
                return Poll::Ready(End::Asked(question));
            }
            // A task of the tool may ask without waking the call.
            state.waker = Some(cx.waker().clone());
            Poll::Pending
        })
        .await
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn take_answer(&mut self, question: &Question) -> Option<Option<Decision>> {
        let is_to = |answered: &&mut Option<Answered>| answered.as_ref().is_some_and(|it| it.pause.asks(question));
        self.answered.iter_mut().find(is_to)?.take().map(|answered| answered.decision)
    }
}

impl Asker for Answers {
    fn can_ask(&self, _: Mode) -> bool {
        true
    }

    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Result<Answer, ToolError>> {
        Box::pin(async move {
            let waker = {
                let mut state = self.state();
                if let Some(decision) = state.take_answer(question) {
                    return answer(decision);
                }
                state.open.get_or_insert_with(|| question.clone());
                state.waker.take()
            };
            if let Some(waker) = waker {
                waker.wake();
            }
            // The call is dropped, and made again with the answer.
            std::future::pending().await
        })
    }
}

fn answer(decision: Option<Decision>) -> Result<Answer, ToolError> {
    match decision {
        // The field of the form for approval; see `toolkit_tower::Approval`.
        Some(Decision::Approve) => Ok(Answer::Accepted(json!({ "approve": true }))),
        Some(Decision::Answer(content)) => Ok(Answer::Accepted(content)),
        Some(_) => Ok(Answer::Declined),
        None => Err(ToolError::new(ErrorKind::TimedOut, "there was no answer in time")),
    }
}
