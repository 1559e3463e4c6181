//! Correlation of messages with the request of their HTTP exchange.
//!
//! A response belongs to the request that it answers, whatever id it has: many servers and gateways send errors with the
//! id `null`, without an id, or with one of their own. `rmcp` drops such errors, and the request would never end.

use rmcp::model::{ErrorCode, ErrorData, RequestId};
use serde_json::Value;

use super::verbatim;

/// Returns the JSON-RPC error in a message or a batch, also if it is incomplete.
pub(super) fn error_in(message: &Value) -> Option<ErrorData> {
    if let Value::Array(batch) = message {
        return batch.iter().find_map(error_in);
    }
    let error = message.get("error").filter(|error| !error.is_null() && message.get("method").is_none())?;
    serde_json::from_value(verbatim::error(error.clone())).ok()
}

/// Returns true if a message has the id of a request. Some servers answer `1` with `"1"`.
pub(super) fn has_id(message: &Value, id: &RequestId) -> bool {
    match (&message["id"], id) {
        (Value::Number(theirs), RequestId::Number(ours)) => theirs.as_i64() == Some(*ours),
        (Value::String(theirs), RequestId::Number(ours)) => theirs.parse() == Ok(*ours),
        (Value::String(theirs), RequestId::String(ours)) => **theirs == **ours,
        _ => false,
    }
}

/// Returns the response to a request in a batch, or an error that may be it. Other messages are returned unchanged.
pub(super) fn response_in(message: Value, id: &RequestId) -> Value {
    let Value::Array(mut batch) = message else {
        return message;
    };
    let is_response = |message: &Value| has_id(message, id) && message.get("method").is_none();
    let own = batch.iter().position(is_response);
    match own.or_else(|| batch.iter().position(|message| error_in(message).is_some())) {
        Some(idx) => batch.swap_remove(idx),
        None => Value::Null,
    }
}

/// Returns true for an error that the protocol defines for requests, so that its code has a meaning whatever its HTTP
/// status is.
pub(super) fn is_defined(code: ErrorCode) -> bool {
    matches!(
        code,
        ErrorCode::METHOD_NOT_FOUND
            | ErrorCode::INVALID_PARAMS
            | ErrorCode::HEADER_MISMATCH
            | ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY
            | ErrorCode::UNSUPPORTED_PROTOCOL_VERSION
    )
}

/// Returns true if an error text may report that the server does not know the session, or has not been initialized since
/// it was restarted. Servers have many texts for this.
pub(super) fn may_report_lost_session(text: &str, has_session: bool) -> bool {
    let text = text.to_ascii_lowercase();
    text.contains("initiali") || has_session && text.contains("session")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_response_in_a_batch_has_the_id_of_the_request() {
        let id = RequestId::Number(7);
        let (own, other) = (json!({ "id": "7", "result": 1 }), json!({ "id": 8, "result": 2 }));
        let error = json!({ "id": null, "error": { "code": -32000, "message": "no" } });
        let request = json!({ "id": 7, "method": "ping" });
        for (batch, expected) in [
            (json!([other, own]), own.clone()),
            (json!([error, own]), own.clone()),
            (json!([other, request, error]), error.clone()),
            (json!([other, request]), Value::Null),
            (json!([]), Value::Null),
            (other.clone(), other.clone()),
        ] {
            assert_eq!(response_in(batch, &id), expected);
        }
    }

    #[test]
    fn incomplete_errors_are_errors() {
        let read = |error: Value| error_in(&json!({ "error": error })).map(|error| (error.code.0, error.message));
        assert_eq!(read(json!("busy")), Some((-32603, "busy".into())));
        assert_eq!(read(json!({ "message": "busy", "code": "x" })), Some((-32603, "busy".into())));
        assert_eq!(read(json!({ "code": -32000 })), Some((-32000, "".into())));
        assert_eq!(read(json!(null)), None);
    }
}
