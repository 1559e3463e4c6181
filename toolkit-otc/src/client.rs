//! The side that calls tools of another program.

mod answer;
mod events;
mod http;
mod request;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use ::http::StatusCode;
use serde::Deserialize;
use serde_json::Value;
use toolkit::ToolError;
use toolkit::backend::{Answer, Backend, BackendCall, Offers};
use toolkit::call::ErrorKind;
use toolkit::catalog::{Diagnostic, DiagnosticKind};
use toolkit::dispatch::BoxFuture;
use toolkit::tool::{BackendKind, ToolBackend};
use toolkit::{Manifest, Tool};

pub use toolkit_http::InvalidCertificate;

pub use self::http::InvalidUrl;
use self::http::{Endpoint, Got};
use crate::wire::EVENT_STREAM;
use crate::{Auth, Definition};

/// The tools that a server of Open Tool Calling has, as a [`Backend`].
///
/// Its tools are in the namespace of their toolkit. A call sends the credentials that the tool requires, and no others.
/// A server that cannot be reached, or goes away while it runs a call, is
/// [`ErrorKind::Unavailable`], and the next call tries again.
///
/// Dropping the future of a call closes its connection, from which the server sees that nobody waits any more.
#[derive(Clone)]
pub struct OtcBackend {
    name: Arc<str>,
    endpoint: Endpoint,
}

/// The `call_id` of a call, for a host that makes the same call again and wants it to run once. Without one in the
/// [`Context`](toolkit::Context), every call gets a fresh one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CallId(pub String);

impl OtcBackend {
    /// Creates the backend for the server at `url`, such as `https://tools.example.org`; paths are appended to it.
    ///
    /// With `https`, the certificate of the server is checked as the platform does, or on Linux against the file that
    /// `SSL_CERT_FILE` names; [`OtcBackend::trust`] adds authorities. With `http`, credentials and results travel
    /// unencrypted: it is for servers on the same machine.
    ///
    /// # Errors
    ///
    /// The URL is not one, does not begin with `https://` or `http://`, or has a password or a query.
    pub fn new(name: &str, url: &str) -> Result<Self, InvalidUrl> {
        Ok(Self { name: name.into(), endpoint: Endpoint::new(name, url)? })
    }

    /// Says how to show that this program may come in.
    #[must_use]
    pub fn auth(mut self, auth: Auth) -> Self {
        self.endpoint.auth = auth;
        self
    }

    /// Trusts the certificates that these authorities sign, beside those that the platform trusts. They are given as PEM,
    /// as in the file of an organization's own authority.
    ///
    /// # Errors
    ///
    /// The text has no certificate, or something else where one should be.
    pub fn trust(mut self, pem: &str) -> Result<Self, InvalidCertificate> {
        self.endpoint = self.endpoint.trusting(pem)?;
        Ok(self)
    }

    /// How long one request may take, calls included: five minutes by default. The limits of a dispatcher hold as well.
    #[must_use]
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.endpoint.timeout = limit;
        self
    }

    /// How long a connection may take to be made: ten seconds by default.
    #[must_use]
    pub fn connect_timeout(mut self, limit: Duration) -> Self {
        self.endpoint = self.endpoint.with_connect_timeout(limit);
        self
    }

    /// How long a message may be, in either direction, each event of a stream by itself: 16 MiB by default.
    #[must_use]
    pub fn max_body_bytes(mut self, n_bytes: usize) -> Self {
        self.endpoint.max_bytes = n_bytes;
        self
    }

    async fn list(&self) -> Result<Offers, ToolError> {
        let Got { status, body, .. } = self.endpoint.get("/tools").await?;
        if status != StatusCode::OK {
            return Err(answer::refused(&self.endpoint, status, None, &body));
        }
        let list: List = serde_json::from_slice(&body)
            .map_err(|error| self.endpoint.unreadable("to `GET /tools` with no list of tools").caused_by(error))?;
        if list.tools.len() > Manifest::MAX_TOOLS {
            let n_tools = list.tools.len();
            return Err(self.endpoint.unreadable(&format!("with {n_tools} tools, which are too many to read")));
        }
        let (mut tools, mut diagnostics) = (Vec::new(), Vec::new());
        for definition in &list.tools {
            match self.offer(definition) {
                Ok(offer) => tools.push(offer),
                Err(wrong) => diagnostics.extend(wrong),
            }
        }
        Ok(Offers::new(tools).with_diagnostics(diagnostics))
    }

    fn offer(&self, json: &Value) -> Result<(Tool, ToolBackend), Vec<Diagnostic>> {
        let malformed = |message: String| {
            vec![Diagnostic::new(DiagnosticKind::Malformed, format!("{} has {message}", self.endpoint), [])]
        };
        let definition = Definition::from_json(json).map_err(|error| malformed(format!("what is {error}")))?;
        let tool = definition.to_tool().map_err(|diagnostics| diagnostics.iter().cloned().collect::<Vec<_>>())?;
        let target = ToolBackend::provider(&*self.name, definition.id().to_string());
        Ok((tool, target.map_err(|error| malformed(error.to_string()))?))
    }

    async fn run(&self, call: BackendCall<'_>) -> Result<Answer, ToolError> {
        let ToolBackend::Provider { tool_id, .. } = call.target() else {
            let message = format!("{} has no such tool", self.endpoint);
            return Err(ToolError::new(ErrorKind::NoBackend, message));
        };
        let body = request::body(&call, tool_id)?;
        let hears_events = call.is_streamed() || call.context().is_listened_to();
        let accepts = if hears_events { "text/event-stream, application/json" } else { "application/json" };
        let response = self.endpoint.post("/tools/call", body, accepts).await?;
        if response.status() == StatusCode::OK && http::is(&response, EVENT_STREAM) {
            return events::read(&self.endpoint, &call, response.into_body()).await;
        }
        let Got { status, retry_after, body } = self.endpoint.whole(response).await?;
        match status {
            StatusCode::OK => answer::of_message(&self.endpoint, &body),
            status => Err(answer::refused(&self.endpoint, status, retry_after, &body)),
        }
    }
}

/// The answer to `GET /tools`.
#[derive(Deserialize)]
struct List {
    // One of the published documents calls them so.
    #[serde(alias = "items")]
    tools: Vec<Value>,
}

impl Backend for OtcBackend {
    fn name(&self) -> &str {
        &self.name
    }

    fn kind(&self) -> BackendKind {
        BackendKind::Provider
    }

    fn tools(&self) -> BoxFuture<'_, Result<Offers, ToolError>> {
        Box::pin(self.endpoint.within(self.list()))
    }

    fn call<'a>(&'a self, call: BackendCall<'a>) -> BoxFuture<'a, Result<Answer, ToolError>> {
        Box::pin(self.endpoint.within(self.run(call)))
    }

    fn health(&self) -> BoxFuture<'_, Result<(), ToolError>> {
        Box::pin(self.endpoint.within(async {
            let Got { status, retry_after, body } = self.endpoint.get("/health").await?;
            match status.is_success() {
                true => Ok(()),
                false => Err(answer::refused(&self.endpoint, status, retry_after, &body)),
            }
        }))
    }
}

impl fmt::Debug for OtcBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OtcBackend").field("name", &self.name).field("endpoint", &self.endpoint).finish()
    }
}
