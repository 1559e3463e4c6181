//! HTTP requests to a server of sandboxes, at its address.

use std::fmt;

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue, LOCATION};
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::Incoming;
use toolkit::call::SecretString;
use toolkit_runtime::{Connections, PemError, ServerUrl, is_loopback};

use super::super::super::wire::{self, GREETING_BYTES, ToHost, WireError};
use super::super::SandboxError;
use super::super::exchange::protocol;

/// A server and the connections to it.
#[derive(Clone)]
pub(super) struct Client {
    url: ServerUrl,
    authorization: HeaderValue,
    connections: Connections,
}

/// A response with its body.
pub(super) struct Received {
    pub(super) location: Option<HeaderValue>,
    pub(super) body: Bytes,
}

/// The maximum number of characters of a reason that the server gives.
const MAX_REASON: usize = 500;

impl Client {
    pub(super) fn new(url: &str, token: SecretString, is_unencrypted: bool) -> Result<Self, UrlError> {
        let url = ServerUrl::parse(url).map_err(UrlError)?;
        if !url.is_https() && !is_unencrypted && !is_loopback(url.authority().host()) {
            return Err(UrlError("it must begin with `https://`, since the token and the programs are secret"));
        }
        let authorization = HeaderValue::from_str(&format!("Bearer {}", token.expose()));
        let mut authorization =
            authorization.map_err(|_| UrlError("the token has characters that a header cannot have"))?;
        authorization.set_sensitive(true);
        Ok(Self { connections: Connections::new(url.is_https()), url, authorization })
    }

    pub(super) fn trusting(self, pem: &str) -> Result<Self, PemError> {
        Ok(Self { connections: self.connections.trust(pem)?, ..self })
    }

    /// Returns the host with its port, for operators.
    pub(super) fn host(&self) -> String {
        self.url.authority().to_string()
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
            .uri(self.url.at(path))
            .header(AUTHORIZATION, self.authorization.clone())
            .header(CONTENT_TYPE, "application/json")
            .body(Full::from(body))
            .map_err(|error| unavailable(error.to_string()))?;
        let response = self.connections.request(request).await;
        receive(response.map_err(|error| unavailable(error.to_string()))?, max).await
    }
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

/// The error for a text that is not the URL of a [`Server`](crate::server::Server), or for its token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UrlError(&'static str);

impl fmt::Display for UrlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not the URL of a sandbox: {}", self.0)
    }
}

impl std::error::Error for UrlError {}
