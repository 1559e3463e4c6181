//! Replies to a caller.

use async_nats::{HeaderMap, Subject};
use bytes::Bytes;
use serde_json::json;
use toolkit::ToolError;
use toolkit::call::{ErrorKind, Progress};

use super::answer::{CallAnswer, Ran};
use super::claims::Claim;
use super::shared::WorkerState;
use crate::wire;

/// The replies to one caller. A caller without a reply subject gets none.
pub(super) struct Reply<'s> {
    shared: &'s WorkerState,
    subject: Option<Subject>,
    /// The number of the last event.
    seq: u64,
    is_numbered: bool,
}

/// The length to which the message of a progress report is truncated.
const MAX_PROGRESS_CHARS: usize = 1_000;

impl<'s> Reply<'s> {
    pub(super) fn to(shared: &'s WorkerState, subject: Option<Subject>) -> Self {
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
        let (n_bytes, limit) = (json.len(), self.shared.bodies.inline_limit());
        if n_bytes > limit {
            let message =
                format!("an item of the result has {n_bytes} bytes, more than the limit of {limit} of the NATS server");
            return Err(ToolError::new(ErrorKind::ResultTooLarge, message));
        }
        let headers = self.event("chunk");
        self.send(headers, json.into()).await;
        Ok(())
    }

    /// Sends the last reply.
    pub(super) async fn last(&mut self, mut answer: CallAnswer) {
        self.seq += 1;
        // A result that is the only reply needs no number.
        if self.is_numbered && (self.seq > 1 || !answer.headers.is_empty()) {
            answer.headers.insert(wire::SEQ, self.seq.to_string());
        }
        let Some(subject) = self.subject.clone() else { return };
        let client = &self.shared.client;
        match answer.headers.is_empty() {
            true => log(client.publish(subject, answer.body).await),
            false => log(client.publish_with_headers(subject, answer.headers, answer.body).await),
        }
    }

    pub(super) async fn error(&mut self, error: &ToolError, ran: Ran) {
        let answer = CallAnswer::error(&self.shared.bodies, error, ran);
        self.last(answer).await;
    }

    /// Reports the end of a call that this worker has given up. It has no number, since the tool may still send events.
    pub(super) async fn gave_up(&mut self, error: &ToolError, claim: Option<&Claim>) {
        self.is_numbered = false;
        let mut answer = CallAnswer::error(&self.shared.bodies, error, Ran::Yes);
        if let Some(claim) = claim {
            answer = claim.record(answer).await;
        }
        self.last(answer).await;
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

fn log<E: std::fmt::Display>(sent: Result<(), E>) {
    if let Err(error) = sent {
        tracing::warn!(%error, "a reply was not sent");
    }
}
