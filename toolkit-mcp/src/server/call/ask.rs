//! Questions of a call to its user by requests, which are sent while it runs.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::mpsc::Sender;
use toolkit::ToolError;
use toolkit::call::ErrorKind;
use toolkit::call::ask::{Answer, Asker, Mode, Question};
use toolkit::dispatch::BoxFuture;
use toolkit_http::CallPermit;

use super::message::CallMessage;
use crate::server::ask::{MAX_QUESTIONS, Modes, too_many};
use crate::server::state::Shared;

/// The permit of a call, which it does not hold while it waits for its user.
pub(in crate::server) type PermitSlot = Arc<Mutex<Option<CallPermit>>>;

/// Asks the user by requests in the event stream of the call, or over stdio.
pub(super) struct StreamAsker {
    pub(super) shared: Arc<Shared>,
    /// The id of the tool.
    pub(super) tool: String,
    pub(super) session: Box<str>,
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
        let mut request = self.shared.requests.open(&self.session, question)?;
        let sent = self.messages.send(CallMessage::Request(request.take_message())).await;
        sent.map_err(|_| ToolError::cancelled())?;
        // The other calls of the server must not wait for this user.
        drop(self.permit.lock().unwrap_or_else(PoisonError::into_inner).take());
        let answer = request.answer(self.shared.ask_timeout).await?;
        let permit = self.shared.calls.acquire(&self.tool).await;
        let permit = permit.map_err(|error| ToolError::new(ErrorKind::Overloaded, error.to_string()))?;
        *self.permit.lock().unwrap_or_else(PoisonError::into_inner) = Some(permit);
        Ok(answer)
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
