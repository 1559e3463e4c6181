//! The events of a call.

use async_nats::{Message, StatusCode, Subject};
use serde::Deserialize;
use serde_json::{Map, Value};
use toolkit::ToolError;
use toolkit::backend::{BackendCall, BackendResponse};
use toolkit::call::ErrorKind;
use toolkit::stream::Chunk;

use crate::subject::{Subjects, is_token};
use crate::wire::{self, header, number};

/// An event, as a caller acts on it.
pub(super) enum Event {
    /// The call runs. The subject is that of messages about it.
    Alive {
        control: Option<Subject>,
        beat_ms: u64,
    },
    Progress(Reported),
    Chunk(Chunk),
    Result(BackendResponse),
    /// The error of the tool, or of the worker. `has_run` is false if the tool certainly has not started.
    Error {
        response: Map<String, Value>,
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

#[derive(Deserialize)]
pub(super) struct Reported {
    progress: f64,
    #[serde(default)]
    total: Option<f64>,
    #[serde(default)]
    message: Option<String>,
}

impl Reported {
    pub(super) fn pass_on(self, call: &BackendCall<'_>) {
        call.context().progress(self.progress, self.total, &self.message.unwrap_or_default());
    }
}

/// Returns the number of an event.
pub(super) fn sequence(message: &Message) -> Option<u64> {
    number(message.headers.as_ref(), wire::SEQ)
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
        Some("result") => {
            Event::Result(BackendResponse::Mcp(serde_json::from_slice(&message.payload).map_err(invalid)?))
        }
        Some("error") => Event::Error {
            response: serde_json::from_slice(&message.payload).map_err(invalid)?,
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
pub(super) fn error(kind: ErrorKind, response: &Map<String, Value>) -> ToolError {
    let text = response.get("content").and_then(|content| content.get(0)?.get("text")?.as_str());
    ToolError::new(kind, text.unwrap_or("the worker reported an error without a text"))
}

/// Returns the subject of messages about the call that an event belongs to, if the call still runs.
pub(super) fn control(subjects: &Subjects, message: &Message) -> Option<Subject> {
    message.reply.clone().filter(|control| subjects.is_control(control))
}
