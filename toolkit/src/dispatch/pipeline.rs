//! The stages of a call after its tool is resolved.
//!
//! | stage | item |
//! |---|---|
//! | passes the layers | [`run_layered`] |
//! | selects the function or the backend | [`Shared::select`] |
//! | scopes the credentials, checks the limits and the cancellation | [`admit`], which returns an [`Admission`] |
//! | waits for a permit, within the timeout | [`Admission::acquire`], [`Admission::bounded`] |
//! | runs here, as a future, or on a thread that may block | the methods of [`Permitted`] |
//! | adds the tool to an error, and logs its cause | [`report`] |
//!
//! [`run_function`], [`run_typed`], [`run_sync`] and [`run_on_backend`] are four ways through these stages.

use std::borrow::Cow;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use super::backend_call::run_on_backend;
#[cfg(feature = "async")]
use super::blocking;
use super::function::{Host, Invocation, Run, shown};
#[cfg(feature = "tower")]
use super::layer::Call;
use super::policy::check_cancelled;
use super::{Dispatcher, Shared};
use crate::backend::Route;
use crate::call::permit::Permit;
#[cfg(feature = "async")]
use crate::call::timer;
use crate::call::{Arguments, BoxFuture, Context, ErrorKind, RunResult, ToolError, unwind};
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

/// Runs a call of a function with input of its types.
pub(super) async fn run_typed<I, O, R>(
    dispatcher: &Dispatcher,
    context: &Context,
    tool: &Tool,
    typed: Typed<I, O, R>,
    input: I,
) -> Result<O, ToolError>
where
    I: Send + 'static,
    O: Send + 'static,
    R: 'static,
{
    let Typed { entry, call, finish, .. } = typed;
    let finish = move |returned: R| finish(returned).map_err(|error| shown(entry, error));
    let admission = admit(dispatcher, context, tool, None)?;
    let work = pin!(async {
        let permitted = admission.acquire().await?;
        match (call, Run::from_entry(entry)) {
            (TypedCall::Sync(call), Run::Blocking(_)) => {
                let work = move |host: Host<'_>| finish(call(input, host)?);
                Box::pin(permitted.run_on_thread(work)).await
            }
            (TypedCall::Sync(call), _) => permitted.run(|host| finish(call(input, host)?)),
            (TypedCall::Async(call), _) => permitted.poll(|host| async move { finish(call(input, host).await?) }).await,
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

/// A function with its types, and the conversion of its return value into success or failure.
pub(crate) struct Typed<I, O, R> {
    pub(crate) entry: &'static Entry,
    pub(crate) call: TypedCall<I, R>,
    pub(crate) finish: fn(R) -> Result<O, ToolError>,
    /// The namespace of the instance, if the tool has several.
    pub(crate) namespace: Option<&'static str>,
}

/// The code of a typed call.
pub(crate) enum TypedCall<I, R> {
    Sync(fn(I, Host<'_>) -> Result<R, ToolError>),
    Async(for<'a> fn(I, Host<'a>) -> BoxFuture<'a, Result<R, ToolError>>),
}

impl<I, R> Clone for TypedCall<I, R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<I, R> Copy for TypedCall<I, R> {}

/// The executor of a tool.
#[derive(Clone, Copy)]
pub(super) enum Executor<'s> {
    Function(&'static Entry),
    Backend(&'s Route),
}

impl Shared {
    /// Selects the executor of a tool.
    #[inline]
    pub(super) fn select<'s>(&'s self, tool: &'s Tool) -> Result<Executor<'s>, ToolError> {
        match tool.entry() {
            Some(entry) if self.selector.is_none() => Ok(Executor::Function(entry)),
            entry => self.select_of_several(tool, entry),
        }
    }

    #[cold]
    fn select_of_several<'s>(
        &'s self,
        tool: &'s Tool,
        entry: Option<&'static Entry>,
    ) -> Result<Executor<'s>, ToolError> {
        let selected = unwind::catch(|| self.routes.select(tool, self.selector.as_deref()));
        match (selected.map_err(unwind::Panic::into_host_error)??, entry) {
            (Some(route), _) => Ok(Executor::Backend(route)),
            (None, Some(entry)) => Ok(Executor::Function(entry)),
            (None, None) => Err(ToolError::new(ErrorKind::NoBackend, "no backend runs this tool")),
        }
    }
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

/// Returns the context with only the credentials that the tool requires.
///
/// # Errors
///
/// Returns an error if the caller lacks some of them.
#[inline]
fn scoped<'c>(context: &'c Context, tool: &Tool) -> Result<Cow<'c, Context>, ToolError> {
    if sees_all(context, tool) {
        return Ok(Cow::Borrowed(context));
    }
    narrowed(context, tool).map(Cow::Owned)
}

/// Returns true if the context has no credentials and the tool requires none, which is the common case.
#[inline]
fn sees_all(context: &Context, tool: &Tool) -> bool {
    !context.has_credentials() && !tool.requires()
}

#[cold]
fn narrowed(context: &Context, tool: &Tool) -> Result<Context, ToolError> {
    context.scoped_to(tool.requirements()).map_err(ToolError::missing_requirements)
}

/// Polls `work` until it completes, the call is cancelled, or the timeout elapses. The time that the call waits for
/// answers of its user does not count.
#[cfg(feature = "async")]
async fn bounded<T>(
    work: impl Future<Output = Result<T, ToolError>>,
    context: &Context,
    timeout: Option<Duration>,
) -> Result<T, ToolError> {
    let work = until_cancelled(work, context);
    let Some(timeout) = timeout else {
        return work.await;
    };
    let asked_before = context.time_asking();
    let asking = || context.time_asking().saturating_sub(asked_before);
    timer::timeout_extended(timeout, asking, work).await?.unwrap_or_else(|| {
        let message = format!("the tool took longer than {timeout:?}");
        Err(ToolError::new(ErrorKind::TimedOut, message))
    })
}

#[cfg(feature = "async")]
async fn until_cancelled<T>(
    work: impl Future<Output = Result<T, ToolError>>,
    context: &Context,
) -> Result<T, ToolError> {
    use std::pin::pin;
    use std::task::Poll;

    if !context.is_cancellable() {
        return work.await;
    }
    let mut work = pin!(work);
    let mut cancelled = pin!(context.cancelled());
    std::future::poll_fn(|cx| {
        if let Poll::Ready(outcome) = work.as_mut().poll(cx) {
            return Poll::Ready(outcome);
        }
        cancelled.as_mut().poll(cx).map(|()| Err(ToolError::cancelled()))
    })
    .await
}

/// Polls `work` to completion. Timeouts and cancellation need the feature `async`.
#[cfg(not(feature = "async"))]
async fn bounded<T>(
    work: impl Future<Output = Result<T, ToolError>>,
    _context: &Context,
    _timeout: Option<Duration>,
) -> Result<T, ToolError> {
    work.await
}

/// Adds the tool and the backend to an error, and logs the cause, which the model must not read.
#[cold]
pub(super) fn report(tool: &Tool, error: ToolError) -> ToolError {
    let error = error.with_tool(&tool.id_text());
    let error = match tool.function_backend() {
        Some(function) => error.with_backend(function),
        None => error,
    };
    if let ErrorKind::Internal | ErrorKind::Panicked | ErrorKind::InvalidResponse | ErrorKind::InvalidOutput =
        error.kind()
    {
        let cause = std::error::Error::source(&error).map(unwind::text_of);
        tracing::error!(
            tool = &*tool.id_text(),
            kind = ?error.kind(),
            cause = cause.as_deref().unwrap_or_default(),
            "tool failed"
        );
    }
    error
}
