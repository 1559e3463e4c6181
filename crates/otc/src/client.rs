//! The client: the tools of a server as a backend.

mod http;
mod response;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use ::http::StatusCode;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use toolkit::backend::{Backend, BackendCall, BackendResponse, OfferedTools};
use toolkit::call::ErrorKind;
use toolkit::catalog::{Diagnostic, DiagnosticKind};
use toolkit::dispatch::BoxFuture;
use toolkit::tool::{BackendKind, ToolBackend};
use toolkit::{Manifest, Tool, ToolError};
use uuid::Uuid;

use self::http::{Endpoint, FullResponse, Loss};
use crate::error::OtcError;
use crate::wire::{CallContext, CallMessage, CallRequest, EVENT_STREAM, SCHEMA, SecretValue, Token};
use crate::{Auth, Definition, TraceId};

/// A server of Open Tool Calling as a [`Backend`].
///
/// The namespace of a tool is its toolkit. A call sends only the credentials that the tool requires. If the server
/// cannot be reached, calls fail with [`ErrorKind::Unavailable`], and the next call tries again. If the server
/// disconnects during a call, the call fails with [`ErrorKind::OutcomeUnknown`].
///
/// Dropping the future of a call closes its connection, and the server then cancels the call.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use toolkit_otc::{Auth, OtcBackend};
///
/// # fn main() -> Result<(), toolkit_otc::OtcError> {
/// let backend = OtcBackend::new("calculator", "https://tools.example.org")?
///     .auth(Auth::api_key("s3cr3t"))
///     .timeout(Duration::from_secs(30))
///     .connect_timeout(Duration::from_secs(5))
///     .max_body_bytes(1 << 20);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
#[must_use]
pub struct OtcBackend {
    name: Arc<str>,
    endpoint: Endpoint,
}

impl OtcBackend {
    /// Creates a backend for the server at `url`, such as `https://tools.example.org`. The paths of requests are
    /// appended to it.
    ///
    /// For `https`, certificates are verified with the platform's certificate store; on Linux, the environment variable
    /// `SSL_CERT_FILE` selects another file. [`OtcBackend::trust`] adds certificate authorities. With `http`,
    /// credentials and results are not encrypted, so use it only for servers on the same machine.
    ///
    /// # Errors
    ///
    /// Returns an error if `url` is not a URL with the scheme `https` or `http`, or contains a password or a query.
    pub fn new(name: &str, url: &str) -> Result<Self, OtcError> {
        Ok(Self { name: name.into(), endpoint: Endpoint::new(name, url)? })
    }

    /// Sets the authentication. Default: [`Auth::none`].
    pub fn auth(mut self, auth: Auth) -> Self {
        self.endpoint.auth = auth;
        self
    }

    /// Trusts the certificate authorities in a PEM file, given as text, in addition to those of the platform.
    ///
    /// # Errors
    ///
    /// Returns an error if the text has no certificate, or a malformed one.
    pub fn trust(mut self, pem: &str) -> Result<Self, OtcError> {
        self.endpoint = self.endpoint.trusting(pem)?;
        Ok(self)
    }

    /// Sets the timeout of a request, including calls. The limits of the dispatcher apply too. Default: 5 minutes.
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.endpoint.timeout = limit;
        self
    }

    /// Sets the timeout of connecting. Default: 10 s.
    pub fn connect_timeout(mut self, limit: Duration) -> Self {
        self.endpoint = self.endpoint.with_connect_timeout(limit);
        self
    }

    /// Sets the maximum size of a request, a response, or an event, in bytes. Default: 16 MiB.
    pub fn max_body_bytes(mut self, n_bytes: usize) -> Self {
        self.endpoint.max_bytes = n_bytes;
        self
    }

    async fn list(&self) -> Result<OfferedTools, ToolError> {
        let FullResponse { status, body, .. } = self.endpoint.get("/tools").await?;
        if status != StatusCode::OK {
            return Err(response::rejection(&self.endpoint, Loss::IsHarmless, status, None, &body));
        }
        let list: List = serde_json::from_slice(&body).map_err(|error| {
            self.endpoint.invalid_response("to `GET /tools` without a list of tools").caused_by(error)
        })?;
        if list.tools.len() > Manifest::MAX_TOOLS {
            let n_tools = list.tools.len();
            return Err(self
                .endpoint
                .invalid_response(&format!("with {n_tools} tools, at most {} are supported", Manifest::MAX_TOOLS)));
        }
        let (mut tools, mut diagnostics) = (Vec::new(), Vec::new());
        for definition in &list.tools {
            match self.offer(definition) {
                Ok(offer) => tools.push(offer),
                Err(wrong) => diagnostics.extend(wrong),
            }
        }
        Ok(OfferedTools::new(tools).with_diagnostics(diagnostics))
    }

    fn offer(&self, json: &Value) -> Result<(Tool, ToolBackend), Vec<Diagnostic>> {
        let malformed = |message: String| {
            vec![Diagnostic::new(
                DiagnosticKind::Malformed,
                format!("{} lists an invalid tool: {message}", self.endpoint),
                [],
            )]
        };
        let definition = Definition::from_json(json).map_err(|error| malformed(error.to_string()))?;
        let tool = definition.to_tool().map_err(|diagnostics| diagnostics.iter().cloned().collect::<Vec<_>>())?;
        let target = ToolBackend::provider(&*self.name, definition.id().to_string());
        Ok((tool, target.map_err(|error| malformed(error.to_string()))?))
    }

    async fn run(&self, call: BackendCall<'_>) -> Result<BackendResponse, ToolError> {
        let ToolBackend::Provider { tool_id, .. } = call.target() else {
            let message = format!("{} has no such tool", self.endpoint);
            return Err(ToolError::new(ErrorKind::NoBackend, message));
        };
        let body = body(&call, tool_id)?;
        let hears_events = call.is_streamed() || call.context().has_progress_listener();
        let accepts = if hears_events { "text/event-stream, application/json" } else { "application/json" };
        let response = self.endpoint.post("/tools/call", body, accepts).await?;
        if response.status() == StatusCode::OK && http::is(&response, EVENT_STREAM) {
            return response::read(&self.endpoint, &call, response.into_body()).await;
        }
        let FullResponse { status, retry_after, body } = self.endpoint.whole(response, Loss::MayHaveEffects).await?;
        match status {
            StatusCode::OK => response::read_message(&self.endpoint, &body),
            status => Err(response::rejection(&self.endpoint, Loss::MayHaveEffects, status, retry_after, &body)),
        }
    }
}

