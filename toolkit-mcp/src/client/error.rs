//! Conversion of connection and protocol errors into tool errors.

use std::error::Error;
use std::time::Duration;

use http::StatusCode;
use rmcp::model::{ErrorCode, ErrorData};
use rmcp::service::{ClientInitializeError, ServiceError};
use rmcp::transport::DynamicTransportError;
use rmcp::transport::streamable_http_client::{HttpStatusError, StreamableHttpError};
use toolkit::ToolError;
use toolkit::call::ErrorKind;
use toolkit_http::certificate_failure;

use super::authorizer::AuthorizationError;
use super::connection::Connection;
use super::process::ExitState;
use super::remote::{Remote, Target};

type OverHttp = StreamableHttpError<reqwest::Error>;

/// The length in characters to which a server's error message is truncated.
const MAX_MESSAGE_CHARS: usize = 2_000;
/// The upper bound of `Retry-After`, in seconds.
const MAX_RETRY_AFTER: u64 = 24 * 60 * 60;

/// The consequence of a lost request.
#[derive(Clone, Copy)]
enum Loss {
    /// The request can be repeated.
    IsHarmless,
    /// The request may have run a tool.
    MayHaveEffects,
}

impl Remote {
    /// Converts the error of a request without effects. Marks the connection as lost if it is no longer usable.
    pub(super) async fn failed(&self, connection: &Connection, error: ServiceError) -> ToolError {
        self.convert_failure(connection, error, Loss::IsHarmless).await
    }

    /// Converts the error of a call like [`failed`](Self::failed). Its outcome is unknown if the server may have received it.
    pub(super) async fn call_failed(&self, connection: &Connection, error: ServiceError) -> ToolError {
        self.convert_failure(connection, error, Loss::MayHaveEffects).await
    }

    async fn convert_failure(&self, connection: &Connection, error: ServiceError, loss: Loss) -> ToolError {
        match (&*self.target, error) {
            (_, ServiceError::McpError(error)) => self.convert(&error),
            (Target::Stdio(_), ServiceError::TransportClosed | ServiceError::TransportSend(_)) => {
                let end = connection.exit_state().wait().await.unwrap_or("it no longer responds");
                connection.lose();
                let how = format!("disconnected before it responded: {end}");
                self.lost(loss, &how).caused_by(connection.exit_state().to_string())
            }
            // Only this request was not authorized.
            (Target::Http(_), ServiceError::TransportSend(error)) if authorization_error(&error).is_some() => {
                self.not_reached(&error, loss)
            }
            (Target::Http(_), ServiceError::TransportSend(error)) => {
                // A server that limits the rate of requests goes on with others.
                if !is_rate_limit(&error) {
                    connection.lose();
                }
                self.not_reached(&error, loss)
            }
            (Target::Http(_), ServiceError::TransportClosed) => {
                connection.lose();
                self.lost(loss, "disconnected before it responded")
            }
            (_, ServiceError::Cancelled { .. }) => ToolError::failed(format!("{self} canceled the call")),
            (_, error) => self.invalid_response("with an invalid result").caused_by(self.cause(&error)),
        }
    }

    /// Converts the error of an attempt to connect.
    pub(super) fn not_connected(&self, error: &ClientInitializeError, exit_state: &ExitState) -> ToolError {
        match error {
            ClientInitializeError::LegacyFallbackFailed { fallback, .. } => self.not_connected(fallback, exit_state),
            ClientInitializeError::TransportError { error, .. } if exit_state.end().is_none() => {
                self.not_reached(error, Loss::IsHarmless)
            }
            ClientInitializeError::JsonRpcError(error) => {
                let message = format!("{self} rejected this client: error {}", error.code.0);
                ToolError::new(ErrorKind::Unavailable, message).caused_by(shortened(&error.message))
            }
            ClientInitializeError::NoCompatibleProtocolVersion { server_supported, .. } => {
                let theirs: Vec<&str> = server_supported.iter().map(|version| version.as_str()).take(8).collect();
                let message =
                    format!("{self} supports none of the MCP revisions of this client, only: {}", theirs.join(", "));
                ToolError::new(ErrorKind::Unavailable, shortened(&message))
            }
            error => {
                let how = exit_state.end().unwrap_or("it does not speak MCP");
                let message = format!("the connection to {self} failed: {how}");
                ToolError::new(ErrorKind::Unavailable, message)
                    .caused_by(format!("{}\n{exit_state}", self.cause(error)))
            }
        }
    }

