//! `POST /tools/call`, whose response may be an event stream.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::stream;
use http::header::{AUTHORIZATION, HeaderName};
use http::{Response, StatusCode};
use http_body::Body as HttpBody;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use toolkit::call::{Credentials, RequestParts};
use toolkit::dispatch::BlockingThreads;
use toolkit::stream::Event;
use toolkit::{CancelToken, Context, RunResult, ToolError};
use toolkit_runtime::{
    Body, BodyCharge, Panicked, RequestHead, client_network, events_response, parse_message, run_tool, spawn_tool,
};
use uuid::Uuid;

use crate::server::dedup::{Admission, CallGuard, Fingerprint, Waiter};
use crate::server::reply::{Rejection, Reply, Started};
use crate::server::{CANCEL_TIMEOUT, Shared};
use crate::wire::{API_KEY, CallContext, CallMessage, OLD_SCHEMA, SCHEMA};
use crate::{OtcId, TraceId};

/// The number of events in the queue of a slow client.
const MAX_PARTS: usize = 16;
/// The time by which a tool's own timeout may be exceeded before the server ends the call.
const SLACK: Duration = Duration::from_millis(100);
/// The maximum length of a call id or trace id, in bytes.
const MAX_ID_LEN: usize = 256;

pub(super) async fn call<B>(shared: &Arc<Shared>, head: &RequestHead, body: B) -> Result<Response<Body>, Rejection>
where
    B: HttpBody<Data: bytes::Buf>,
{
    if !shared.readiness.is_ready() {
        return Err(Rejection::not_ready());
    }
    let wants_events = head.accepts_events();
    let (body, charge) = shared.http.read_json(head, body).await?.into_parts();
    let at = Arc::clone(shared);
    let job = parse_message(body.len(), move || Job::read(&at, &body, charge)).await;
    let job =
        job.unwrap_or_else(|Panicked| Err(Rejection::new(StatusCode::INTERNAL_SERVER_ERROR, "an internal error")))?;
    let client =
        head.client().filter(|address| !address.is_loopback()).map(|address| client_network(address).to_string());
    let job = Job { context: with_request(shared, job.context, head), client, ..job };
    let tool_id = job.tool_id.clone();
    let (mut waiter, parts) = match shared.dedup.admit(&job.started.call_id, job.fingerprint) {
        Admission::Taken => {
            let message = "the `call_id` belongs to another call; use a unique one";
            return Err(Rejection::bad_request(message));
        }
        Admission::Ended(reply) if wants_events => return Ok(of_reply(&tool_id, reply)),
        Admission::Ended(reply) => return Ok(reply.into_response()),
        Admission::Again(waiter) => (waiter, None),
        Admission::First(guard, waiter) => (waiter, job.start(shared, guard, wants_events)),
    };
    Ok(match parts {
        Some(parts) => of_call(tool_id, parts, waiter).await,
        None if wants_events => of_reply(&tool_id, waiter.reply().await),
        None => waiter.reply().await.into_response(),
    })
}

/// A parsed call.
struct Job {
    tool_id: String,
    /// The name of the tool in the dispatcher.
    name: String,
    input: Vec<u8>,
    context: Context,
    fingerprint: Fingerprint,
    started: Started,
    /// The share of the message in the memory budget of request bodies.
    charge: BodyCharge,
    /// The network of the client, unless other clients may have its address.
    client: Option<String>,
}

