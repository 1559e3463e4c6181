//! A call from its beginning to its response.

use std::sync::Arc;

use toolkit::ToolError;
use toolkit::call::ErrorKind;
use toolkit_runtime::{CallPermit, collected, spawn_tool};

use super::Call;
use super::early_end::EarlyEnd;
use super::messages::Messages;
use super::task::run_with_offer;
use super::tool::{call_tool, failed};
use super::watch::Watch;
use crate::reply::{MessageSink, Reply};
use crate::request::Request;

/// Runs a call, and sends the messages of its tool. Dropping the future cancels the call, unless it has become a task.
pub(crate) fn run(mut call: Arc<Call>, mut sink: impl MessageSink) -> impl Future<Output = Reply> + Send {
    let own = Arc::get_mut(&mut call).expect("a call has one owner until it runs");
    let (registered, mut messages) = (own.registered.take(), Messages::new(own.events.take()));
    let observed = own.observed.take();
    let mut watch = Watch::new(call.entry(), &call.shared, observed);
    // The future of an `async fn` has room for its arguments as long as it runs, so that they are references below.
    async move {
        let Some(offer) = &call.task else {
            let _registered = registered;
            return run_to_end(&call, &mut messages, &mut watch, &mut sink).await;
        };
        let ran = Arc::clone(&call);
        let start =
            |mut sink| tokio::spawn(async move { run_to_end(&ran, &mut messages, &mut watch, &mut sink).await });
        // Boxed, like the other rare futures here, to keep that of most calls small.
        Box::pin(run_with_offer(&call, offer, registered, start, sink)).await
    }
}

async fn run_to_end(
    call: &Arc<Call>,
    messages: &mut Messages,
    watch: &mut Watch,
    sink: &mut impl MessageSink,
) -> Reply {
    let mut early_end = EarlyEnd::new(call, watch.started);
    let reply = match acquire(call, &mut early_end).await {
        Ok(permit) => run_with_permit(call, permit, &mut early_end, messages, sink).await,
        Err(error) => failed(call, error),
    };
    watch.ended(&reply);
    reply
}

/// Waits for a permit.
async fn acquire(call: &Call, early_end: &mut EarlyEnd<'_>) -> Result<CallPermit, ToolError> {
    let (limiter, id, caller) = (&call.shared.calls, &call.entry().id, Request::share_of(&call.context));
    if let Ok(permit) = limiter.try_acquire(Arc::clone(id), caller) {
        return Ok(permit);
    }
    let acquired = async {
        tokio::select! {
            biased;
            permit = limiter.acquire(Arc::clone(id), caller) => permit.map_err(|error| ToolError::new(ErrorKind::Overloaded, error.to_string())),
            error = early_end.next() => Err(error),
        }
    };
    Box::pin(acquired).await
}

/// Runs the tool on a thread for tools, and sends its messages meanwhile.
async fn run_with_permit(
    call: &Arc<Call>,
    permit: CallPermit,
    early_end: &mut EarlyEnd<'_>,
    messages: &mut Messages,
    sink: &mut impl MessageSink,
) -> Reply {
    early_end.tool_starts();
    // Dropping the task cancels a tool that still runs.
    let mut tool = spawn_tool(&call.entry().id, call_tool(Arc::clone(call), permit));
    // A deadline needs no timer if this thread runs the tool at once.
    collected().await;
    let reply = loop {
        tokio::select! {
            biased;
            message = messages.next(call) => sink.send(message).await,
            reply = &mut tool => break reply.unwrap_or_else(|panicked| failed(call, ToolError::internal(panicked))),
            error = early_end.next() => return failed(call, error),
        }
    };
    // What the tool has reported precedes the response.
    while let Some(message) = messages.queued(call) {
        sink.send(message).await;
    }
    reply
}
