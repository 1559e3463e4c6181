//! The stages of a call after its tool is resolved.

use std::pin::pin;
use std::sync::Arc;

use super::dispatcher::{Dispatcher, Shared};
use super::host::Host;
use super::invocation::Invocation;
#[cfg(feature = "tower")]
use super::layer::Call;
use super::limit::{bounded, is_unbounded};
use super::run::Run;
use super::scope::{scoped, sees_all};
use super::select::Executor;
use crate::call::permit::Permit;
use crate::call::{Arguments, BoxFuture, Context, ErrorKind, RunResult, ToolError, unwind};
use crate::stream::Queue;
use crate::tool::Tool;
use crate::tool::entry::Entry;

/// The state of a call after [`Dispatcher::begin`].
enum Begun<'a> {
    Done(Result<RunResult, ToolError>),
    Running(BoxFuture<'a, Result<RunResult, ToolError>>),
    /// Nothing has run. [`Dispatcher::run_bounded`] runs the call.
    Bounded,
}

impl Dispatcher {
    /// Runs a call through the layers, if there are any.
    pub(super) async fn run_layered(
        &self,
        context: &Context,
        tool: &Tool,
        arguments: Arguments<'_>,
        parts: Option<&Arc<Queue>>,
    ) -> Result<RunResult, ToolError> {
        #[cfg(feature = "tower")]
        if let Some(layered) = &self.layered {
            // A backend that is replaced meanwhile must not stop before the call reaches it.
            let _held = self.shared.routes.hold(tool.id());
            return layered.run(Call::new(self, tool, context, arguments, parts)).await;
        }
        self.run(context, tool, arguments, parts.map(|parts| &**parts)).await
    }

    pub(super) fn run_sync(
        &self,
        context: &Context,
        tool: &Tool,
        arguments: &Arguments<'_>,
    ) -> Result<RunResult, ToolError> {
        #[cfg(feature = "tower")]
        if self.layered.is_some() {
            let message = "the dispatcher has layers, which are asynchronous; call the tool with `Dispatcher::call`";
            return Err(ToolError::new(ErrorKind::NeedsRuntime, message));
        }
        let Executor::Function(entry) = self.shared.select(tool)? else {
            let message = "a backend runs the tool; call it with `Dispatcher::call`";
            return Err(ToolError::new(ErrorKind::NeedsRuntime, message));
        };
        if self.shared.is_unconditional(context, tool) {
            self.shared.policy.check_limits(context, arguments)?;
            return self.run_here(context, tool, entry, arguments);
        }
        self.run_sync_under_limit(context, tool, entry, arguments)
    }

    /// Runs a call that needs a permit or credentials. Not inlined, to keep the stack frame of other calls small.
    #[inline(never)]
    fn run_sync_under_limit(
        &self,
        context: &Context,
        tool: &Tool,
        entry: &'static Entry,
        arguments: &Arguments<'_>,
    ) -> Result<RunResult, ToolError> {
        let context = &*scoped(context, tool)?;
        self.shared.policy.check_limits(context, arguments)?;
        let permit = self.shared.limiter.try_acquire(context.permits())?;
        let context = &*context.under(&permit);
        permit.run(|| self.run_here(context, tool, entry, arguments))
    }

    /// Runs a synchronous function on this thread.
    #[inline(always)]
    fn run_here(
        &self,
        context: &Context,
        tool: &Tool,
        entry: &'static Entry,
        arguments: &Arguments<'_>,
    ) -> Result<RunResult, ToolError> {
        match Run::from_entry(entry) {
            Run::Sync(run) | Run::Blocking(run) => {
                unwind::caught(|| run(self.invocation(context, tool, entry, arguments)))
            }
            Run::Async(_) => {
                let message = "the tool is asynchronous; call it with `Dispatcher::call` on a runtime";
                Err(ToolError::new(ErrorKind::NeedsRuntime, message))
            }
        }
    }

    pub(super) async fn run(
        &self,
        context: &Context,
        tool: &Tool,
        arguments: Arguments<'_>,
        parts: Option<&Queue>,
    ) -> Result<RunResult, ToolError> {
        let executor = self.shared.select(tool)?;
        match self.begin(context, tool, executor, &arguments, parts) {
            Begun::Done(outcome) => return outcome,
            Begun::Running(work) => return unwind::caught_future(|| work).await,
            Begun::Bounded => {}
        }
        // Boxed to keep the future of all other calls small.
        Box::pin(self.run_bounded(context, tool, executor, arguments, parts)).await
    }