impl Job {
    fn read(shared: &Shared, body: &[u8], charge: BodyCharge) -> Result<Self, Rejection> {
        // The error contains only the position, since serde's message repeats the unexpected value, which may be a
        // secret.
        let message: CallMessage<'_> = serde_json::from_slice(body).map_err(|error| {
            let (line, column) = (error.line(), error.column());
            let message = match error.classify() {
                serde_json::error::Category::Data => "the message must be `{\"request\": {\"tool_id\", \"input\", …}}`",
                _ => "the message is not JSON",
            };
            Rejection::bad_request(format!("{message}; see line {line}, column {column}"))
        })?;
        if let Some(schema) = message.schema.filter(|schema| schema != SCHEMA && schema != OLD_SCHEMA) {
            let schema: String = schema.chars().take(80).collect();
            let message = format!("`$schema` is `{}`, but this server supports `{SCHEMA}`", schema.escape_debug());
            return Err(Rejection::bad_request(message));
        }
        let request = message.request;
        for (name, id) in [("call_id", &request.call_id), ("trace_id", &request.trace_id)] {
            if id.as_ref().is_some_and(|id| id.is_empty() || id.len() > MAX_ID_LEN) {
                return Err(Rejection::bad_request(format!("`{name}` must have 1 to {MAX_ID_LEN} bytes")));
            }
        }
        let id: OtcId =
            request.tool_id.parse().map_err(|error| Rejection::bad_request(format!("`tool_id`: {error}")))?;
        let tool = shared
            .published
            .resolve(&id)
            .map_err(|(message, instead)| Rejection::bad_request(message).developer_message(instead))?;
        let input = request.input.map_or("{}", |input| input.get());
        let held = request.context.unwrap_or_default();
        let started = Started {
            call_id: request.call_id.unwrap_or_else(|| Uuid::new_v4().to_string()),
            at: Instant::now(),
            max_bytes: shared.limits.max_body_bytes,
        };
        let (tool_id, name) = (tool.id().to_string(), tool.name.clone());
        let fingerprint = fingerprint(&tool_id, input, &held);
        let context = Context::new().with_credentials(credentials(held));
        let context = match request.trace_id {
            Some(trace_id) => context.with(TraceId(trace_id)),
            None => context,
        };
        Ok(Self {
            tool_id,
            name,
            input: input.as_bytes().to_vec(),
            context,
            fingerprint,
            started,
            charge,
            client: None,
        })
    }

    /// Spawns the call, so that repeated requests can wait for it too. Returns its events if the client accepts them.
    fn start(self, shared: &Arc<Shared>, guard: CallGuard, wants_events: bool) -> Option<Receiver<StreamPart>> {
        let permit = match shared.calls.try_acquire(self.name.as_str(), self.client.as_deref()) {
            Ok(permit) => permit,
            Err(overloaded) => {
                guard.complete(Reply::Rejected(Rejection::busy(overloaded.to_string())));
                return None;
            }
        };
        let (sender, receiver) = wants_events.then(|| channel(MAX_PARTS)).unzip();
        let shared = Arc::clone(shared);
        let Self { name, input, context, started, charge, .. } = self;
        let cancel = guard.cancel();
        // The executor for `blocking` tools holds the permit, since such a tool occupies a thread until it returns.
        let tool_name = name.clone();
        let threads = BlockingThreads::new(move |work| {
            let _ = &permit;
            run_tool(&tool_name, work);
        });
        let context = context.with(threads).with_cancel(cancel.clone());
        // The tool runs on a thread for tools, where it may block. This side applies the timeout.
        let running = {
            let (server, tool, started) = (Arc::clone(&shared), name.clone(), started.clone());
            spawn_tool(&name, async move {
                let outcome = run(&server, &tool, context, input, sender).await;
                drop(charge);
                started.reply(&tool, outcome)
            })
        };
        tokio::spawn(async move {
            let limit = shared.time_limit(&name);
            // A tool that cannot be stopped may still observe the token.
            let _guard = cancel.drop_guard();
            let reply = tokio::select! {
                biased;
                reply = running => reply.unwrap_or_else(|panicked| started.reply(&name, Err(ToolError::internal(panicked)))),
                () = tokio::time::sleep(limit) => started.timed_out(limit),
                () = abandoned(&cancel) => started.reply(&name, Err(ToolError::cancelled())),
            };
            guard.complete(reply);
        });
        receiver
    }
}

/// Waits until a call is canceled, and then a moment for the tool to return.
async fn abandoned(cancel: &CancelToken) {
    cancel.cancelled().await;
    tokio::time::sleep(CANCEL_TIMEOUT / 2).await;
}

impl Shared {
    /// Returns the timeout of a call. The dispatcher applies the tool's own timeout first, if the tool yields to it.
    fn time_limit(&self, name: &str) -> Duration {
        let own = self.dispatcher.prepared(name).ok().and_then(|tool| tool.timeout());
        own.map_or(self.limits.call_timeout, |own| self.limits.call_timeout.min(own + SLACK))
    }
}

async fn run(
    shared: &Shared,
    name: &str,
    context: Context,
    input: Vec<u8>,
    parts: Option<Sender<StreamPart>>,
) -> Result<RunResult, ToolError> {
    let Some(parts) = parts else {
        return shared.dispatcher.call_with(&context, name, input).await;
    };
    let mut events = shared.dispatcher.stream_with(&context, name, input);
    while let Some(event) = events.next().await {
        match event.event {
            Event::Done(result) => return Ok(result),
            Event::Error(error) => return Err(error),
            event => {
                // Continues after the client has disconnected, since others may wait for the end.
                if let Some(part) = StreamPart::of(&event) {
                    let _ = parts.send(part).await;
                }
            }
        }
    }
    Err(ToolError::cancelled())
}

