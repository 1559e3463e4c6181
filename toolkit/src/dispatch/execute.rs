//! The stages of a call once its tool is known.

use std::pin::pin;
use std::sync::Arc;

#[cfg(feature = "tower")]
use super::layer::Call;
use super::limit::bounded;
use super::scope::scoped;
use super::select::Executor;
use super::{Dispatcher, Host, Invocation, Run, Shared};
use crate::call::permit::Permit;
use crate::call::{Arguments, Context, ErrorKind, RunResult, ToolError, unwind};
use crate::stream::Queue;
use crate::tool::{Entry, Tool};

impl Dispatcher {
    /// A call through the layers, if there are any.
    pub(super) async fn run_layered(
        &self,
        context: &Context,
        tool: &Tool,
        arguments: Arguments<'_>,
        parts: Option<&Arc<Queue>>,
    ) -> Result<RunResult, ToolError> {
        #[cfg(feature = "tower")]
        if let Some(layered) = &self.layered {
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
            let message = "there are layers around the tools, and they may wait; call it with `Dispatcher::call`";
            return Err(ToolError::new(ErrorKind::NeedsRuntime, message));
        }
        let Executor::Function(entry) = self.shared.select(tool)? else {
            let message = "the tool runs elsewhere; call it with `Dispatcher::call`";
            return Err(ToolError::new(ErrorKind::NeedsRuntime, message));
        };
        let context = &*scoped(context, tool)?;
        self.shared.policy.admit(context, arguments)?;
        let permit = self.shared.limiter.try_acquire(context.permits())?;
        let context = &*context.under(&permit);
        match Run::of(entry) {
            Run::Sync(run) | Run::Blocking(run) => {
                permit.run(|| unwind::caught(|| run(self.invocation(context, tool, entry, arguments))))
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
        let entry = match self.shared.select(tool)? {
            Executor::Function(entry) => entry,
            Executor::Backend(route) => {
                return Box::pin(self.run_elsewhere(context, tool, route, arguments, parts)).await;
            }
        };
        let context = &*scoped(context, tool)?;
        self.shared.policy.admit(context, &arguments)?;
        let time_limit = tool.timeout().or(self.shared.policy.timeout);
        // A synchronous tool has ended once it is polled: where it need not wait for a permit, nothing can bound it.
        if let (Run::Sync(run), None) = (Run::of(entry), time_limit)
            && let Ok(permit) = self.shared.limiter.try_acquire(context.permits())
        {
            let context = &*context.under(&permit);
            return permit.run(|| unwind::caught(|| run(self.invocation(context, tool, entry, &arguments))));
        }
        // Pinned here, so that what wraps it moves a pointer and not the whole of it.
        let work = pin!(async {
            let permit = self.shared.acquire(context).await?;
            let context = &*context.under(&permit);
            match Run::of(entry) {
                Run::Sync(run) => {
                    permit.run(|| unwind::caught(|| run(self.invocation(context, tool, entry, &arguments))))
                }
                Run::Async(run) => {
                    let invocation = Invocation { parts, ..self.invocation(context, tool, entry, &arguments) };
                    permit.poll(unwind::caught_future(|| run(invocation))).await
                }
                // On the heap, since most calls are none of these and would make room for it.
                Run::Blocking(run) => {
                    let arguments = arguments.into_owned();
                    let idx = self.shared.catalog.place_of(tool);
                    let work = move |dispatcher: &Self, context: &Context| {
                        let tool = dispatcher.shared.catalog.at(idx);
                        run(dispatcher.invocation(context, tool, entry, &arguments))
                    };
                    Box::pin(self.run_blocking(context, permit, work)).await
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
    pub(super) async fn acquire(&self, context: &Context) -> Result<Permit, ToolError> {
        self.limiter.acquire(context.permits(), self.policy.acquire_timeout).await
    }
}
