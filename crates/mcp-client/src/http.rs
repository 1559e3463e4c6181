//! The HTTP transport, with the wait before a request is sent again to a server that limits the rate (`Retry-After`), and its
//! limit. Calls are not repeated: `tool_error` passes the delay on.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::stream::{self, StreamExt};
use http::header::{ACCEPT, CONTENT_TYPE, HeaderMap, WWW_AUTHENTICATE};
use http::{HeaderName, HeaderValue, StatusCode};
use reqwest::{Client, Response};
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, ErrorCode, ErrorData, GetExtensions, GetMeta,
    JsonRpcMessage, ListToolsRequest, ProgressToken, RequestId, ServerJsonRpcMessage,
};
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, InsufficientScopeError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
};
use serde_json::Value;
use sse_stream::Sse;
use tokio::time::{Instant, sleep, timeout, timeout_at};
use toolkit::call::ErrorKind;
use toolkit_runtime::media_type;

use super::authorizer::{AuthorizationError, Authorizer};
use super::bounded_list;
use super::caller::written;
use super::exchange::{
    Events, HttpFailure, error_in, has_id, is_defined, may_report_lost_session, read_events, response_in,
};
use super::remote::Limits;
use super::screen::{Screen, Verdict};
use super::verbatim::{self, wrapped};
use super::watches::Watches;

/// The HTTP transport of `rmcp`, except for the responses to messages.
///
/// These are read here, so that each request ends with its HTTP exchange, and fields that `rmcp` does not have are not
/// lost.
#[derive(Clone)]
pub(super) struct Http {
    pub(super) client: Client,
    pub(super) max_bytes: usize,
    /// The maximum time for which a message waits because the server limits the rate of requests.
    max_rate_wait: Duration,
    pub(super) screen: Screen,
    pub(super) authorizer: Option<Arc<dyn Authorizer>>,
    /// The watched resources, whose subscriptions end with a session or its stream.
    watches: Arc<Watches>,
    has_streamed: Arc<AtomicBool>,
    /// The number of open streams that a `GET` request has started.
    pub(super) n_streams: Arc<AtomicUsize>,
    is_initialized: Arc<AtomicBool>,
}

/// A message to be sent.
pub(super) struct Post {
    pub(super) uri: Arc<str>,
    pub(super) message: ClientJsonRpcMessage,
    pub(super) session: Option<Arc<str>>,
    pub(super) headers: HashMap<HeaderName, HeaderValue>,
}

type Error = StreamableHttpError<reqwest::Error>;

const JSON: &str = "application/json";
pub(super) const EVENTS: &str = "text/event-stream";
const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");

/// The time that the first event of a stream may take to be read before the stream is passed on.
const FIRST_EVENT: Duration = Duration::from_millis(500);

/// The timeout of the request that verifies that the server has lost the session.
const SESSION_CHECK: Duration = Duration::from_secs(5);

/// The upper bound of [`Http::max_rate_wait`], within which `rmcp` waits for the first response of a server.
const MAX_RATE_WAIT: Duration = Duration::from_secs(8);

/// The wait before a message is sent again if the server states none, and the least wait.
const RATE_WAIT: Duration = Duration::from_secs(1);
const MIN_RATE_WAIT: Duration = Duration::from_millis(250);

/// The maximum number of times that a request is repeated with another token: after a renewal, and with more scopes.
const MAX_TOKENS_REPLACED: usize = 2;

impl Http {
    pub(super) fn new(
        client: Client,
        limits: &Limits,
        screen: Screen,
        authorizer: Option<Arc<dyn Authorizer>>,
        watches: Arc<Watches>,
    ) -> Self {
        Self {
            client,
            max_bytes: limits.message_bytes,
            // Half of the time, so that the reason is known before the timeout.
            max_rate_wait: (limits.start / 2).min(MAX_RATE_WAIT),
            screen,
            authorizer,
            watches,
            has_streamed: Arc::default(),
            n_streams: Arc::default(),
            is_initialized: Arc::default(),
        }
    }

    /// Sends a request with a token of the authorizer. If the server rejects the token, repeats the request with another
    /// one.
    pub(super) async fn authorized<T, S>(
        authorizer: &dyn Authorizer,
        send: impl Fn(Option<String>) -> S,
    ) -> Result<T, Error>
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

