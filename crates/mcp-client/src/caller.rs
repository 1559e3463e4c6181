//! The parts of a caller that its requests pass on: the trace context, the capabilities, and headers.

use std::sync::Arc;

use http::{HeaderMap, HeaderValue};
use rmcp::model::{ClientCapabilities, ExtensionCapabilities, JsonObject, RequestMetaObject, TASKS_EXTENSION_ID};
use toolkit::call::{ErrorKind, TraceContext};
use toolkit::{Context, ToolError};

use super::endpoint::Forwarded;
use super::listener;
use super::questions;
use super::remote::{Remote, Target};

/// The parts of a caller that a request passes on.
#[derive(Clone, Default)]
pub(super) struct FromCaller {
    pub(super) meta: Option<RequestMetaObject>,
    /// The headers, with their names for the server.
    pub(super) headers: Option<Arc<HeaderMap>>,
}

impl FromCaller {
    /// Returns what a call passes on, and the requests about the task that runs it: unless the revision `is_legacy`, also the
    /// capabilities of the client.
    ///
    /// # Errors
    ///
    /// Returns an error if the caller lacks credentials that the server requires.
    pub(super) fn of_call(remote: &Remote, is_legacy: bool, context: &Context) -> Result<Self, ToolError> {
        let mut from = Self::of(remote, context)?;
        if is_legacy {
            return Ok(from);
        }
        let mut capabilities = ClientCapabilities::default();
        let tasks = (TASKS_EXTENSION_ID.to_owned(), JsonObject::new());
        capabilities.extensions = Some(ExtensionCapabilities::from([tasks]));
        if remote.may_ask {
            // The client of this call may be unable to ask its user.
            let modes = questions::modes(context).and_then(|modes| serde_json::from_value(modes).ok());
            capabilities.elicitation = modes;
        }
        let meta = from.meta.get_or_insert_default();
        let level = listener::log_level(context).and_then(|level| serde_json::from_value(level.name().into()).ok());
        if let Some(level) = level {
            meta.set_log_level(level);
        }
        meta.set_client_capabilities(capabilities);
        Ok(from)
    }

    /// Returns what any request passes on.
    ///
    /// # Errors
    ///
    /// Returns an error if the caller lacks credentials that the server requires.
    pub(super) fn of(remote: &Remote, context: &Context) -> Result<Self, ToolError> {
        let forwarded = match &*remote.target {
            Target::Http(endpoint) => &*endpoint.forwarded,
            Target::Stdio(_) => &[],
        };
        let headers = if forwarded.is_empty() { None } else { Some(headers(remote, forwarded, context)?.into()) };
        Ok(Self { meta: trace(context), headers })
    }
}

fn headers(remote: &Remote, forwarded: &[Forwarded], context: &Context) -> Result<HeaderMap, ToolError> {
    let mut headers = HeaderMap::new();
    for Forwarded { name, from, is_credential } in forwarded {
        let request = context.request();
        let value = match is_credential {
            true => request.credential(from.as_str()).map(|credential| credential.expose()),
            false => request.header(from.as_str()),
        };
        match value.and_then(|value| HeaderValue::try_from(value).ok()) {
            Some(mut value) => {
                value.set_sensitive(*is_credential);
                headers.insert(name, value);
            }
            None if *is_credential => {
                let message = format!("{remote} requires the header `{from}` of the caller");
                let reason =
                    "over stdio there are no headers, and a token that this program itself checks is not passed on";
                return Err(ToolError::new(ErrorKind::MissingRequirements, message).caused_by(reason));
            }
            None => {}
        }
    }
    Ok(headers)
}

/// Returns the W3C Trace Context of a call as `_meta` of a request.
fn trace(context: &Context) -> Option<RequestMetaObject> {
    let trace = context.get::<TraceContext>()?.clone();
    let mut meta = RequestMetaObject::new();
    meta.set_traceparent(trace.traceparent);
    if let Some(tracestate) = trace.tracestate {
        meta.set_tracestate(tracestate);
    }
    if let Some(baggage) = trace.baggage {
        meta.set_baggage(baggage);
    }
    Some(meta)
}
