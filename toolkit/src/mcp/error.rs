//! Errors of calls as data, in `_meta` of a result with `isError`.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::call::{ErrorKind, ToolError};
use toolkit_schema::Violation;

/// The key in `_meta` of a result with `isError`, whose value describes the error for programs.
///
/// The value has the fields `kind` ([`ErrorKind::name`]), `retryable`, `retryAfterMs` if the time is known, and
/// `violations` for invalid arguments, each with the fields of a [`Violation`]. It contains nothing that the text for
/// the model does not imply. Clients do not pass `_meta` to the model.
///
/// # Examples
///
/// ```
/// use serde_json::Value;
/// use toolkit::mcp::{ERROR_KEY, Revision, write_error};
/// use toolkit::{Dispatcher, tool};
///
/// /// Doubles a number.
/// #[tool]
/// fn double(n: i64) -> i64 {
///     n * 2
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let dispatcher = Dispatcher::new(toolkit::catalog![double]?)?;
/// let error = dispatcher.call_sync("double", r#"{"n": "two"}"#).unwrap_err();
/// let result: Value = serde_json::from_slice(&write_error(&error, Revision::V2025_11_25))?;
/// let data = &result["_meta"][ERROR_KEY];
/// assert_eq!((&data["kind"], &data["retryable"]), (&"invalid_arguments".into(), &false.into()));
/// assert_eq!(data["violations"][0]["pointer"], "/n");
/// # Ok(())
/// # }
/// ```
pub const ERROR_KEY: &str = "rs.toolkit/error";

/// The maximum number of violations, which is the number of lines in the text for the model.
const MAX_VIOLATIONS: usize = 20;

/// The maximum size of all violations in bytes of JSON.
const MAX_VIOLATION_BYTES: usize = 16 << 10;

/// The maximum size of a violation, beyond which its values are omitted.
const MAX_BYTES_OF_ONE: usize = 1 << 10;

/// The maximum length of a text that is read, in bytes.
const MAX_TEXT: usize = 2_000;

/// The upper bound of the time that another program advises to wait.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(24 * 60 * 60);

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ErrorData<'e> {
    kind: &'static str,
    retryable: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_after_ms: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    violations: Vec<&'e Violation>,
}

/// Writes the object `_meta` of a result for an error.
pub(super) fn write_meta(bytes: &mut Vec<u8>, error: &ToolError) {
    let slim: Vec<Violation> = error.violations().iter().take(MAX_VIOLATIONS).map(slimmed).collect();
    let mut n_bytes = 0;
    let violations = slim.iter().take_while(|violation| {
        n_bytes += size(violation);
        n_bytes <= MAX_VIOLATION_BYTES
    });
    let kind = match error.kind() {
        // The text does not reveal the difference.
        ErrorKind::Panicked => ErrorKind::Internal,
        kind => kind,
    };
    let data = ErrorData {
        kind: kind.name(),
        // After a timeout, the tool may have run.
        retryable: error.is_retryable() && (error.kind() != ErrorKind::TimedOut || error.retry_after().is_some()),
        retry_after_ms: error.retry_after().map(|after| after.as_millis().try_into().unwrap_or(u64::MAX)),
        violations: violations.collect(),
    };
    bytes.extend_from_slice(br#"{"rs.toolkit/error":"#);
    serde_json::to_writer(&mut *bytes, &data).expect("the data is serializable, and writing to a vector cannot fail");
    bytes.push(b'}');
}

/// Omits the values of a violation if they are large.
fn slimmed(violation: &Violation) -> Violation {
    let mut violation = violation.clone();
    if size(&violation) > MAX_BYTES_OF_ONE {
        violation.allowed.clear();
        violation.limit = None;
        violation.sent = None;
    }
    violation
}

fn size(violation: &Violation) -> usize {
    serde_json::to_vec(violation).map_or(usize::MAX, |json| json.len())
}

/// Creates the error for a result with `isError` of another program: its data if it has any, and otherwise a failure.
///
/// The other program is not trusted. Its data changes only the fields of the error for programs, in bounds, and never
/// the text. Kinds that concern the caller or this program become [`ErrorKind::Failed`].
pub(crate) fn read_error(message: String, result: &Map<String, Value>) -> ToolError {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Data {
        kind: String,
        #[serde(default)]
        retryable: bool,
        retry_after_ms: Option<u64>,
        #[serde(default)]
        violations: Vec<Value>,
    }
    let data = result.get("_meta").and_then(|meta| Data::deserialize(meta.get(ERROR_KEY)?).ok());
    let Some(data) = data else {
        return ToolError::failed(message);
    };
    let kind = kind(&data.kind);
    let mut error = ToolError::new(kind, message);
    if data.retryable {
        let after = data.retry_after_ms.map(|after| Duration::from_millis(after).min(MAX_RETRY_AFTER));
        error = error.retryable(after);
    }
    if kind == ErrorKind::InvalidArguments {
        let violations = data.violations.iter().take(MAX_VIOLATIONS).filter_map(violation);
        error = error.with_violations(violations.collect());
    }
    error
}

/// Returns the kind with this name if another program can be the cause of it, and [`ErrorKind::Failed`] otherwise.
///
/// Approvals, credentials, requirements and answers of users are decided by this program, which must not report a
/// decision that it has not made. A limit is reported as such because it only advises to call again, which a server can
/// also do with `retryable`.
fn kind(name: &str) -> ErrorKind {
    const KINDS: [ErrorKind; 5] = [
        ErrorKind::Unavailable,
        ErrorKind::OutcomeUnknown,
        ErrorKind::InvalidArguments,
        ErrorKind::Overloaded,
        ErrorKind::TimedOut,
    ];
    KINDS.into_iter().find(|kind| kind.name() == name).unwrap_or(ErrorKind::Failed)
}

fn violation(json: &Value) -> Option<Violation> {
    let text = |field: &str| json.get(field)?.as_str().filter(|text| text.len() <= MAX_TEXT).map(str::to_owned);
    let mut violation = Violation::new(text("pointer")?, text("rule")?);
    violation.keyword = text("keyword").unwrap_or_default();
    violation.suggestion = text("suggestion");
    violation.limit = json.get("limit").cloned();
    violation.sent = json.get("sent").cloned();
    violation.allowed = json.get("allowed").and_then(Value::as_array).cloned().unwrap_or_default();
    Some(slimmed(&violation))
}
