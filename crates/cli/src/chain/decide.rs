//! The text form of a decision.

use serde_json::Value;
use toolkit_durable::Decision;

use crate::error::CommandError;
use crate::exit::Exit;

/// Parses `approve`, `deny`, `answer=JSON`, `retry`, `skip=JSON` or `fail`.
pub(super) fn decision(text: &str) -> Result<Decision, CommandError> {
    let (name, value) = match text.split_once('=') {
        Some((name, json)) => {
            (name, Some(serde_json::from_str::<Value>(json).map_err(|error| usage(text, &error.to_string()))?))
        }
        None => (text, None),
    };
    match (name, value) {
        ("approve", None) => Ok(Decision::Approve),
        ("deny", None) => Ok(Decision::Deny),
        ("retry", None) => Ok(Decision::Retry),
        ("fail", None) => Ok(Decision::Fail),
        ("answer", Some(content)) => Ok(Decision::Answer(content)),
        ("skip", Some(value)) => Ok(Decision::Skip(value)),
        _ => Err(usage(text, "expected approve, deny, answer=JSON, retry, skip=JSON or fail")),
    }
}

fn usage(text: &str, reason: &str) -> CommandError {
    let message = format!("`{text}` is not a decision: {reason}");
    CommandError::Other { exit: Exit::Usage, kind: "usage", message }
}
