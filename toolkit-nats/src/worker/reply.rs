//! Replies to a caller.

use async_nats::{HeaderMap, Subject};
use bytes::Bytes;
use serde_json::json;
use toolkit::call::{ErrorKind, Progress};
use toolkit::mcp::{Revision, write_error, write_result};
use toolkit::{RunResult, ToolError};

use super::shared::Shared;
use crate::wire;

/// The replies to one caller. A caller without a reply subject gets none.
pub(super) struct Reply<'s> {
    shared: &'s Shared,
    subject: Option<Subject>,
    /// The number of the last event.
    seq: u64,
    is_numbered: bool,
}

/// The length to which the message of a progress report is truncated.
const MAX_PROGRESS_CHARS: usize = 1_000;

/// The value of `Tk-Ran`.
#[derive(Clone, Copy)]
pub(super) enum Ran {
    No,
    Yes,
}

impl<'s> Reply<'s> {
    pub(super) fn to(shared: &'s Shared, subject: Option<Subject>) -> Self {
        // Otherwise a caller could let the worker announce that it leaves, or cancel the calls of others.
        let subject = subject.filter(|subject| shared.subjects.is_reply(subject));
        Self { shared, subject, seq: 0, is_numbered: true }
    }

    /// Sends the next replies to another subject.
    pub(super) fn redirect(&mut self, subject: Option<Subject>) {
        self.subject = subject;
    }

    /// Reports that the call has begun, or still runs. The server reports to `control` if the caller is gone.
    pub(super) async fn alive(&self, event: &'static str, control: &str) {
        let mut headers = HeaderMap::new();
        headers.insert(wire::EVENT, event);
        headers.insert(wire::BEAT, wire::millis(self.shared.limits.beat).to_string());
        let Some(subject) = self.subject.clone() else { return };
        let client = &self.shared.client;
        let sent = client.publish_with_reply_and_headers(subject, control.to_owned(), headers, Bytes::new()).await;
        log(sent);
    }

    pub(super) async fn progress(&mut self, progress: &Progress) {
        let message: String = progress.message.chars().take(MAX_PROGRESS_CHARS).collect();
        let json = json!({ "progress": progress.done, "total": progress.total, "message": message });
        let headers = self.event("progress");
        self.send(headers, json.to_string().into()).await;
    }

    /// Sends an item.
    ///
    /// # Errors
    ///
    /// Returns an error if it is too large for a message.
    pub(super) async fn chunk(&mut self, json: String) -> Result<(), ToolError> {
        if json.len() > self.limit() {
            return Err(self.too_large("an item of the result", json.len()));
        }
        let headers = self.event("chunk");
        self.send(headers, json.into()).await;
        Ok(())
    }

    /// Sends the result, or an error if it is too large for a message.
    pub(super) async fn result(&mut self, name: &str, result: RunResult) {
        let has_content = !result.own_content().is_empty() || result.json().is_none();
        let tool = self.shared.dispatcher.catalog().resolve(name);
        let (mut headers, body) = match tool {
            Ok(tool) if has_content => (self.event("result"), write_result(tool, &result, Revision::V2026_07_28)),
            _ => (HeaderMap::new(), result.into_json()),
        };
        if body.len() > self.limit() {
            let error = self.too_large("the result", body.len());
            return self.error(&error, Ran::Yes).await;
        }
        if self.seq > 0 && headers.is_empty() {
            headers.insert(wire::SEQ, (self.seq + 1).to_string());
        }
        match headers.is_empty() {
            true => {
                let Some(subject) = self.subject.clone() else { return };
                log(self.shared.client.publish(subject, body.into()).await);
            }
            false => self.send(headers, body.into()).await,
        }
    }

    pub(super) async fn error(&mut self, error: &ToolError, ran: Ran) {
        let mut headers = self.event("error");
        headers.insert(wire::ERROR, error.kind().name());
        headers.insert(
            wire::RAN,
            match ran {
                Ran::No => "no",
                Ran::Yes => "yes",
            },
        );
        // The headers that clients of NATS services read.
        let line: String = error.message().chars().map(|c| if c.is_control() { ' ' } else { c }).take(200).collect();
        headers.insert("Nats-Service-Error", line);
        headers.insert("Nats-Service-Error-Code", status(error.kind()));
        let mut body = write_error(error, Revision::V2026_07_28);
        if body.len() > self.limit() {
            let short = ToolError::new(error.kind(), "the message of the error is too large for the NATS server");
            body = write_error(&short, Revision::V2026_07_28);
        }
        self.send(headers, body.into()).await;
    }

    /// Returns the maximum size of a body in bytes.
    fn limit(&self) -> usize {
        self.shared.client.max_payload().saturating_sub(wire::HEADER_RESERVE)
    }

    fn too_large(&self, what: &str, n_bytes: usize) -> ToolError {
        let limit = self.limit();
        let message = format!("{what} has {n_bytes} bytes, more than the limit of {limit} of the NATS server");
        ToolError::new(ErrorKind::ResultTooLarge, message)
    }

    /// Reports the end of a call that this worker has given up. It has no number, since the tool may still send events.
    pub(super) async fn gave_up(&mut self, error: &ToolError) {
        self.is_numbered = false;
        self.error(error, Ran::Yes).await;
    }

    /// Rejects a call since this worker is at its limit.
    pub(super) async fn overloaded(mut self, max_calls: usize) {
        let message = format!("the worker is at its limit of {max_calls} concurrent calls; try again later");
        self.error(&ToolError::new(ErrorKind::Overloaded, message), Ran::No).await;
    }

    fn event(&mut self, event: &'static str) -> HeaderMap {
        self.seq += 1;
        let mut headers = HeaderMap::new();
        headers.insert(wire::EVENT, event);
        if self.is_numbered {
            headers.insert(wire::SEQ, self.seq.to_string());
        }
        headers
    }

    async fn send(&self, headers: HeaderMap, body: Bytes) {
        let Some(subject) = self.subject.clone() else { return };
        log(self.shared.client.publish_with_headers(subject, headers, body).await);
    }
}

/// Returns the status code of HTTP for an error.
fn status(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::InvalidArguments | ErrorKind::MalformedJson | ErrorKind::TooLarge => "400",
        ErrorKind::UnknownTool | ErrorKind::NoBackend => "404",
        ErrorKind::TimedOut => "408",
        ErrorKind::Overloaded => "429",
        _ => "500",
    }
}

fn log<E: std::fmt::Display>(sent: Result<(), E>) {
    if let Err(error) = sent {
        tracing::warn!(%error, "a reply was not sent");
    }
}
