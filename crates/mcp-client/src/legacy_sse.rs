//! The transport HTTP+SSE of revision 2024-11-05, in which one stream of events has the responses to all messages.
//!
//! A response is passed on as the stream of its request, as if the server had Streamable HTTP.

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::stream::{self, StreamExt};
use http::header::ACCEPT;
use http::{HeaderMap, HeaderName, HeaderValue};
use reqwest::Url;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, JsonRpcMessage, RequestId};
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
};
use serde::Deserialize;
use serde::de::IgnoredAny;
use sse_stream::Sse;
use tokio::sync::mpsc;
use tokio::task::AbortHandle;

use super::exchange::{Events, HttpFailure, OverHttp, read_events};
use super::http::{Asked, EVENTS, Http, Post};

/// The name of the session, which the protocol of this transport does not have.
const SESSION: &str = "sse";

/// The number of requests of the server that wait to be read.
const MAX_OTHERS: usize = 256;

/// The transport. Clones share the stream.
#[derive(Clone)]
pub(super) struct LegacySse {
    http: Http,
    stream: Arc<tokio::sync::Mutex<Option<Arc<EventStream>>>>,
}

/// The stream of events of a server.
struct EventStream {
    /// The URL to which messages are sent.
    endpoint: Arc<str>,
    responses: Arc<Mutex<Responses>>,
    /// The other messages, until they are read.
    others: Mutex<Option<mpsc::Receiver<Event>>>,
    reading: AbortHandle,
}

type Event = Result<Sse, SseError>;

/// The open requests, or `None` after the end of the stream.
type Responses = Option<HashMap<RequestId, mpsc::UnboundedSender<Event>>>;

/// The fields by which a message is assigned to its request.
#[derive(Deserialize)]
struct Envelope {
    id: Option<RequestId>,
    method: Option<IgnoredAny>,
}

impl LegacySse {
    pub(super) fn new(http: Http) -> Self {
        Self { http, stream: Arc::default() }
    }

    /// Opens the stream and waits for the event with the endpoint.
    async fn open(
        &self,
        uri: &str,
        token: Option<String>,
        headers: &HashMap<HeaderName, HeaderValue>,
    ) -> Result<EventStream, OverHttp> {
        let request = self.http.client.get(uri).headers(HeaderMap::from_iter(headers.clone())).header(ACCEPT, EVENTS);
        let request = token.into_iter().fold(request, reqwest::RequestBuilder::bearer_auth);
        let response = request.send().await.map_err(StreamableHttpError::Client)?;
        if !response.status().is_success() {
            return Err(HttpFailure::read(response).await.0.into());
        }
        let base = response.url().clone();
        let mut events = read_events(response, self.http.max_bytes);
        let endpoint = loop {
            let event = events.next().await.ok_or(StreamableHttpError::UnexpectedEndOfStream)??;
            if event.event.as_deref() == Some("endpoint") {
                break event.data.unwrap_or_default();
            }
        };
        // Messages contain credentials of this server.
        let endpoint = base.join(endpoint.trim()).ok().filter(|url: &Url| url.origin() == base.origin());
        let invalid = || StreamableHttpError::UnexpectedServerResponse("the endpoint is that of another server".into());
        let endpoint = endpoint.ok_or_else(invalid)?.as_str().into();
        let responses = Arc::new(Mutex::new(Some(HashMap::new())));
        let (to_others, others) = mpsc::channel(MAX_OTHERS);
        self.http.n_streams.fetch_add(1, Ordering::AcqRel);
        let reading = tokio::spawn(read(events, Arc::clone(&responses), to_others)).abort_handle();
        Ok(EventStream { endpoint, responses, others: Mutex::new(Some(others)), reading })
    }

    async fn stream(
        &self,
        uri: &str,
        token: Option<String>,
        headers: &HashMap<HeaderName, HeaderValue>,
        starts_session: bool,
    ) -> Result<Arc<EventStream>, OverHttp> {
        let mut stream = self.stream.lock().await;
        match &*stream {
            Some(open) if !open.has_ended() => return Ok(Arc::clone(open)),
            // The session of the server has ended with the stream.
            Some(_) if !starts_session => return Err(StreamableHttpError::SessionExpired),
            _ => {}
        }
        let opened = match &self.http.authorizer {
            Some(authorizer) => Http::authorized(&**authorizer, |token| self.open(uri, token, headers)).await,
            None => self.open(uri, token, headers).await,
        };
        let opened = Arc::new(opened?);
        *stream = Some(Arc::clone(&opened));
        Ok(opened)
    }

