//! Requests that call a tool, and their ids.

use serde_json::value::RawValue;
use toolkit::ToolError;
use toolkit::backend::BackendCall;
use toolkit::call::ErrorKind;
use uuid::Uuid;

use crate::TraceId;
use crate::wire::{CallContext, CallMessage, CallRequest, SCHEMA, SecretValue, Token};

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
pub(super) fn body(call: &BackendCall<'_>, tool_id: &str) -> Result<Vec<u8>, ToolError> {
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
    let user_id = if required.user_id { context.user_id().map(str::to_owned) } else { None };
    Some(CallContext { authorization: authorization.collect(), secrets: secrets.collect(), user_id })
}
