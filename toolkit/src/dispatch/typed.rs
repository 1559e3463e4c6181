//! Calls with Rust types, which pass the stages of a call without JSON and validation.

use std::pin::pin;

use super::dispatcher::Dispatcher;
use super::execute::admit;
use super::host::Host;
use super::report::report;
use super::run::{Run, shown};
use crate::call::{BoxFuture, Context, ToolError};
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
        run(self, context, tool, typed, input).await.map_err(|error| report(tool, error))
    }
}

async fn run<I, O, R>(
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
