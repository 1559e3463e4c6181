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
//! [`run`], [`run_typed`], [`run_sync`] and [`run_on_backend`] are the ways of a call through these stages. A call to which no
//! condition applies, see [`is_unconditional`], takes a shortcut: an async call in process would take 40 % more
//! instructions, and a typed call 90 % (`cargo run --release -p toolkit-gate`).

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use super::backend_call::run_on_backend;
use super::function::{Host, Invocation, Mode, Run, shown};
#[cfg(feature = "tower")]
use super::layer::{self, Call, ToolService};
use super::shared::{Dispatcher, Executor, Shared, check_cancelled, sees_all};
use super::wait::bounded;
#[cfg(feature = "async")]
use super::wait::run_on_thread;
use crate::call::permit::Permit;
use crate::call::{
    Arguments, BoxFuture, Context, ErrorKind, RunResult, ToolError, caught, caught_future, caught_future_within,
};
use crate::stream::Queue;
use crate::tool::Tool;
use crate::tool::entry::Entry;
use crate::unwind;
use serde_json::Value;
use toolkit_schema::{Violation, child};

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

/// The innermost service: the dispatcher of the call without layers. Several dispatchers may share their layers.
#[cfg(feature = "tower")]
struct Bottom;

#[cfg(feature = "tower")]
impl layer::Run for Bottom {
    fn run(&self, call: Call) -> BoxFuture<'static, Result<RunResult, ToolError>> {
        Box::pin(async move {
            let Call { dispatcher, place, context, arguments, parts } = call;
            let tool = dispatcher.catalog().at(place);
            run(&dispatcher, &context, tool, arguments, parts.as_deref()).await
        })
    }
}

/// Wraps the dispatcher in layers, the outermost first.
#[cfg(feature = "tower")]
pub(super) fn layered(layers: Vec<layer::Wrap>) -> Option<ToolService> {
    if layers.is_empty() {
        return None;
    }
    Some(layers.into_iter().rfold(ToolService::new(Bottom), |inner, wrap| wrap(inner)))
}

/// Runs a call behind the layers.
pub(super) async fn run(
    dispatcher: &Dispatcher,
    context: &Context,
    tool: &Tool,
    arguments: Arguments<'_>,
    parts: Option<&Queue>,
) -> Result<RunResult, ToolError> {
    if tool.fixed().is_some() {
        let whole = with_fixed(tool, &arguments)?;
        return Box::pin(run(dispatcher, context, tool.whole(), Arguments::from(&whole), parts)).await;
    }
    let entry = match dispatcher.shared.select(tool)? {
        Executor::Function(entry) => entry,
        // Boxed to keep the future of all other calls small.
        Executor::Backend(route) => {
            return Box::pin(run_on_backend(dispatcher, context, tool, route, arguments, parts)).await;
        }
    };
    let run = Run::from_entry(entry);
    if is_unconditional(dispatcher, context, tool, run.mode()) {
        dispatcher.shared.policy.check_limits(context, &arguments)?;
        let host = Host::new(context, dispatcher, tool);
        let invocation = Invocation { entry, arguments: &arguments, host, parts };
        match run {
            Run::Sync(run) | Run::Blocking(run) => return caught(|| run(invocation)),
            Run::Async(run) => {
                // Creating the future runs no code of the tool.
                let work = run(invocation);
                return caught_future(|| work).await;
            }
        }
    }
    // Boxed to keep the future of all other calls small.
    Box::pin(run_admitted(dispatcher, context, tool, entry, arguments, parts)).await
}

/// Runs a prompt, which has no layers and no selector.
pub(super) async fn run_prompt(
    dispatcher: &Dispatcher,
    context: &Context,
    prompt: &Tool,
    arguments: Arguments<'_>,
) -> Result<RunResult, ToolError> {
    match prompt.entry() {
        Some(entry) => Box::pin(run_admitted(dispatcher, context, prompt, entry, arguments, None)).await,
        None => {
            let route = dispatcher.shared.routes.of_prompt(prompt.id())?;
            Box::pin(run_on_backend(dispatcher, context, prompt, route, arguments, None)).await
        }
    }
}

