//! HTTP requests to a server.

use std::fmt;
use std::future::Future;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, RETRY_AFTER};
use http::uri::{Authority, Scheme};
use http::{Method, Request, Response, StatusCode, Uri};
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use toolkit::ToolError;
use toolkit::call::ErrorKind;
use toolkit_runtime::{Authorities, ClientConfig, PemError, certificate_failure, media_type, retry_after};

use crate::Auth;

/// A server and the settings of its connections.
#[derive(Clone)]
pub(super) struct Endpoint {
    /// The name of the backend.
    name: String,
    scheme: Scheme,
    authority: Authority,
    /// The prefix of all paths, without a slash at the end.
    base: String,
    authorities: Authorities,
    connect_timeout: Duration,
    /// The client with its connection pool, or the error of creating it.
    client: Arc<OnceLock<Result<Connections, String>>>,
    pub(super) auth: Auth,
    pub(super) timeout: Duration,
    pub(super) max_bytes: usize,
}

/// The consequence of a request whose response is lost.
#[derive(Clone, Copy)]
pub(super) enum Loss {
    /// The request can be repeated.
    IsHarmless,
    /// The request may have run a tool.
    MayHaveEffects,
}

type Connections = Client<HttpsConnector<HttpConnector>, Full<Bytes>>;

/// A complete response.
pub(super) struct FullResponse {
    pub(super) status: StatusCode,
    pub(super) retry_after: Option<Duration>,
    pub(super) body: Bytes,
}

const TIMEOUT: Duration = Duration::from_secs(300);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const MAX_BODY_BYTES: usize = 16 << 20;
/// The time after which an idle connection is closed. It is shorter than that of most servers, so that a server rarely
/// closes a connection that is about to be used.
const MAX_IDLE: Duration = Duration::from_secs(15);

impl Endpoint {
    pub(super) fn new(name: &str, url: &str) -> Result<Self, UrlError> {
        let invalid = |reason| UrlError { reason };
        let uri: Uri = url.parse().map_err(|_| invalid("the syntax is invalid"))?;
        let scheme = uri.scheme().filter(|scheme| [Scheme::HTTP, Scheme::HTTPS].contains(scheme)).cloned();
        let scheme = scheme.ok_or(invalid("it must begin with `https://` or `http://`"))?;
        let authority = uri.authority().cloned().ok_or(invalid("it must have a host"))?;
        if authority.as_str().contains('@') {
            return Err(invalid("it must not contain a password; use `OtcBackend::auth`"));
        }
        if uri.query().is_some() {
            return Err(invalid("it must not contain a query"));
        }
        Ok(Self {
            name: name.to_owned(),
            scheme,
            authority,
            base: uri.path().trim_end_matches('/').to_owned(),
            authorities: Authorities::platform(),
            connect_timeout: CONNECT_TIMEOUT,
            client: Arc::default(),
            auth: Auth::none(),
            timeout: TIMEOUT,
            max_bytes: MAX_BODY_BYTES,
        })
    }

    pub(super) fn with_connect_timeout(self, limit: Duration) -> Self {
        Self { connect_timeout: limit, client: Arc::default(), ..self }
    }

    pub(super) fn trusting(mut self, pem: &str) -> Result<Self, PemError> {
        self.authorities.add_pem(pem)?;
        Ok(Self { client: Arc::default(), ..self })
    }

    fn client(&self) -> Result<&Connections, ToolError> {
        let client = self.client.get_or_init(|| {
            let tls = match self.scheme == Scheme::HTTPS {
                true => self.authorities.tls(),
                false => Authorities::no_tls(),
            };
            tls.map(|tls| client(tls, self.connect_timeout)).map_err(|error| error.to_string())
        });
        client
            .as_ref()
            .map_err(|error| self.unavailable("cannot be reached, since TLS is not available").caused_by(error.clone()))
    }

    /// Applies the timeout to a request.
    pub(super) async fn within<T>(&self, request: impl Future<Output = Result<T, ToolError>>) -> Result<T, ToolError> {
        tokio::time::timeout(self.timeout, request).await.unwrap_or_else(|_| {
            let message = format!("{self} did not respond within {:?}", self.timeout);
            Err(ToolError::new(ErrorKind::TimedOut, message))
        })
    }

    pub(super) async fn get(&self, path: &str) -> Result<FullResponse, ToolError> {
        let response = self.send(Method::GET, path, Bytes::new(), "application/json", Loss::IsHarmless).await?;
        self.whole(response, Loss::IsHarmless).await
    }

