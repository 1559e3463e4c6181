//! The address of a server that is reached over HTTP, and its credentials.

use std::fmt;
use std::sync::Arc;

use http::{HeaderMap, HeaderName, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Client, Url};
use toolkit::call::SecretString;
use toolkit_http::Authorities;

use super::authorizer::Authorizer;
use super::local::{connect_locally, is_local};
#[cfg(feature = "oauth")]
use super::oauth::Logins;

/// The address of a server that is reached over HTTP, and its credentials.
///
/// TLS certificates are verified with the platform's certificate store; on Linux, the environment variable
/// `SSL_CERT_FILE` selects another file. [`Endpoint::trust`] adds certificate authorities. Redirects are followed only
/// within the same origin, so that credentials are not sent elsewhere.
///
/// # Examples
///
/// ```
/// use toolkit_mcp::client::{Endpoint, McpBackend};
///
/// # fn main() -> Result<(), toolkit_mcp::client::EndpointError> {
/// let endpoint = Endpoint::new("https://example.com/mcp")?
///     .header("x-region", "eu")?
///     .bearer("s3cr3t".to_owned().into());
/// let backend = McpBackend::http("search", endpoint);
/// assert!(Endpoint::new("ftp://example.com").is_err());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Endpoint {
    pub(super) url: Url,
    pub(super) headers: HeaderMap,
    pub(super) token: Option<SecretString>,
    pub(super) authorities: Authorities,
    #[cfg(feature = "oauth")]
    pub(super) logins: Option<Logins>,
}

/// The headers that the transport sets.
const RESERVED: &[&str] = &["accept", "content-type", "content-length", "host", "last-event-id", "transfer-encoding"];

const MAX_REDIRECTS: usize = 5;

type BoxError = Box<dyn std::error::Error + Send + Sync>;

impl Endpoint {
    /// Creates an endpoint for the server at `url`, such as `https://example.com/mcp`.
    ///
    /// # Errors
    ///
    /// Returns an error if `url` is not a URL with the scheme `https` or `http`, or contains a password.
    pub fn new(url: &str) -> Result<Self, EndpointError> {
        let url = Url::parse(url).map_err(|error| EndpointError(format!("`url` is not a URL: {error}")))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(EndpointError("`url` must begin with `https://` or `http://`".to_owned()));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(EndpointError("`url` must not contain a password; use a header or a token".to_owned()));
        }
        Ok(Self {
            url,
            headers: HeaderMap::new(),
            token: None,
            authorities: Authorities::platform(),
            #[cfg(feature = "oauth")]
            logins: None,
        })
    }

    /// Sets a header that is sent with each request.
    ///
    /// # Errors
    ///
    /// Returns an error if the name or the value is not valid in a header, or the protocol reserves the name.
    pub fn header(mut self, name: &str, value: &str) -> Result<Self, EndpointError> {
        let invalid = |reason: &str| EndpointError(format!("the header `{}` {reason}", name.escape_debug()));
        let header = HeaderName::try_from(name).map_err(|_| invalid("has an invalid name"))?;
        if RESERVED.contains(&header.as_str()) || header.as_str().starts_with("mcp-") {
            return Err(invalid("is reserved by the protocol"));
        }
        // The error must not contain the value, which may be a secret.
        let mut value = HeaderValue::try_from(value).map_err(|_| invalid("has a value with invalid characters"))?;
        value.set_sensitive(true);
        self.headers.insert(header, value);
        Ok(self)
    }

    /// Sets a bearer token that is sent with each request: `Authorization: Bearer …`.
    #[must_use]
    pub fn bearer(mut self, token: SecretString) -> Self {
        self.token = Some(token);
        self
    }

    /// Trusts the certificate authorities in a PEM file, given as text, in addition to those of the platform.
    ///
    /// # Errors
    ///
    /// Returns an error if the text has no certificate, or a malformed one.
    pub fn trust(mut self, pem: &str) -> Result<Self, EndpointError> {
        self.authorities.add_pem(pem).map_err(|invalid| EndpointError(invalid.to_string()))?;
        Ok(self)
    }

    /// Compares addresses and credentials. Endpoints of configuration files, which are compared, have no certificate
    /// authorities of their own.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let token = |endpoint: &Self| endpoint.token.as_ref().map(|token| token.expose().to_owned());
        let is_same = self.url == other.url && self.headers == other.headers && token(self) == token(other);
        #[cfg(feature = "oauth")]
        let is_same = is_same && self.logs_in_like(other);
        is_same
    }

    /// Returns the source of access tokens, if the server requires a login.
    pub(super) fn authorizer(&self) -> Result<Option<Arc<dyn Authorizer>>, BoxError> {
        #[cfg(feature = "oauth")]
        if let Some(logins) = &self.logins {
            return Ok(Some(logins.authorizer(&self.url, &self.authorities)?));
        }
        Ok(None)
    }

    pub(super) fn client(&self) -> Result<Client, BoxError> {
        let tls = match self.url.scheme() {
            "https" => self.authorities.tls()?,
            _ => Authorities::no_tls()?,
        };
        let same_host = Policy::custom(|attempt| {
            let is_same = attempt.previous().first().is_some_and(|first| first.origin() == attempt.url().origin());
            match is_same && attempt.previous().len() <= MAX_REDIRECTS {
                true => attempt.follow(),
                false => attempt.stop(),
            }
        });
        let client = Client::builder().tls_backend_preconfigured(tls).redirect(same_host);
        let client = if is_local(&self.url) { connect_locally(client) } else { client };
        Ok(client.build()?)
    }
}

/// Omits the query, which often contains keys, and the values of headers.
impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut url = self.url.clone();
        url.set_query(None);
        f.debug_struct("Endpoint")
            .field("url", &url.as_str())
            .field("headers", &self.headers.keys())
            .finish_non_exhaustive()
    }
}

/// The error for an invalid address, header or certificate.
///
/// # Examples
///
/// ```
/// use toolkit_mcp::client::Endpoint;
///
/// let error = Endpoint::new("https://user:password@example.com/mcp").unwrap_err();
/// assert_eq!(error.to_string(), "`url` must not contain a password; use a header or a token");
/// let error = Endpoint::new("https://example.com/mcp")?.header("mcp-session-id", "1").unwrap_err();
/// assert_eq!(error.to_string(), "the header `mcp-session-id` is reserved by the protocol");
/// # Ok::<(), toolkit_mcp::client::EndpointError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndpointError(String);

impl fmt::Display for EndpointError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for EndpointError {}
