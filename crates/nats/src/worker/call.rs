//! One call on a worker.

use std::sync::Arc;
use std::time::Instant;

use async_nats::{Message, Subject};
use bytes::Bytes;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use toolkit::call::{ErrorKind, Progress};
use toolkit::dispatch::BlockingThreads;
use toolkit::stream::Event;
use toolkit::{Context, RunResult, ToolError};
use toolkit_runtime::{run_tool, spawn_tool};

use super::answer::{Answer, Ran};
use super::claims::{Claim, Claimed};
use super::reply::Reply;
use super::request::Request;
use super::running::Permit;
use super::running_call::{Call, Ended};
use super::shared::Shared;
use crate::wire::ACCEPT_AFTER;

/// Starts a call, on a thread for tools, where the tool may block. It replies from there.
pub(super) async fn start(shared: &Arc<Shared>, message: Message) {
    let started = Instant::now();
    let is_allowed = |subject: &Subject| shared.subjects.is_reply(subject);
    let receiver = message.reply.clone().filter(is_allowed);
    let mut refusal = Reply::to(shared, receiver.clone());
    let request = match Request::read(&message, &shared.subjects) {
        Ok(request) => request,
        Err(error) => return refusal.error(&error, Ran::No).await,
    };
    if request.credentials.is_some() && !shared.is_confidential {
        let message =
            "the worker is connected to the NATS server without TLS, so that no credentials may be sent to it";
        return refusal.error(&ToolError::new(ErrorKind::Unauthorized, message), Ran::No).await;
    }
    let Some(name) = shared.tool(&message.subject) else {
        let error = ToolError::new(ErrorKind::UnknownTool, "the worker has no such tool");
        return refusal.error(&error, Ran::No).await;
    };
    let deadline = started + shared.time_limit(name, request.left);
    let is_streamed = request.wants_progress || request.wants_chunks;
    let first_alive = request.reads_events.then(|| if is_streamed { started } else { started + ACCEPT_AFTER });
    let call = Call::new(
        &request.call,
        request.credit,
        receiver,
        request.events.clone().filter(is_allowed),
        [started, deadline],
        first_alive,
    );
    let Some((call, permit)) = shared.running.add(call) else {
        if request.is_claimed {
            return refusal.last(Answer::claimed(&shared.instance)).await;
        }
        return refusal.error(&ToolError::failed("a call with this id is running"), Ran::No).await;
    };
    if is_streamed {
        // The caller needs the subject of the call before it can give credit.
        if let Some((event, to)) = call.alive(started, |_| started + shared.limits.beat) {
            Reply::to(shared, Some(to)).alive(event, &shared.subjects.control(&shared.instance, &call.id)).await;
        }
    }
    let running = run(Arc::clone(shared), Arc::clone(&call), Arc::clone(name), request, message, permit);
    call.hold(spawn_tool(name, running));
}

/// Runs a call and replies, unless the call has timed out or was cancelled meanwhile.
async fn run(
    shared: Arc<Shared>,
    call: Arc<Call>,
    name: Arc<str>,
    mut request: Request,
    message: Message,
    permit: Permit,
) {
    let (tool, permit) = (Arc::clone(&name), Arc::new(permit));
    // A blocking tool occupies a thread until it returns, and keeps the permit as long.
    let threads = BlockingThreads::new({
        let permit = Arc::clone(&permit);
        move |work| {
            let permit = Arc::clone(&permit);
            run_tool(&tool, move || {
                work();
                drop(permit);
            });
        }
    });
    let context = Context::new().with(threads).with_cancel(call.cancel.clone());
    let context = match request.trace.take() {
        Some(trace) => context.with(trace),
        None => context,
    };
    let context = match request.credentials.take() {
        Some(credentials) => context.with_credentials(credentials),
        None => context,
    };
    let mut reply = Reply::to(&shared, None);
    let Ready { arguments, claim, memory } = match prepare(&shared, &call, &request, message.payload).await {
        Ok(ready) => ready,
        Err(answer) => return end(&shared, &call, answer, reply, None).await,
    };
    let outcome = match request.wants_progress || request.wants_chunks {
        true => stream(&shared, &call, &name, &context, &arguments, &mut reply, request.wants_chunks).await,
        false => shared.dispatcher.call_with(&context, &name, &arguments[..]).await,
    };
    drop((arguments, memory));
    let error = outcome.as_ref().err().map(ToolError::kind);
    let mut answer = Answer::new(&shared.dispatcher, &shared.bodies, &name, outcome, request.bodies.as_deref()).await;
    if let Some(claim) = &claim {
        answer = claim.record(answer).await;
    }
    end(&shared, &call, answer, reply, error).await;
    drop(permit);
}

