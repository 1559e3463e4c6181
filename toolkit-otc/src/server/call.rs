//! `POST /tools/call`.

use std::sync::Arc;
use std::time::Instant;

use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::header::{ACCEPT, CONTENT_TYPE};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use sha2::{Digest, Sha256};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use toolkit::call::Credentials;
use toolkit::stream::Event;
use toolkit::{CancelToken, Context, RunResult, ToolError};
use uuid::Uuid;

use super::Shared;
use super::answers::{Admitted, Fingerprint, Flying};
use super::events::{self, Part};
use super::refusal::Refusal;
use super::reply::{Reply, Started};
use crate::published::Offered;
use crate::wire::{CallContext, CallMessage, EVENT_STREAM, OLD_SCHEMA, SCHEMA};
use crate::{OtcId, TraceId};

/// How many events wait for a client that reads slowly.
const MAX_PARTS: usize = 16;
/// The longest call id or trace id, in bytes.
const MAX_ID_LEN: usize = 256;

pub(super) async fn call(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    answer(&shared, request).await.unwrap_or_else(Refusal::into_response)
}

async fn answer(shared: &Arc<Shared>, request: Request) -> Result<Response, Refusal> {
    if !shared.readiness.is_ready() {
        return Err(Refusal::not_ready());
    }
    // A page of another server can send text without asking first, and JSON it cannot.
    if !has_json(request.headers()) {
        let message = "send the call as `Content-Type: application/json`";
        return Err(Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, message));
    }
    let hears_events = accepts_events(request.headers());
    let body = read(shared, request.into_body()).await?;
    let job = Job::read(shared, &body)?;
    let tool_id = job.tool.id().to_string();
    let (mut waiting, parts) = match shared.answers.admit(&job.started.call_id, job.fingerprint) {
        Admitted::Taken => {
            let message = "the `call_id` was given to another call; give every call one of its own";
            return Err(Refusal::bad_request(message));
        }
        Admitted::Ended(reply) if hears_events => return Ok(events::of_reply(tool_id, reply)),
        Admitted::Ended(reply) => return Ok(reply.into_response()),
        Admitted::Again(waiting) => (waiting, None),
        Admitted::First(flying, waiting) => (waiting, job.start(shared, flying, hears_events)),
    };
    Ok(match parts {
        Some(parts) => events::of_call(tool_id, parts, waiting).await,
        None if hears_events => events::of_reply(tool_id, waiting.reply().await),
        None => waiting.reply().await.into_response(),
    })
}

/// One call, as far as it can be known before the tool is asked.
struct Job<'s> {
    tool: &'s Offered,
    input: Vec<u8>,
    context: Context,
    fingerprint: Fingerprint,
    started: Started,
}

