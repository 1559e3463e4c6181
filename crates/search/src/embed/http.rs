//! Models behind an HTTP endpoint: requests and retries, responses, and errors without secrets.

use std::io::ErrorKind;
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{fmt, thread};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolkit_runtime::retry_after;
use ureq::Agent;
use ureq::http::{HeaderValue, Uri};
use ureq::tls::{RootCerts, TlsConfig};

use crate::{Embedder, EmbedderError};
use toolkit::call::SecretString;

/// A model behind an HTTP endpoint with the API of OpenAI (`/v1/embeddings`) or Ollama (`/api/embed`).
///
/// Transient failures are retried: failed connections, status 429 and statuses from 500 on. The endpoint determines the
/// delay by `Retry-After`; otherwise it grows exponentially. The platform's certificate store is used. Redirects are
/// not followed, so that the token is sent to this endpoint only.
///
/// ```no_run
/// use toolkit_search::Semantic;
/// use toolkit_search::embed::RemoteModel;
///
/// let model = RemoteModel::new("http://localhost:11434/api/embed", "all-minilm")?;
/// let semantic = Semantic::new(model);
/// # Ok::<(), toolkit_search::embed::RemoteError>(())
/// ```
#[must_use]
pub struct RemoteModel {
    agent: Agent,
    url: Uri,
    model: String,
    dimensions: Option<usize>,
    token: Option<SecretString>,
    batch_size: usize,
    timeout: Duration,
}

/// The body of a request, which is the same for both APIs.
#[derive(Serialize)]
struct Request<'r> {
    model: &'r str,
    input: &'r [&'r str],
    #[serde(skip_serializing_if = "Option::is_none")]
    dimensions: Option<usize>,
    /// Requests numbers instead of base64. Ollama ignores it.
    encoding_format: &'static str,
}

impl RemoteModel {
    /// The maximum size of a response in bytes.
    pub const MAX_RESPONSE_BYTES: u64 = 64 << 20;

    /// Creates a client for the model `model` at `url`, the full URL of the endpoint, such as
    /// `https://api.openai.com/v1/embeddings`.
    ///
    /// # Errors
    ///
    /// Returns an error if `url` is not a URL with the scheme `https` or `http`, or contains credentials.
    pub fn new(url: &str, model: impl Into<String>) -> Result<Self, RemoteError> {
        let url: Uri = url.parse().map_err(|error| RemoteError::Url(format!("invalid URL: {error}")))?;
        if !matches!(url.scheme_str(), Some("http" | "https")) {
            return Err(RemoteError::Url("the URL must start with `https://` or `http://`".to_owned()));
        }
        if url.authority().is_some_and(|authority| authority.as_str().contains('@')) {
            return Err(RemoteError::Url("the URL must not contain credentials; pass a token to `bearer`".to_owned()));
        }
        let tls = TlsConfig::builder()
            .root_certs(RootCerts::PlatformVerifier)
            .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()));
        let config = Agent::config_builder()
            .tls_config(tls.build())
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false);
        Ok(Self {
            agent: config.build().new_agent(),
            url,
            model: model.into(),
            dimensions: None,
            token: None,
            batch_size: 64,
            timeout: Duration::from_secs(30),
        })
    }

    /// Sets the token of the `Authorization: Bearer …` header.
    pub fn bearer(self, token: SecretString) -> Self {
        Self { token: Some(token), ..self }
    }

    /// Sets the number of dimensions, for models with a choice.
    pub fn dimensions(self, dimensions: usize) -> Self {
        Self { dimensions: Some(dimensions), ..self }
    }

    /// Sets the maximum number of texts in a request. 64 by default, at least 1.
    pub fn batch_size(self, n_texts: usize) -> Self {
        Self { batch_size: n_texts.max(1), ..self }
    }

    /// Sets the timeout of a batch of texts, including all retries. 30 seconds by default.
    pub fn timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    fn embed_batch(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, RemoteError> {
        let Self { model, dimensions, .. } = self;
        let request = Request { model, input: texts, dimensions: *dimensions, encoding_format: "float" };
        let body = serde_json::to_vec(&request).map_err(|error| self.failed(error.to_string()))?;
        let mut retry = Retry::new(self.timeout);
        loop {
            let failure = match self.send(&body, texts, retry.left()) {
                Ok(answer) => return vectors(&answer, texts.len()).map_err(|reason| self.failed(reason)),
                Err(failure) => failure,
            };
            if !failure.is_transient || !retry.wait(failure.after) {
                return Err(self.failed(failure.reason));
            }
        }
    }

    fn send(&self, body: &[u8], texts: &[&str], timeout: Duration) -> Result<Vec<u8>, Failure> {
        let request = self.agent.post(&self.url).config().timeout_global(Some(timeout)).build();
        let mut request = request.header("content-type", "application/json");
        if let Some(token) = &self.token {
            let mut value = HeaderValue::try_from(format!("Bearer {}", token.expose())).map_err(|_| {
                Failure::permanent("the token has characters that are not allowed in a header".to_owned())
            })?;
            value.set_sensitive(true);
            request = request.header("authorization", value);
        }
        let mut response = request.send(body).map_err(|error| Failure::from_ureq(&error))?;
        let status = response.status();
        let after = response.headers().get("retry-after").and_then(|value| retry_after(value.to_str().ok()?));
        let read = response.body_mut().with_config().limit(Self::MAX_RESPONSE_BYTES).read_to_vec();
        if status.is_success() {
            return read.map_err(|error| Failure::from_ureq(&error));
        }
        let token = self.token.as_ref().map(SecretString::expose);
        let secrets = Secrets { token, query: self.url.query().unwrap_or_default(), texts };
        let message = read.ok().and_then(|body| redacted_message(&message(&body)?, &secrets));
        let message = message.map(|message| format!(": {message}")).unwrap_or_default();
        let advice = match status.as_u16() {
            401 | 403 => "; pass a valid token to `bearer`",
            300..=399 => "; redirects are not followed, use the URL of the target",
            _ => "",
        };
        Err(Failure {
            reason: format!("status {status}{message}{advice}"),
            is_transient: status.as_u16() == 429 || status.is_server_error(),
            after,
        })
    }

    /// Creates an error. The query of the URL is omitted, since it often contains keys.
    fn failed(&self, reason: String) -> RemoteError {
        RemoteError::Failed { url: shown(&self.url), model: self.model.clone(), reason }
    }
}

