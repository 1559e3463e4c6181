//! Running the calls of a reply: the options, the checks before a dispatcher runs a call, and the calls while they
//! run.

use std::collections::HashMap;
#[cfg(feature = "async")]
use std::collections::VecDeque;
use std::fmt;
#[cfg(feature = "async")]
use std::future::Future;
#[cfg(feature = "async")]
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
#[cfg(feature = "async")]
use tokio::runtime::Handle;
#[cfg(feature = "async")]
use tokio::task::{Id, JoinSet};

use super::results::ToolResults;
use super::{CallArguments, Reply, ToolCall};
use crate::lower::{renames, restore, with_own_names};
#[cfg(feature = "async")]
use toolkit::RunResult;
use toolkit::call::{ErrorKind, Progress};
use toolkit::dispatch::Prepared;
#[cfg(feature = "async")]
use toolkit::dispatch::sleep;
use toolkit::{Arguments, Coercion, Context, Dispatcher, Tool, ToolError};

impl Reply {
    /// Runs all calls concurrently and returns their results.
    ///
    /// On a runtime of tokio with several threads, calls run in parallel. Otherwise a synchronous tool delays the
    /// others, unless it is marked `blocking`.
    #[cfg(feature = "async")]
    pub async fn run(&self, dispatcher: &Dispatcher) -> ToolResults {
        self.run_with(dispatcher, RunOptions::default()).await
    }

    /// Runs all calls and returns their results.
    #[cfg(feature = "async")]
    pub async fn run_with(&self, dispatcher: &Dispatcher, options: RunOptions) -> ToolResults {
        let mut running = self.start(dispatcher, options);
        while running.next().await.is_some() {}
        running.finish()
    }

    /// Starts to run the calls. [`Running::next`] returns each result as soon as it is there.
    #[cfg(feature = "async")]
    #[must_use]
    pub fn start(&self, dispatcher: &Dispatcher, options: RunOptions) -> Running {
        Running::new(self.clone(), of_models(dispatcher), options)
    }

    /// Runs the calls of synchronous tools one after another on this thread, without a runtime.
    #[must_use]
    pub fn run_sync(&self, dispatcher: &Dispatcher, context: &Context) -> ToolResults {
        let (options, dispatcher) = (RunOptions::default().context(context.clone()), of_models(dispatcher));
        let outcomes = self.calls().iter().enumerate().map(|(idx, call)| {
            let (prepared, arguments) = prepare(self, idx, &dispatcher, &options)?;
            prepared.call_sync_with(&options.context_of(idx, call), arguments)
        });
        let outcomes = outcomes.collect();
        ToolResults::new(self.clone(), dispatcher, outcomes)
    }
}

/// Returns the dispatcher for calls of models, which send numbers, lists and objects as text.
fn of_models(dispatcher: &Dispatcher) -> Dispatcher {
    dispatcher.with_default_coercion(Coercion::Lossless)
}

// Options of running the calls of a reply.

type ProgressListener = Arc<dyn Fn(&ToolCall, Progress) + Send + Sync>;

/// Options of running the calls of a reply.
///
/// ```
/// use std::time::Duration;
///
/// use toolkit_providers::reply::RunOptions;
///
/// let options = RunOptions::new()
///     .concurrency(4)
///     .max_calls(32)
///     .timeout(Duration::from_secs(60))
///     .one_write_at_a_time()
///     .on_progress(|call, progress| eprintln!("{}: {}", call.name, progress.message))
///     .deny("toolu_1", "the user said no");
/// ```
#[derive(Clone)]
pub struct RunOptions {
    context: Context,
    concurrency: usize,
    max_calls: usize,
    timeout: Option<Duration>,
    one_write_at_a_time: bool,
    /// The reasons why calls are denied, by id.
    denied: HashMap<String, String>,
    on_progress: Option<ProgressListener>,
}

/// The call that a tool runs for, attached to its [`Context`].
///
/// ```
/// use toolkit::{Context, tool};
/// use toolkit_providers::reply::CallInfo;
///
/// fn log(ctx: &Context, message: &str) {
///     let call = ctx.get::<CallInfo>().map_or("no call", |call| &call.id);
///     eprintln!("{call}: {message}");
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CallInfo {
    /// The id of the call.
    pub id: String,
    /// The position of the call in the reply.
    pub index: usize,
}

impl Default for RunOptions {
    fn default() -> Self {
        Self {
            context: Context::new(),
            concurrency: 16,
            max_calls: 128,
            timeout: None,
            one_write_at_a_time: false,
            denied: HashMap::new(),
            on_progress: None,
        }
    }
}

impl RunOptions {
    /// Creates the default options.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the context of all calls. Cancelling it ends all calls, and each that has no result yet gets an error.
    #[must_use]
    pub fn context(self, context: Context) -> Self {
        Self { context, ..self }
    }

    /// Sets the maximum number of calls that run at the same time, at least 1. The default is 16.
    #[must_use]
    pub fn concurrency(self, concurrency: usize) -> Self {
        Self { concurrency: concurrency.max(1), ..self }
    }

    /// Sets the maximum number of calls of one reply that run. The others get an error. The default is 128.
    #[must_use]
    pub fn max_calls(self, max_calls: usize) -> Self {
        Self { max_calls, ..self }
    }

