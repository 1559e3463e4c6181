//! The calls that run on a connection, whose users a server of a revision before 2026-07-28 may ask.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, sleep};
use toolkit::call::ask::{Answer, Question};
use toolkit::{CancelToken, Context};

/// The key of the task that a question belongs to, in `_meta`.
pub(super) const RELATED_TASK: &str = "io.modelcontextprotocol/related-task";

/// The time for which a question may belong to a call that ended without a response.
const ABANDONED: Duration = Duration::from_secs(300);

/// The maximum number of such calls that are remembered.
const MAX_ABANDONED: usize = 1024;

/// The time before the question of a cancelled call is answered with an error.
const CANCELLED_FIRST: Duration = Duration::from_secs(1);

/// The calls that run on a connection.
#[derive(Clone, Default)]
pub(super) struct RunningCalls(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    last: u64,
    calls: HashMap<u64, Running>,
    /// The times at which calls ended without a response. The server may still run them and ask.
    abandoned: Vec<Instant>,
}

struct Running {
    context: Context,
    ended: CancelToken,
    /// The number of open questions, which end with the call.
    n_asking: usize,
    task: TaskOfCall,
}

/// The task that runs a call. The questions of a task contain its id.
enum TaskOfCall {
    None,
    /// The server has not returned the id yet.
    Requested,
    Created(Arc<str>),
}

/// A running call. Dropping it ends its open questions.
pub(super) struct RunningCall {
    calls: RunningCalls,
    id: u64,
    ended: CancelToken,
    has_response: bool,
}

impl RunningCalls {
    pub(super) fn add(&self, context: &Context) -> RunningCall {
        let ended = CancelToken::new();
        let mut state = self.state();
        state.last += 1;
        let id = state.last;
        let (context, task) = (context.clone(), TaskOfCall::None);
        state.calls.insert(id, Running { context, ended: ended.clone(), n_asking: 0, task });
        drop(state);
        RunningCall { calls: self.clone(), id, ended, has_response: false }
    }

    /// Asks the user of the call that a question belongs to: that of the task, or else the only one that runs. If several
    /// run, the question must not reach the user of another one.
    pub(super) async fn ask(&self, question: &Question, task: Option<&str>) -> Result<Answer, &'static str> {
        let (id, context, ended) = {
            let mut state = self.state();
            let id = match task {
                Some(task) => state.call_of_task(task)?,
                None => state.only_call()?,
            };
            let call = state.calls.get_mut(&id).ok_or("the call has ended")?;
            call.n_asking += 1;
            (id, call.context.clone(), call.ended.clone())
        };
        tokio::select! {
            answer = context.ask_question(question) => {
                if let Some(call) = self.state().calls.get_mut(&id) {
                    call.n_asking -= 1;
                }
                answer.map_err(|_| "the user could not be asked")
            }
            () = ended.cancelled() => {
                // The notification that the call is cancelled has to arrive first, or the server could continue without
                // an answer.
                sleep(CANCELLED_FIRST).await;
                Err("the call has ended")
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn only_call(&mut self) -> Result<u64, &'static str> {
        self.abandoned.retain(|ended| ended.elapsed() < ABANDONED);
        if !self.abandoned.is_empty() {
            return Err("a call has ended without a response, and the request may belong to it");
        }
        let mut calls = self.calls.keys();
        match (calls.next(), calls.next()) {
            (Some(&only), None) => Ok(only),
            (None, _) => Err("no call is running that could ask its user"),
            (Some(_), Some(_)) => Err("several calls are running, and the request does not state its call"),
        }
    }

    fn call_of_task(&self, id: &str) -> Result<u64, &'static str> {
        let only = |is_of_task: &dyn Fn(&TaskOfCall) -> bool| {
            let mut calls = self.calls.iter().filter(|(_, call)| is_of_task(&call.task));
            calls.next().filter(|_| calls.next().is_none()).map(|(&call, _)| call)
        };
        let created = only(&|task| matches!(task, TaskOfCall::Created(created) if **created == *id));
        // The server may ask before its response with the id of the task was read.
        let requested = || only(&|task| matches!(task, TaskOfCall::Requested));
        created.or_else(requested).ok_or("the task of the request is not that of a running call")
    }
}

impl RunningCall {
    /// Records that the server has responded, so that it does not ask any longer.
    pub(super) fn has_response(&mut self) {
        self.has_response = true;
    }

    /// Records that the call was sent with the request to run it as a task.
    pub(super) fn requests_task(&self) {
        self.set_task(TaskOfCall::Requested);
    }

    /// Records the task that runs the call.
    pub(super) fn runs_as(&self, task: &Arc<str>) {
        self.set_task(TaskOfCall::Created(Arc::clone(task)));
    }

    fn set_task(&self, task: TaskOfCall) {
        if let Some(call) = self.calls.state().calls.get_mut(&self.id) {
            call.task = task;
        }
    }
}

impl Drop for RunningCall {
    fn drop(&mut self) {
        let mut state = self.calls.state();
        let is_asking = state.calls.remove(&self.id).is_some_and(|call| call.n_asking > 0);
        if !self.has_response && !is_asking && state.abandoned.len() < MAX_ABANDONED {
            state.abandoned.push(Instant::now());
        }
        drop(state);
        self.ended.cancel();
    }
}
