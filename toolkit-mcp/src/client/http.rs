//! The HTTP transport.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::stream::{BoxStream, StreamExt};
use http::header::{ACCEPT, CONTENT_TYPE, HeaderMap, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderName, HeaderValue, StatusCode};
use reqwest::{Client, Response};
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, JsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, HttpStatusError, InsufficientScopeError, SseError, StreamableHttpClient, StreamableHttpError,
    StreamableHttpPostResponse,
};
use sse_stream::{Sse, SseStream};
use toolkit::call::ErrorKind;

use super::authorizer::{AuthorizationError, Authorizer};
use super::event_limit::EventLimit;
use super::screen::{Screen, Verdict};
use super::verbatim::{is_verbatim, wrapped};
use super::watches::Watches;

/// The HTTP transport of `rmcp`, except for responses with tools, their results, and resources.
///
/// These are parsed here, so that fields that `rmcp` does not have are not lost.
#[derive(Clone)]
pub(super) struct Http {
    client: Client,
    max_bytes: usize,
    screen: Screen,
    authorizer: Option<Arc<dyn Authorizer>>,
    /// The watched resources. A session that the server has lost is noticed when its stream starts again.
    watches: Arc<Watches>,
    has_streamed: Arc<AtomicBool>,
}

type Error = StreamableHttpError<reqwest::Error>;
type Events = BoxStream<'static, Result<Sse, SseError>>;

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";
const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");

/// The maximum size of the body of an error response.
const MAX_FAILURE_BYTES: usize = 64 << 10;

/// The maximum number of times that a request is repeated with another token: after a renewal, and with more scopes.
const MAX_TOKENS_REPLACED: usize = 2;

impl Http {
    pub(super) fn new(
        client: Client,
        max_bytes: usize,
        screen: Screen,
        authorizer: Option<Arc<dyn Authorizer>>,
        watches: Arc<Watches>,
    ) -> Self {
        Self { client, max_bytes, screen, authorizer, watches, has_streamed: Arc::default() }
    }

    /// Sends a request with a token of the authorizer. If the server rejects the token, repeats the request with another
    /// one.
    async fn authorized<T, S>(authorizer: &dyn Authorizer, send: impl Fn(Option<String>) -> S) -> Result<T, Error>
    where
        S: Future<Output = Result<T, Error>>,
    {
        let mut token = authorizer.token().await.map_err(unauthorized)?;
        let mut n_replaced = 0;
        loop {
            let answer = send(token.as_ref().map(|token| token.expose().to_owned())).await;
            let Some(challenge) = answer.as_ref().err().and_then(challenge) else {
                if let (Ok(_), Some(token)) = (&answer, &token) {
                    authorizer.accepted(token);
                }
                return answer;
            };
            if n_replaced == MAX_TOKENS_REPLACED {
                return Err(unauthorized(AuthorizationError {
                    kind: ErrorKind::Denied,
                    message: "rejects each new access token".to_owned(),
                    cause: None,
                    retry_after: None,
                }));
            }
            token = Some(authorizer.replace(token.as_ref(), &challenge).await.map_err(unauthorized)?);
            n_replaced += 1;
        }
    }

    /// Wraps the results of tools in a stream of events and removes messages that the screen has handled.
    fn screened(&self, events: Events) -> Events {
        let screen = self.screen.clone();
        let screened = move |mut event: Sse| {
            let wrap = match event.data.as_deref().map(|data| screen.received(data.as_bytes())) {
                // Keeps the event, since its id is needed to resume the stream.
                Some(Verdict::Done) => {
                    event.data = None;
                    false
                }
                Some(Verdict::Result(..)) => true,
                _ => false,
            };
            if let (true, Some(data)) = (wrap, &mut event.data)
                && let Ok(message) = serde_json::from_str(data)
            {
                *data = wrapped(message).to_string();
            }
            event
        };
        events.map(move |event| event.map(&screened)).boxed()
    }