/// The arguments of a call, and its claim, before it runs.
struct Ready {
    arguments: Bytes,
    /// The memory of the arguments, if they were read from the object store.
    memory: Option<OwnedSemaphorePermit>,
    claim: Option<Arc<Claim>>,
}

/// Reads the arguments and claims the call, where this is requested. Returns the last reply if this worker does not run the
/// call.
async fn prepare(shared: &Shared, call: &Call, request: &Request, payload: Bytes) -> Result<Ready, Answer> {
    let refused = |error: ToolError| Answer::error(&shared.bodies, &error, Ran::No);
    let (arguments, memory) = match &request.body {
        None => (payload, None),
        Some(body) => {
            let (arguments, memory) = shared.read_body(body).await.map_err(refused)?;
            (arguments, Some(memory))
        }
    };
    if !request.is_claimed {
        return Ok(Ready { arguments, memory, claim: None });
    }
    let left = call.deadline.saturating_duration_since(Instant::now());
    let claim = match shared.claims.claim(&call.id, left).await.map_err(refused)? {
        Claimed::Own(claim) => claim,
        Claimed::Answered(answer) => return Err(answer),
        Claimed::By(worker) => return Err(Answer::claimed(&worker)),
    };
    call.set_claim(Arc::clone(&claim));
    Ok(Ready { arguments, memory, claim: Some(claim) })
}

/// Ends a call with its last reply, unless it has ended before.
async fn end(shared: &Shared, call: &Call, answer: Answer, mut reply: Reply<'_>, error: Option<ErrorKind>) {
    // Holds the handle of the future that runs this function, which ends at the next suspension once it is dropped.
    let Some(Ended { to, task, .. }) = call.end_and_reply() else { return };
    shared.running.remove(call);
    shared.stats.record(call.started.elapsed(), error);
    reply.redirect(to);
    reply.last(answer).await;
    drop(task);
}

/// Runs a tool and sends its progress and its chunks, each chunk when the caller has room for it.
async fn stream(
    shared: &Shared,
    call: &Call,
    name: &str,
    context: &Context,
    arguments: &Bytes,
    reply: &mut Reply<'_>,
    wants_chunks: bool,
) -> Result<RunResult, ToolError> {
    let mut events = shared.dispatcher.stream_with(context, name, &arguments[..]);
    while let Some(event) = events.next().await {
        match event.event {
            Event::Done(result) => return Ok(result),
            Event::Error(error) => return Err(error),
            Event::Progress(progress) => send_progress(call, reply, &progress).await,
            Event::Chunk(chunk) if wants_chunks => {
                room_for_a_chunk(&call.credit).await;
                reply.redirect(call.to());
                reply.chunk(chunk.json().to_owned()).await?;
            }
            _ => {}
        }
    }
    Err(ToolError::cancelled())
}

async fn send_progress(call: &Call, reply: &mut Reply<'_>, progress: &Progress) {
    reply.redirect(call.to());
    reply.progress(progress).await;
}

async fn room_for_a_chunk(credit: &Semaphore) {
    // It is never closed.
    if let Ok(permit) = credit.acquire().await {
        permit.forget();
    }
}
