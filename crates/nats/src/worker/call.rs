//! One call on a worker: its request, its run, and its signs of life, timeout and cancellation.

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_nats::{Message, Subject};
use bytes::Bytes;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use toolkit::call::{Credentials, ErrorKind, Progress, TraceContext};
use toolkit::dispatch::BlockingThreads;
use toolkit::stream::Event;
use toolkit::{Context, RunResult, ToolError};
use toolkit_runtime::{BudgetShare, run_tool, spawn_tool};

use crate::bodies::BodyReference;
use crate::subject::{Subjects, caller_of, is_token};
use crate::wire::{self, ACCEPT_AFTER, header, number};
use crate::worker::answer::{CallAnswer, Ran};
use crate::worker::claims::{Claim, Claimed, claim_key};
use crate::worker::reply::Reply;
use crate::worker::running::{EndedCall, Permit, RunningCall};
use crate::worker::shared::WorkerState;

/// Starts a call, on a thread for tools, where the tool may block. It replies from there.
pub(super) async fn start(shared: &Arc<WorkerState>, message: Message) {
    let started = Instant::now();
    let is_allowed = |subject: &Subject| shared.subjects.is_reply(subject);
    let receiver = message.reply.clone().filter(is_allowed);
    let mut refusal = Reply::to(shared, receiver.clone());
    let request = match CallRequest::read(&message, &shared.subjects) {
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
    let call = RunningCall::new(
        &request.call,
        request.credit,
        receiver,
        request.events.clone().filter(is_allowed),
        [started, deadline],
        first_alive,
    );
    let Some((call, permit)) = shared.running.add(call) else {
        if request.is_claimed {
            return refusal.last(CallAnswer::claimed(&shared.instance)).await;
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
    shared: Arc<WorkerState>,
    call: Arc<RunningCall>,
    name: Arc<str>,
    mut request: CallRequest,
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
    let Ready { arguments, claim, memory } = match prepare(&shared, &call, &request, message).await {
        Ok(ready) => ready,
        Err(answer) => return end(&shared, &call, answer, reply, None).await,
    };
    let outcome = match request.wants_progress || request.wants_chunks {
        true => stream(&shared, &call, &name, &context, &arguments, &mut reply, request.wants_chunks).await,
        false => shared.dispatcher.call_with(&context, &name, &arguments[..]).await,
    };
    drop((arguments, memory));
    let error = outcome.as_ref().err().map(ToolError::kind);
    let mut answer =
        CallAnswer::new(&shared.dispatcher, &shared.bodies, &name, outcome, request.bodies.as_deref()).await;
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
    memory: Option<BudgetShare<Box<str>>>,
    claim: Option<Arc<Claim>>,
}

/// Reads the arguments and claims the call, where this is requested. Returns the last reply if this worker does not run the
/// call.
async fn prepare(
    shared: &WorkerState,
    call: &RunningCall,
    request: &CallRequest,
    message: Message,
) -> Result<Ready, CallAnswer> {
    let Message { subject, reply, payload, .. } = message;
    let refused = |error: ToolError| CallAnswer::error(&shared.bodies, &error, Ran::No);
    let (arguments, memory) = match &request.body {
        None => (payload, None),
        Some(body) => {
            let (arguments, memory) = shared.read_body(body, reply.as_deref().map(caller_of)).await.map_err(refused)?;
            (arguments, Some(memory))
        }
    };
    if !request.is_claimed {
        return Ok(Ready { arguments, memory, claim: None });
    }
    let left = call.deadline.saturating_duration_since(Instant::now());
    let key = claim_key(&call.id, &subject, reply.as_deref(), &arguments);
    let claim = match shared.claims.claim(&key, left).await.map_err(refused)? {
        Claimed::Own(claim) => claim,
        Claimed::Answered(answer) => return Err(answer),
        Claimed::By(worker) => return Err(CallAnswer::claimed(&worker)),
    };
    call.set_claim(Arc::clone(&claim));
    Ok(Ready { arguments, memory, claim: Some(claim) })
}

/// Ends a call with its last reply, unless it has ended before.
async fn end(
    shared: &WorkerState,
    call: &RunningCall,
    answer: CallAnswer,
    mut reply: Reply<'_>,
    error: Option<ErrorKind>,
) {
    // Holds the handle of the future that runs this function, which ends at the next suspension once it is dropped.
    let Some(EndedCall { to, task, .. }) = call.end_and_reply() else { return };
    shared.running.remove(call);
    shared.stats.record(call.started.elapsed(), error);
    reply.redirect(to);
    reply.last(answer).await;
    drop(task);
}

/// Runs a tool and sends its progress and its chunks, each chunk when the caller has room for it.
async fn stream(
    shared: &WorkerState,
    call: &RunningCall,
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

async fn send_progress(call: &RunningCall, reply: &mut Reply<'_>, progress: &Progress) {
    reply.redirect(call.to());
    reply.progress(progress).await;
}

async fn room_for_a_chunk(credit: &Semaphore) {
    // It is never closed.
    if let Ok(permit) = credit.acquire().await {
        permit.forget();
    }
}

/// A request to run a tool, without the arguments in its message.
pub(super) struct CallRequest {
    pub(super) call: String,
    /// The time that is left for the call.
    pub(super) left: Option<Duration>,
    /// True if the caller reads events before the last one, which have the id of the call.
    pub(super) reads_events: bool,
    pub(super) wants_progress: bool,
    pub(super) wants_chunks: bool,
    pub(super) credit: usize,
    /// The subject of the events after the first.
    pub(super) events: Option<Subject>,
    pub(super) trace: Option<TraceContext>,
    pub(super) credentials: Option<Credentials>,
    /// The arguments, if they are not in the message.
    pub(super) body: Option<BodyReference>,
    /// The bucket for a result that does not fit into a message.
    pub(super) bodies: Option<String>,
    /// True if the call must be claimed before it runs.
    pub(super) is_claimed: bool,
}

/// The rule for a bucket whose name has a suffix.
const OTHER_BUCKET: &str = "names the bucket of another caller: what follows `-bodies-` must be a token of the inbox of the caller (`inbox_prefix`)";

impl CallRequest {
    /// Reads the headers of a message.
    ///
    /// # Errors
    ///
    /// Returns an error if a header is invalid, or the time of the call is over.
    pub(super) fn read(message: &Message, subjects: &Subjects) -> Result<Self, ToolError> {
        let headers = message.headers.as_ref();
        let invalid = |name, rule| ToolError::new(ErrorKind::Failed, format!("the header `{name}` {rule}"));
        let call = match header(headers, wire::CALL) {
            Some(call) if is_token(call) => call.to_owned(),
            Some(_) => return Err(invalid(wire::CALL, "must have 1 to 64 letters, digits and hyphens")),
            None => wire::random_id(),
        };
        let time = |name| match header(headers, name) {
            Some(text) => text.parse().map(Some).map_err(|_| invalid(name, "must be a number of milliseconds")),
            None => Ok(None),
        };
        let left = time(wire::DEADLINE)?.map(Duration::from_millis);
        let latest = wire::millis(wire::CLOCK_TOLERANCE);
        let is_late = time(wire::EXPIRES)?.is_some_and(|end| wire::now().saturating_sub(end) > latest);
        if is_late || left == Some(Duration::ZERO) {
            return Err(ToolError::new(ErrorKind::TimedOut, "the time of the call was over before it started"));
        }
        let is_own = |bucket: &str| subjects.is_bodies_of(bucket, message.reply.as_deref());
        let body = match header(headers, wire::BODY).map(str::parse::<BodyReference>).transpose() {
            Ok(Some(body)) if !subjects.is_bodies(&body.bucket) => {
                return Err(invalid(wire::BODY, "must name a bucket for bodies"));
            }
            Ok(Some(body)) if !is_own(&body.bucket) => return Err(invalid(wire::BODY, OTHER_BUCKET)),
            Ok(body) => body,
            Err(rule) => return Err(invalid(wire::BODY, rule)),
        };
        let bodies = header(headers, wire::BODIES).map(str::to_owned);
        if bodies.as_ref().is_some_and(|bucket| !subjects.is_bodies(bucket)) {
            return Err(invalid(wire::BODIES, "must name a bucket for bodies"));
        }
        if bodies.as_deref().is_some_and(|bucket| !is_own(bucket)) {
            return Err(invalid(wire::BODIES, OTHER_BUCKET));
        }
        let is_claimed = match header(headers, wire::ONCE) {
            None => false,
            Some(wire::SHARED) if header(headers, wire::CALL).is_some() => true,
            Some(_) => return Err(invalid(wire::ONCE, "must be `shared`, beside the id of the call")),
        };
        let credentials = header(headers, wire::CREDENTIALS).map(wire::read_credentials).transpose();
        let credentials = credentials.map_err(|rule| invalid(wire::CREDENTIALS, rule))?;
        let stream = header(headers, wire::STREAM).unwrap_or_default();
        let reads = |event| stream.split(',').any(|wanted| wanted.trim() == event);
        let reads_events = header(headers, wire::CALL).is_some();
        Ok(Self {
            call,
            left,
            reads_events,
            wants_progress: reads_events && reads("progress"),
            wants_chunks: reads_events && reads("chunks"),
            events: header(headers, wire::EVENTS).map(Subject::from),
            credit: number(headers, wire::CREDIT).and_then(|credit| credit.try_into().ok()).unwrap_or(0),
            trace: TraceContext::from_values(TraceContext::FIELDS.map(|name| header(headers, name))),
            credentials,
            body,
            bodies,
            is_claimed,
        })
    }
}

/// The time that a canceled tool has to return.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(1);

/// The time of the first beat, so that the call of a caller that is gone is cancelled soon.
const FIRST_BEAT: Duration = Duration::from_millis(50);

/// The interval in which calls are looked at, if none of them is new.
const INTERVAL: Duration = Duration::from_millis(25);

/// The number of looks without calls after which the supervision waits for one. A wait for each short call would cost more
/// than the looks.
const MAX_IDLE: u32 = 200;

/// Supervises all calls. One task does this for all of them, so that a short call needs no timer.
pub(super) async fn supervise(shared: Arc<WorkerState>) {
    let mut ending = JoinSet::new();
    let mut n_idle = 0;
    loop {
        let calls = shared.running.all();
        n_idle = if calls.is_empty() { n_idle + 1 } else { 0 };
        if n_idle > MAX_IDLE {
            shared.running.added.notified().await;
            n_idle = 0;
        }
        let has_old = !calls.is_empty() && !calls.iter().any(|call| call.is_new());
        tokio::time::sleep(if has_old { INTERVAL } else { ACCEPT_AFTER }).await;
        let now = Instant::now();
        for call in shared.running.all() {
            look_at(&shared, &call, now, &mut ending).await;
        }
        while ending.try_join_next().is_some() {}
    }
}

async fn look_at(shared: &Arc<WorkerState>, call: &Arc<RunningCall>, now: Instant, ending: &mut JoinSet<()>) {
    let beat = shared.limits.beat;
    let sign = call.alive(now, |is_first| now + if is_first { beat.min(FIRST_BEAT) } else { beat });
    if let Some((event, to)) = sign {
        Reply::to(shared, Some(to)).alive(event, &shared.subjects.control(&shared.instance, &call.id)).await;
    }
    let is_late = now >= call.deadline;
    let is_abandoned = call.cancelled().is_some_and(|at| now.saturating_duration_since(at) >= CANCEL_TIMEOUT);
    if !is_late && !is_abandoned {
        return;
    }
    let Some(EndedCall { to, task, claim }) = call.end() else { return };
    drop(task);
    let error = match is_late {
        true => {
            let limit = call.deadline.saturating_duration_since(call.started);
            ToolError::new(ErrorKind::TimedOut, format!("the call took longer than {limit:?}"))
        }
        false => ToolError::cancelled(),
    };
    shared.stats.record(call.started.elapsed(), Some(error.kind()));
    let Some(claim) = claim else {
        shared.running.remove(call);
        return Reply::to(shared, to).gave_up(&error, None).await;
    };
    // The server may take long to store the answer, and other calls must not wait.
    call.cancel.cancel();
    let (shared, call) = (Arc::clone(shared), Arc::clone(call));
    ending.spawn(async move {
        Reply::to(&shared, to).gave_up(&error, Some(&claim)).await;
        shared.running.remove(&call);
    });
}