    async fn post(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, Error> {
        if wants_all_fields(&message) {
            return self.ask(&uri, &message, session.as_deref(), token.as_deref(), headers).await;
        }
        let max_bytes = self.max_bytes;
        let answer = self.client.post_message_with_max_sse_event_size(uri, message, session, token, headers, max_bytes);
        Ok(match answer.await? {
            StreamableHttpPostResponse::Sse(events, session) => {
                StreamableHttpPostResponse::Sse(self.screened(events), session)
            }
            other => other,
        })
    }

    async fn ask(
        &self,
        uri: &str,
        message: &ClientJsonRpcMessage,
        session: Option<&str>,
        token: Option<&str>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, Error> {
        let mut request = self.client.post(uri).headers(HeaderMap::from_iter(headers));
        request = request.header(ACCEPT, format!("{EVENTS}, {JSON}")).header(CONTENT_TYPE, JSON);
        if let Some(token) = token {
            request = request.bearer_auth(token);
        }
        if let Some(session) = session {
            request = request.header(SESSION, session);
        }
        let response = request.body(serde_json::to_vec(message)?).send().await.map_err(StreamableHttpError::Client)?;
        let status = response.status();
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        if status == StatusCode::NOT_FOUND && session.is_some() {
            return Err(StreamableHttpError::SessionExpired);
        }
        if !status.is_success() {
            return failed(response).await;
        }
        let session = header(&response, &SESSION);
        match header(&response, &CONTENT_TYPE) {
            Some(kind) if kind.starts_with(EVENTS) => {
                let bytes = EventLimit::new(response.bytes_stream(), self.max_bytes);
                Ok(StreamableHttpPostResponse::Sse(self.screened(SseStream::from_bytes_stream(bytes).boxed()), session))
            }
            Some(kind) if kind.starts_with(JSON) => {
                let body = read(response, self.max_bytes).await?;
                Ok(StreamableHttpPostResponse::Json(message_in(&body)?, session))
            }
            kind => Err(StreamableHttpError::UnexpectedContentType(kind)),
        }
    }
}

impl StreamableHttpClient for Http {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, Error> {
        self.screen.sent(&message);
        let id = match &message {
            JsonRpcMessage::Request(sent) => Some(sent.id.clone()),
            _ => None,
        };
        let answer = match &self.authorizer {
            Some(authorizer) => {
                let send = |token| self.post(uri.clone(), message.clone(), session.clone(), token, headers.clone());
                Self::authorized(&**authorizer, send).await
            }
            None => self.post(uri, message, session, token, headers).await,
        };
        // With an event stream, the event with the response closes the request.
        if let (Some(id), false) = (id, matches!(answer, Ok(StreamableHttpPostResponse::Sse(..)))) {
            self.screen.close(id);
        }
        answer
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), Error> {
        let token = match &self.authorizer {
            Some(authorizer) => {
                let token = authorizer.token().await.map_err(unauthorized)?;
                token.map(|token| token.expose().to_owned())
            }
            None => token,
        };
        self.client.delete_session(uri, session, token, headers).await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<Events, Error> {
        let open = |token| {
            let (uri, session, last_event) = (uri.clone(), session.clone(), last_event.clone());
            let (client, headers, max_bytes) = (&self.client, headers.clone(), self.max_bytes);
            client.get_stream_with_max_sse_event_size(uri, session, last_event, token, headers, max_bytes)
        };
        let events = match &self.authorizer {
            Some(authorizer) => Self::authorized(&**authorizer, open).await,
            None => open(token).await,
        };
        let events = events?;
        if self.has_streamed.swap(true, Ordering::AcqRel) {
            self.watches.lose();
        }
        Ok(self.screened(events))
    }
}

/// Returns the challenge of a response that rejects the token, which may be empty.
fn challenge(error: &Error) -> Option<String> {
    match error {
        StreamableHttpError::AuthRequired(error) => Some(error.www_authenticate_header.clone()),
        // Another token would not help against other reasons.
        StreamableHttpError::InsufficientScope(error)
            if error.www_authenticate_header.contains("insufficient_scope") =>
        {
            Some(error.www_authenticate_header.clone())
        }
        StreamableHttpError::UnexpectedServerResponse(text) if text.starts_with("HTTP 401") => Some(String::new()),
        StreamableHttpError::Client(error) if error.status() == Some(StatusCode::UNAUTHORIZED) => Some(String::new()),
        _ => None,
    }
}

/// Wraps the reason in the one kind of error that can hold it.
fn unauthorized(error: AuthorizationError) -> Error {
    StreamableHttpError::Io(std::io::Error::other(error))
}

fn wants_all_fields(message: &ClientJsonRpcMessage) -> bool {
    let JsonRpcMessage::Request(message) = message else {
        return false;
    };
    // `rmcp` lacks a capability in the result of `initialize`.
    is_verbatim(&message.request) || matches!(message.request, ClientRequest::InitializeRequest(_))
}

fn message_in(body: &[u8]) -> Result<ServerJsonRpcMessage, Error> {
    let message = serde_json::from_slice(body).and_then(|message| serde_json::from_value(wrapped(message)));
    message.map_err(|error| StreamableHttpError::UnexpectedServerResponse(error.to_string().into()))
}

/// Converts an error response. A JSON-RPC error in the body is passed on as a message.
async fn failed(response: Response) -> Result<StreamableHttpPostResponse, Error> {
    let status = response.status();
    let challenges = response.headers().get_all(WWW_AUTHENTICATE).iter();
    let challenges: Vec<_> = challenges.map(|value| String::from_utf8_lossy(value.as_bytes())).collect();
    let challenge = (!challenges.is_empty()).then(|| challenges.join(", "));
    match (status, challenge) {
        (StatusCode::UNAUTHORIZED, Some(challenge)) => {
            return Err(StreamableHttpError::AuthRequired(AuthRequiredError::new(challenge)));
        }
        (StatusCode::FORBIDDEN, Some(challenge)) => {
            return Err(StreamableHttpError::InsufficientScope(InsufficientScopeError::new(challenge, None)));
        }
        _ => {}
    }
    let is_busy = status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error();
    let retry_after = header(&response, &RETRY_AFTER);
    let is_refusal = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
    if !is_refusal
        && header(&response, &CONTENT_TYPE).is_some_and(|kind| kind.starts_with(JSON))
        && let Ok(body) = read(response, MAX_FAILURE_BYTES).await
        && let Ok(message @ JsonRpcMessage::Error(_)) = serde_json::from_slice(&body)
    {
        return Ok(StreamableHttpPostResponse::Json(message, None));
    }
    Err(match is_busy {
        true => HttpStatusError::new(status.as_u16(), retry_after).into(),
        false => StreamableHttpError::UnexpectedServerResponse(format!("HTTP {status}").into()),
    })
}

/// Reads a body within the size limit.
async fn read(mut response: Response, max_size: usize) -> Result<Vec<u8>, Error> {
    let too_large = || StreamableHttpError::ResponseBodyTooLarge { max_size };
    if response.content_length().is_some_and(|length| length > max_size as u64) {
        return Err(too_large());
    }
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(StreamableHttpError::Client)? {
        if chunk.len() > max_size - body.len() {
            return Err(too_large());
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

fn header(response: &Response, name: &HeaderName) -> Option<String> {
    response.headers().get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
}
