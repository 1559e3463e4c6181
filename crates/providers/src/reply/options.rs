//! Options of running the calls of a reply.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use super::tool_call::ToolCall;
use toolkit::Context;
use toolkit::call::Progress;

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
#[must_use]
pub struct RunOptions {
    pub(super) context: Context,
    pub(super) concurrency: usize,
    pub(super) max_calls: usize,
    pub(super) timeout: Option<Duration>,
    pub(super) one_write_at_a_time: bool,
    /// The reasons why calls are denied, by id.
    pub(super) denied: HashMap<String, String>,
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
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the context of all calls. Cancelling it ends all calls, and each that has no result yet gets an error.
    pub fn context(self, context: Context) -> Self {
        Self { context, ..self }
    }

    /// Sets the maximum number of calls that run at the same time, at least 1. The default is 16.
    pub fn concurrency(self, concurrency: usize) -> Self {
        Self { concurrency: concurrency.max(1), ..self }
    }

    /// Sets the maximum number of calls of one reply that run. The others get an error. The default is 128.
    pub fn max_calls(self, max_calls: usize) -> Self {
        Self { max_calls, ..self }
    }

    /// Sets the maximum time for all calls together. Each that has no result by then gets an error.
    pub fn timeout(self, timeout: Duration) -> Self {
        Self { timeout: Some(timeout), ..self }
    }

    /// Runs tools that may change something one after another, in the order of the reply. Tools that are marked
    /// `read_only` still run concurrently, and beside them.
    pub fn one_write_at_a_time(self) -> Self {
        Self { one_write_at_a_time: true, ..self }
    }

    /// Denies a call, by its id, with a reason that the model reads. The tool does not run.
    pub fn deny(mut self, id: impl Into<String>, reason: impl Into<String>) -> Self {
        self.denied.insert(id.into(), reason.into());
        self
    }

    /// Sends every progress report of every call to `listener`.
    pub fn on_progress(self, listener: impl Fn(&ToolCall, Progress) + Send + Sync + 'static) -> Self {
        Self { on_progress: Some(Arc::new(listener)), ..self }
    }

    /// Returns the context of one call.
    pub(super) fn context_of(&self, index: usize, call: &ToolCall) -> Context {
        let context = self.context.clone().with(CallInfo { id: call.id.clone(), index });
        let Some(listener) = self.on_progress.clone() else { return context };
        let call = call.clone();
        context.on_progress(move |progress| listener(&call, progress))
    }
}

toolkit::debug_fields!(RunOptions { concurrency, max_calls, timeout, one_write_at_a_time, denied });
