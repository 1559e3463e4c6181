//! HTTP requests to a server of sandboxes, at its address.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue, LOCATION};
use http::uri::{Authority, Scheme};
use http::{Method, Request, Response, StatusCode, Uri};
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use toolkit::call::SecretString;
use toolkit_runtime::{Authorities, ClientConfig, PemError, certificate_failure, is_loopback};

use super::super::super::wire::{self, GREETING_BYTES, ToHost, WireError};
use super::super::SandboxError;
use super::super::exchange::protocol;

/// A server and the connections to it.
#[derive(Clone)]
pub(super) struct Client {
    address: Address,
    authorization: HeaderValue,
    authorities: Authorities,
    /// The connections, or the error of creating them.
    connections: Arc<OnceLock<Result<Connections, String>>>,
}

type Connections = legacy::Client<HttpsConnector<HttpConnector>, Full<Bytes>>;

/// A response with its body.
pub(super) struct Received {
    pub(super) location: Option<HeaderValue>,
    pub(super) body: Bytes,
}

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// The time after which an idle connection is closed. It is shorter than that of most servers, so that a server rarely
/// closes a connection that is about to be used.
const MAX_IDLE: Duration = Duration::from_secs(15);
/// The maximum number of characters of a reason that the server gives.
const MAX_REASON: usize = 500;

impl Client {
    pub(super) fn new(url: &str, token: SecretString, is_unencrypted: bool) -> Result<Self, UrlError> {
        let address = Address::new(url, is_unencrypted)?;
        let authorization = HeaderValue::from_str(&format!("Bearer {}", token.expose()));
        let mut authorization =
            authorization.map_err(|_| UrlError("the token has characters that a header cannot have"))?;
        authorization.set_sensitive(true);
        Ok(Self { address, authorization, authorities: Authorities::platform(), connections: Arc::default() })
    }

    pub(super) fn trusting(mut self, pem: &str) -> Result<Self, PemError> {
        self.authorities.add_pem(pem)?;
        Ok(Self { connections: Arc::default(), ..self })
    }

    /// Returns the host with its port, for operators.
    pub(super) fn host(&self) -> String {
        self.address.authority.to_string()
    }

    /// Sends a request and receives its response, of at most `max` bytes.
    pub(super) async fn send(
        &self,
        method: Method,
        path: &str,
        body: Vec<u8>,
        max: usize,
    ) -> Result<Received, SandboxError> {
        let request = Request::builder()
            .method(method)
            .uri(self.address.url(path))
            .header(AUTHORIZATION, self.authorization.clone())
            .header(CONTENT_TYPE, "application/json")
            .body(Full::from(body))
            .map_err(|error| unavailable(error.to_string()))?;
        let response = self.connections()?.request(request).await.map_err(|error| {
            unavailable(match certificate_failure(&error) {
                Some(reason) => format!("the server is not trusted: {reason}"),
                None if error.is_connect() => "the server cannot be reached".to_owned(),
                None => "the server disconnected before it responded".to_owned(),
            })
        })?;
        receive(response, max).await
    }

    fn connections(&self) -> Result<&Connections, SandboxError> {
        let connections = self.connections.get_or_init(|| {
            let tls = match self.address.scheme == Scheme::HTTPS {
                true => self.authorities.tls(),
                false => Authorities::no_tls(),
            };
            tls.map(create).map_err(|error| error.to_string())
        });
        connections.as_ref().map_err(|error| unavailable(format!("TLS is not available: {error}")))
    }
}

fn create(tls: ClientConfig) -> Connections {
    let mut connector = HttpConnector::new();
    // The connector also gets `https` URLs.
    connector.enforce_http(false);
    connector.set_connect_timeout(Some(CONNECT_TIMEOUT));
    connector.set_nodelay(true);
    let connector =
        HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http().enable_http1().wrap_connector(connector);
    let mut client = legacy::Client::builder(TokioExecutor::new());
    client.pool_idle_timeout(MAX_IDLE).pool_timer(TokioTimer::new()).http1_max_headers(100).build(connector)
}

async fn receive(response: Response<Incoming>, max: usize) -> Result<Received, SandboxError> {
    let (parts, body) = response.into_parts();
    let max = if parts.status.is_success() { max } else { GREETING_BYTES };
    let body = Limited::new(body, max).collect().await.map_err(|error| match error.is::<LengthLimitError>() {
        true => protocol(&WireError::TooLong(max)),
        false => unavailable("the server disconnected in the middle of its response".to_owned()),
    })?;
    let body = body.to_bytes();
    if parts.status.is_success() {
        return Ok(Received { location: parts.headers.get(LOCATION).cloned(), body });
    }
    let reason = match wire::decode(&body) {
        Ok(ToHost::Error(reason)) => reason.chars().take(MAX_REASON).collect::<String>().escape_debug().to_string(),
        _ => "its response is not one of a sandbox server; check the URL".to_owned(),
    };
    Err(match parts.status {
        StatusCode::BAD_GATEWAY => SandboxError::Protocol(reason),
        status => unavailable(format!("the server responded with HTTP {}: {reason}", status.as_u16())),
    })
}

fn unavailable(reason: String) -> SandboxError {
    SandboxError::Unavailable(reason)
}

/// The address of a server.
#[derive(Clone)]
struct Address {
    scheme: Scheme,
    authority: Authority,
    /// The prefix of all paths, without a slash at the end.
    base: String,
}

impl Address {
    fn new(url: &str, is_unencrypted: bool) -> Result<Self, UrlError> {
        let uri: Uri = url.parse().map_err(|_| UrlError("the syntax is invalid"))?;
        let scheme = uri.scheme().filter(|scheme| [Scheme::HTTP, Scheme::HTTPS].contains(scheme)).cloned();
        let scheme = scheme.ok_or(UrlError("it must begin with `https://` or `http://`"))?;
        let authority = uri.authority().cloned().ok_or(UrlError("it must have a host"))?;
        if authority.as_str().contains('@') {
            return Err(UrlError("it must not contain a password"));
        }
        if uri.query().is_some() {
            return Err(UrlError("it must not contain a query"));
        }
        if scheme == Scheme::HTTP && !is_unencrypted && !is_loopback(authority.host()) {
            return Err(UrlError("it must begin with `https://`, since the token and the programs are secret"));
        }
        Ok(Self { scheme, authority, base: uri.path().trim_end_matches('/').to_owned() })
    }

    /// Returns the URL of a path.
    fn url(&self, path: &str) -> String {
        format!("{}://{}{}{path}", self.scheme, self.authority, self.base)
    }
}

/// The error for a text that is not the URL of a [`Server`](crate::server::Server), or for its token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UrlError(&'static str);

impl fmt::Display for UrlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not the URL of a sandbox: {}", self.0)
    }
}

impl std::error::Error for UrlError {}