impl Embedder for RemoteModel {
    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedderError> {
        let mut all = Vec::with_capacity(texts.len());
        for batch in texts.chunks(self.batch_size) {
            all.append(&mut self.embed_batch(batch)?);
        }
        Ok(all)
    }
}

/// The failure of a request.
struct Failure {
    reason: String,
    /// The request may succeed later.
    is_transient: bool,
    after: Option<Duration>,
}

impl Failure {
    fn permanent(reason: String) -> Self {
        Self { reason, is_transient: false, after: None }
    }

    fn from_ureq(error: &ureq::Error) -> Self {
        use ureq::Error;
        let is_transient = match error {
            // These kinds stand for rejected certificates and other TLS errors.
            Error::Io(error) => !matches!(error.kind(), ErrorKind::InvalidData | ErrorKind::InvalidInput),
            Error::HostNotFound | Error::ConnectionFailed => true,
            _ => false,
        };
        Self { is_transient, ..Self::permanent(error.to_string()) }
    }
}

fn shown(url: &Uri) -> String {
    let [scheme, host] = [url.scheme_str(), url.authority().map(|authority| authority.as_str())];
    format!("{}://{}{}", scheme.unwrap_or_default(), host.unwrap_or_default(), url.path())
}

toolkit::debug_fields!(it, RemoteModel { url: shown(&it.url), model, dimensions });

/// An error of a remote model.
///
/// It contains neither the token, nor the query of the URL, nor any of the texts: the endpoint's message is omitted if
/// it repeats any of these.
///
/// # Examples
///
/// An [`Embedder`] returns boxed errors; `downcast_ref` distinguishes those of the endpoint:
///
/// ```
/// use std::time::Duration;
/// use toolkit_search::Embedder;
/// use toolkit_search::embed::{RemoteError, RemoteModel};
///
/// // No server listens on this port.
/// let model = RemoteModel::new("http://127.0.0.1:1/api/embed?key=secret", "all-minilm")?;
/// let error = model.timeout(Duration::from_millis(20)).embed(&["Sends an email."]).unwrap_err();
/// assert!(error.downcast_ref::<RemoteError>().is_some());
/// assert!(error.to_string().starts_with("cannot embed with `all-minilm` at http://127.0.0.1:1/api/embed: "));
/// # Ok::<(), toolkit_search::embed::RemoteError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RemoteError {
    /// The URL of the endpoint is invalid, for the reason that is given.
    ///
    /// ```
    /// use toolkit_search::embed::RemoteModel;
    ///
    /// let error = RemoteModel::new("https://user:password@models.example/v1/embeddings", "all-minilm").unwrap_err();
    /// assert_eq!(error.to_string(), "the URL must not contain credentials; pass a token to `bearer`");
    /// ```
    Url(String),
    /// The endpoint cannot be reached, or its response is an error or invalid.
    #[non_exhaustive]
    Failed {
        /// The URL, without its query.
        url: String,
        /// The model.
        model: String,
        /// The reason.
        reason: String,
    },
}

impl fmt::Display for RemoteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Url(reason) => f.write_str(reason),
            Self::Failed { url, model, reason } => {
                write!(f, "cannot embed with `{}` at {url}: {reason}", model.escape_debug())
            }
        }
    }
}

impl std::error::Error for RemoteError {}

/// The maximum length of a message in characters.
const MAX_CHARS: usize = 200;

/// The number of consecutive characters of a text that count as a quotation.
const QUOTED: usize = 16;

/// The values that an error must not contain.
struct Secrets<'s> {
    token: Option<&'s str>,
    /// The query of the URL, which often contains keys.
    query: &'s str,
    /// The texts that were sent.
    texts: &'s [&'s str],
}