/// Runs a call of a function as its code requires: on this thread, as a future, or on a thread that may block.
async fn run_admitted(
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
            Run::Sync(run) => permitted.run(|host| run(Invocation { entry, arguments: &arguments, host, parts })),
            Run::Async(run) => {
                permitted.poll(|host| run(Invocation { entry, arguments: &arguments, host, parts })).await
            }
            Run::Blocking(run) => {
                let arguments = arguments.into_owned();
                let code = move |host: Host<'_>| run(Invocation { entry, arguments: &arguments, host, parts: None });
                permitted.run_on_thread(code).await
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
    let mode = match call {
        TypedCall::Sync(_) => Run::from_entry(entry).mode(),
        TypedCall::Async(_) => Mode::Async,
    };
    if is_unconditional(dispatcher, context, tool, mode) {
        check_cancelled(context)?;
        let host = Host::new(context, dispatcher, tool);
        return match call {
            TypedCall::Sync(call) => caught(|| finish(call(input, host)?)),
            TypedCall::Async(call) => caught_future(|| async { finish(call(input, host).await?) }).await,
        };
    }
    let admission = admit(dispatcher, context, tool, None)?;
    let work = pin!(async {
        let permitted = admission.acquire().await?;
        match (call, mode) {
            (TypedCall::Sync(call), Mode::Blocking) => {
                Box::pin(permitted.run_on_thread(move |host| finish(call(input, host)?))).await
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
    if tool.fixed().is_some() {
        let whole = with_fixed(tool, arguments)?;
        return run_sync(dispatcher, context, tool.whole(), &Arguments::from(&whole));
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

/// Returns the arguments of a call with those that the host has fixed.
#[cold]
fn with_fixed(tool: &Tool, arguments: &Arguments<'_>) -> Result<Value, ToolError> {
    let mut whole = arguments.to_value()?;
    if let (Value::Object(sent), Some(fixed)) = (&mut whole, tool.fixed()) {
        if let Some(name) = fixed.values.keys().find(|name| sent.contains_key(*name)) {
            let violation = Violation::new(child("", name), "is not an argument");
            let message = format!("the arguments do not match the schema\n- {violation}");
            return Err(ToolError::new(ErrorKind::InvalidArguments, message).with_violations(vec![violation]));
        }
        sent.extend(fixed.values.clone());
    }
    Ok(whole)
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

/// A call that has passed the checks before its tool runs, and that needs a permit to run.
pub(super) struct Admission<'a> {
    dispatcher: &'a Dispatcher,
    tool: &'a Tool,
    context: &'a Context,
    /// The context with only the credentials that the tool requires, if it differs.
    scoped: Option<Box<Context>>,
    timeout: Option<Duration>,
}

/// Returns true if the call needs no permit and no credentials, and nothing can interrupt it. Such a call runs without
/// an [`Admission`], after the same checks. A synchronous function completes in its first poll, so that it cannot be
/// cancelled.
#[inline]
fn is_unconditional(dispatcher: &Dispatcher, context: &Context, tool: &Tool, mode: Mode) -> bool {
    let Shared { limiter, policy, call_states, .. } = &*dispatcher.shared;
    let is_interrupted = match mode {
        Mode::Sync => false,
        Mode::Async => context.is_cancellable(),
        Mode::Blocking => true,
    };
    !is_interrupted
        && call_states.is_empty()
        && limiter.is_unlimited()
        && sees_all(context, tool)
        && tool.timeout().or(policy.timeout).is_none()
}

/// Admits a call; see [`Policy::admit`](super::shared::Policy::admit).
#[inline(always)]
pub(super) fn admit<'a>(
    dispatcher: &'a Dispatcher,
    context: &'a Context,
    tool: &'a Tool,
    arguments: Option<&Arguments<'_>>,
) -> Result<Admission<'a>, ToolError> {
    let policy = &dispatcher.shared.policy;
    let scoped = policy.admit(context, tool, arguments)?;
    let call_states = &dispatcher.shared.call_states;
    let scoped = match call_states.is_empty() {
        true => scoped,
        false => {
            let computed = caught(|| call_states.computed(tool, scoped.as_deref().unwrap_or(context)))?;
            computed.map(Box::new).or(scoped)
        }
    };
    Ok(Admission { dispatcher, tool, context, scoped, timeout: tool.timeout().or(policy.timeout) })
}

impl Admission<'_> {
    /// Returns the context with only the credentials that the tool requires.
    #[inline(always)]
    fn context(&self) -> &Context {
        self.scoped.as_deref().unwrap_or(self.context)
    }

    /// Acquires a permit that is free.
    #[inline(always)]
    fn try_acquire(&self) -> Result<Permitted<'_>, ToolError> {
        let permit = self.dispatcher.shared.limiter.try_acquire(self.context.permits())?;
        Ok(self.permitted(permit))
    }

    /// Acquires a permit, waiting for it if necessary.
    pub(super) async fn acquire(&self) -> Result<Permitted<'_>, ToolError> {
        let Shared { limiter, policy, .. } = &*self.dispatcher.shared;
        let permit = limiter.acquire(self.context.permits(), policy.acquire_timeout).await?;
        Ok(self.permitted(permit))
    }

    /// Polls `work`, which acquires the permit and runs the tool, until the call is cancelled or exceeds its timeout.
    pub(super) async fn bounded<T>(&self, work: impl Future<Output = Result<T, ToolError>>) -> Result<T, ToolError> {
        bounded(work, self.context, self.timeout).await
    }

    #[inline(always)]
    fn permitted(&self, permit: Permit) -> Permitted<'_> {
        let context = self.context();
        let under = permit.chain().map(|chain| context.under(chain));
        let held = under.map(|context| Box::new(Held { permit, context }));
        Permitted { dispatcher: self.dispatcher, tool: self.tool, context, held }
    }
}

/// A call that may run. It holds its permit, which is released when the value is dropped.
pub(super) struct Permitted<'a> {
    dispatcher: &'a Dispatcher,
    tool: &'a Tool,
    context: &'a Context,
    /// `None` without a limit.
    held: Option<Box<Held>>,
}