/// The response to `GET /tools`.
#[derive(Deserialize)]
struct List {
    // One of the published documents uses this name.
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

    fn tools(&self) -> BoxFuture<'_, Result<OfferedTools, ToolError>> {
        Box::pin(self.endpoint.within(self.list()))
    }

    fn call<'a>(&'a self, call: BackendCall<'a>) -> BoxFuture<'a, Result<BackendResponse, ToolError>> {
        Box::pin(self.endpoint.within(self.run(call)))
    }

    fn health(&self) -> BoxFuture<'_, Result<(), ToolError>> {
        Box::pin(self.endpoint.within(async {
            let FullResponse { status, retry_after, body } = self.endpoint.get("/health").await?;
            match status.is_success() {
                true => Ok(()),
                false => Err(response::rejection(&self.endpoint, Loss::IsHarmless, status, retry_after, &body)),
            }
        }))
    }
}

impl fmt::Debug for OtcBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OtcBackend").field("name", &self.name).field("endpoint", &self.endpoint).finish()
    }
}

/// The `call_id` of a call. Add it to the [`Context`](toolkit::Context) to repeat a call that must run only once. By
/// default, each call has a random one.
///
/// # Examples
///
/// ```
/// use toolkit::Context;
/// use toolkit_otc::CallId;
///
/// let context = Context::new().with(CallId("order-17".to_owned()));
/// assert!(context.get::<CallId>().is_some());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CallId(pub String);

/// Writes the body of a call.
///
/// # Errors
///
/// Returns an error if the arguments are not JSON.
fn body(call: &BackendCall<'_>, tool_id: &str) -> Result<Vec<u8>, ToolError> {
    let text = call.arguments().to_json().map_err(ToolError::internal)?;
    let input: &RawValue = serde_json::from_slice(&text).map_err(|error| {
        ToolError::new(ErrorKind::MalformedJson, format!("the arguments are not valid JSON: {error}"))
    })?;
    let context = call.context();
    let call_id = context.get::<CallId>().map_or_else(|| Uuid::new_v4().to_string(), |call_id| call_id.0.clone());
    let message = CallMessage {
        schema: Some(SCHEMA.to_owned()),
        request: CallRequest {
            tool_id: tool_id.to_owned(),
            call_id: Some(call_id),
            trace_id: context.get::<TraceId>().map(|trace_id| trace_id.0.clone()),
            input: Some(input),
            context: required(call),
        },
    };
    serde_json::to_vec(&message).map_err(ToolError::internal)
}

/// Returns the credentials that the tool requires, or `None` if it requires none.
fn required(call: &BackendCall<'_>) -> Option<CallContext> {
    let (required, context) = (call.tool().requirements(), call.context());
    if required.is_empty() {
        return None;
    }
    let authorization = required.authorization.iter().filter_map(|authorization| {
        let token = context.token(&authorization.id)?.expose().to_owned();
        Some(Token { id: authorization.id.to_string(), token })
    });
    let secrets = required.secrets.iter().filter_map(|secret| {
        let value = context.secret(&secret.id)?.expose().to_owned();
        Some(SecretValue { id: secret.id.to_string(), value })
    });
    let user_id = if required.user_id { context.user_id().ok().map(str::to_owned) } else { None };
    Some(CallContext { authorization: authorization.collect(), secrets: secrets.collect(), user_id })
}
