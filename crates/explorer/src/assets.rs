//! The files of the page, as they are in the source, the headers of responses, and the check of those that browsers add to
//! requests.

use bytes::Bytes;
use http::header::{self, HeaderName, HeaderValue};
use http::{HeaderMap, Response, StatusCode};
use sha2::{Digest as _, Sha256};
use toolkit_mcp_server::Body;

/// A script or a style.
pub(crate) struct Asset {
    pub(crate) name: &'static str,
    pub(crate) text: &'static str,
}

macro_rules! assets {
    ($($name:literal),* $(,)?) => {
        &[$(Asset { name: $name, text: include_str!(concat!("web/", $name)) }),*]
    };
}

pub(crate) const ASSETS: &[Asset] = assets![
    "base.css",
    "layout.css",
    "form.css",
    "content.css",
    "ask.js",
    "catalog.js",
    "controls.js",
    "dom.js",
    "form.js",
    "history.js",
    "json.js",
    "lists.js",
    "main.js",
    "mcp.js",
    "objects.js",
    "prose.js",
    "recent.js",
    "result.js",
    "schema.js",
    "search.js",
    "session.js",
    "slot.js",
    "snippets.js",
    "sse.js",
    "start.js",
    "theme.js",
    "token.js",
    "tool.js",
    "tree.js",
    "violations.js",
];

impl Asset {
    pub(crate) fn kind(&self) -> &'static str {
        match self.name.ends_with(".css") {
            true => "text/css; charset=utf-8",
            false => "text/javascript; charset=utf-8",
        }
    }
}

/// A hash of all files. It is part of their addresses, so that a browser never combines files of two versions.
#[derive(Clone, Debug)]
pub(crate) struct Version(String);

impl Version {
    pub(crate) fn new() -> Self {
        let mut hash = Sha256::new();
        for asset in ASSETS {
            hash.update(asset.name);
            hash.update(asset.text);
        }
        Self(hash.finalize()[..8].iter().map(|byte| format!("{byte:02x}")).collect())
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// Returns the file at an address.
pub(crate) fn find(current: &Version, version: &str, name: &str) -> Option<&'static Asset> {
    ASSETS.iter().find(|asset| asset.name == name && current.0 == version)
}

/// The content security policy of the page. Its scripts and styles are files of this server, and no string becomes markup
/// or code. Images and audio in results are data.
pub(crate) const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
    img-src data: blob:; media-src data: blob:; frame-src 'none'; base-uri 'none'; form-action 'none'; \
    frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

const COMMON: [(HeaderName, &str); 6] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (
        HeaderName::from_static("permissions-policy"),
        "camera=(), microphone=(), geolocation=(), clipboard-read=(), display-capture=(), payment=(), usb=()",
    ),
];

/// The time for which a response may be stored.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Cache {
    /// Not at all, since it is data of a caller or changes with the program.
    Never,
    /// As long as the browser wants, since the address contains a hash of the content.
    Always,
}

/// Creates a response with the headers that all responses have.
pub(crate) fn respond(status: StatusCode, kind: &'static str, cache: Cache, body: impl Into<Body>) -> Response<Body> {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    let headers = response.headers_mut();
    for (name, value) in COMMON {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    let cache = match cache {
        Cache::Never => "no-store",
        Cache::Always => "public, max-age=31536000, immutable",
    };
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(cache));
    response
}

/// Creates an error that a person reads.
pub(crate) fn error(status: StatusCode, message: &'static str) -> Response<Body> {
    respond(status, "text/plain; charset=utf-8", Cache::Never, Bytes::from_static(message.as_bytes()))
}

/// Returns true if the browser made the request for a page of this origin, or for its user.
///
/// Other pages, also of other ports of this machine, cannot embed, read or probe the page. Programs do not send the header.
pub(crate) fn is_own(headers: &HeaderMap) -> bool {
    let mut sites = headers.get_all("sec-fetch-site").iter();
    match (sites.next(), sites.next()) {
        (None, _) => true,
        (Some(site), None) => site == "same-origin" || site == "none",
        (Some(_), Some(_)) => false,
    }
}
