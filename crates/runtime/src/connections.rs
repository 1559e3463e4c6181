//! The connections of a client to one server.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use http::uri::{Authority, Scheme};
use http::{Request, Response, Uri};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::{Client, Error};
use hyper_util::rt::{TokioExecutor, TokioTimer};

use crate::tls::{Authorities, ClientConfig, PemError, certificate_failure};

/// The time after which an idle connection is closed. It is shorter than that of most servers, so that a server rarely
/// closes a connection that is about to be used.
const MAX_IDLE: Duration = Duration::from_secs(15);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// The URL of a server, below which its paths are.
///
/// # Examples
///
/// ```
/// use toolkit_runtime::ServerUrl;
///
/// let url = ServerUrl::parse("https://tools.example.org/v1/")?;
/// assert_eq!(url.at("/health"), "https://tools.example.org/v1/health");
/// let error = ServerUrl::parse("tools.example.org").unwrap_err();
/// assert_eq!(error, "it must begin with `https://` or `http://`");
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Debug)]
pub struct ServerUrl {
    scheme: Scheme,
    authority: Authority,
    /// The prefix of all paths, without a slash at the end.
    base: String,
}

impl ServerUrl {
    /// The error of a URL with credentials.
    pub const HAS_PASSWORD: &str = "it must not contain a password";

    /// Parses a URL.
    ///
    /// # Errors
    ///
    /// Returns a reason that follows "not a URL: " if the URL has another scheme, credentials or a query.
    pub fn parse(url: &str) -> Result<Self, &'static str> {
        let uri: Uri = url.parse().map_err(|_| "the syntax is invalid")?;
        let scheme = uri.scheme().filter(|scheme| [Scheme::HTTP, Scheme::HTTPS].contains(scheme)).cloned();
        let scheme = scheme.ok_or("it must begin with `https://` or `http://`")?;
        let authority = uri.authority().cloned().ok_or("it must have a host")?;
        if authority.as_str().contains('@') {
            return Err(Self::HAS_PASSWORD);
        }
        if uri.query().is_some() {
            return Err("it must not contain a query");
        }
        Ok(Self { scheme, authority, base: uri.path().trim_end_matches('/').to_owned() })
    }

    /// Returns the URL of a path, which begins with a slash.
    pub fn at(&self, path: &str) -> String {
        format!("{self}{path}")
    }

    /// Returns the host with its port.
    pub fn authority(&self) -> &Authority {
        &self.authority
    }

    /// Returns true if connections are encrypted.
    pub fn is_https(&self) -> bool {
        self.scheme == Scheme::HTTPS
    }
}

impl fmt::Display for ServerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}{}", self.scheme, self.authority, self.base)
    }
}

/// The connections to a server with HTTP/1.1. They are created with the first request.
///
/// # Examples
///
/// ```
/// use bytes::Bytes;
/// use http::Request;
/// use http_body_util::Full;
/// use toolkit_runtime::{Connections, RequestError, ServerUrl};
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// // No server listens on this port.
/// let url = ServerUrl::parse("http://127.0.0.1:1")?;
/// let connections = Connections::to(&url);
/// let request = Request::get(url.at("/health")).body(Full::new(Bytes::new())).unwrap();
/// assert!(matches!(connections.request(request).await, Err(RequestError::Unreachable(_))));
/// # Ok::<(), &str>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Connections {
    authorities: Authorities,
    connect_timeout: Duration,
    is_encrypted: bool,
    /// The client with its connection pool, or the error of creating it.
    client: Arc<OnceLock<Result<Pool, rustls::Error>>>,
}

type Pool = Client<HttpsConnector<HttpConnector>, Full<Bytes>>;

/// The reason why a request has no response.
#[derive(Debug)]
pub enum RequestError {
    /// TLS is not available on this machine. No request was sent.
    NoTls(rustls::Error),
    /// The certificate was rejected for this reason. No request was sent.
    Untrusted(&'static str, Error),
    /// There is no connection. No request was sent.
    Unreachable(Error),
    /// The connection was lost before the response. The server may have received the request.
    Lost(Error),
}

impl Connections {
    /// Creates the connections to a server. They trust the certificate authorities of the platform.
    pub fn to(url: &ServerUrl) -> Self {
        Self { is_encrypted: url.is_https(), ..Self::to_any() }
    }

    /// Creates connections to any servers, also with encryption.
    pub fn to_any() -> Self {
        Self {
            authorities: Authorities::platform(),
            connect_timeout: CONNECT_TIMEOUT,
            is_encrypted: true,
            client: Arc::default(),
        }
    }

    /// Sets the timeout of connecting. 10 seconds by default.
    pub fn connect_timeout(self, timeout: Duration) -> Self {
        Self { connect_timeout: timeout, client: Arc::default(), ..self }
    }

    /// Trusts the certificate authorities in a PEM text too.
    ///
    /// # Errors
    ///
    /// Returns an error if the text has no certificate, or a malformed one.
    pub fn trust(mut self, pem: &str) -> Result<Self, PemError> {
        self.authorities.add_pem(pem)?;
        Ok(Self { client: Arc::default(), ..self })
    }

    /// Sends a request and receives the head of its response. Redirects are not followed.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no response.
    pub async fn request(&self, request: Request<Full<Bytes>>) -> Result<Response<Incoming>, RequestError> {
        let client = self.client.get_or_init(|| {
            let tls = if self.is_encrypted { self.authorities.tls() } else { Authorities::no_tls() };
            tls.map(|tls| pool(tls, self.connect_timeout))
        });
        let client = client.as_ref().map_err(|error| RequestError::NoTls(error.clone()))?;
        client.request(request).await.map_err(|error| match certificate_failure(&error) {
            Some(reason) => RequestError::Untrusted(reason, error),
            None if error.is_connect() => RequestError::Unreachable(error),
            None => RequestError::Lost(error),
        })
    }
}

fn pool(tls: ClientConfig, connect_timeout: Duration) -> Pool {
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

impl fmt::Display for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoTls(error) => write!(f, "TLS is not available: {error}"),
            Self::Untrusted(reason, _) => write!(f, "the server is not trusted: {reason}"),
            Self::Unreachable(_) => f.write_str("the server cannot be reached"),
            Self::Lost(_) => f.write_str("the server disconnected before it responded"),
        }
    }
}

impl std::error::Error for RequestError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            // Its text contains that of this error.
            Self::NoTls(error) => error.source(),
            Self::Untrusted(_, error) | Self::Unreachable(error) | Self::Lost(error) => Some(error),
        }
    }
}
