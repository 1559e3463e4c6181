//! Conversion of connection and protocol errors into tool errors, with the delay that a server asks for.

use std::error::Error;
use std::sync::Arc;

use toolkit::ToolError;
use toolkit::call::ErrorKind;
use toolkit::schema::excerpt::escaped;
use toolkit_mcp::Code;
use toolkit_runtime::certificate_failure;

use super::authorizer::AuthorizationError;
use super::connect::Disagreement;
use super::connection::Connection;
use super::failure::{Failure, HttpFailure, Reach, ServerError, UNREADABLE};
use super::process::ExitState;
use super::remote::{Remote, RemoteTarget};
use super::texts::{followed, shortened, text_of};

const INVALID_PARAMS: i32 = Code::InvalidParams as i32;
const MISSING_CAPABILITY: i32 = Code::MissingClientCapability as i32;

/// The consequence of a lost request.
#[derive(Clone, Copy)]
enum Loss {
    /// The request can be repeated.
    IsHarmless,
    /// The request may have run a tool.
    MayHaveEffects,
}

impl Remote {
    /// Converts the failure of a request without effects. Marks the connection as lost if it is no longer usable.
    pub(super) async fn failed(&self, connection: &Arc<Connection>, failure: Failure) -> ToolError {
        self.convert_failure(connection, failure, Loss::IsHarmless).await
    }

    /// Converts the failure of a call like [`failed`](Self::failed). Its outcome is unknown if the server may have received
    /// it.
    pub(super) async fn call_failed(&self, connection: &Arc<Connection>, failure: Failure) -> ToolError {
        self.convert_failure(connection, failure, Loss::MayHaveEffects).await
    }

    async fn convert_failure(&self, connection: &Arc<Connection>, failure: Failure, loss: Loss) -> ToolError {
        match (&*self.target, failure) {
            (_, Failure::Rpc(error)) => self.convert(&error),
            (RemoteTarget::Stdio(_), Failure::Closed | Failure::Pipe(_)) => {
                let end = connection.exit_state.wait().await.unwrap_or("it no longer responds");
                connection.end();
                let how = format!("disconnected before it responded: {end}");
                self.lost(loss, &how).caused_by(connection.exit_state.to_string())
            }
            (RemoteTarget::Stdio(_), failure) => self.not_reached(&failure, loss),
            (RemoteTarget::Http(_), failure) => {
                match failure.reach() {
                    Reach::Responds => {}
                    Reach::Unknown => connection.check(),
                    Reach::Lost => connection.lose(),
                }
                self.not_reached(&failure, loss)
            }
        }
    }

    /// Converts the error of an attempt to connect.
    pub(super) fn not_connected(&self, error: &Disagreement, exit_state: &ExitState) -> ToolError {
        match error {
            Disagreement::Failure(Failure::Rpc(error)) => {
                let message = followed(&format!("{self} rejected this client: error {}", error.code), &text_of(error));
                ToolError::new(ErrorKind::Unavailable, message)
            }
            Disagreement::Failure(Failure::Status(failure)) if matches!(failure.status.as_u16(), 404 | 405) => {
                // So do servers of the transport that Streamable HTTP has replaced.
                let message = format!(
                    "{self} has no Streamable HTTP at this URL (status {}); for HTTP+SSE of revision 2024-11-05, write \
                     `\"type\": \"sse\"`",
                    failure.status.as_u16()
                );
                ToolError::new(ErrorKind::InvalidResponse, message)
            }
            Disagreement::Failure(failure) if matches!(*self.target, RemoteTarget::Http(_)) => {
                self.not_reached(failure, Loss::IsHarmless)
            }
            Disagreement::Revisions(theirs) => {
                let theirs: Vec<&str> = theirs.iter().map(String::as_str).take(8).collect();
                let message =
                    format!("{self} supports none of the MCP revisions of this client, only: {}", theirs.join(", "));
                ToolError::new(ErrorKind::Unavailable, shortened(&message))
            }
            Disagreement::Failure(_) | Disagreement::Invalid => {
                let how = exit_state.end().unwrap_or("it does not speak MCP");
                let message = format!("the connection to {self} failed: {how}");
                let cause = match error {
                    Disagreement::Failure(failure) => self.cause(failure),
                    _ => "the first response has no description of the server".to_owned(),
                };
                ToolError::new(ErrorKind::Unavailable, message).caused_by(format!("{cause}\n{exit_state}"))
            }
        }
    }

