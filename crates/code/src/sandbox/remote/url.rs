//! The addresses of servers.

use std::fmt;

use http::Uri;
use http::uri::{Authority, Scheme};

/// The address of a server.
#[derive(Clone)]
pub(super) struct Address {
    pub(super) scheme: Scheme,
    pub(super) authority: Authority,
    /// The prefix of all paths, without a slash at the end.
    base: String,
}

impl Address {
    pub(super) fn new(url: &str, is_unencrypted: bool) -> Result<Self, UrlError> {
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
    pub(super) fn url(&self, path: &str) -> String {
        format!("{}://{}{}{path}", self.scheme, self.authority, self.base)
    }
}

fn is_loopback(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || address.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// The error for a text that is not the URL of a [`Server`](crate::server::Server), or for its token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UrlError(pub(super) &'static str);

impl fmt::Display for UrlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not the URL of a sandbox: {}", self.0)
    }
}

impl std::error::Error for UrlError {}
