//! Protection against DNS rebinding and cross-site requests, and headers that must not be repeated.

use std::net::IpAddr;

use http::uri::Authority;
use http::{HeaderMap, HeaderName, HeaderValue, Uri, header};

use super::request_head::Rejection;
use crate::headers::is_loopback;

/// A check of the `Host` and `Origin` of requests.
///
/// All parts of a request that name a host must name an accepted one: the header `Host`, and the request target in
/// absolute form, which takes precedence over `Host` (RFC 9112, 3.2.2). A repeated header is rejected.
///
/// # Examples
///
/// ```
/// use http::{HeaderMap, HeaderValue, Uri, header};
/// use toolkit_runtime::HostGuard;
///
/// let guard = HostGuard::local().with_host("tools.example");
/// let mut headers = HeaderMap::new();
/// headers.insert(header::HOST, HeaderValue::from_static("localhost:8000"));
/// assert!(guard.check(&Uri::from_static("/mcp"), &headers).is_ok());
/// assert!(guard.check(&Uri::from_static("http://evil.example/mcp"), &headers).is_err());
/// headers.insert(header::ORIGIN, HeaderValue::from_static("https://evil.example"));
/// assert!(guard.check(&Uri::from_static("/mcp"), &headers).is_err());
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct HostGuard {
    hosts: Vec<String>,
    origins: Vec<String>,
    base: Base,
    /// True if pages of the host of the request are accepted.
    accepts_own_pages: bool,
    /// True if all requests are accepted.
    is_off: bool,
}

/// The hosts that are accepted without being listed.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Base {
    /// `localhost` and loopback addresses.
    Loopback,
    /// `localhost` and all IP addresses, which DNS rebinding cannot produce.
    Addresses,
    /// All hosts.
    Any,
}

impl HostGuard {
    /// Creates a guard that accepts `localhost` and loopback addresses, and pages of these origins.
    pub fn local() -> Self {
        Self { hosts: Vec::new(), origins: Vec::new(), base: Base::Loopback, accepts_own_pages: false, is_off: false }
    }

    /// Creates a guard that accepts `localhost` and all IP addresses, and pages of the host of the request.
    pub fn addresses() -> Self {
        Self { base: Base::Addresses, accepts_own_pages: true, ..Self::local() }
    }

    /// Creates a guard that accepts all hosts and origins, for a server behind a proxy that checks them.
    pub fn unchecked() -> Self {
        Self { is_off: true, ..Self::local() }
    }

    /// Accepts all hosts. The accepted origins do not change.
    pub fn with_any_host(self) -> Self {
        Self { base: Base::Any, ..self }
    }

    /// Accepts a host, with any port unless `host` has one.
    pub fn with_host(mut self, host: impl Into<String>) -> Self {
        self.hosts.push(host.into());
        self
    }

    /// Accepts pages of an origin, such as `https://example.com`.
    pub fn with_origin(mut self, origin: impl Into<String>) -> Self {
        self.origins.push(origin.into());
        self
    }

    /// Accepts pages of the host of the request, for a server that serves pages. The host itself is checked as before.
    ///
    /// # Examples
    ///
    /// ```
    /// use http::{HeaderMap, HeaderValue, Uri, header};
    /// use toolkit_runtime::HostGuard;
    ///
    /// let guard = HostGuard::local().with_host("tools.example");
    /// let mut headers = HeaderMap::new();
    /// headers.insert(header::HOST, HeaderValue::from_static("tools.example"));
    /// headers.insert(header::ORIGIN, HeaderValue::from_static("https://tools.example"));
    /// assert!(guard.check(&Uri::from_static("/"), &headers).is_err());
    /// assert!(guard.with_own_pages().check(&Uri::from_static("/"), &headers).is_ok());
    /// ```
    pub fn with_own_pages(self) -> Self {
        Self { accepts_own_pages: true, ..self }
    }

    /// Returns true if [`HostGuard::with_host`] has added a host.
    pub fn names_hosts(&self) -> bool {
        !self.hosts.is_empty()
    }

