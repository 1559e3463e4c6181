//! The address of a server that is reached over HTTP, and its credentials.

#[cfg(feature = "oauth")]
mod login;

use std::error::Error;
use std::fmt;
use std::sync::Arc;

#[cfg(feature = "oauth")]
use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderName, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Client, Url};
use toolkit::call::{BoxError, RequestParts, SecretString};
use toolkit_runtime::Authorities;

#[cfg(feature = "oauth")]
pub use self::login::CredentialSource;
use super::authorizer::{Authorizer, connect_locally, is_local};
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
/// use toolkit_mcp_client::{Endpoint, McpBackend};
///
/// # fn main() -> Result<(), toolkit_mcp_client::ConfigError> {
/// let endpoint = Endpoint::new("https://example.com/mcp")?
///     .header("x-region", "eu")?
///     .bearer("s3cr3t".to_owned().into());
/// let backend = McpBackend::http("search", endpoint);
/// assert!(Endpoint::new("ftp://example.com").is_err());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
#[must_use]
pub struct Endpoint {
    pub(super) url: Url,
    pub(super) headers: HeaderMap,
    /// The headers of callers that are passed on.
    pub(super) forwarded: Vec<Forwarded>,
    pub(super) token: Option<SecretString>,
    /// True if the server has the transport of revision 2024-11-05.
    pub(super) is_sse: bool,
    pub(super) authorities: Authorities,
    #[cfg(feature = "oauth")]
    pub(super) logins: Option<Logins>,
}

/// A header of callers that is passed on.
#[derive(Clone, PartialEq)]
pub(super) struct Forwarded {
    /// The name for the server.
    pub(super) name: HeaderName,
    /// The name that the header has in the request of the caller.
    pub(super) from: HeaderName,
    /// True for credentials, without which a request is not sent.
    pub(super) is_credential: bool,
}

/// Parses the name of a header that the transport does not set itself.
fn header_name(name: &str) -> Result<HeaderName, ConfigError> {
    let invalid = |reason: &str| ConfigError::new(format!("the header `{}` {reason}", name.escape_debug()));
    let header = HeaderName::try_from(name).map_err(|_| invalid("has an invalid name"))?;
    match RESERVED.contains(&header.as_str()) || header.as_str().starts_with("mcp-") {
        true => Err(invalid("is reserved by the protocol")),
        false => Ok(header),
    }
}

/// The headers that the transport sets.
const RESERVED: &[&str] = &["accept", "content-type", "content-length", "host", "last-event-id", "transfer-encoding"];

const MAX_REDIRECTS: usize = 5;