    /// Handles the events of a stream, which may be that of a request, with the screen.
    pub(super) fn screened(&self, events: Events, request: Option<Asked>) -> Events {
        let screen = self.screen.clone();
        let screened = move |mut event: Sse| {
            // Events with another name are not messages. An event without data is kept, since its id is needed to resume the
            // stream.
            let data = event.data.take().filter(|_| matches!(event.event.as_deref(), None | Some("" | "message")));
            event.data = data.and_then(|data| passed_on(&screen, data, request.as_ref()));
            event
        };
        events.map(move |event| event.map(&screened)).boxed()
    }

    /// Sends a message. If the server refuses a request because it does not know the session, returns
    /// [`StreamableHttpError::SessionExpired`], on which `rmcp` starts a new session, once for all requests, and sends
    /// each of them again.
    async fn post(&self, post: &Post, token: Option<String>) -> Result<StreamableHttpPostResponse, Error> {
        let answer = self.exchange(post, &post.message, token.as_deref()).await;
        // A session that never began is not lost, and revisions without `initialize` have none.
        if !self.is_initialized.load(Ordering::Acquire) {
            return answer;
        }
        let Some(refusal) = lost_session_text(post, &answer) else {
            return answer;
        };
        let JsonRpcMessage::Request(sent) = &post.message else {
            return answer;
        };
        match sent.request {
            ClientRequest::InitializeRequest(_) => return answer,
            ClientRequest::PingRequest(_) | ClientRequest::ListToolsRequest(_) => {
                return Err(StreamableHttpError::SessionExpired);
            }
            _ => {}
        }
        // The text may be that of a tool with sessions of its own. A server that has lost the session refuses this too.
        let harmless = ClientRequest::ListToolsRequest(ListToolsRequest::default());
        let id = RequestId::String(format!("session-check-{}", sent.id).into());
        let check = JsonRpcMessage::request(harmless, id.clone());
        self.screen.sent(&check);
        let checked = timeout(SESSION_CHECK, self.exchange(post, &check, token.as_deref())).await;
        self.screen.close(id);
        match checked.as_ref().map(|checked| (checked, lost_session_text(post, checked))) {
            Ok((Err(StreamableHttpError::SessionExpired), _)) => {}
            Ok((_, Some(text))) if text == refusal => {}
            // The session may have ended while the tool was running.
            Ok((_, Some(_))) => return Err(StreamableHttpError::SessionRecoveryTimeout),
            _ => return answer,
        }
        Err(StreamableHttpError::SessionExpired)
    }