    fn not_reached(&self, error: &DynamicTransportError, loss: Loss) -> ToolError {
        if let Some(error) = authorization_error(error) {
            return self.not_authorized(error);
        }
        let cause = match error.error.downcast_ref::<OverHttp>() {
            // The error's own source skips this one.
            Some(OverHttp::Client(error)) => self.cause(error),
            _ => self.cause(&*error.error),
        };
        let unavailable = |how: &str| ToolError::new(ErrorKind::Unavailable, format!("{self} {how}"));
        let error = match error.error.downcast_ref::<OverHttp>() {
            Some(OverHttp::AuthRequired(_) | OverHttp::InsufficientScope(_)) => self.unauthorized(),
            Some(OverHttp::Client(error)) if is_refusal(error.status()) => self.unauthorized(),
            Some(OverHttp::UnexpectedServerResponse(text)) if is_refusal(status_in(text)) => self.unauthorized(),
            // Something in front of the server responded, and may have passed the request on.
            Some(OverHttp::HttpStatus(error)) if error.status >= 500 && error.status != 503 => {
                self.lost(loss, &format!("responded with status {}", error.status))
            }
            Some(OverHttp::HttpStatus(error)) => {
                let after = error.retry_after.as_ref().and_then(|after| after.trim().parse().ok());
                let after = after.map(|seconds: u64| Duration::from_secs(seconds.min(MAX_RETRY_AFTER)));
                unavailable(&format!("responded with status {}", error.status)).retryable(after)
            }
            Some(OverHttp::ResponseBodyTooLarge { max_size }) => {
                self.invalid_response(&format!("with more than {max_size} bytes"))
            }
            Some(OverHttp::UnexpectedContentType(_) | OverHttp::UnexpectedServerResponse(_)) => {
                self.invalid_response("with an invalid MCP message")
            }
            Some(OverHttp::Client(error)) if error.is_connect() => match certificate_failure(error) {
                Some(fault) => unavailable(&format!("is not trusted, so no request was sent: {fault}")),
                None => unavailable("cannot be reached"),
            },
            _ => self.lost(loss, "disconnected before it responded"),
        };
        error.caused_by(cause)
    }

    /// Creates the error for a request that the server may have received. `how` completes the sentence "The server …".
    fn lost(&self, loss: Loss, how: &str) -> ToolError {
        match loss {
            Loss::IsHarmless => ToolError::new(ErrorKind::Unavailable, format!("{self} {how}")),
            Loss::MayHaveEffects => {
                ToolError::new(ErrorKind::OutcomeUnknown, format!("{self} {how}; the tool may have run"))
            }
        }
    }

    /// Converts a JSON-RPC error of the server.
    pub(super) fn convert(&self, error: &ErrorData) -> ToolError {
        let message = shortened(&error.message);
        match error.code {
            ErrorCode::INVALID_PARAMS if reports_unknown_tool(&message) => {
                ToolError::new(ErrorKind::UnknownTool, format!("{self} no longer has this tool")).caused_by(message)
            }
            ErrorCode::INVALID_PARAMS => ToolError::new(ErrorKind::InvalidArguments, message),
            ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY => {
                ToolError::failed("the tool requires a client capability that this program does not support")
                    .caused_by(message)
            }
            // The text may be meant for the operator of the server, so the model does not read it.
            ErrorCode(code) => {
                ToolError::new(ErrorKind::Internal, format!("{self} failed with error {code}")).caused_by(message)
            }
        }
    }

    fn not_authorized(&self, error: &AuthorizationError) -> ToolError {
        let mut converted = ToolError::new(error.kind, format!("{self} {}", error.message));
        if error.kind == ErrorKind::Unavailable {
            converted = converted.retryable(error.retry_after);
        }
        match &error.cause {
            Some(cause) => converted.caused_by(cause.clone()),
            None => converted,
        }
    }

    fn unauthorized(&self) -> ToolError {
        ToolError::new(ErrorKind::Unauthorized, format!("{self} rejected the credentials of this program"))
    }

    /// Creates the error for an invalid response. `how` completes the sentence "The server responded …".
    pub(super) fn invalid_response(&self, how: &str) -> ToolError {
        ToolError::new(ErrorKind::InvalidResponse, format!("{self} responded {how}"))
    }

    /// Formats an error and its sources for the host, without the query of the URL, which often contains keys.
    fn cause(&self, error: &(dyn Error + 'static)) -> String {
        let mut texts = vec![error.to_string()];
        let mut next = error.source();
        while let Some(error) = next {
            let text = error.to_string();
            if !texts.iter().any(|seen| seen.contains(&text)) {
                texts.push(text);
            }
            next = error.source();
        }
        let mut text = texts.join(": ");
        if let Target::Http(endpoint) = &*self.target
            && let Some(query) = endpoint.url.query().filter(|query| !query.is_empty())
        {
            text = text.replace(query, "…");
        }
        // Truncated last, since a truncated query would not be found.
        shortened(&text)
    }
}

/// Returns the reason why the transport had no token for a request.
fn authorization_error(error: &DynamicTransportError) -> Option<&AuthorizationError> {
    match error.error.downcast_ref::<OverHttp>() {
        Some(OverHttp::Io(error)) => error.get_ref()?.downcast_ref(),
        _ => None,
    }
}

fn is_rate_limit(error: &DynamicTransportError) -> bool {
    matches!(error.error.downcast_ref(), Some(OverHttp::HttpStatus(HttpStatusError { status: 429, .. })))
}

fn is_refusal(status: Option<StatusCode>) -> bool {
    matches!(status, Some(StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN))
}

/// Finds the status in an error message of the transport, such as `HTTP 401 Unauthorized: …`.
fn status_in(text: &str) -> Option<StatusCode> {
    text.split_once("HTTP ")?.1.get(..3)?.parse().ok()
}

/// Returns true if the message reports an unknown tool. The protocol has one code for invalid arguments and unknown
/// tools.
fn reports_unknown_tool(message: &str) -> bool {
    let message = message.to_ascii_lowercase();
    message.contains("tool") && ["unknown", "not found", "no tool"].iter().any(|words| message.contains(words))
}

pub(super) fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_MESSAGE_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
