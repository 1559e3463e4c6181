//! The HTTP request and response of a message, with the wait before a message is sent again to a server that limits the rate
//! (`Retry-After`). Calls are not repeated: `tool_error` passes the delay on.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, WWW_AUTHENTICATE};
use http::{HeaderName, HeaderValue, StatusCode};
use reqwest::Response;
use tokio::time::{Instant, sleep};
use toolkit::call::SecretString;
use toolkit::internals::CallerToken;
use toolkit_mcp::{Code, MODERN, encoded};
use toolkit_runtime::{Mutex, media_type};

use super::client::Http;
use super::events::EVENTS;
use super::legacy_sse::Opening;
use super::session::{SESSION, Session, VERSION};
use crate::failure::{Failure, HttpFailure, ServerError};
use crate::incoming::{Incoming, Messages};
use crate::message_memory::{LARGE, Received};
use crate::outgoing::Request;
use crate::peer::Peer;
use crate::redaction::Redaction;

/// A message to be sent.
pub(super) struct Post {
    /// The id of a request.
    pub(super) id: Option<u64>,
    method: Option<&'static str>,
    message: Bytes,
    headers: HeaderMap,
    /// The token of the caller, which is exchanged.
    caller: Option<CallerToken>,
    /// The last token that it was sent with.
    token: Mutex<Option<SecretString>>,
}

/// The delivery of a message.
pub(super) enum Delivery {
    /// The peer has received the answer.
    Answered,
    /// The server has accepted the message without an answer.
    Accepted(StatusCode),
}

const JSON: &str = "application/json";

/// The media types of responses.
const ACCEPTED: &str = "text/event-stream, application/json";

/// The wait before a message is sent again if the server states none, and the least wait.
const RATE_WAIT: Duration = Duration::from_secs(1);
const MIN_RATE_WAIT: Duration = Duration::from_millis(250);

impl Post {
    pub(super) fn of_request(request: &Request, id: u64, message: Vec<u8>, session: &Session) -> Self {
        let mut headers = session.headers();
        let is_modern = request.method == "server/discover" || headers.get(VERSION).is_some_and(|it| it == MODERN);
        if is_modern {
            headers.insert(VERSION, HeaderValue::from_static(MODERN));
            headers.insert(METHOD, HeaderValue::from_static(request.method));
            if let Some(name) = request.name.as_deref().and_then(encoded) {
                headers.insert(NAME, name);
            }
            headers.extend(request.param_headers.clone());
        }
        if let Some(forwarded) = &request.caller.headers {
            // They replace those of the endpoint.
            headers.extend((**forwarded).clone());
        }
        let caller = request.caller.token.clone();
        let (id, method, token) = (Some(id), Some(request.method), Mutex::default());
        Self { id, method, message: message.into(), headers, caller, token }
    }

    pub(super) fn of_message(message: Vec<u8>, session: &Session) -> Self {
        let (headers, token) = (session.headers(), Mutex::default());
        Self { id: None, method: None, message: message.into(), headers, caller: None, token }
    }

    /// Returns the secrets that the message was sent with, beside the configured headers.
    pub(super) fn secrets(&self, configured: &HeaderMap) -> Redaction {
        let forwarded = self.headers.iter().filter(|(name, value)| value.is_sensitive() || **name == AUTHORIZATION);
        let values = forwarded.chain(configured).filter_map(|(_, value)| value.to_str().ok());
        // Without the scheme, as in `Bearer TOKEN`.
        let values = values.map(|value| value.split_once(' ').map_or(value, |(_, token)| token).trim().to_owned());
        let token = self.token.lock().as_ref().map(|token| token.expose().to_owned());
        Redaction::new(values.chain(token))
    }

    /// Returns true for a message that may be sent again. Callers decide about their calls.
    fn may_wait(&self) -> bool {
        let is_call = self.method.is_some_and(|method| {
            matches!(method, "tools/call" | "logging/setLevel" | "completion/complete") || method.starts_with("tasks/")
        });
        !is_call
    }
}

const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");

impl Http {
    /// Sends a message and passes what the server responds to the peer.
    pub(super) async fn exchange(&self, peer: &Arc<Peer>, post: &Post) -> Result<Delivery, Failure> {
        let begun = Instant::now();
        loop {
            let answer = self.authorized(post.caller.as_ref(), |token| self.post(peer, post, token)).await;
            match answer.as_ref().err().and_then(|failure| rate_wait(post, failure)) {
                Some(wait) if begun.elapsed() + wait <= self.max_rate_wait => sleep(wait).await,
                _ => return answer,
            }
        }
    }