/// Returns the message on one line, truncated; `None` if it contains any of the secrets.
fn redacted_message(message: &str, secrets: &Secrets<'_>) -> Option<String> {
    let shown: String = message.chars().take(MAX_CHARS).collect();
    if secrets.are_in(message) || secrets.are_quoted_in(&shown) {
        return None;
    }
    Some(shown.escape_debug().collect())
}

impl Secrets<'_> {
    fn are_in(&self, message: &str) -> bool {
        // Endpoints often report the first or last characters of a rejected token.
        let token = self.token.unwrap_or_default();
        let token = [Some(token), token.get(..8), token.get(token.len().saturating_sub(4)..)];
        let values = self.query.split('&').map(|pair| pair.split_once('=').map_or(pair, |(_, value)| value));
        let mut secrets = token.into_iter().flatten().chain(values).chain(self.texts.iter().copied());
        secrets.any(|secret| !secret.is_empty() && message.contains(secret))
    }

    /// Returns true if the message contains a part of a text.
    fn are_quoted_in(&self, message: &str) -> bool {
        let ends = message.char_indices().map(|(at, _)| at).chain([message.len()]);
        let mut parts = message.char_indices().zip(ends.skip(QUOTED)).map(|((start, _), end)| &message[start..end]);
        parts.any(|part| self.texts.iter().any(|text| text.contains(part)))
    }
}

/// A response of either API: `data` in OpenAI's, `embeddings` in Ollama's.
#[derive(Deserialize)]
struct EmbeddingsResponse {
    data: Option<Vec<Item>>,
    embeddings: Option<Vec<Vec<f32>>>,
}

#[derive(Deserialize)]
struct Item {
    index: Option<usize>,
    embedding: Vec<f32>,
}

/// Parses one vector for each text, in order. Errors do not contain any part of the response.
fn vectors(body: &[u8], n_texts: usize) -> Result<Vec<Vec<f32>>, String> {
    let response: EmbeddingsResponse = serde_json::from_slice(body).map_err(|error| {
        format!(
            "the response does not contain embeddings: error at line {} and column {}",
            error.line(),
            error.column()
        )
    })?;
    let vectors: Vec<Vec<f32>> = match (response.data, response.embeddings) {
        (Some(mut items), _) => {
            items.sort_by_key(|item| item.index);
            let is_in_order = items.iter().enumerate().all(|(nth, item)| item.index.is_none_or(|index| index == nth));
            if !is_in_order {
                return Err("the indexes in the response are not those of the texts".to_owned());
            }
            items.into_iter().map(|item| item.embedding).collect()
        }
        (None, Some(vectors)) => vectors,
        (None, None) => return Err("the response has neither `data` nor `embeddings`".to_owned()),
    };
    if vectors.len() != n_texts {
        return Err(format!("the response has {} vectors for {n_texts} texts", vectors.len()));
    }
    let length = vectors.first().map_or(0, Vec::len);
    if vectors.iter().any(|vector| vector.is_empty() || vector.len() != length) {
        return Err("the vectors in the response are empty or have different lengths".to_owned());
    }
    Ok(vectors)
}

/// Returns the message of an error response: `error.message`, or `error` itself.
fn message(body: &[u8]) -> Option<String> {
    let response: Value = serde_json::from_slice(body).ok()?;
    let error = response.get("error")?;
    let text = error.as_str().or_else(|| error.get("message")?.as_str())?;
    Some(text.to_owned())
}

/// The delay before the first retry; it doubles each time.
const FIRST: Duration = Duration::from_millis(500);

/// The maximum delay.
const LONGEST: Duration = Duration::from_secs(30);

/// The minimum delay, for endpoints that request a retry without a delay.
const LEAST: Duration = Duration::from_millis(50);

/// The maximum timeout, which does not overflow the clock.
const YEAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// The delays of a sequence of attempts with a common deadline.
struct Retry {
    deadline: Instant,
    next: Duration,
}

impl Retry {
    fn new(limit: Duration) -> Self {
        Self { deadline: Instant::now() + limit.min(YEAR), next: FIRST }
    }

    fn left(&self) -> Duration {
        // Not zero, since some clients interpret zero as no limit.
        self.deadline.saturating_duration_since(Instant::now()).max(Duration::from_millis(1))
    }

    /// Waits for `requested`, or else for an exponentially growing delay. Returns `false` immediately if the deadline is
    /// earlier.
    ///
    /// The latter has a jitter of up to one half, so that clients that failed together do not retry together.
    fn wait(&mut self, requested: Option<Duration>) -> bool {
        let own = self.next.mul_f32(0.5 + fastrand::f32() / 2.0);
        self.next = self.next.saturating_mul(2).min(LONGEST);
        let wait = requested.map_or(own, |requested| requested.max(LEAST));
        let fits = wait < self.deadline.saturating_duration_since(Instant::now());
        if fits {
            thread::sleep(wait);
        }
        fits
    }
}