/// A permit, and the context that carries it to the calls that the tool makes.
struct Held {
    permit: Permit,
    context: Context,
}

impl Permitted<'_> {
    /// Runs code on this thread. A panic is an error.
    #[inline(always)]
    pub(super) fn run<T>(&self, code: impl FnOnce(Host<'_>) -> Result<T, ToolError>) -> Result<T, ToolError> {
        let _entered = self.held.as_ref().map(|held| held.permit.enter());
        caught(|| code(self.host()))
    }

    /// Polls code to completion. A panic is an error.
    #[inline(always)]
    pub(super) fn poll<'a, T, F>(
        &'a self,
        start: impl FnOnce(Host<'a>) -> F,
    ) -> impl Future<Output = Result<T, ToolError>>
    where
        F: Future<Output = Result<T, ToolError>>,
    {
        let enter = || self.held.as_ref().map(|held| held.permit.enter());
        caught_future_within(enter, || start(self.host()))
    }

    /// Runs code on a thread that may block. If the future is dropped, the context is cancelled, and the permit is held
    /// until the code returns.
    #[cfg(feature = "async")]
    pub(super) async fn run_on_thread<T: Send + 'static>(
        self,
        code: impl FnOnce(Host<'_>) -> Result<T, ToolError> + Send + 'static,
    ) -> Result<T, ToolError> {
        let (context, _abandoned) = self.context().carried().abandonable();
        let (dispatcher, held) = (self.dispatcher.clone(), self.held);
        let position = dispatcher.catalog().position(self.tool);
        let work = move || {
            let tool = dispatcher.catalog().at(position).whole();
            let _entered = held.as_ref().map(|held| held.permit.enter());
            caught(|| code(Host::new(&context, &dispatcher, tool)))
        };
        run_on_thread(self.context, work).await
    }

    #[cfg(not(feature = "async"))]
    pub(super) async fn run_on_thread<T>(
        self,
        code: impl FnOnce(Host<'_>) -> Result<T, ToolError>,
    ) -> Result<T, ToolError> {
        self.run(code)
    }

    /// Returns the context of the tool.
    #[inline(always)]
    fn context(&self) -> &Context {
        self.held.as_ref().map_or(self.context, |held| &held.context)
    }

    #[inline(always)]
    fn host(&self) -> Host<'_> {
        Host::new(self.context(), self.dispatcher, self.tool)
    }
}

/// Adds the tool and the backend to an error, and logs the cause, which the model must not read.
#[cold]
pub(super) fn report(tool: &Tool, error: ToolError) -> ToolError {
    let error = error.with_tool(&tool.id_text());
    let error = if tool.is_prompt() { error.of_prompt() } else { error };
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