    /// Checks the host and the origin of a request.
    ///
    /// # Errors
    ///
    /// Returns a [`Rejection`] if the host or the origin is not accepted.
    pub fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Rejection> {
        if self.is_off {
            return Ok(());
        }
        let host = single(headers, header::HOST).map_err(|_| Rejection::Host)?;
        let host = host.map(|host| host.to_str()).transpose().map_err(|_| Rejection::Host)?;
        let target = uri.authority().map(Authority::as_str);
        if host.is_none() && target.is_none() && self.base != Base::Any {
            return Err(Rejection::Host);
        }
        if [host, target].into_iter().flatten().any(|host| !self.accepts_host(host)) {
            return Err(Rejection::Host);
        }
        let origin = single(headers, header::ORIGIN).map_err(|_| Rejection::Origin)?;
        match origin.map(|origin| origin.to_str()) {
            None => Ok(()),
            Some(Ok(origin)) if self.accepts_origin(origin) => Ok(()),
            // A page that this server itself has sent.
            Some(Ok(origin)) if self.accepts_own_pages && is_same_host(origin, target.or(host)) => Ok(()),
            Some(_) => Err(Rejection::Origin),
        }
    }

    fn accepts_host(&self, host: &str) -> bool {
        if self.base == Base::Any {
            return true;
        }
        let Some(name) = name_of(host) else { return false };
        let is_named = |named: &String| named.eq_ignore_ascii_case(host) || named.eq_ignore_ascii_case(name);
        let is_base = match self.base {
            Base::Loopback => is_loopback(name),
            Base::Addresses => name.eq_ignore_ascii_case("localhost") || address_of(name).is_some(),
            Base::Any => true,
        };
        is_base || self.hosts.iter().any(is_named)
    }

    /// Returns true if pages of this origin may send requests and read the responses.
    pub fn accepts_origin(&self, origin: &str) -> bool {
        if self.origins.iter().any(|accepted| accepted.eq_ignore_ascii_case(origin)) {
            return true;
        }
        if self.base == Base::Addresses {
            return false;
        }
        let host = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        host.and_then(name_of).is_some_and(is_loopback)
    }
}

fn is_same_host(origin: &str, host: Option<&str>) -> bool {
    let origin = origin.split_once("://").map(|(_, host)| host);
    origin.zip(host).is_some_and(|(origin, host)| origin.eq_ignore_ascii_case(host))
}

fn address_of(name: &str) -> Option<IpAddr> {
    match name.strip_prefix('[') {
        Some(name) => name.strip_suffix(']')?.parse().ok().map(IpAddr::V6),
        None => name.parse().ok().map(IpAddr::V4),
    }
}

/// Returns the host without its port, or `None` if the text is not a host with an optional port.
fn name_of(host: &str) -> Option<&str> {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    let is_bracketed = name.starts_with('[') && name.ends_with(']');
    let is_other = |byte| matches!(byte, b'@' | b'/' | b'?' | b'#') || (byte == b':' && !is_bracketed);
    let has_others = name.bytes().any(is_other);
    (!name.is_empty() && !has_others).then_some(name)
}

/// Returns the value of a header that must not be repeated.
///
/// # Errors
///
/// Returns the name of the header if it is repeated, since a proxy in front of the server may read another one of the
/// values.
pub fn single(headers: &HeaderMap, name: HeaderName) -> Result<Option<&HeaderValue>, HeaderName> {
    let mut values = headers.get_all(&name).iter();
    match (values.next(), values.next()) {
        (value, None) => Ok(value),
        (_, Some(_)) => Err(name),
    }
}

/// Compares a token of a client with that of the server in constant time. An empty one never matches.
///
/// # Examples
///
/// ```
/// use toolkit_runtime::is_token;
///
/// assert!(is_token("tlw9tPDk3ULX0Gq5", "tlw9tPDk3ULX0Gq5"));
/// assert!(!is_token("", "") && !is_token("tlw9", "tlw9tPDk3ULX0Gq5"));
/// ```
pub fn is_token(sent: &str, expected: &str) -> bool {
    let (sent, expected) = (sent.as_bytes(), expected.as_bytes());
    let differs = std::iter::zip(sent, expected).fold(0, |differs, (a, b)| std::hint::black_box(differs | (a ^ b)));
    !expected.is_empty() && sent.len() == expected.len() && differs == 0
}

/// Returns the token of `Authorization: Bearer …`, or `None` if the header is missing, repeated, or has another scheme.
///
/// # Examples
///
/// ```
/// use http::{HeaderMap, HeaderValue, header};
///
/// let mut headers = HeaderMap::new();
/// headers.insert(header::AUTHORIZATION, HeaderValue::from_static("Bearer secret"));
/// assert_eq!(toolkit_runtime::bearer(&headers), Some("secret"));
/// ```
pub fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = single(headers, header::AUTHORIZATION).ok()??.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}
