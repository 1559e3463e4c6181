//! The stages of a call after its tool is resolved.

use std::borrow::Cow;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use super::blocking;
use super::dispatcher::{Dispatcher, Shared};
use super::host::Host;
use super::invocation::Invocation;
#[cfg(feature = "tower")]
use super::layer::Call;
use super::limit::bounded;
use super::on_backend::run_on_backend;
use super::policy::check_cancelled;
use super::run::Run;
use super::scope::scoped;
use super::select::Executor;
use crate::call::permit::Permit;
use crate::call::{Arguments, Context, ErrorKind, RunResult, ToolError, unwind};
use crate::stream::Queue;
use crate::tool::Tool;
use crate::tool::entry::Entry;

/// Runs a call through the layers, if there are any.
pub(super) async fn run_layered(
    dispatcher: &Dispatcher,
    context: &Context,
    tool: &Tool,
    arguments: Arguments<'_>,
    parts: Option<&Arc<Queue>>,
) -> Result<RunResult, ToolError> {
    #[cfg(feature = "tower")]
    if let Some(layered) = &dispatcher.layered {
        // A backend that is replaced meanwhile must not stop before the call reaches it.
        let _held = dispatcher.shared.routes.hold(tool.id());
        return layered.run(Call::new(dispatcher, tool, context, arguments, parts)).await;
    }
    run(dispatcher, context, tool, arguments, parts.map(|parts| &**parts)).await
}

/// Runs a call behind the layers.
pub(super) async fn run(
    dispatcher: &Dispatcher,
    context: &Context,
    tool: &Tool,
    arguments: Arguments<'_>,
    parts: Option<&Queue>,
) -> Result<RunResult, ToolError> {
    match dispatcher.shared.select(tool)? {
        Executor::Function(entry) => run_function(dispatcher, context, tool, entry, arguments, parts).await,
        // Boxed to keep the future of all other calls small.
        Executor::Backend(route) => Box::pin(run_on_backend(dispatcher, context, tool, route, arguments, parts)).await,
    }
}

/// Runs a call of a function as its code requires: on this thread, as a future, or on a thread that may block.
async fn run_function(
    dispatcher: &Dispatcher,
    context: &Context,
    tool: &Tool,
    entry: &'static Entry,
    arguments: Arguments<'_>,
    parts: Option<&Queue>,
) -> Result<RunResult, ToolError> {
    let admission = admit(dispatcher, context, tool, Some(&arguments))?;
    // Pinned here, so that the combinators around it move a pointer instead of the future.
    let work = pin!(async {
        let permitted = admission.acquire().await?;
        match Run::from_entry(entry) {
            Run::Sync(run) => permitted.run(|host| run(Invocation { entry, arguments: &arguments, host, parts: None })),
            Run::Async(run) => {
                permitted.poll(|host| run(Invocation { entry, arguments: &arguments, host, parts })).await
            }
            Run::Blocking(run) => {
                let arguments = arguments.into_owned();
                let work = move |host: Host<'_>| run(Invocation { entry, arguments: &arguments, host, parts: None });
                Box::pin(permitted.run_on_thread(work)).await
            }
        }
    });
    admission.bounded(work).await
}

/// Runs a call of a synchronous function on this thread.
pub(super) fn run_sync(
    dispatcher: &Dispatcher,
    context: &Context,
    tool: &Tool,
    arguments: &Arguments<'_>,
) -> Result<RunResult, ToolError> {
    #[cfg(feature = "tower")]
    if dispatcher.layered.is_some() {
        return Err(needs_runtime(
            "the dispatcher has layers, which are asynchronous; call the tool with `Dispatcher::call`",
        ));
    }
    let Executor::Function(entry) = dispatcher.shared.select(tool)? else {
        return Err(needs_runtime("a backend runs the tool; call it with `Dispatcher::call`"));
    };
    let admission = admit(dispatcher, context, tool, Some(arguments))?;
    let permitted = admission.try_acquire()?;
    match Run::from_entry(entry) {
        Run::Sync(run) | Run::Blocking(run) => {
            permitted.run(|host| run(Invocation { entry, arguments, host, parts: None }))
        }
        Run::Async(_) => Err(needs_runtime("the tool is asynchronous; call it with `Dispatcher::call` on a runtime")),
    }
}

#[cold]
fn needs_runtime(message: &str) -> ToolError {
    ToolError::new(ErrorKind::NeedsRuntime, message)
}