    /// Runs a call of a function up to its first wait, if it needs no permit or thread, and nothing may interrupt it.
    #[inline]
    fn begin<'a>(
        &'a self,
        context: &'a Context,
        tool: &'a Tool,
        executor: Executor<'_>,
        arguments: &'a Arguments<'a>,
        parts: Option<&'a Queue>,
    ) -> Begun<'a> {
        let Executor::Function(entry) = executor else { return Begun::Bounded };
        let time_limit = tool.timeout().or(self.shared.policy.timeout);
        if time_limit.is_some() || !self.shared.is_unconditional(context, tool) {
            return Begun::Bounded;
        }
        if let Err(error) = self.shared.policy.check_limits(context, arguments) {
            return Begun::Done(Err(error));
        }
        let invocation = self.invocation(context, tool, entry, arguments);
        match Run::from_entry(entry) {
            Run::Sync(run) => Begun::Done(unwind::caught(|| run(invocation))),
            // Creating the future runs no code of the tool.
            Run::Async(run) if is_unbounded(context, time_limit) => {
                Begun::Running(run(Invocation { parts, ..invocation }))
            }
            Run::Async(_) | Run::Blocking(_) => Begun::Bounded,
        }
    }

    /// Runs a call that a backend runs, that waits for a permit or a thread, or that may be interrupted.
    async fn run_bounded(
        &self,
        context: &Context,
        tool: &Tool,
        executor: Executor<'_>,
        arguments: Arguments<'_>,
        parts: Option<&Queue>,
    ) -> Result<RunResult, ToolError> {
        let entry = match executor {
            Executor::Function(entry) => entry,
            Executor::Backend(route) => {
                return self.run_on_backend(context, tool, route, arguments, parts).await;
            }
        };
        let time_limit = tool.timeout().or(self.shared.policy.timeout);
        let context = &*scoped(context, tool)?;
        self.shared.policy.check_limits(context, &arguments)?;
        // A synchronous tool completes in its first poll. If a permit is free, neither a timeout nor a cancellation
        // can interrupt it.
        if let (Run::Sync(run), None) = (Run::from_entry(entry), time_limit)
            && let Ok(permit) = self.shared.limiter.try_acquire(context.permits())
        {
            let context = &*context.under(&permit);
            return permit.run(|| unwind::caught(|| run(self.invocation(context, tool, entry, &arguments))));
        }
        // Pinned here, so that the combinators around it move a pointer instead of the future.
        let work = pin!(async {
            let permit = self.shared.acquire(context).await?;
            let context = &*context.under(&permit);
            match Run::from_entry(entry) {
                Run::Sync(run) => {
                    permit.run(|| unwind::caught(|| run(self.invocation(context, tool, entry, &arguments))))
                }
                Run::Async(run) => {
                    let invocation = Invocation { parts, ..self.invocation(context, tool, entry, &arguments) };
                    let work = run(invocation);
                    permit.poll(unwind::caught_future(|| work)).await
                }
                Run::Blocking(run) => {
                    let arguments = arguments.into_owned();
                    let idx = self.shared.catalog.position(tool);
                    let work = move |dispatcher: &Self, context: &Context| {
                        let tool = dispatcher.shared.catalog.at(idx);
                        run(dispatcher.invocation(context, tool, entry, &arguments))
                    };
                    self.run_blocking(context, permit, work).await
                }
            }
        });
        bounded(work, context, time_limit).await
    }

    fn invocation<'a>(
        &'a self,
        context: &'a Context,
        tool: &'a Tool,
        entry: &'static Entry,
        arguments: &'a Arguments<'a>,
    ) -> Invocation<'a> {
        let host = Host::new(context, self, tool);
        Invocation { tool, entry, arguments, host, policy: &self.shared.policy, parts: None }
    }
}

impl Shared {
    /// Returns true if a call needs no permit and no scoped credentials.
    #[inline]
    pub(super) fn is_unconditional(&self, context: &Context, tool: &Tool) -> bool {
        self.limiter.is_unlimited() && sees_all(context, tool)
    }

    pub(super) async fn acquire(&self, context: &Context) -> Result<Permit, ToolError> {
        self.limiter.acquire(context.permits(), self.policy.acquire_timeout).await
    }
}
