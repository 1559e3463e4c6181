//! Requests of the server to clients before revision 2026-07-28, and the responses to them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::json;
use serde_json::value::RawValue;
use tokio::sync::oneshot;
use toolkit::ToolError;
use toolkit::call::ErrorKind;
use toolkit::call::ask::{Answer, Question};

use super::elicit;
use crate::server::reply::json_bytes;

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
        let Some(request) = self.requests().remove(&(session.into(), id.get().into())) else {
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

    /// Opens a request that asks the user of a client.
    ///
    /// # Errors
    ///
    /// Returns an error if too many requests are open.
    pub(in crate::server) fn open(&self, session: &str, question: &Question) -> Result<OpenRequest, ToolError> {
        let id = new_id()?;
        let key: Key = (session.into(), format!("\"{id}\"").into());
        let mut requests = self.requests();
        let is_full = requests.len() >= MAX_OPEN
            || requests.keys().filter(|(session, _)| *session == key.0).count() >= MAX_OPEN_OF_SESSION;
        if is_full {
            return Err(ToolError::new(ErrorKind::Overloaded, "too many questions are open; try again later"));
        }
        let (sender, response) = oneshot::channel();
        requests.insert(key.clone(), sender);
        drop(requests);
        let params = elicit::params(question, Some(&id));
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": "elicitation/create", "params": params });
        Ok(OpenRequest { requests: self.clone(), key, message: json_bytes(&message), response })
    }

    fn requests(&self) -> MutexGuard<'_, Open> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An open request. Dropping it closes the request.
pub(in crate::server) struct OpenRequest {
    requests: OpenRequests,
    key: Key,
    message: Vec<u8>,
    response: oneshot::Receiver<Response>,
}

impl OpenRequest {
    /// Returns the message to send.
    pub(in crate::server) fn take_message(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.message)
    }

    /// Waits for the answer of the user.
    ///
    /// # Errors
    ///
    /// Returns an error if the client does not answer in time, or with an error.
    pub(in crate::server) async fn answer(mut self, limit: Duration) -> Result<Answer, ToolError> {
        match tokio::time::timeout(limit, &mut self.response).await {
            Ok(Ok(Ok(answer))) => Ok(answer),
            Ok(Ok(Err(reason))) => Err(ToolError::failed(format!("the user could not be asked: {reason}"))),
            Ok(Err(_)) => Err(ToolError::cancelled()),
            Err(_) => Err(ToolError::new(ErrorKind::TimedOut, format!("the user did not answer within {limit:?}"))),
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