impl Endpoint {
    /// Creates an endpoint for the server at `url`, such as `https://example.com/mcp`.
    ///
    /// # Errors
    ///
    /// Returns an error if `url` is not a URL with the scheme `https` or `http`, or contains a password.
    pub fn new(url: &str) -> Result<Self, ConfigError> {
        let url =
            Url::parse(url).map_err(|error| ConfigError::caused_by(format!("`url` is not a URL: {error}"), error))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(ConfigError::new("`url` must begin with `https://` or `http://`"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(ConfigError::new("`url` must not contain a password; use a header or a token"));
        }
        Ok(Self {
            url,
            headers: HeaderMap::new(),
            forwarded: Vec::new(),
            token: None,
            is_sse: false,
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
    pub fn header(mut self, name: &str, value: &str) -> Result<Self, ConfigError> {
        let header = header_name(name)?;
        let invalid = |reason: &str| ConfigError::new(format!("the header `{}` {reason}", name.escape_debug()));
        // The error must not contain the value, which may be a secret.
        let mut value = HeaderValue::try_from(value).map_err(|_| invalid("has a value with invalid characters"))?;
        value.set_sensitive(true);
        self.headers.insert(header, value);
        Ok(self)
    }

    /// Passes a header of the HTTP request of a caller on to this server, with each of its calls. `name` is the name for the
    /// server, and `from` that of the caller. Without such a header, none is sent. By default, a server receives nothing of
    /// its callers.
    ///
    /// Headers with credentials ([`RequestParts`](toolkit::call::RequestParts)) need
    /// [`forward_credential`](Self::forward_credential).
    ///
    /// # Errors
    ///
    /// Returns an error if one of the names is not valid in a header, or the protocol reserves it.
    ///
    /// # Examples
    ///
    /// ```
    /// use toolkit_mcp_client::{Endpoint, McpBackend};
    ///
    /// # fn main() -> Result<(), toolkit_mcp_client::ConfigError> {
    /// let endpoint = Endpoint::new("https://example.com/mcp")?.forward_header("x-tenant", "x-tenant")?;
    /// let backend = McpBackend::http("search", endpoint);
    /// # Ok(())
    /// # }
    /// ```
    pub fn forward_header(mut self, name: &str, from: &str) -> Result<Self, ConfigError> {
        let (name, from) = (header_name(name)?, header_name(from)?);
        let probe = RequestParts::new().with_header(from.as_str(), "");
        if probe.header(from.as_str()).is_none() {
            return Err(ConfigError::new(format!(
                "the header `{from}` may have credentials; use `forwardCredentials`"
            )));
        }
        self.forwarded.push(Forwarded { name, from, is_credential: false });
        Ok(self)
    }

    /// Passes a header with credentials of a caller on to this server, like [`forward_header`](Self::forward_header). It
    /// replaces a header or a token of the endpoint with the same name, which is then used for lists only. A call, a prompt
    /// and a resource of a caller without the header are errors of kind
    /// [`ErrorKind::MissingRequirements`](toolkit::call::ErrorKind::MissingRequirements).
    ///
    /// The server receives whatever the caller has sent: use it for servers that may act for each caller. A bearer token
    /// that this program itself checks is never passed on, since it is for this program.
    ///
    /// # Errors
    ///
    /// Returns an error if one of the names is not valid in a header, or the protocol reserves it, if `from` is not a name
    /// for credentials, or if the endpoint has a login that sets the same header.
    ///
    /// # Examples
    ///
    /// ```
    /// use toolkit_mcp_client::{Endpoint, McpBackend};
    ///
    /// # fn main() -> Result<(), toolkit_mcp_client::ConfigError> {
    /// let endpoint = Endpoint::new("https://example.com/mcp")?.forward_credential("authorization", "x-search-token")?;
    /// let backend = McpBackend::http("search", endpoint);
    /// # Ok(())
    /// # }
    /// ```
    pub fn forward_credential(mut self, name: &str, from: &str) -> Result<Self, ConfigError> {
        let (name, from) = (header_name(name)?, header_name(from)?);
        let probe = RequestParts::new().with_header(from.as_str(), "");
        if probe.credential(from.as_str()).is_none() {
            return Err(ConfigError::new(format!(
                "the header `{from}` is not one with credentials; use `forwardHeaders`"
            )));
        }
        #[cfg(feature = "oauth")]
        if self.logins.is_some() && name == AUTHORIZATION {
            return Err(ConfigError::new(format!("the header `{name}` is set by the login of the endpoint")));
        }
        self.forwarded.push(Forwarded { name, from, is_credential: true });
        Ok(self)
    }

    /// Uses the transport HTTP+SSE of revision 2024-11-05, which Streamable HTTP has replaced. The URL is that of the stream
    /// of events, such as `https://example.com/sse`.
    pub fn sse(self) -> Self {
        Self { is_sse: true, ..self }
    }

    /// Sets a bearer token that is sent with each request: `Authorization: Bearer …`.
    pub fn bearer(mut self, token: SecretString) -> Self {
        self.token = Some(token);
        self
    }

    /// Trusts the certificate authorities in a PEM file, given as text, in addition to those of the platform.
    ///
    /// # Errors
    ///
    /// Returns an error if the text has no certificate, or a malformed one.
    pub fn trust(mut self, pem: &str) -> Result<Self, ConfigError> {
        self.authorities.add_pem(pem).map_err(|invalid| ConfigError::caused_by(invalid.to_string(), invalid))?;
        Ok(self)
    }

    /// Compares addresses and credentials. Endpoints of configuration files, which are compared, have no certificate
    /// authorities of their own.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let token = |endpoint: &Self| endpoint.token.as_ref().map(|token| token.expose().to_owned());
        let is_same = self.url == other.url && self.headers == other.headers && token(self) == token(other);
        let is_same = is_same && self.forwarded == other.forwarded && self.is_sse == other.is_sse;
        #[cfg(feature = "oauth")]
        let is_same = is_same && self.logs_in_like(other);
        is_same
    }

    /// Returns true if the tokens of callers are exchanged for those of the server.
    pub(super) fn exchanges_tokens(&self) -> bool {
        #[cfg(feature = "oauth")]
        return self.logins.as_ref().is_some_and(|logins| logins.settings.exchanges);
        #[cfg(not(feature = "oauth"))]
        false
    }

    /// Returns the source of access tokens, if the server requires a login.
    pub(super) fn authorizer(&self) -> Result<Option<Arc<dyn Authorizer>>, BoxError> {
        #[cfg(feature = "oauth")]
        if let Some(logins) = &self.logins {
            return Ok(Some(Arc::new(logins.authorization(&self.url, &self.authorities)?)));
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

/// The error for an invalid address, header or certificate, and for an unreadable configuration file.
///
/// # Examples
///
/// ```
/// use toolkit_mcp_client::{Endpoint, McpServers};
///
/// let error = Endpoint::new("https://user:password@example.com/mcp").unwrap_err();
/// assert_eq!(error.to_string(), "`url` must not contain a password; use a header or a token");
/// let error = Endpoint::new("https://example.com/mcp")?.header("mcp-session-id", "1").unwrap_err();
/// assert_eq!(error.to_string(), "the header `mcp-session-id` is reserved by the protocol");
/// let error = McpServers::from_json(r#"{"theme": "dark"}"#).unwrap_err();
/// assert_eq!(error.to_string(), "the object `mcpServers` is missing");
/// let error = McpServers::from_json("{").unwrap_err();
/// assert!(error.to_string().starts_with("the text is not JSON: "));
/// # Ok::<(), toolkit_mcp_client::ConfigError>(())
/// ```
#[derive(Clone, Debug)]
pub struct ConfigError {
    message: String,
    source: Option<Arc<dyn Error + Send + Sync>>,
}

impl ConfigError {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), source: None }
    }

    pub(super) fn caused_by(message: String, source: impl Error + Send + Sync + 'static) -> Self {
        Self { message, source: Some(Arc::new(source)) }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for ConfigError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}