    fn not_reached(&self, failure: &Failure, loss: Loss) -> ToolError {
        let unavailable = |how: &str| ToolError::new(ErrorKind::Unavailable, format!("{self} {how}"));
        let error = match failure {
            Failure::Authorization(error) => return self.not_authorized(error),
            Failure::Status(failure) => return self.not_served(failure, loss),
            Failure::Challenge(..) => self.unauthorized(),
            Failure::Rpc(error) => return self.convert(error),
            // A new session was refused too.
            Failure::SessionEnded => unavailable("does not know its session with this program").retryable(None),
            Failure::SessionLost => self.lost(loss, "lost the session before it responded"),
            Failure::NotInitialized(error) => unavailable(&format!("rejected this client: error {}", error.code)),
            Failure::TooLarge(max) => return self.invalid_response(&format!("with more than {max} bytes")),
            Failure::Invalid(_) => self.invalid_response("with an invalid MCP message"),
            Failure::Client(error) if error.is_connect() => match certificate_failure(error) {
                Some(fault) => unavailable(&format!("is not trusted, so no request was sent: {fault}")),
                None => unavailable("cannot be reached"),
            },
            Failure::Client(_) | Failure::Pipe(_) | Failure::Closed => {
                self.lost(loss, "disconnected before it responded")
            }
        };
        error.caused_by(self.cause(failure))
    }

    /// Converts an HTTP response that is not an MCP message.
    fn not_served(&self, failure: &HttpFailure, loss: Loss) -> ToolError {
        let how = escaped(&shortened(&self.without_query(failure.to_string())));
        let error = |kind| ToolError::new(kind, format!("{self} {how}"));
        match failure.status.as_u16() {
            401 => self.unauthorized().caused_by(how),
            // The text tells what is missing, which the model cannot see otherwise.
            403 => {
                match failure.text.as_deref().map(|text| escaped(&shortened(&self.without_query(text.to_owned())))) {
                    Some(text) => {
                        ToolError::new(ErrorKind::Unauthorized, format!("{self} refused the request: {text}"))
                    }
                    None => self.unauthorized(),
                }
                .caused_by(how)
            }
            202 | 204 => self.lost(loss, "accepted the request and did not respond"),
            // The server has not started to work on the request.
            408 | 425 | 429 | 503 => error(ErrorKind::Unavailable).retryable(failure.retry_after),
            413 => error(ErrorKind::TooLarge),
            // The server may have worked on the request, or something in front of it has passed the request on.
            500.. => self.lost(loss, &how),
            _ => error(ErrorKind::InvalidResponse),
        }
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

    /// Converts a JSON-RPC error of the server. Many servers report the failures of their tools so, and the model has to
    /// read the text to correct the call.
    pub(super) fn convert(&self, error: &ServerError) -> ToolError {
        let text = text_of(error);
        match error.code {
            UNREADABLE => self.invalid_response(&followed("with a result that cannot be read", &text)),
            INVALID_PARAMS if reports_unknown_tool(&shortened(&error.message)) => {
                ToolError::new(ErrorKind::UnknownTool, followed(&format!("{self} no longer has this tool"), &text))
            }
            INVALID_PARAMS if text.is_empty() => {
                ToolError::new(ErrorKind::InvalidArguments, format!("{self} rejected the arguments"))
            }
            INVALID_PARAMS => ToolError::new(ErrorKind::InvalidArguments, text),
            MISSING_CAPABILITY => {
                let message = "the tool requires a client capability that this program does not support";
                ToolError::failed(followed(message, &text))
            }
            code => {
                let message = followed(&format!("{self} failed with error {code}"), &text);
                ToolError::new(ErrorKind::Internal, message).caused_by(text)
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
        // Truncated last, since a truncated query would not be found.
        shortened(&self.without_query(texts.join(": ")))
    }

    /// Removes the query of the URL from a text.
    fn without_query(&self, text: String) -> String {
        match &*self.target {
            RemoteTarget::Http(endpoint) => match endpoint.url.query().filter(|query| !query.is_empty()) {
                Some(query) => text.replace(query, "…"),
                None => text,
            },
            RemoteTarget::Stdio(_) => text,
        }
    }
}

/// Returns true if the message reports an unknown tool. The protocol has one code for invalid arguments and unknown
/// tools.
fn reports_unknown_tool(message: &str) -> bool {
    let message = message.to_ascii_lowercase();
    message.contains("tool") && ["unknown", "not found", "no tool"].iter().any(|words| message.contains(words))
}
