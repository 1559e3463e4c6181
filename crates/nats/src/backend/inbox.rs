//! The replies to the calls of a backend, and the events in them.

use std::collections::HashMap;
use std::sync::Arc;

use async_nats::{Client, Message, StatusCode, Subject};
use futures_util::StreamExt;
use serde_json::Value;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::task::JoinSet;
use toolkit::ToolError;
use toolkit::backend::BackendResponse;
use toolkit::call::{ErrorKind, Progress};
use toolkit::stream::Chunk;
use toolkit_runtime::Mutex;

use crate::connect::NatsError;
use crate::subject::{Subjects, is_token};
use crate::wire::{self, CANCEL, HERE, header, number, random_id};

/// One subscription for the replies to all calls, each with a subject of its own. Its last token is random: a worker that knows
/// the subject of one call cannot reply to others.
pub(super) struct Inbox {
    prefix: String,
    waiting: WaitingCalls,
}

type WaitingCalls = Arc<Mutex<HashMap<String, Sender<Message>>>>;

/// The replies to one call. Dropping it ends them.
pub(super) struct Replies {
    pub(super) subject: String,
    messages: Receiver<Message>,
    token: String,
    waiting: WaitingCalls,
}

/// The maximum number of replies that a call has not read yet. Chunks are limited by the credit of the worker.
const MAX_UNREAD: usize = 1024;

impl Inbox {
    pub(super) async fn subscribe(
        client: &Client,
        prefix: String,
        subjects: Subjects,
        services: &mut JoinSet<()>,
    ) -> Result<Self, NatsError> {
        let mut messages = client.subscribe(format!("{prefix}.*")).await.map_err(NatsError::closed)?;
        let waiting = WaitingCalls::default();
        let (calls, client) = (Arc::clone(&waiting), client.clone());
        services.spawn(async move {
            while let Some(message) = messages.next().await {
                let Some((_, token)) = message.subject.rsplit_once('.') else { continue };
                let token = token.to_owned();
                let sender = calls.lock().get(&token).cloned();
                if let Some(control) = control(&subjects, &message) {
                    // The call was dropped before the worker accepted it, or has a caller, which may be busy.
                    let text = if sender.is_some() { HERE } else { CANCEL };
                    let _ = client.publish(control, text.into()).await;
                }
                // A call that does not read its replies gets no more of them, and fails.
                if sender.is_some_and(|sender| sender.try_send(message).is_err()) {
                    calls.lock().remove(&token);
                }
            }
            // The connection is closed: no further replies arrive.
            calls.lock().clear();
        });
        Ok(Self { prefix, waiting })
    }

    /// Starts to receive the replies to a new call.
    pub(super) fn open(&self) -> Replies {
        let token = random_id();
        let (sender, messages) = channel(MAX_UNREAD);
        self.waiting.lock().insert(token.clone(), sender);
        Replies { subject: format!("{}.{token}", self.prefix), messages, token, waiting: Arc::clone(&self.waiting) }
    }
}

impl Replies {
    /// Returns the next reply, or `None` if there will be none.
    pub(super) async fn next(&mut self) -> Option<Message> {
        self.messages.recv().await
    }
}

impl Drop for Replies {
    fn drop(&mut self) {
        self.waiting.lock().remove(&self.token);
    }
}

/// An event, as a caller acts on it.
pub(super) enum Event {
    /// The call runs. The subject is that of messages about it.
    Alive {
        control: Option<Subject>,
        beat_ms: u64,
    },
    Progress(Progress),
    Chunk(Chunk),
    Result(BackendResponse),
    /// The error of the tool, or of the worker. `has_run` is false if the tool certainly has not started.
    Error {
        response: Vec<u8>,
        kind: String,
        has_run: bool,
    },
    /// The worker with this id has claimed the call, and has stored no answer.
    Claimed(String),
    /// No worker receives calls to this subject.
    NoWorker,
    /// An event of a later version of the protocol.
    Other,
}

/// Reads an event.
pub(super) fn read(subjects: &Subjects, message: Message) -> Result<Event, ToolError> {
    if message.status == Some(StatusCode::NO_RESPONDERS) {
        return Ok(Event::NoWorker);
    }
    let headers = message.headers.as_ref();
    let invalid = |error: serde_json::Error| {
        ToolError::new(ErrorKind::InvalidResponse, "the worker sent an invalid event").caused_by(error)
    };
    Ok(match header(headers, wire::EVENT) {
        None => Event::Result(BackendResponse::Json(message.payload.into())),
        Some("result") => Event::Result(BackendResponse::Mcp(message.payload.into())),
        Some("error") => Event::Error {
            response: message.payload.clone().into(),
            kind: header(headers, wire::ERROR).unwrap_or_default().to_owned(),
            has_run: header(headers, wire::RAN) != Some("no"),
        },
        Some("accepted" | "beat") => Event::Alive {
            control: message.reply.clone().filter(|control| subjects.is_control(control)),
            beat_ms: number(headers, wire::BEAT).unwrap_or_default(),
        },
        Some("progress") => Event::Progress(serde_json::from_slice(&message.payload).map_err(invalid)?),
        Some("chunk") => {
            let text = String::from_utf8_lossy(&message.payload).into_owned();
            Event::Chunk(Chunk::from_json(text).map_err(invalid)?)
        }
        Some("claimed") => {
            let worker = std::str::from_utf8(&message.payload).ok().filter(|worker| is_token(worker));
            worker.map_or(Event::Other, |worker| Event::Claimed(worker.to_owned()))
        }
        Some(_) => Event::Other,
    })
}

/// Creates an error from the text of a response.
pub(super) fn error(kind: ErrorKind, response: &[u8]) -> ToolError {
    let response: Value = serde_json::from_slice(response).unwrap_or_default();
    let text = response.get("content").and_then(|content| content.get(0)?.get("text")?.as_str());
    ToolError::new(kind, text.unwrap_or("the worker reported an error without a text"))
}

/// Returns the subject of messages about the call that an event belongs to, if the call still runs.
pub(super) fn control(subjects: &Subjects, message: &Message) -> Option<Subject> {
    message.reply.clone().filter(|control| subjects.is_control(control))
}
