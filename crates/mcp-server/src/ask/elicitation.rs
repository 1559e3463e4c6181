//! Questions and answers in the format of MCP: `ElicitRequest` and `ElicitResult`.

use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use toolkit::call::ask::{Answer, Question};

/// Returns the `params` of `elicitation/create`.
///
/// `id` is `elicitationId`, which only the revision 2025-11-25 has.
pub(super) fn elicitation(question: &Question, id: Option<&str>) -> Value {
    let message = question.message();
    match (question.form(), question.url()) {
        // Without `mode`, which revision 2025-06-18 does not have and the later ones take for `form`.
        (Some(form), _) => json!({ "message": message, "requestedSchema": form.schema() }),
        (None, url) => {
            let mut params = json!({ "mode": "url", "message": message, "url": url.unwrap_or_default() });
            if let Some(id) = id {
                params["elicitationId"] = id.into();
            }
            params
        }
    }
}

/// Returns the `ElicitRequest` of a question since revision 2026-07-28.
pub(crate) fn request(question: &Question) -> Value {
    json!({ "method": "elicitation/create", "params": elicitation(question, None) })
}

/// Parses an `ElicitResult`.
///
/// # Errors
///
/// Returns an error if `action` is missing or unknown, or the content is not an object.
pub(crate) fn parse_answer(result: &Value) -> Result<Answer, &'static str> {
    #[derive(Deserialize)]
    struct ElicitResult {
        action: String,
        content: Option<Value>,
    }
    let result = ElicitResult::deserialize(result).map_err(|_| "an answer must be an object with `action`")?;
    match (&*result.action, result.content) {
        ("accept", None) => Ok(Answer::Accepted(json!({}))),
        ("accept", Some(content @ Value::Object(_))) => Ok(Answer::Accepted(content)),
        ("accept", Some(_)) => Err("the `content` of an answer must be an object"),
        ("decline", _) => Ok(Answer::Declined),
        ("cancel", _) => Ok(Answer::Cancelled),
        _ => Err("the `action` of an answer must be `accept`, `decline` or `cancel`"),
    }
}

/// A hash by which a question is recognized when its call runs again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct QuestionHash(pub(super) [u8; 16]);

impl QuestionHash {
    pub(super) fn new(question: &Question) -> Self {
        let mut asked = elicitation(question, None);
        // The order of fields does not matter.
        asked.sort_all_objects();
        let hash = Sha256::digest(asked.to_string().as_bytes());
        let mut half = [0; 16];
        half.copy_from_slice(&hash[..16]);
        Self(half)
    }
}
