//! Requests of the server to clients before revision 2026-07-28, and the responses to them.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::oneshot;
use toolkit::ToolError;
use toolkit::call::ErrorKind;
use toolkit::call::ask::{Answer, Question};
use toolkit_mcp::{json_bytes, notification};

use super::{elicitation, parse_answer};

/// The open requests of a server, by session and id. [`WaitingCalls`](super::WaitingCalls) bounds them.
#[derive(Clone, Debug, Default)]
pub(crate) struct OpenRequests(Arc<Mutex<Open>>);

type Open = HashMap<Key, Waiting>;
type Key = (Box<str>, Box<str>);

/// The response of a client.
type Response = Result<Answer, String>;

/// The receiver of a response.
#[derive(Debug)]
struct Waiting {
    /// The identity of the caller, who has to answer.
    identity: Option<String>,
    sender: oneshot::Sender<Response>,
}

impl OpenRequests {
    /// Passes on the response of a caller to a request. A response to an unknown request is ignored.
    pub(crate) fn respond(
        &self,
        session: &str,
        identity: Option<String>,
        id: &RawValue,
        result: Option<&RawValue>,
        error: Option<&RawValue>,
    ) {
        let key = (session.into(), id.get().into());
        let waiting = match self.requests().entry(key) {
            Entry::Occupied(open) if open.get().identity == identity => open.remove(),
            _ => {
                tracing::debug!("a client responded to a request that is not open");
                return;
            }
        };
        let response = match (result, error) {
            (Some(result), _) => {
                let result: Value = serde_json::from_str(result.get()).unwrap_or_default();
                parse_answer(&result).map_err(str::to_owned)
            }
            (None, error) => {
                let error: String = error.map_or("", RawValue::get).chars().take(500).collect();
                Err(format!("the client responded with the error {error}"))
            }
        };
        let _ = waiting.sender.send(response);
    }

    /// Opens a request that asks the user of a client.
    ///
    /// # Errors
    ///
    /// Returns an error if the system has no random numbers for an id.
    pub(crate) fn open(
        &self,
        session: &str,
        identity: Option<String>,
        question: &Question,
    ) -> Result<OpenRequest, ToolError> {
        let id = new_id()?;
        let key: Key = (session.into(), format!("\"{id}\"").into());
        let (sender, response) = oneshot::channel();
        self.requests().insert(key.clone(), Waiting { identity, sender });
        let params = elicitation(question, Some(&id));
        Ok(OpenRequest { requests: self.clone(), key, id, params, response })
    }

    fn requests(&self) -> MutexGuard<'_, Open> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An open request. Dropping it closes the request.
pub(crate) struct OpenRequest {
    requests: OpenRequests,
    key: Key,
    id: String,
    params: Value,
    response: oneshot::Receiver<Response>,
}

impl OpenRequest {
    /// Returns the message to send.
    pub(crate) fn message(&self) -> Vec<u8> {
        let (id, params) = (&self.id, &self.params);
        json_bytes(&json!({ "jsonrpc": "2.0", "id": id, "method": "elicitation/create", "params": params }))
    }

    /// Returns the message to send, with the `_meta` of its parameters.
    pub(crate) fn message_with_meta(&mut self, meta: Value) -> Vec<u8> {
        self.params["_meta"] = meta;
        self.message()
    }

    /// Returns the notification that the request is cancelled.
    pub(crate) fn cancellation(&self) -> Vec<u8> {
        let params = json!({ "requestId": self.id, "reason": "the call does not wait for the answer any longer" });
        notification("notifications/cancelled", &params)
    }

    /// Waits for the answer of the user.
    ///
    /// # Errors
    ///
    /// Returns an error if the client responds with one.
    pub(crate) async fn answer(&mut self) -> Result<Answer, ToolError> {
        match (&mut self.response).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(reason)) => Err(ToolError::failed(format!("the user could not be asked: {reason}"))),
            Err(_) => Err(ToolError::cancelled()),
        }
    }
}

impl Drop for OpenRequest {
    fn drop(&mut self) {
        self.requests.requests().remove(&self.key);
    }
}

/// Creates the id of a request: 128 random bits, which another client cannot guess.
fn new_id() -> Result<String, ToolError> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(ToolError::internal)?;
    Ok(data_encoding::HEXLOWER.encode(&bytes))
}

// The limits of calls that wait for their users.

/// The calls of a server that wait for their users.
#[derive(Clone, Debug)]
pub(crate) struct WaitingCalls {
    waiting: Arc<Mutex<OpenCount>>,
    per_caller: usize,
    in_total: usize,
}

#[derive(Debug, Default)]
struct OpenCount {
    n_calls: usize,
    of_caller: HashMap<Arc<str>, usize>,
}

impl WaitingCalls {
    pub(crate) fn new(per_caller: usize, in_total: usize) -> Self {
        Self { waiting: Arc::default(), per_caller, in_total }
    }

    /// Returns the open questions of a call, of which there are none yet.
    pub(crate) fn of_call(&self, caller: &str) -> OpenQuestions {
        OpenQuestions { calls: self.clone(), caller: caller.into(), n_open: Mutex::default() }
    }

    fn enter(&self, caller: &Arc<str>) -> Result<(), ToolError> {
        let mut waiting = self.waiting();
        let n_of_caller = waiting.of_caller.get(caller).copied().unwrap_or(0);
        let message = match (n_of_caller >= self.per_caller, waiting.n_calls >= self.in_total) {
            (true, _) => format!("{} calls of this caller wait for an answer of their user", self.per_caller),
            (_, true) => format!("{} calls of the server wait for answers of their users", self.in_total),
            _ => {
                waiting.n_calls += 1;
                waiting.of_caller.insert(Arc::clone(caller), n_of_caller + 1);
                return Ok(());
            }
        };
        Err(ToolError::new(ErrorKind::Overloaded, format!("{message}, which is the limit; try again later")))
    }

    fn leave(&self, caller: &Arc<str>) {
        let mut waiting = self.waiting();
        waiting.n_calls -= 1;
        if let Some(n_of_caller) = waiting.of_caller.get_mut(caller) {
            *n_of_caller -= 1;
            if *n_of_caller == 0 {
                waiting.of_caller.remove(caller);
            }
        }
    }

    fn waiting(&self) -> MutexGuard<'_, OpenCount> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The open questions of a call, which waits while there is one.
#[derive(Debug)]
pub(crate) struct OpenQuestions {
    calls: WaitingCalls,
    caller: Arc<str>,
    n_open: Mutex<usize>,
}

impl OpenQuestions {
    /// Counts a question as open until the guard is dropped.
    ///
    /// # Errors
    ///
    /// Returns an error if the call would be one too many.
    pub(crate) fn open(&self) -> Result<OpenQuestion<'_>, ToolError> {
        let mut n_open = self.n_open();
        if *n_open == 0 {
            self.calls.enter(&self.caller)?;
        }
        *n_open += 1;
        Ok(OpenQuestion(self))
    }

    fn n_open(&self) -> MutexGuard<'_, usize> {
        self.n_open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An open question.
#[derive(Debug)]
pub(crate) struct OpenQuestion<'q>(&'q OpenQuestions);

impl Drop for OpenQuestion<'_> {
    fn drop(&mut self) {
        let mut n_open = self.0.n_open();
        *n_open -= 1;
        if *n_open == 0 {
            self.0.calls.leave(&self.0.caller);
        }
    }
}
