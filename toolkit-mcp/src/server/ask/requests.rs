//! Requests of the server to clients before revision 2026-07-28, and the responses to them.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::json;
use serde_json::value::RawValue;
use tokio::sync::mpsc::Sender;
use tokio::sync::oneshot;
use toolkit::ToolError;
use toolkit::call::ErrorKind;
use toolkit::call::ask::{Answer, Asker, Mode, Question};
use toolkit::dispatch::BoxFuture;
use toolkit_http::CallPermit;

use super::{MAX_QUESTIONS, Modes, elicit};
use crate::server::call::CallMessage;
use crate::server::reply::json_bytes;
use crate::server::state::Shared;

/// The maximum number of open requests of a server.
const MAX_OPEN: usize = 4096;

/// The maximum number of open requests to one client.
const MAX_OPEN_OF_SESSION: usize = 32;

/// The open requests of a server, by session and id.
#[derive(Clone, Debug, Default)]
pub(in crate::server) struct OpenRequests(Arc<Mutex<Open>>);

type Open = HashMap<Key, oneshot::Sender<Response>>;
type Key = (Box<str>, Box<str>);

/// The response of a client.
type Response = Result<Answer, String>;

impl OpenRequests {
    /// Passes on the response to a request. A response to an unknown request is ignored.
    pub(in crate::server) fn respond(
        &self,
        session: &str,
        id: &RawValue,
        result: Option<&RawValue>,
        error: Option<&RawValue>,
    ) {
        let Some(request) = self.open().remove(&(session.into(), id.get().into())) else {
            tracing::debug!("a client responded to a request that is not open");
            return;
        };
        let response = match (result, error) {
            (Some(result), _) => elicit::answer(result.get()).map_err(str::to_owned),
            (None, error) => {
                let error: String = error.map_or("", RawValue::get).chars().take(500).collect();
                Err(format!("the client responded with the error {error}"))
            }
        };
        let _ = request.send(response);
    }

    fn register(&self, key: Key) -> Result<(Registered<'_>, oneshot::Receiver<Response>), ToolError> {
        let mut open = self.open();
        let is_full = open.len() >= MAX_OPEN
            || open.keys().filter(|(session, _)| *session == key.0).count() >= MAX_OPEN_OF_SESSION;
        if is_full {
            return Err(ToolError::new(ErrorKind::Overloaded, "too many questions are open; try again later"));
        }
        let (sender, receiver) = oneshot::channel();
        open.insert(key.clone(), sender);
        drop(open);
        Ok((Registered { requests: self, key }, receiver))
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An open request. Dropping it closes the request.
struct Registered<'r> {
    requests: &'r OpenRequests,
    key: Key,
}

impl Drop for Registered<'_> {
    fn drop(&mut self) {
        self.requests.open().remove(&self.key);
    }
}

/// The permit of a call, which it does not hold while it waits for its user.
pub(in crate::server) type PermitSlot = Arc<Mutex<Option<CallPermit>>>;

/// Asks the user by requests in the event stream of the call, or over stdio.
pub(in crate::server) struct StreamAsker {
    pub(in crate::server) shared: Arc<Shared>,
    /// The id of the tool.
    pub(in crate::server) tool: String,
    pub(in crate::server) session: Box<str>,
    pub(in crate::server) modes: Modes,
    pub(in crate::server) messages: Sender<CallMessage>,
    pub(in crate::server) permit: PermitSlot,
    pub(in crate::server) n_asked: AtomicUsize,
}

impl StreamAsker {
    async fn question(&self, question: &Question) -> Result<Answer, ToolError> {
        if self.n_asked.fetch_add(1, Ordering::Relaxed) >= MAX_QUESTIONS {
            return Err(too_many());
        }
        let id = new_id()?;
        let json_id = format!("\"{id}\"");
        let (registered, response) = self.shared.requests.register((self.session.clone(), json_id.into()))?;
        let params = elicit::params(question, Some(&id));
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": "elicitation/create", "params": params });
        let sent = self.messages.send(CallMessage::Request(json_bytes(&request))).await;
        sent.map_err(|_| ToolError::cancelled())?;
        // The other calls of the server must not wait for this user.
        drop(self.permit.lock().unwrap_or_else(PoisonError::into_inner).take());
        let response = tokio::time::timeout(self.shared.ask_timeout, response).await;
        drop(registered);
        let response =
            response.map_err(|_| unanswered(self.shared.ask_timeout))?.map_err(|_| ToolError::cancelled())?;
        let permit = self.shared.calls.acquire(&self.tool).await;
        let permit = permit.map_err(|error| ToolError::new(ErrorKind::Overloaded, error.to_string()))?;
        *self.permit.lock().unwrap_or_else(PoisonError::into_inner) = Some(permit);
        response.map_err(|reason| ToolError::failed(format!("the user could not be asked: {reason}")))
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

/// Creates the id of a request: 128 random bits, which another client cannot guess.
fn new_id() -> Result<String, ToolError> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(ToolError::internal)?;
    Ok(data_encoding::HEXLOWER.encode(&bytes))
}

pub(super) fn too_many() -> ToolError {
    ToolError::failed(format!("a call can ask at most {MAX_QUESTIONS} questions"))
}

fn unanswered(limit: Duration) -> ToolError {
    ToolError::new(ErrorKind::TimedOut, format!("the user did not answer within {limit:?}"))
}
