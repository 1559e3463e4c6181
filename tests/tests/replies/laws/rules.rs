//! Rules that several APIs have.

use serde_json::Value;

use super::Call;

pub(super) fn list(value: &Value) -> Result<&Vec<Value>, String> {
    value.as_array().ok_or_else(|| "content is a list".to_owned())
}

/// Checks that each call is repeated with an id of its own, and answered once, in the same order.
pub(super) fn each_once(calls: &[Call], called: &[String], answered: &[String]) -> Result<(), String> {
    require(called.len() == calls.len(), "each call is repeated")?;
    require(called == answered, "each call is answered once, in order")?;
    let mut unique = called.to_vec();
    unique.sort();
    unique.dedup();
    require(unique.len() == called.len() && called.iter().all(|id| !id.is_empty()), "each id occurs once")
}

pub(super) fn is_not_blank(text: &Value) -> Result<(), String> {
    require(text.as_str().is_some_and(|text| !text.trim().is_empty()), "a text is not blank")
}

pub(super) fn is_image(mime_type: &Value, data: &Value) -> Result<(), String> {
    let accepted = ["image/png", "image/jpeg", "image/gif", "image/webp"];
    require(accepted.contains(&mime_type.as_str().unwrap_or_default()), "an image has an accepted type")?;
    let data = data.as_str().and_then(|data| data_encoding::BASE64.decode(data.as_bytes()).ok());
    require(data.is_some_and(|data| !data.is_empty()), "an image has data")
}

pub(super) fn require(holds: bool, rule: &str) -> Result<(), String> {
    holds.then_some(()).ok_or_else(|| rule.to_owned())
}
