//! Questions of a call to its user by requests, which are sent while it runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::mpsc::Sender;
use tokio::time::timeout;
use toolkit::ToolError;
use toolkit::call::ErrorKind;
use toolkit::call::ask::{Answer, Asker, Mode, Question};
use toolkit::dispatch::BoxFuture;

use super::message::CallMessage;
use super::permit::PermitSlot;
use crate::server::ask::{MAX_QUESTIONS, Modes, OpenRequest, too_many};
use crate::server::state::Shared;

/// Asks the user by requests in the event stream of the call, or over stdio.
pub(super) struct StreamAsker {
    pub(super) shared: Arc<Shared>,
    /// The id of the tool.
    pub(super) tool: String,
    pub(super) session: Box<str>,
    /// The identity of the caller, who has to answer.
    pub(super) identity: Option<String>,
    pub(super) modes: Modes,
    pub(super) messages: Sender<CallMessage>,
    pub(super) permit: PermitSlot,
    pub(super) n_asked: AtomicUsize,
}

impl StreamAsker {
    async fn question(&self, question: &Question) -> Result<Answer, ToolError> {
        if self.n_asked.fetch_add(1, Ordering::Relaxed) >= MAX_QUESTIONS {
            return Err(too_many());
        }
        let request = self.shared.requests.open(&self.session, self.identity.clone(), question)?;
        let mut asked = Asked { request, messages: &self.messages, is_answered: false };
        let away = self.permit.leave(&self.shared.calls, &self.tool);
        let limit = self.shared.ask_timeout;
        // Sending is a part of it: a client that does not read must not keep the call waiting.
        let answer = timeout(limit, asked.answer()).await.unwrap_or_else(|_| {
            Err(ToolError::new(ErrorKind::TimedOut, format!("the user did not answer within {limit:?}")))
        });
        drop(asked);
        if !away.come_back().await {
            let message = "the server has no free permit for the call after the answer of its user; try again later";
            return Err(ToolError::new(ErrorKind::Overloaded, message));
        }
        answer
    }
}

/// A question that is sent to the client. Dropping it without an answer cancels it there.
struct Asked<'a> {
    request: OpenRequest,
    messages: &'a Sender<CallMessage>,
    is_answered: bool,
}

impl Asked<'_> {
    async fn answer(&mut self) -> Result<Answer, ToolError> {
        let sent = self.messages.send(CallMessage::Request(self.request.message())).await;
        sent.map_err(|_| ToolError::cancelled())?;
        let answer = self.request.answer().await;
        self.is_answered = true;
        answer
    }
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        if !self.is_answered {
            // Without room in the queue, the client does not read anyway.
            let _ = self.messages.try_send(CallMessage::Request(self.request.cancellation()));
        }
    }
}

impl Asker for StreamAsker {
    fn can_ask(&self, mode: Mode) -> bool {
        self.modes.includes(mode)
    }

    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Result<Answer, ToolError>> {
        Box::pin(self.question(question))
    }
}