impl<'s> Job<'s> {
    fn read(shared: &'s Shared, body: &[u8]) -> Result<Self, Refusal> {
        // What serde finds wrong is said by its place only: it repeats what it did not expect, which may be a secret.
        let message: CallMessage<'_> = serde_json::from_slice(body).map_err(|error| {
            let (line, column) = (error.line(), error.column());
            let message = match error.classify() {
                serde_json::error::Category::Data => "the message is not `{\"request\": {\"tool_id\", \"input\", …}}`",
                _ => "the message is not JSON",
            };
            Refusal::bad_request(format!("{message}; see line {line}, column {column}"))
        })?;
        if let Some(schema) = message.schema.filter(|schema| schema != SCHEMA && schema != OLD_SCHEMA) {
            let schema: String = schema.chars().take(80).collect();
            let message = format!("`$schema` is `{}`, and this server speaks `{SCHEMA}`", schema.escape_debug());
            return Err(Refusal::bad_request(message));
        }
        let request = message.request;
        for (name, id) in [("call_id", &request.call_id), ("trace_id", &request.trace_id)] {
            if id.as_ref().is_some_and(|id| id.is_empty() || id.len() > MAX_ID_LEN) {
                return Err(Refusal::bad_request(format!("`{name}` has 1 to {MAX_ID_LEN} bytes")));
            }
        }
        let id: OtcId = request.tool_id.parse().map_err(|error| Refusal::bad_request(format!("`tool_id`: {error}")))?;
        let tool = shared
            .published
            .resolve(&id)
            .map_err(|(message, instead)| Refusal::bad_request(message).developer_message(instead))?;
        let input = request.input.map_or("{}", |input| input.get());
        let held = request.context.unwrap_or_default();
        let started = Started {
            call_id: request.call_id.unwrap_or_else(|| Uuid::new_v4().to_string()),
            at: Instant::now(),
            max_bytes: shared.limits.max_body_bytes,
        };
        let fingerprint = fingerprint(&tool.id().to_string(), input, &held);
        let context = Context::new().with_credentials(credentials(held));
        let context = match request.trace_id {
            Some(trace_id) => context.with(TraceId(trace_id)),
            None => context,
        };
        Ok(Self { tool, input: input.as_bytes().to_vec(), context, fingerprint, started })
    }

    /// Lets the call run by itself, so that whoever else asks for it can wait for it too. Gives its parts to a client
    /// that hears them.
    fn start(self, shared: &Arc<Shared>, flying: Flying, hears_events: bool) -> Option<Receiver<Part>> {
        let Ok(place) = Arc::clone(&shared.places).try_acquire_owned() else {
            flying.land(Reply::Refused(Refusal::overloaded()));
            return None;
        };
        let (sender, receiver) = hears_events.then(|| channel(MAX_PARTS)).unzip();
        let shared = Arc::clone(shared);
        let Self { tool, input, context, started, .. } = self;
        let name = tool.name().to_owned();
        tokio::spawn(async move {
            let _place = place;
            let limit = shared.limits.call_timeout;
            let outcome = run(&shared, &name, context, flying.cancel(), input, sender);
            let reply = match tokio::time::timeout(limit, outcome).await {
                Ok(outcome) => started.reply(&name, outcome),
                Err(_) => started.timed_out(limit),
            };
            flying.land(reply);
        });
        receiver
    }
}

async fn run(
    shared: &Shared,
    name: &str,
    context: Context,
    cancel: CancelToken,
    input: Vec<u8>,
    parts: Option<Sender<Part>>,
) -> Result<RunResult, ToolError> {
    let context = context.with_cancel(cancel);
    let Some(parts) = parts else {
        return shared.dispatcher.call_with(&context, name, input).await;
    };
    let mut events = shared.dispatcher.stream_with(&context, name, input);
    while let Some(event) = events.next().await {
        match event.event {
            Event::Done(result) => return Ok(result),
            Event::Error(error) => return Err(error),
            event => {
                // Where the client has gone away, others may still wait for the end.
                if let Some(part) = Part::of(&event) {
                    let _ = parts.send(part).await;
                }
            }
        }
    }
    Err(ToolError::cancelled())
}

async fn read(shared: &Shared, body: Body) -> Result<Bytes, Refusal> {
    let limits = &shared.limits;
    match tokio::time::timeout(limits.read_timeout, to_bytes(body, limits.max_body_bytes)).await {
        Ok(Ok(body)) => Ok(body),
        Ok(Err(_)) => {
            let message = format!("the message was cut short, or has more than {} bytes", limits.max_body_bytes);
            Err(Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, message))
        }
        Err(_) => {
            let message = format!("the message did not come within {:?}", limits.read_timeout);
            Err(Refusal::new(StatusCode::REQUEST_TIMEOUT, message))
        }
    }
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

/// A hash of everything that is asked. The context belongs to it: an answer is for those who hold what the call held.
fn fingerprint(tool_id: &str, input: &str, held: &CallContext) -> Fingerprint {
    let held = serde_json::to_vec(held).unwrap_or_default();
    let mut hash = Sha256::new();
    for part in [tool_id.as_bytes(), input.as_bytes(), &held] {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    hash.finalize().into()
}

fn has_json(headers: &HeaderMap) -> bool {
    let sent = headers.get(CONTENT_TYPE).and_then(|sent| sent.to_str().ok());
    let media_type = sent.and_then(|sent| sent.split(';').next()).unwrap_or_default();
    media_type.trim().eq_ignore_ascii_case("application/json")
}

fn accepts_events(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(ACCEPT).iter().filter_map(|accepted| accepted.to_str().ok());
    let mut media_types = accepted.flat_map(|accepted| accepted.split(','));
    media_types.any(|accepted| accepted.split(';').next().unwrap_or_default().trim() == EVENT_STREAM)
}