    /// Sets the maximum time for all calls together. Each that has no result by then gets an error.
    #[must_use]
    pub fn timeout(self, timeout: Duration) -> Self {
        Self { timeout: Some(timeout), ..self }
    }

    /// Runs tools that may change something one after another, in the order of the reply. Tools that are marked
    /// `read_only` still run concurrently, and beside them.
    #[must_use]
    pub fn one_write_at_a_time(self) -> Self {
        Self { one_write_at_a_time: true, ..self }
    }

    /// Denies a call, by its id, with a reason that the model reads. The tool does not run.
    #[must_use]
    pub fn deny(mut self, id: impl Into<String>, reason: impl Into<String>) -> Self {
        self.denied.insert(id.into(), reason.into());
        self
    }

    /// Sends every progress report of every call to `listener`.
    #[must_use]
    pub fn on_progress(self, listener: impl Fn(&ToolCall, Progress) + Send + Sync + 'static) -> Self {
        Self { on_progress: Some(Arc::new(listener)), ..self }
    }

    /// Returns the context of all calls.
    #[cfg(feature = "async")]
    fn shared_context(&self) -> &Context {
        &self.context
    }

    /// Returns the context of one call.
    fn context_of(&self, index: usize, call: &ToolCall) -> Context {
        let context = self.context.clone().with(CallInfo { id: call.id.clone(), index });
        let Some(listener) = self.on_progress.clone() else { return context };
        let call = call.clone();
        context.on_progress(move |progress| listener(&call, progress))
    }
}

impl fmt::Debug for RunOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunOptions")
            .field("concurrency", &self.concurrency)
            .field("max_calls", &self.max_calls)
            .field("timeout", &self.timeout)
            .field("one_write_at_a_time", &self.one_write_at_a_time)
            .field("denied", &self.denied)
            .finish_non_exhaustive()
    }
}

/// Returns the tool and the arguments of a call.
///
/// # Errors
///
/// Returns the reason why the call does not run.
fn prepare<'a>(
    reply: &'a Reply,
    index: usize,
    dispatcher: &'a Dispatcher,
    options: &RunOptions,
) -> Result<(Prepared<'a>, Arguments<'a>), ToolError> {
    let call = &reply.calls()[index];
    if let Some(why) = reply.stop_reason().why_no_call_runs() {
        return Err(ToolError::new(ErrorKind::Cancelled, why));
    }
    if index >= options.max_calls {
        let message = format!("only {} calls of one reply run; repeat the others in the next reply", options.max_calls);
        return Err(ToolError::new(ErrorKind::Overloaded, message));
    }
    if let Some(reason) = options.denied.get(&call.id) {
        return Err(ToolError::new(ErrorKind::Denied, format!("the call was not approved: {reason}")));
    }
    let prepared = call.tool.as_ref().and_then(|id| dispatcher.prepared_id(id));
    let prepared = prepared.ok_or_else(|| reply.names.unknown(&call.name))?;
    Ok((prepared, arguments(call, prepared.tool(), dispatcher.coercion(prepared.tool()))?))
}

fn arguments<'a>(call: &'a ToolCall, tool: &Tool, coercion: Coercion) -> Result<Arguments<'a>, ToolError> {
    if let CallArguments::Text(text) = &call.arguments {
        return named_text(tool, text);
    }
    let arguments = call.arguments.to_arguments();
    let sent = || arguments.to_json().ok().and_then(|json| serde_json::from_slice::<Value>(&json).ok());
    if renames(tool.input())
        && let Some(sent) = sent()
    {
        let restore = if call.is_strict && coercion == Coercion::Off { restore } else { with_own_names };
        return Ok(Arguments::from(restore(tool.input(), sent)));
    }
    // The dispatcher does the same itself, unless it is configured not to.
    if call.is_strict && coercion == Coercion::Off {
        return Ok(sent().map_or(arguments, |sent| Arguments::from(restore(tool.input(), sent))));
    }
    Ok(arguments)
}

/// Passes the text of a custom tool as the only parameter of the tool.
fn named_text(tool: &Tool, text: &str) -> Result<Arguments<'static>, ToolError> {
    let properties = tool.input().as_value()["properties"].as_object();
    let only = properties.filter(|properties| properties.len() == 1).and_then(|properties| properties.iter().next());
    match only {
        Some((name, schema)) if schema["type"] == "string" => {
            let arguments = Map::from_iter([(name.clone(), Value::from(text))]);
            Ok(Arguments::from(Value::Object(arguments)))
        }
        _ => Err(ToolError::new(ErrorKind::InvalidArguments, "the tool takes a JSON object, not text")),
    }
}

// The calls of a reply while they run.

#[cfg(feature = "async")]
type Outcome = Result<RunResult, ToolError>;

#[cfg(feature = "async")]
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

#[cfg(feature = "async")]
/// A call that runs.
struct Started {
    task: Id,
    index: usize,
    may_write: bool,
}

#[cfg(feature = "async")]
impl Running {
    fn new(reply: Reply, dispatcher: Dispatcher, options: RunOptions) -> Self {
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
        let cancelled = self.options.shared_context().clone();
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

#[cfg(feature = "async")]
impl fmt::Debug for Running {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Running")
            .field("calls", &self.outcomes.len())
            .field("waiting", &self.queue.len())
            .field("running", &self.started.len())
            .finish_non_exhaustive()
    }
}
