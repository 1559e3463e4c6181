//! Requests of the server to clients before revision 2026-07-28, and the responses to them.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::oneshot;
use toolkit::ToolError;
use toolkit::call::ask::{Answer, Question};
use toolkit_mcp::{json_bytes, notification};
use toolkit_runtime::Mutex;

use super::{elicitation, parse_answer};

/// The open requests of a server, by session and id. [`WaitingCalls`](super::WaitingCalls) bounds them.
#[derive(Clone, Debug, Default)]
pub(crate) struct OpenRequests(Arc<Mutex<RequestsByKey>>);

type RequestsByKey = HashMap<RequestKey, WaitingRequest>;
type RequestKey = (Box<str>, Box<str>);

/// The response of a client.
type ClientResponse = Result<Answer, String>;

/// The receiver of a response.
#[derive(Debug)]
struct WaitingRequest {
    /// The identity of the caller, who has to answer.
    identity: Option<String>,
    sender: oneshot::Sender<ClientResponse>,
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
        let waiting = match self.0.lock().entry(key) {
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
        let key: RequestKey = (session.into(), format!("\"{id}\"").into());
        let (sender, response) = oneshot::channel();
        self.0.lock().insert(key.clone(), WaitingRequest { identity, sender });
        let params = elicitation(question, Some(&id));
        Ok(OpenRequest { requests: self.clone(), key, id, params, response })
    }
}

/// An open request. Dropping it closes the request.
pub(crate) struct OpenRequest {
    requests: OpenRequests,
    key: RequestKey,
    id: String,
    params: Value,
    response: oneshot::Receiver<ClientResponse>,
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
        self.requests.0.lock().remove(&self.key);
    }
}

/// Creates the id of a request: 128 random bits, which another client cannot guess.
fn new_id() -> Result<String, ToolError> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(ToolError::internal)?;
    Ok(data_encoding::HEXLOWER.encode(&bytes))
}
