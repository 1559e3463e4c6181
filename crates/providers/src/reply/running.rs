//! The calls of a reply while they run.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use tokio::runtime::Handle;
use tokio::task::{Id, JoinSet};

use super::Reply;
use super::options::RunOptions;
use super::results::ToolResults;
use super::run::prepare;
use super::tool_call::ToolCall;
use toolkit::call::ErrorKind;
use toolkit::dispatch::sleep;
use toolkit::{Dispatcher, RunResult, ToolError};

type Outcome = Result<RunResult, ToolError>;

/// The calls of a reply while they run. Dropping it cancels them.
///
/// ```
/// use serde_json::json;
/// use toolkit::catalog::ExportedNames;
/// use toolkit::{Catalog, Dispatcher};
/// use toolkit_providers::anthropic::MESSAGES;
/// use toolkit_providers::reply::RunOptions;
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let dispatcher = Dispatcher::new(Catalog::new([])?)?;
/// let call = json!({ "type": "tool_use", "id": "toolu_1", "name": "erase", "input": {} });
/// let message = json!({ "content": [call], "stop_reason": "tool_use" });
/// let reply = MESSAGES.read(message, &ExportedNames::default())?;
/// let mut running = reply.start(&dispatcher, RunOptions::new());
/// while let Some((call, result)) = running.next().await {
///     eprintln!("{}: {}", call.name, if result.is_ok() { "done" } else { "failed" });
/// }
/// assert_eq!(running.finish().len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Running {
    reply: Reply,
    dispatcher: Dispatcher,
    options: Arc<RunOptions>,
    outcomes: Vec<Option<Outcome>>,
    /// The calls that have not started yet.
    queue: VecDeque<usize>,
    /// The calls whose results [`Running::next`] has not returned yet.
    done: VecDeque<usize>,
    tasks: JoinSet<Outcome>,
    started: Vec<Started>,
    /// Completes when the time for all calls is over.
    timeout: Pin<Box<dyn Future<Output = ()> + Send>>,
}

/// A call that runs.
struct Started {
    task: Id,
    index: usize,
    may_write: bool,
}

impl Running {
    pub(super) fn new(reply: Reply, dispatcher: Dispatcher, options: RunOptions) -> Self {
        let n_calls = reply.calls().len();
        let timeout = options.timeout;
        Self {
            reply,
            dispatcher,
            options: Arc::new(options),
            outcomes: (0..n_calls).map(|_| None).collect(),
            queue: (0..n_calls).collect(),
            done: VecDeque::new(),
            tasks: JoinSet::new(),
            started: Vec::new(),
            timeout: Box::pin(async move {
                match timeout {
                    Some(timeout) if sleep(timeout).await.is_ok() => {}
                    _ => std::future::pending().await,
                }
            }),
        }
    }

    /// Returns the next call that has a result, in the order in which they complete, or `None` if all calls have one.
    pub async fn next(&mut self) -> Option<(&ToolCall, &Result<RunResult, ToolError>)> {
        while self.done.is_empty() {
            self.start_calls().await;
            if self.done.is_empty() && self.started.is_empty() {
                return None;
            }
            if self.done.is_empty() {
                self.wait().await;
            }
        }
        let index = self.done.pop_front()?;
        let outcome = self.outcomes[index].as_ref()?;
        Some((&self.reply.calls()[index], outcome))
    }

    /// Returns the results. A call that has none yet is cancelled, and its result is that error.
    #[must_use]
    pub fn finish(mut self) -> ToolResults {
        self.end_all(ToolError::cancelled);
        let outcomes = std::mem::take(&mut self.outcomes).into_iter();
        ToolResults::new(self.reply.clone(), self.dispatcher.clone(), outcomes.flatten().collect())
    }

    /// Starts as many calls as may run now.
    async fn start_calls(&mut self) {
        while self.started.len() < self.options.concurrency {
            let is_writing = self.started.iter().any(|started| started.may_write);
            let may_start = |index: &usize| !(is_writing && self.options.one_write_at_a_time && self.may_write(*index));
            let Some(place) = self.queue.iter().position(may_start) else { return };
            let Some(index) = self.queue.remove(place) else { return };
            self.start_call(index).await;
        }
    }

    fn may_write(&self, index: usize) -> bool {
        let id = self.reply.calls()[index].tool.as_ref();
        let tool = id.and_then(|id| self.dispatcher.catalog().with_id(id));
        tool.is_some_and(|tool| tool.annotations().read_only != Some(true))
    }

    async fn start_call(&mut self, index: usize) {
        let (reply, dispatcher, options) = (self.reply.clone(), self.dispatcher.clone(), Arc::clone(&self.options));
        let call = async move {
            let context = options.context_of(index, &reply.calls()[index]);
            let (prepared, arguments) = prepare(&reply, index, &dispatcher, &options)?;
            prepared.call_with(&context, arguments).await
        };
        // Without a runtime there is nothing that could run several calls.
        if Handle::try_current().is_err() {
            let outcome = call.await;
            return self.set(index, outcome);
        }
        let task = self.tasks.spawn(call).id();
        self.started.push(Started { task, index, may_write: self.may_write(index) });
    }

    /// Waits until a call ends, or all must.
    async fn wait(&mut self) {
        let cancelled = self.options.context.clone();
        tokio::select! {
            biased;
            ended = self.tasks.join_next_with_id() => match ended {
                Some(Ok((task, outcome))) => self.end(task, outcome),
                // The dispatcher catches the panics of tools and layers.
                Some(Err(error)) => self.end(error.id(), Err(ToolError::internal(error))),
                None => self.end_all(ToolError::cancelled),
            },
            () = cancelled.cancelled() => self.end_all(ToolError::cancelled),
            () = &mut self.timeout => self.end_all(|| {
                ToolError::new(ErrorKind::TimedOut, "the time for all calls of the reply was over before this call ended")
            }),
        }
    }

    fn end(&mut self, task: Id, outcome: Outcome) {
        if let Some(place) = self.started.iter().position(|started| started.task == task) {
            let started = self.started.swap_remove(place);
            self.set(started.index, outcome);
        }
    }

    /// Ends all calls that have no result.
    fn end_all(&mut self, error: impl Fn() -> ToolError) {
        self.tasks.abort_all();
        self.started.clear();
        self.queue.clear();
        for index in 0..self.outcomes.len() {
            if self.outcomes[index].is_none() {
                self.set(index, Err(error()));
            }
        }
    }

    fn set(&mut self, index: usize, outcome: Outcome) {
        self.outcomes[index] = Some(outcome);
        self.done.push_back(index);
    }
}

toolkit::debug_fields!(it, Running { calls: it.outcomes.len(), waiting: it.queue.len(), running: it.started.len() });