/// A call that has passed the checks before its tool runs, and that needs a permit to run.
pub(super) struct Admission<'a> {
    dispatcher: &'a Dispatcher,
    tool: &'a Tool,
    /// The context with only the credentials that the tool requires.
    context: Cow<'a, Context>,
    timeout: Option<Duration>,
}

/// Admits a call: reduces the credentials to those that the tool requires, and rejects a call that lacks some of them,
/// that is too large, or that is cancelled.
#[inline]
pub(super) fn admit<'a>(
    dispatcher: &'a Dispatcher,
    context: &'a Context,
    tool: &'a Tool,
    arguments: Option<&Arguments<'_>>,
) -> Result<Admission<'a>, ToolError> {
    let context = scoped(context, tool)?;
    let policy = &dispatcher.shared.policy;
    match arguments {
        Some(arguments) => policy.check_limits(&context, arguments)?,
        None => check_cancelled(&context)?,
    }
    Ok(Admission { dispatcher, tool, context, timeout: tool.timeout().or(policy.timeout) })
}

impl Admission<'_> {
    /// Acquires a permit that is free.
    #[inline]
    fn try_acquire(&self) -> Result<Permitted<'_>, ToolError> {
        self.shared().limiter.try_acquire(self.context.permits()).map(|permit| self.permitted(permit))
    }

    /// Acquires a permit, waiting for it if necessary.
    pub(super) async fn acquire(&self) -> Result<Permitted<'_>, ToolError> {
        let Shared { limiter, policy, .. } = self.shared();
        let permit = limiter.acquire(self.context.permits(), policy.acquire_timeout).await?;
        Ok(self.permitted(permit))
    }

    /// Polls `work`, which acquires the permit and runs the tool, until the call is cancelled or exceeds its timeout.
    pub(super) async fn bounded<T>(&self, work: impl Future<Output = Result<T, ToolError>>) -> Result<T, ToolError> {
        bounded(work, &self.context, self.timeout).await
    }

    #[inline]
    fn permitted(&self, permit: Permit) -> Permitted<'_> {
        Permitted { dispatcher: self.dispatcher, tool: self.tool, context: self.context.under(&permit), permit }
    }

    #[inline]
    fn shared(&self) -> &Shared {
        &self.dispatcher.shared
    }
}

/// A call that holds its permit. The permit is released when the value is dropped.
pub(super) struct Permitted<'a> {
    dispatcher: &'a Dispatcher,
    tool: &'a Tool,
    /// The context of the tool, which carries the permit to the calls that it makes.
    context: Cow<'a, Context>,
    permit: Permit,
}

impl Permitted<'_> {
    /// Runs code on this thread. A panic is an error.
    #[inline]
    pub(super) fn run<T>(&self, code: impl FnOnce(Host<'_>) -> Result<T, ToolError>) -> Result<T, ToolError> {
        self.permit.run(|| unwind::caught(|| code(self.host())))
    }

    /// Polls code to completion. A panic is an error.
    #[inline]
    pub(super) async fn poll<'a, T, F>(&'a self, start: impl FnOnce(Host<'a>) -> F) -> Result<T, ToolError>
    where
        F: Future<Output = Result<T, ToolError>>,
    {
        self.permit.poll(unwind::caught_future(|| start(self.host()))).await
    }

    /// Runs code on a thread that may block. If the future is dropped, the context is cancelled, and the permit is held
    /// until the code returns.
    #[cfg(feature = "async")]
    pub(super) async fn run_on_thread<T: Send + 'static>(
        self,
        code: impl FnOnce(Host<'_>) -> Result<T, ToolError> + Send + 'static,
    ) -> Result<T, ToolError> {
        let (context, _abandoned) = self.context.carried().abandonable();
        let (dispatcher, permit) = (self.dispatcher.clone(), self.permit);
        let position = dispatcher.catalog().position(self.tool);
        let work = move || {
            let tool = dispatcher.catalog().at(position);
            permit.run(|| unwind::caught(|| code(Host::new(&context, &dispatcher, tool))))
        };
        blocking::run(&self.context, work).await
    }

    #[cfg(not(feature = "async"))]
    pub(super) async fn run_on_thread<T>(
        self,
        code: impl FnOnce(Host<'_>) -> Result<T, ToolError>,
    ) -> Result<T, ToolError> {
        self.run(code)
    }

    #[inline]
    fn host(&self) -> Host<'_> {
        Host::new(&self.context, self.dispatcher, self.tool)
    }
}