/// Adds the parts of a request, and its extensions, to the context of its call.
fn with_request(shared: &Shared, context: Context, head: &RequestHead) -> Context {
    // The credentials are for this server, so that they must not be passed on to others.
    let is_checked = !shared.auth.is_none();
    let head = head.clone();
    let context = head
        .extensions()
        .into_iter()
        .fold(context, |context, extensions| context.with_extensions(Arc::clone(extensions)));
    context.with_request(move || {
        let is_credential = |name: &HeaderName| is_checked && (*name == AUTHORIZATION || name.as_str() == API_KEY);
        let headers = head.headers().iter().filter(|(name, _)| !is_credential(name));
        let parts = RequestParts::new().with_path(head.path());
        let parts = headers.fold(parts, |parts, (name, value)| parts.with_header(name.as_str(), value));
        head.client().into_iter().fold(parts, RequestParts::with_peer)
    })
}

fn credentials(held: CallContext) -> Credentials {
    let mut credentials = Credentials::new();
    for token in held.authorization {
        credentials = credentials.with_token(token.id, token.token);
    }
    for secret in held.secrets {
        credentials = credentials.with_secret(secret.id, secret.value);
    }
    match held.user_id {
        Some(user_id) => credentials.with_user_id(user_id),
        None => credentials,
    }
}

/// Hashes a call. The context is included, so that a cached response is returned only to callers with the same
/// credentials.
fn fingerprint(tool_id: &str, input: &str, held: &CallContext) -> Fingerprint {
    let held = serde_json::to_vec(held).unwrap_or_default();
    let mut hash = Sha256::new();
    for part in [tool_id.as_bytes(), input.as_bytes(), &held] {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    hash.finalize().into()
}

/// An event before the end of a call.
struct StreamPart {
    kind: &'static str,
    /// The data as JSON.
    data: String,
}

impl StreamPart {
    fn of(event: &Event) -> Option<Self> {
        let data = match event {
            Event::Progress(progress) => {
                json!({ "progress": progress.done, "total": progress.total, "message": progress.message }).to_string()
            }
            Event::Chunk(chunk) => chunk.json().to_owned(),
            _ => return None,
        };
        Some(Self { kind: event.kind(), data })
    }
}

/// The interval of comments that keep the connection open.
const KEEP_ALIVE: Duration = Duration::from_secs(10);

/// Creates the event stream of a call.
///
/// A call that is rejected before the tool runs gets a regular response, so this waits for the first event or the end.
async fn of_call(tool_id: String, mut parts: Receiver<StreamPart>, mut waiter: Waiter) -> Response<Body> {
    let Some(first) = parts.recv().await else {
        return of_reply(&tool_id, waiter.reply().await);
    };
    let state = EventState { tool_id, first: Some(first), parts, waiter: Some(waiter) };
    events_response(stream::unfold(state, |mut state| async move {
        match tokio::time::timeout(KEEP_ALIVE, state.next()).await {
            Ok(event) => Some((event?, state)),
            Err(_) => Some((Bytes::from_static(b":\n\n"), state)),
        }
    }))
}

/// Creates the event stream of a call that has ended, with one event.
fn of_reply(tool_id: &str, reply: Reply) -> Response<Body> {
    match end(tool_id, &reply) {
        Some(event) => events_response(stream::iter([event])),
        None => reply.into_response(),
    }
}

struct EventState {
    tool_id: String,
    first: Option<StreamPart>,
    parts: Receiver<StreamPart>,
    /// `None` after the last event. Dropping it cancels the call if no other request waits.
    waiter: Option<Waiter>,
}

impl EventState {
    /// Returns the next event. Dropping the future loses none.
    async fn next(&mut self) -> Option<Bytes> {
        let part = match self.first.take() {
            Some(first) => Some(first),
            None => self.parts.recv().await,
        };
        if let Some(part) = part {
            return Some(event(part.kind, &self.tool_id, part.data.as_bytes()));
        }
        let reply = self.waiter.as_mut()?.reply().await;
        self.waiter = None;
        // The status was sent already, so a rejection becomes an event.
        let refused = || {
            let Reply::Rejected(rejection) = &reply else { return None };
            let failed = json!({ "success": false, "error": { "message": rejection.message(), "can_retry": false } });
            Some(event("error", &self.tool_id, failed.to_string().as_bytes()))
        };
        end(&self.tool_id, &reply).or_else(refused)
    }
}

fn end(tool_id: &str, reply: &Reply) -> Option<Bytes> {
    match reply {
        Reply::Ran { succeeded, result } => {
            Some(event(if *succeeded { "done" } else { "error" }, tool_id, &Bytes::clone(result)))
        }
        Reply::Rejected(_) => None,
    }
}

fn event(kind: &str, tool_id: &str, data: &[u8]) -> Bytes {
    let mut event = format!(r#"data: {{"kind":"{kind}","toolId":{},"data":"#, Value::from(tool_id)).into_bytes();
    // Line breaks between JSON values would end a line of the event.
    event.extend(data.iter().map(|byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { *byte }));
    event.extend_from_slice(b"}\n\n");
    event.into()
}
