//! Calls with Rust types, which pass the stages of a call without JSON and validation.

use std::pin::pin;

use super::dispatcher::Dispatcher;
use super::host::Host;
use super::limit::{bounded, is_unbounded};
use super::policy::check_cancelled;
use super::report::report;
use super::run::{Run, shown};
use super::scope::scoped;
use crate::call::{BoxFuture, Context, ToolError, unwind};
use crate::tool::Tool;
use crate::tool::entry::Entry;

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

impl Dispatcher {
    /// Calls a function with `input`. Threads, timeouts and limits are those of a call with JSON.
    pub(crate) async fn run_typed<I, O, R>(
        &self,
        context: &Context,
        typed: Typed<I, O, R>,
        input: I,
    ) -> Result<O, ToolError>
    where
        I: Send + 'static,
        O: Send + 'static,
        R: 'static,
    {
        let tool = self.catalog().linked_as(typed.entry, typed.namespace)?;
        self.run_typed_tool(context, tool, typed, input).await.map_err(|error| report(tool, error))
    }

    async fn run_typed_tool<I, O, R>(
        &self,
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
        let context = &*scoped(context, tool)?;
        check_cancelled(context)?;
        let Typed { entry, call, finish, .. } = typed;
        let finish = move |returned: R| finish(returned).map_err(|error| shown(entry, error));
        let time_limit = tool.timeout().or(self.shared.policy.timeout);
        if self.shared.is_unconditional(context, tool) && is_unbounded(context, time_limit) {
            match (call, Run::from_entry(entry)) {
                (TypedCall::Sync(_), Run::Blocking(_)) => {}
                (TypedCall::Sync(call), _) => {
                    return unwind::caught(|| finish(call(input, Host::new(context, self, tool))?));
                }
                (TypedCall::Async(call), _) => {
                    let work = || async { finish(call(input, Host::new(context, self, tool)).await?) };
                    return unwind::caught_future(work).await;
                }
            }
        }
        let work = pin!(async {
            let permit = self.shared.acquire(context).await?;
            let context = &*context.under(&permit);
            match (call, Run::from_entry(entry)) {
                (TypedCall::Sync(call), Run::Blocking(_)) => {
                    let idx = self.catalog().position(tool);
                    let work = move |dispatcher: &Self, context: &Context| {
                        let tool = dispatcher.catalog().at(idx);
                        finish(call(input, Host::new(context, dispatcher, tool))?)
                    };
                    Box::pin(self.run_blocking(context, permit, work)).await
                }
                (TypedCall::Sync(call), _) => {
                    permit.run(|| unwind::caught(|| finish(call(input, Host::new(context, self, tool))?)))
                }
                (TypedCall::Async(call), _) => {
                    let work = || async { finish(call(input, Host::new(context, self, tool)).await?) };
                    permit.poll(unwind::caught_future(work)).await
                }
            }
        });
        bounded(work, context, time_limit).await
    }
}
