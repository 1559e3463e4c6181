//! Where a server is that is reached over HTTP, and what is sent to be let in.

use std::fmt;

use http::{HeaderMap, HeaderName, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Client, Url};
use toolkit::call::SecretString;
use toolkit_http::Authorities;

/// Where a server is that is reached over HTTP, and what is sent to be let in.
///
/// Its certificate is checked as the platform checks those of others: by its store, or on Linux by the file that
/// `SSL_CERT_FILE` names, where it is set. [`Endpoint::trust`] adds to that. A redirect is followed to the same host only, so
/// that what lets in is shown to nobody else.
#[derive(Clone)]
pub struct Endpoint {
    pub(super) url: Url,
    pub(super) headers: HeaderMap,
    pub(super) token: Option<SecretString>,
    authorities: Authorities,
}

/// What the protocol itself says in headers.
const RESERVED: &[&str] = &["accept", "content-type", "content-length", "host", "last-event-id", "transfer-encoding"];

const MAX_REDIRECTS: usize = 5;

impl Endpoint {
    /// The server at `url`, such as `https://example.com/mcp`.
    ///
    /// # Errors
    ///
    /// It is no URL that begins with `https://` or `http://`, or it has a password in it.
    pub fn new(url: &str) -> Result<Self, InvalidEndpoint> {
        let url = Url::parse(url).map_err(|error| InvalidEndpoint(format!("`url` is none: {error}")))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(InvalidEndpoint("`url` has to begin with `https://` or `http://`".to_owned()));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(InvalidEndpoint("`url` has a password in it; give it as a header or a token".to_owned()));
        }
        Ok(Self { url, headers: HeaderMap::new(), token: None, authorities: Authorities::platform() })
    }

    /// Sends a header with every request, in place of any of that name.
    ///
    /// # Errors
    ///
    /// The name or the value cannot stand in a header, or the protocol itself uses it.
    pub fn header(mut self, name: &str, value: &str) -> Result<Self, InvalidEndpoint> {
        let invalid = |reason: &str| InvalidEndpoint(format!("the header `{}` {reason}", name.escape_debug()));
        let header = HeaderName::try_from(name).map_err(|_| invalid("has no name that a header can have"))?;
        if RESERVED.contains(&header.as_str()) || header.as_str().starts_with("mcp-") {
            return Err(invalid("is used by the protocol itself"));
        }
        // The value is not shown: it may let somebody in.
        let mut value = HeaderValue::try_from(value).map_err(|_| invalid("has characters that no header has"))?;
        value.set_sensitive(true);
        self.headers.insert(header, value);
        Ok(self)
    }

    /// Shows a token with every request: `Authorization: Bearer …`.
    #[must_use]
    pub fn bearer(mut self, token: SecretString) -> Self {
        self.token = Some(token);
        self
    }

    /// Trusts the certificates that these authorities sign, for this server, beside those that the platform trusts. They
    /// are given as PEM, as in the file of an organisation's own authority.
    ///
    /// # Errors
    ///
    /// There is no certificate in it, or something else where one should be.
    pub fn trust(mut self, pem: &str) -> Result<Self, InvalidEndpoint> {
        self.authorities.add_pem(pem).map_err(|invalid| InvalidEndpoint(invalid.to_string()))?;
        Ok(self)
    }

    pub(super) fn client(&self) -> Result<Client, Box<dyn std::error::Error + Send + Sync>> {
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
        Ok(Client::builder().tls_backend_preconfigured(tls).redirect(same_host).build()?)
    }
}

/// Without the query, where keys often stand, and without the values of headers.
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

/// What cannot be the address of a server, or cannot be sent to one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidEndpoint(String);

impl fmt::Display for InvalidEndpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for InvalidEndpoint {}