    async fn send(&self, post: &Post, token: Option<String>) -> Result<StreamableHttpPostResponse, OverHttp> {
        self.http.exchange(post, &post.message, token.as_deref()).await
    }
}

/// Assigns the messages of a stream to their requests until it ends.
async fn read(mut events: Events, responses: Arc<Mutex<Responses>>, others: mpsc::Sender<Event>) {
    while let Some(Ok(event)) = events.next().await {
        let envelope = event.data.as_deref().and_then(|data| serde_json::from_str::<Envelope>(data).ok());
        let request = match (envelope, &mut *locked(&responses)) {
            (Some(Envelope { id, method: None }), Some(open)) => match id {
                Some(RequestId::String(text)) => {
                    let number = text.parse().ok().and_then(|number| open.remove(&RequestId::Number(number)));
                    number.or_else(|| open.remove(&RequestId::String(text)))
                }
                Some(id) => open.remove(&id),
                // The error response to the only request.
                None if open.len() == 1 => open.drain().next().map(|(_, request)| request),
                None => None,
            },
            _ => None,
        };
        match request {
            Some(request) => drop(request.send(Ok(event))),
            // A server that sends without pause must not fill the memory.
            None => drop(others.try_send(Ok(event))),
        }
    }
    *locked(&responses) = None;
}

fn locked(responses: &Mutex<Responses>) -> MutexGuard<'_, Responses> {
    responses.lock().unwrap_or_else(PoisonError::into_inner)
}

impl EventStream {
    fn has_ended(&self) -> bool {
        locked(&self.responses).is_none()
    }
}

impl Drop for EventStream {
    fn drop(&mut self) {
        self.reading.abort();
    }
}

impl StreamableHttpClient for LegacySse {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        _: Option<Arc<str>>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, OverHttp> {
        self.http.screen.sent(&message);
        let starts_session = matches!(
            &message,
            JsonRpcMessage::Request(sent) if matches!(sent.request, ClientRequest::InitializeRequest(_))
        );
        let stream = self.stream(&uri, token.clone(), &headers, starts_session).await?;
        let response = match &message {
            JsonRpcMessage::Request(sent) => {
                let (to, from) = mpsc::unbounded_channel();
                let mut responses = locked(&stream.responses);
                responses.as_mut().ok_or(StreamableHttpError::SessionExpired)?.insert(sent.id.clone(), to);
                Some((Asked::new(&sent.id, &sent.request), from))
            }
            _ => None,
        };
        let post = Post { uri: Arc::clone(&stream.endpoint), message, session: None, headers };
        let answer = match &self.http.authorizer {
            Some(authorizer) => Http::authorized(&**authorizer, |token| self.send(&post, token)).await,
            None => self.send(&post, token).await,
        };
        let (JsonRpcMessage::Request(sent), Some((asked, from))) = (&post.message, response) else {
            return answer;
        };
        match answer {
            Ok(StreamableHttpPostResponse::Accepted) => {
                if starts_session {
                    self.http.note_session();
                }
                let events = stream::unfold(from, |mut from| async { from.recv().await.map(|event| (event, from)) });
                let events = self.http.screened(events.boxed(), Some(asked));
                Ok(StreamableHttpPostResponse::Sse(events, starts_session.then(|| SESSION.to_owned())))
            }
            other => {
                if let Some(open) = &mut *locked(&stream.responses) {
                    open.remove(&sent.id);
                }
                self.http.screen.close(sent.id.clone());
                other
            }
        }
    }

    async fn delete_session(
        &self,
        _: Arc<str>,
        _: Arc<str>,
        _: Option<String>,
        _: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), OverHttp> {
        Ok(())
    }

    async fn get_stream(
        &self,
        _: Arc<str>,
        _: Option<Arc<str>>,
        _: Option<String>,
        _: Option<String>,
        _: HashMap<HeaderName, HeaderValue>,
    ) -> Result<Events, OverHttp> {
        let stream = self.stream.lock().await.clone();
        let others = stream.and_then(|stream| stream.others.lock().unwrap_or_else(PoisonError::into_inner).take());
        let others = others.ok_or(StreamableHttpError::ServerDoesNotSupportSse)?;
        let events = stream::unfold(others, |mut others| async { others.recv().await.map(|event| (event, others)) });
        Ok(self.http.screened(events.boxed(), None))
    }
}