    /// Sends a call.
    pub(super) async fn post(&self, path: &str, body: Vec<u8>, accepts: &str) -> Result<Response<Incoming>, ToolError> {
        if body.len() > self.max_bytes {
            let message =
                format!("the call has {} bytes, more than the limit of {} for {self}", body.len(), self.max_bytes);
            return Err(ToolError::new(ErrorKind::TooLarge, message));
        }
        self.send(Method::POST, path, body.into(), accepts, Loss::MayHaveEffects).await
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        body: Bytes,
        accepts: &str,
        loss: Loss,
    ) -> Result<Response<Incoming>, ToolError> {
        let auth = self.auth.header().map_err(ToolError::internal)?;
        let uri = format!("{}://{}{}{path}", self.scheme, self.authority, self.base);
        let mut request = Request::builder().method(method).uri(uri).header(ACCEPT, accepts);
        if !body.is_empty() {
            request = request.header(CONTENT_TYPE, "application/json");
        }
        let mut request = request.body(Full::new(body)).map_err(ToolError::internal)?;
        request.headers_mut().extend(auth.map(|(name, value)| (Some(name), value)));
        self.client()?.request(request).await.map_err(|error| match certificate_failure(&error) {
            Some(reason) => {
                let how = format!("is not trusted, so no request was sent: {reason}");
                self.unavailable(&how).caused_by(error)
            }
            None if error.is_connect() => self.unavailable("cannot be reached").caused_by(error),
            None => self.lost(loss, "disconnected before it responded").caused_by(error),
        })
    }

    /// Reads a complete response within the size limit.
    pub(super) async fn whole(&self, response: Response<Incoming>, loss: Loss) -> Result<FullResponse, ToolError> {
        let (parts, body) = response.into_parts();
        let retry_after = parts.headers.get(RETRY_AFTER).and_then(|after| retry_after(after.to_str().ok()?));
        let body = Limited::new(body, self.max_bytes).collect().await.map_err(|error| {
            match error.is::<LengthLimitError>() {
                true => self.invalid_response(&format!("with more than {} bytes", self.max_bytes)),
                false => self.lost(loss, "disconnected in the middle of its response").caused_by(error),
            }
        })?;
        Ok(FullResponse { status: parts.status, retry_after, body: body.to_bytes() })
    }

    /// Creates the error for a server that cannot be reached. `how` follows the name of the server.
    pub(super) fn unavailable(&self, how: &str) -> ToolError {
        ToolError::new(ErrorKind::Unavailable, format!("{self} {how}"))
    }

    /// Creates the error for a request that the server may have received. `how` follows the name of the server.
    pub(super) fn lost(&self, loss: Loss, how: &str) -> ToolError {
        match loss {
            Loss::IsHarmless => self.unavailable(how),
            Loss::MayHaveEffects => {
                ToolError::new(ErrorKind::OutcomeUnknown, format!("{self} {how}; the tool may have run"))
            }
        }
    }

    /// Creates the error for an invalid response. `how` completes the sentence "The server responded …".
    pub(super) fn invalid_response(&self, how: &str) -> ToolError {
        ToolError::new(ErrorKind::InvalidResponse, format!("{self} responded {how}"))
    }
}

fn client(tls: ClientConfig, connect_timeout: Duration) -> Connections {
    let mut connector = HttpConnector::new();
    // The connector also gets `https` URLs.
    connector.enforce_http(false);
    connector.set_connect_timeout(Some(connect_timeout));
    connector.set_nodelay(true);
    let connector =
        HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http().enable_http1().wrap_connector(connector);
    let mut client = Client::builder(TokioExecutor::new());
    client.pool_idle_timeout(MAX_IDLE).pool_timer(TokioTimer::new()).http1_max_headers(100).build(connector)
}

/// Returns true if a response has this media type.
pub(super) fn is(response: &Response<Incoming>, expected: &str) -> bool {
    let sent = response.headers().get(CONTENT_TYPE).and_then(|sent| sent.to_str().ok()).unwrap_or_default();
    media_type(sent).eq_ignore_ascii_case(expected)
}

/// The name of the server for error messages. Models read these, so they do not contain its address.
impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the tool server `{}`", self.name.escape_debug())
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}{}", self.scheme, self.authority, self.base)
    }
}

/// The error for a text that is not the URL of a server.
///
/// # Examples
///
/// ```
/// use toolkit_otc::OtcBackend;
///
/// let error = OtcBackend::new("calculator", "tools.example.org").unwrap_err();
/// assert_eq!(error.to_string(), "not a server URL: it must begin with `https://` or `http://`");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UrlError {
    reason: &'static str,
}

impl fmt::Display for UrlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not a server URL: {}", self.reason)
    }
}

impl std::error::Error for UrlError {}
