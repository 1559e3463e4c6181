//! One attempt to run a step. A question of the tool ends it: the next attempt finds the answer.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Poll, Waker};
use std::time::Duration;

use serde_json::{Value, json};
use toolkit::call::ask::{Answer, Asker, Mode, Question};
use toolkit::call::{BoxFuture, CancelToken, ErrorKind};
use toolkit::dispatch::BlockingThreads;
use toolkit::{Context, ToolError};
use toolkit_backends::chain::{ChainOutcome, StepCall, StepRun};
use toolkit_runtime::{Mutex, run_tool, spawn_tool};

use crate::record::{APPROVE, Attempt, Decision, Pause};
use crate::worker::child::{ChildRun, ChildRunner, EndedChild};
use crate::worker::shared::WorkerState;

/// The inputs of an attempt.
#[derive(Clone)]
pub(super) struct Preparation {
    pub(super) shared: Arc<WorkerState>,
    pub(super) index: usize,
    pub(super) tool: Arc<str>,
    pub(super) args: Arc<Value>,
    pub(super) context: Context,
    pub(super) answers: EarlierAnswers,
}

/// The end of an attempt of a worker: what is recorded, or the run for which the step has to wait first.
pub(super) enum AttemptEnd {
    Recorded(Attempt),
    Child(ChildRun),
}

impl Preparation {
    /// Calls the tool. A tool that has certainly not started is called again, at most [`MAX_CALLS`] times.
    pub(super) async fn attempt(self) -> AttemptEnd {
        let (mut n_calls, mut interval) = (1, RETRY_INTERVAL);
        loop {
            match self.clone().call_once().await {
                AttemptEnd::Recorded(Attempt::Done { result: Err(error), .. })
                    if has_not_started(&error) && n_calls < MAX_CALLS =>
                {
                    tokio::time::sleep(interval).await;
                    (n_calls, interval) = (n_calls + 1, (2 * interval).min(MAX_RETRY_INTERVAL));
                }
                attempt => return attempt,
            }
        }
    }

    async fn call_once(self) -> AttemptEnd {
        // Dropping the task drops the call.
        let name = Arc::clone(&self.tool);
        let ended = spawn_tool(&name, self.call()).await;
        let panicked = || {
            let result = Err(ToolError::new(ErrorKind::Panicked, "the tool failed with an internal error"));
            End::Completed(StepRun::new(result, Duration::ZERO))
        };
        AttemptEnd::Recorded(match ended.unwrap_or_else(|_| panicked()) {
            End::Opened(Opened::Child(child)) => return AttemptEnd::Child(child),
            End::Opened(Opened::Question(question)) => Attempt::Paused(Pause::from_question(&question)),
            End::Completed(StepRun { result: Err(error), .. }) if error.kind() == ErrorKind::Pending => {
                Attempt::Paused(Pause::Pending { message: error.message().to_owned() })
            }
            End::Completed(StepRun { result, duration, .. }) => Attempt::Done { result, duration },
        })
    }

    /// Calls the tool on a thread where it may block.
    async fn call(self) -> End<StepRun> {
        let Self { shared, index, tool, args, context, answers, .. } = self;
        let name = Arc::clone(&tool);
        let threads = BlockingThreads::new(move |work| run_tool(&name, work));
        // Informs a tool that runs on although its call was dropped.
        let token = CancelToken::new();
        let _guard = token.drop_guard();
        let asker = Answers::new(answers);
        let context = context.with(threads).with_cancel(token).with_asker(asker.clone()).with(asker.child_runner());
        let call = StepCall::new(index, &tool, &args, context, &shared.dispatcher);
        asker.run(call.run()).await
    }
}

/// The number of calls of a tool that does not start, until the next one is recorded as a wait.
const MAX_CALLS: u32 = 6;
const RETRY_INTERVAL: Duration = Duration::from_millis(200);
const MAX_RETRY_INTERVAL: Duration = Duration::from_secs(10);

/// Returns true if the tool has certainly not started.
pub(super) fn has_not_started(error: &ToolError) -> bool {
    matches!(error.kind(), ErrorKind::Unavailable | ErrorKind::Overloaded)
}

