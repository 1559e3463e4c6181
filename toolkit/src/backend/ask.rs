//! Asks backends, several at once, and waits for none for ever.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use super::Backend;
use crate::call::ToolError;
use crate::dispatch::{BoxFuture, caught_future, within};

/// What a backend says to `question`. It may panic or never answer; here that is its error.
pub(super) async fn ask<T>(
    backend: &dyn Backend,
    question: for<'b> fn(&'b dyn Backend) -> BoxFuture<'b, Result<T, ToolError>>,
    patience: Duration,
) -> Result<T, ToolError> {
    within(patience, pin!(caught_future(|| question(backend)))).await
}

/// All answers, in the order of the questions.
pub(super) async fn ask_all<T>(questions: impl Iterator<Item = impl Future<Output = T>>) -> Vec<T> {
    let mut asked: Vec<_> = questions.map(Box::pin).collect();
    let mut answers: Vec<Option<T>> = asked.iter().map(|_| None).collect();
    poll_fn(|cx| {
        for (question, answer) in asked.iter_mut().zip(&mut answers) {
            if answer.is_none()
                && let Poll::Ready(said) = question.as_mut().poll(cx)
            {
                *answer = Some(said);
            }
        }
        if answers.iter().any(Option::is_none) { Poll::Pending } else { Poll::Ready(()) }
    })
    .await;
    answers.into_iter().flatten().collect()
}