    /// Sends a message in the session of another one and reads the response.
    pub(super) async fn exchange(
        &self,
        post: &Post,
        message: &ClientJsonRpcMessage,
        token: Option<&str>,
    ) -> Result<StreamableHttpPostResponse, Error> {
        let mut request = self.client.post(&*post.uri).headers(HeaderMap::from_iter(post.headers.clone()));
        request = request.header(ACCEPT, format!("{EVENTS}, {JSON}")).header(CONTENT_TYPE, JSON);
        if let Some(token) = token {
            request = request.bearer_auth(token);
        }
        if let Some(session) = &post.session {
            request = request.header(SESSION, &**session);
        }
        if let JsonRpcMessage::Request(sent) = message
            && let Some(headers) = sent.request.extensions().get::<Arc<HeaderMap>>()
        {
            // They replace those of the endpoint.
            request = request.headers((**headers).clone());
        }
        let response = request.body(written(message)?).send().await.map_err(StreamableHttpError::Client)?;
        let status = response.status();
        if !status.is_success() {
            return failed(response, message, post.session.is_some()).await;
        }
        let JsonRpcMessage::Request(sent) = message else {
            // Some servers send more than the status.
            return Ok(StreamableHttpPostResponse::Accepted);
        };
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            // The protocol requires a response here. Only a stream of another request could deliver it.
            return match self.n_streams.load(Ordering::Acquire) {
                0 => Err(HttpFailure { status, retry_after: None, text: None }.into()),
                _ => Ok(StreamableHttpPostResponse::Accepted),
            };
        }
        let session = header(&response, &SESSION);
        match header(&response, &CONTENT_TYPE) {
            Some(kind) if media_type(&kind).eq_ignore_ascii_case(EVENTS) => {
                let events = read_events(response, self.max_bytes);
                let events = self.screened(events, Some(Asked::new(&sent.id, &sent.request)));
                match post.session {
                    Some(_) => Ok(early_error(events, session).await),
                    None => Ok(StreamableHttpPostResponse::Sse(events, session)),
                }
            }
            Some(kind) if media_type(&kind).eq_ignore_ascii_case(JSON) => {
                let body = read(response, self.max_bytes).await?;
                Ok(StreamableHttpPostResponse::Json(message_in(&body, &sent.id, self.screen.max_tools)?, session))
            }
            kind => Err(StreamableHttpError::UnexpectedContentType(kind)),
        }
    }

    /// Records a new session after the first one. The server was restarted, and may have other tools and resources.
    pub(super) fn note_session(&self) {
        if self.is_initialized.swap(true, Ordering::AcqRel) {
            self.screen.is_restarted();
            self.watches.lose();
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
        let post = Post { uri, message, session, headers };
        let begun = Instant::now();
        let answer = loop {
            let answer = match &self.authorizer {
                Some(authorizer) => Self::authorized(&**authorizer, |token| self.post(&post, token)).await,
                None => self.post(&post, token.clone()).await,
            };
            match rate_wait(&post.message, &answer) {
                Some(wait) if begun.elapsed() + wait <= self.max_rate_wait => sleep(wait).await,
                _ => break answer,
            }
        };
        if let JsonRpcMessage::Request(sent) = post.message {
            // Otherwise the response, which arrives later, closes the request.
            if !matches!(answer, Ok(StreamableHttpPostResponse::Sse(..) | StreamableHttpPostResponse::Accepted)) {
                self.screen.close(sent.id);
            }
            if answer.is_ok() && matches!(sent.request, ClientRequest::InitializeRequest(_)) {
                self.note_session();
            }
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
        self.n_streams.fetch_add(1, Ordering::AcqRel);
        let open = OpenStream(Arc::clone(&self.n_streams));
        let events = self.screened(events, None);
        Ok(events.inspect(move |_| _ = &open).boxed())
    }
}

/// The request that a stream responds to.
pub(super) struct Asked {
    id: RequestId,
    progress: Option<ProgressToken>,
}

impl Asked {
    pub(super) fn new(id: &RequestId, request: &ClientRequest) -> Self {
        Self { id: id.clone(), progress: request.get_meta().get_progress_token() }
    }
}

/// Counts a stream until it is dropped.
struct OpenStream(Arc<AtomicUsize>);

impl Drop for OpenStream {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Returns the message of an event for `rmcp`, or `None` if the screen has handled it. In the stream of a request, any
/// error is its response.
fn passed_on(screen: &Screen, mut data: String, request: Option<&Asked>) -> Option<String> {
    data = bounded_list::shortened(data.as_bytes(), screen.max_tools).unwrap_or(data);
    if let Some(Asked { id, .. }) = request {
        if data.trim_start().starts_with('[')
            && let Ok(batch) = verbatim::parse_repaired(&data)
        {
            data = response_in(batch, id).to_string();
        }
        if data.contains("\"error\"")
            && let Some(error) = verbatim::parse_repaired(&data).ok().as_ref().and_then(error_in)
        {
            let id = screen.close(id.clone())?;
            return serde_json::to_string(&ServerJsonRpcMessage::error(error, Some(id))).ok();
        }
    }
    let progress = request.and_then(|asked| asked.progress.as_ref());
    let verdict = match screen.received(data.as_bytes(), progress) {
        Verdict::Stray => {
            data = verbatim::repaired_message(data.as_bytes()).unwrap_or(data);
            screen.received(data.as_bytes(), progress)
        }
        verdict => verdict,
    };
    match verdict {
        Verdict::Done => None,
        Verdict::Result(..) | Verdict::Pass => {
            Some(verbatim::message(data.as_bytes()).map_or(data, |message| message.to_string()))
        }
        Verdict::Stray => Some(data),
    }
}

/// Waits a moment for the first message of a stream. If that is an error, returns it as the response.
async fn early_error(mut events: Events, session: Option<String>) -> StreamableHttpPostResponse {
    let (mut early, deadline) = (Vec::new(), Instant::now() + FIRST_EVENT);
    while let Ok(Some(event)) = timeout_at(deadline, events.next()).await {
        let data = event.as_ref().ok().and_then(|event| event.data.as_deref());
        let data = data.filter(|data| !data.trim().is_empty());
        if let Some(Ok(error @ JsonRpcMessage::Error(_))) = data.map(serde_json::from_str) {
            return StreamableHttpPostResponse::Json(error, session);
        }
        let is_first = data.is_some() || event.is_err();
        early.push(event);
        if is_first {
            break;
        }
    }
    StreamableHttpPostResponse::Sse(stream::iter(early).chain(events).boxed(), session)
}

/// Returns the time after which a message may be sent again because the server limits the rate of requests. Calls are not
/// repeated, so that their callers decide.
fn rate_wait(message: &ClientJsonRpcMessage, answer: &Result<StreamableHttpPostResponse, Error>) -> Option<Duration> {
    let waits = match message {
        JsonRpcMessage::Request(sent) => {
            !matches!(sent.request, ClientRequest::CallToolRequest(_) | ClientRequest::CustomRequest(_))
        }
        JsonRpcMessage::Notification(sent) => {
            matches!(sent.notification, ClientNotification::InitializedNotification(_))
        }
        _ => false,
    };
    let failure = answer.as_ref().err().and_then(HttpFailure::of).filter(|_| waits)?;
    let wait = match failure.status {
        StatusCode::TOO_MANY_REQUESTS => failure.retry_after.unwrap_or(RATE_WAIT),
        StatusCode::SERVICE_UNAVAILABLE => failure.retry_after?,
        _ => return None,
    };
    Some(wait.max(MIN_RATE_WAIT))
}

/// Returns the text of an error that may report that the server does not know the session of a message.
fn lost_session_text(post: &Post, answer: &Result<StreamableHttpPostResponse, Error>) -> Option<String> {
    let text = match answer {
        Ok(StreamableHttpPostResponse::Json(JsonRpcMessage::Error(error), _)) => error.error.message.to_string(),
        Err(error) => HttpFailure::of(error).filter(|failure| !failure.is_busy())?.text.clone()?,
        Ok(_) => return None,
    };
    may_report_lost_session(&text, post.session.is_some()).then_some(text)
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
        error if HttpFailure::of(error).is_some_and(|failure| failure.status == StatusCode::UNAUTHORIZED) => {
            Some(String::new())
        }
        _ => None,
    }
}

/// Wraps the reason in the one kind of error that can hold it.
fn unauthorized(error: AuthorizationError) -> Error {
    StreamableHttpError::Io(std::io::Error::other(error))
}

/// Reads the response to a request.
fn message_in(body: &[u8], id: &RequestId, max_tools: usize) -> Result<ServerJsonRpcMessage, Error> {
    let invalid = |why: String| StreamableHttpError::UnexpectedServerResponse(why.into());
    let shortened = bounded_list::shortened(body, max_tools);
    let body = shortened.as_ref().map_or(body, String::as_bytes);
    let message = match verbatim::message(body).map_err(|error| invalid(error.to_string()))? {
        batch @ Value::Array(_) => wrapped(response_in(batch, id)),
        message => message,
    };
    if let Some(error) = error_in(&message) {
        return Ok(ServerJsonRpcMessage::error(error, Some(id.clone())));
    }
    // The result of another request may be meant for another client.
    if message.get("result").is_none() || !has_id(&message, id) {
        return Err(invalid("the body is not the response to the request".to_owned()));
    }
    serde_json::from_value(message).map_err(|error| invalid(error.to_string()))
}

/// Converts an error response. A JSON-RPC error that is the response to the request is passed on as a message.
async fn failed(
    response: Response,
    message: &ClientJsonRpcMessage,
    has_session: bool,
) -> Result<StreamableHttpPostResponse, Error> {
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
    let (failure, body) = HttpFailure::read(response).await;
    let JsonRpcMessage::Request(sent) = message else {
        let is_lost = has_session && matches!(status, StatusCode::NOT_FOUND | StatusCode::GONE);
        return Err(if is_lost { StreamableHttpError::SessionExpired } else { failure.into() });
    };
    let body = response_in(body, &sent.id);
    let error = error_in(&body);
    let is_unknown_method = error.as_ref().is_some_and(|error| error.code == ErrorCode::METHOD_NOT_FOUND);
    if has_session && matches!(status, StatusCode::NOT_FOUND | StatusCode::GONE) && !is_unknown_method {
        return Err(StreamableHttpError::SessionExpired);
    }
    if failure.is_unauthorized() || failure.is_busy() {
        return Err(failure.into());
    }
    let error = match sent.request {
        // Servers of earlier revisions reject the unknown method in many ways.
        ClientRequest::DiscoverRequest(_) if !status.is_redirection() => {
            error.or_else(|| Some(ErrorData::invalid_request(failure.to_string(), None)))
        }
        _ => error.filter(|error| has_id(&body, &sent.id) || is_defined(error.code)),
    };
    match error {
        Some(error) => {
            Ok(StreamableHttpPostResponse::Json(ServerJsonRpcMessage::error(error, Some(sent.id.clone())), None))
        }
        None => Err(failure.into()),
    }
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