/// A question, and the decision about it; `None` if there was none in time.
#[derive(Clone, Debug)]
pub(super) struct Answered {
    pub(super) pause: Pause,
    pub(super) decision: Option<Decision>,
}

/// The end of a call.
pub(super) enum End<T> {
    Completed(T),
    Opened(Opened),
}

/// An event that a call waits for, and that ends it.
pub(super) enum Opened {
    Question(Question),
    Child(ChildRun),
}

/// The events that earlier attempts have waited for.
#[derive(Clone, Default)]
pub(super) struct EarlierAnswers {
    /// The answers, in the order of the questions.
    pub(super) answered: Vec<Answered>,
    pub(super) children: Vec<EndedChild>,
}

/// The answers of earlier attempts, and what this attempt waits for first.
#[derive(Clone)]
pub(super) struct Answers(Arc<Mutex<AnswersState>>);

struct AnswersState {
    answered: Vec<Option<Answered>>,
    children: Vec<EndedChild>,
    open: Option<Opened>,
    /// Woken when the call begins to wait.
    waker: Option<Waker>,
}

impl Answers {
    pub(super) fn new(earlier: EarlierAnswers) -> Self {
        let EarlierAnswers { answered, children } = earlier;
        let answered = answered.into_iter().map(Some).collect();
        Self(Arc::new(Mutex::new(AnswersState { answered, children, open: None, waker: None })))
    }

    /// Polls the call until it completes or waits.
    pub(super) async fn run<T>(&self, call: impl Future<Output = T>) -> End<T> {
        let mut call = pin!(call);
        poll_fn(|cx| {
            if let Poll::Ready(output) = call.as_mut().poll(cx) {
                return Poll::Ready(End::Completed(output));
            }
            let mut state = self.0.lock();
            if let Some(opened) = state.open.take() {
                return Poll::Ready(End::Opened(opened));
            }
            // A task of the tool may ask without waking the call.
            state.waker = Some(cx.waker().clone());
            Poll::Pending
        })
        .await
    }

    fn child_runner(&self) -> ChildRunner {
        let answers = self.clone();
        ChildRunner(Box::new(move |child| {
            let answers = answers.clone();
            Box::pin(async move { answers.outcome(child).await })
        }))
    }

    /// Returns the outcome of a child, or ends the call until there is one.
    async fn outcome(&self, child: ChildRun) -> Result<ChainOutcome, ToolError> {
        let ended = self.0.lock().children.iter().find(|ended| ended.id == child.id).cloned();
        match ended {
            Some(ended) => ended.outcome(),
            None => self.wait(Opened::Child(child)).await,
        }
    }

    /// Ends the call, which is dropped, and made again with the answer.
    async fn wait<T>(&self, opened: Opened) -> T {
        let waker = {
            let mut state = self.0.lock();
            state.open.get_or_insert(opened);
            state.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
        std::future::pending().await
    }
}

impl AnswersState {
    fn take_answer(&mut self, question: &Question) -> Option<Option<Decision>> {
        let is_to = |answered: &&mut Option<Answered>| {
            answered.as_ref().is_some_and(|it| it.pause == Pause::from_question(question))
        };
        self.answered.iter_mut().find(is_to)?.take().map(|answered| answered.decision)
    }
}

impl Asker for Answers {
    fn can_ask(&self, _: Mode) -> bool {
        true
    }

    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Result<Answer, ToolError>> {
        Box::pin(async move {
            let decision = self.0.lock().take_answer(question);
            match decision {
                Some(decision) => answer(decision),
                None => self.wait(Opened::Question(question.clone())).await,
            }
        })
    }
}

fn answer(decision: Option<Decision>) -> Result<Answer, ToolError> {
    match decision {
        Some(Decision::Approve) => Ok(Answer::Accepted(json!({ APPROVE: true }))),
        Some(Decision::Answer(content)) => Ok(Answer::Accepted(content)),
        Some(_) => Ok(Answer::Declined),
        None => Err(ToolError::new(ErrorKind::TimedOut, "there was no answer in time")),
    }
}