    async fn post(&self, peer: &Arc<Peer>, post: &Post, token: Option<SecretString>) -> Result<Delivery, Failure> {
        let opening = || {
            let request = self.client.get(self.url.clone()).headers(self.headers.clone());
            let request = token.iter().fold(request, |request, token| request.bearer_auth(token.expose()));
            Opening { request, limit: self.limit.clone(), n_streams: &self.n_streams }
        };
        let stream = match &self.legacy {
            Some(legacy) => Some(legacy.stream(peer, post.method == Some("initialize"), opening).await?),
            None => None,
        };
        let url = stream.as_ref().map_or(&self.url, |stream| &stream.endpoint);
        let mut request = self.client.post(url.clone()).headers(self.headers.clone());
        request = request.header(ACCEPT, ACCEPTED).header(CONTENT_TYPE, JSON);
        if let Some(token) = &token {
            request = request.bearer_auth(token.expose());
            *post.token.lock() = Some(token.clone());
        }
        let request = request.headers(post.headers.clone()).body(post.message.clone());
        let response = request.send().await.map_err(Failure::Client)?;
        let status = response.status();
        if !status.is_success() {
            return self.refused(peer, post, response).await;
        }
        let Some(id) = post.id else {
            // Some servers send more than the status.
            return Ok(Delivery::Accepted(status));
        };
        if post.method == Some("initialize") {
            self.start_session(response.headers().get(SESSION).cloned());
        }
        if self.legacy.is_some() || matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            return Ok(Delivery::Accepted(status));
        }
        let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).map(media_type);
        match kind {
            Some(kind) if kind.eq_ignore_ascii_case(EVENTS) => {
                self.read_answer(peer, id, post.caller.as_ref(), response).await?
            }
            Some(kind) if kind.eq_ignore_ascii_case(JSON) => {
                let body = self.read_body(response).await?;
                peer.receive(body, Some(id)).await;
                if peer.is_open(id) {
                    return Err(Failure::Invalid("the body is not the response to the request".to_owned()));
                }
            }
            kind => return Err(Failure::Invalid(format!("the type of the body is `{}`", kind.unwrap_or_default()))),
        }
        Ok(Delivery::Answered)
    }

    /// Converts an error response. A JSON-RPC error that is the answer to the request is passed on.
    async fn refused(&self, peer: &Arc<Peer>, post: &Post, response: Response) -> Result<Delivery, Failure> {
        let status = response.status();
        let challenges = response.headers().get_all(WWW_AUTHENTICATE).iter();
        let challenges: Vec<_> = challenges.map(|value| String::from_utf8_lossy(value.as_bytes())).collect();
        if !challenges.is_empty() && matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
            return Err(Failure::Challenge(status, challenges.join(", ")));
        }
        let (failure, Messages { messages, .. }) = HttpFailure::read(response).await;
        let Some(id) = post.id else { return Err(Failure::Status(failure)) };
        if failure.is_unauthorized() || failure.is_busy() {
            return Err(Failure::Status(failure));
        }
        let is_own = |message: &&Incoming| message.own_id() == Some(id) && message.method.is_none();
        let own = messages.iter().find(is_own).and_then(|message| message.error.as_ref());
        let error = own.or_else(|| messages.iter().find_map(|message| message.error.as_ref())).map(ServerError::read);
        let error = error.filter(|error| own.is_some() || error.is_defined());
        // Whatever else the server says about the session is a refusal by its status.
        let is_lost = matches!(status, StatusCode::NOT_FOUND | StatusCode::GONE) && post.headers.contains_key(SESSION);
        match error.filter(|error| !is_lost || error.has_code(Code::MethodNotFound)) {
            Some(error) => {
                peer.answer(id, Err(Failure::Rpc(error)));
                Ok(Delivery::Answered)
            }
            None => Err(Failure::Status(failure)),
        }
    }

    /// Reads a body within the size limit.
    async fn read_body(&self, mut response: Response) -> Result<Received, Failure> {
        let max_bytes = self.limit.max_bytes;
        let length = response.content_length().map(|length| usize::try_from(length).unwrap_or(usize::MAX));
        if length.is_some_and(|length| length > max_bytes) {
            return Err(Failure::TooLarge(max_bytes));
        }
        let (mut body, mut memory) = (Vec::new(), None);
        while let Some(chunk) = response.chunk().await.map_err(Failure::Client)? {
            if chunk.len() > max_bytes - body.len() {
                return Err(Failure::TooLarge(max_bytes));
            }
            if body.len() + chunk.len() > LARGE && memory.is_none() {
                memory = Some(self.limit.memory(length.unwrap_or(max_bytes)).await);
            }
            body.extend_from_slice(&chunk);
        }
        Ok(Received::new(body, memory))
    }
}

/// Returns the time after which a message may be sent again because the server limits the rate of requests.
fn rate_wait(post: &Post, failure: &Failure) -> Option<Duration> {
    let Failure::Status(failure) = failure else { return None };
    let wait = match failure.status {
        StatusCode::TOO_MANY_REQUESTS => failure.retry_after.unwrap_or(RATE_WAIT),
        StatusCode::SERVICE_UNAVAILABLE => failure.retry_after?,
        _ => return None,
    };
    post.may_wait().then(|| wait.max(MIN_RATE_WAIT))
}
