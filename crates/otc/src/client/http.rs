//! HTTP requests to a server.

use std::fmt;
use std::future::Future;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, RETRY_AFTER};
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::Incoming;
use toolkit::ToolError;
use toolkit::call::ErrorKind;
use toolkit_runtime::{Connections, RequestError, ServerUrl, media_type, retry_after};

use crate::Auth;
use crate::error::OtcError;

/// A server and the settings of its connections.
#[derive(Clone)]
pub(super) struct Endpoint {
    /// The name of the backend.
    name: String,
    url: ServerUrl,
    connections: Connections,
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

/// A complete response.
pub(super) struct FullResponse {
    pub(super) status: StatusCode,
    pub(super) retry_after: Option<Duration>,
    pub(super) body: Bytes,
}

const TIMEOUT: Duration = Duration::from_secs(300);
const MAX_BODY_BYTES: usize = 16 << 20;

impl Endpoint {
    pub(super) fn new(name: &str, url: &str) -> Result<Self, OtcError> {
        let url = ServerUrl::parse(url).map_err(|reason| match reason {
            ServerUrl::HAS_PASSWORD => OtcError::Url("it must not contain a password; use `OtcBackend::auth`"),
            reason => OtcError::Url(reason),
        })?;
        Ok(Self {
            name: name.to_owned(),
            connections: Connections::to(&url),
            url,
            auth: Auth::none(),
            timeout: TIMEOUT,
            max_bytes: MAX_BODY_BYTES,
        })
    }

    pub(super) fn with_connect_timeout(self, limit: Duration) -> Self {
        Self { connections: self.connections.connect_timeout(limit), ..self }
    }

    pub(super) fn trusting(self, pem: &str) -> Result<Self, OtcError> {
        let connections = self.connections.clone().trust(pem);
        let connections = connections.map_err(|error| OtcError::Certificate(error.into()))?;
        Ok(Self { connections, ..self })
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
        let mut request = Request::builder().method(method).uri(self.url.at(path)).header(ACCEPT, accepts);
        if !body.is_empty() {
            request = request.header(CONTENT_TYPE, "application/json");
        }
        let mut request = request.body(Full::new(body)).map_err(ToolError::internal)?;
        request.headers_mut().extend(auth.map(|(name, value)| (Some(name), value)));
        self.connections.request(request).await.map_err(|error| match &error {
            RequestError::NoTls(_) => {
                self.unavailable("cannot be reached, since TLS is not available").caused_by(error)
            }
            RequestError::Untrusted(reason, _) => {
                let how = format!("is not trusted, so no request was sent: {reason}");
                self.unavailable(&how).caused_by(error)
            }
            RequestError::Unreachable(_) => self.unavailable("cannot be reached").caused_by(error),
            RequestError::Lost(_) => self.lost(loss, "disconnected before it responded").caused_by(error),
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
        fmt::Display::fmt(&self.url, f)
    }
}
