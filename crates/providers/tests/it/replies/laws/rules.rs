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

/// Checks the name of a repeated call: at most 64 letters, digits and `others`, as the APIs document.
pub(super) fn is_name(name: &Value, others: &str) -> Result<(), String> {
    is_identifier(name, others)?;
    require(name.as_str().is_some_and(|name| name.len() <= 64 && !name.starts_with(['.', ':', '-'])), "the name")
}

/// Checks that a text has only letters, digits and `others`.
pub(super) fn is_identifier(text: &Value, others: &str) -> Result<(), String> {
    let is_valid = |c: char| c.is_ascii_alphanumeric() || others.contains(c);
    let holds = text.as_str().is_some_and(|text| !text.is_empty() && text.chars().all(is_valid));
    require(holds, &format!("{text} has other characters"))
}

/// Checks that arguments are the JSON text of an object, or nothing.
pub(super) fn is_object_text(text: &Value) -> Result<(), String> {
    let text = text.as_str().ok_or("arguments are text")?;
    let is_object = serde_json::from_str::<Value>(text).is_ok_and(|value| value.is_object());
    require(text.is_empty() || is_object, "arguments are the JSON text of an object")
}

pub(super) fn require(holds: bool, rule: &str) -> Result<(), String> {
    holds.then_some(()).ok_or_else(|| rule.to_owned())
}
