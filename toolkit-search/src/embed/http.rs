//! Models behind an HTTP endpoint.

mod error;
mod redact;
mod response;
mod retry;

use std::fmt;
use std::io::ErrorKind;
use std::sync::Arc;
use std::time::Duration;

use crate::{Embedder, EmbedderError};
use serde::Serialize;
use toolkit::call::SecretString;
use ureq::Agent;
use ureq::http::{HeaderValue, Uri};
use ureq::tls::{RootCerts, TlsConfig};

pub use self::error::{ModelUrlError, RemoteError};
use self::redact::{Secrets, redacted_message};
use self::response::{message, vectors};
use self::retry::{Retry, retry_after};

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
/// # Ok::<(), toolkit_search::embed::ModelUrlError>(())
/// ```
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
    pub fn new(url: &str, model: impl Into<String>) -> Result<Self, ModelUrlError> {
        let url: Uri = url.parse().map_err(|error| ModelUrlError(format!("invalid URL: {error}")))?;
        if !matches!(url.scheme_str(), Some("http" | "https")) {
            return Err(ModelUrlError("the URL must start with `https://` or `http://`".to_owned()));
        }
        if url.authority().is_some_and(|authority| authority.as_str().contains('@')) {
            return Err(ModelUrlError("the URL must not contain credentials; pass a token to `bearer`".to_owned()));
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
    #[must_use]
    pub fn bearer(self, token: SecretString) -> Self {
        Self { token: Some(token), ..self }
    }

    /// Sets the number of dimensions, for models with a choice.
    #[must_use]
    pub fn dimensions(self, dimensions: usize) -> Self {
        Self { dimensions: Some(dimensions), ..self }
    }

    /// Sets the maximum number of texts in a request. 64 by default, at least 1.
    #[must_use]
    pub fn batch_size(self, n_texts: usize) -> Self {
        Self { batch_size: n_texts.max(1), ..self }
    }

    /// Sets the timeout of a batch of texts, including all retries. 30 seconds by default.
    #[must_use]
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
        RemoteError { url: shown(&self.url), model: self.model.clone(), reason }
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

impl fmt::Debug for RemoteModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteModel")
            .field("url", &shown(&self.url))
            .field("model", &self.model)
            .field("dimensions", &self.dimensions)
            .finish_non_exhaustive()
    }
}
