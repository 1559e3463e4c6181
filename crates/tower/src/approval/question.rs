//! The question to the user whether a call is approved.

use serde_json::{Value, json};
use toolkit::call::ask::{Answer, Form, Question};
use toolkit::schema::excerpt::escaped;

use super::{ApprovalRequest, Decision};

/// The number of characters of an argument that the user reads.
const MAX_CHARS: usize = 1000;

/// The maximum length of a question in bytes.
const MAX_BYTES: usize = 64 << 10;

/// The field of the form.
const APPROVE: &str = "approve";

/// Asks the user of the call. `fallback` is the decision if the client cannot ask.
pub(super) async fn ask(request: ApprovalRequest, fallback: Decision) -> Decision {
    let form = json!({
        "type": "object",
        "properties": { APPROVE: { "type": "boolean", "title": "Run the tool with these arguments" } },
        "required": [APPROVE],
    });
    let form = match Form::from_schema(&form) {
        Ok(form) => form,
        Err(error) => return Decision::Deny(error.to_string()),
    };
    let Some(message) = message(&request) else {
        return Decision::Deny("its arguments are too long for a question".to_owned());
    };
    match request.context().ask_question(&Question::from_form(message, form)).await {
        Ok(Answer::Accepted(content)) if content[APPROVE] == true => Decision::Approve,
        Ok(Answer::Accepted(_) | Answer::Declined) => Decision::Deny("the user declined it".to_owned()),
        Ok(Answer::Cancelled) => Decision::Deny("the user closed the question without an answer".to_owned()),
        // Approval of all later calls would include those of users who can be asked.
        Ok(Answer::Unsupported) if fallback == Decision::ApproveAlways => Decision::Approve,
        Ok(Answer::Unsupported) => fallback,
        Err(error) => Decision::Deny(error.message().to_owned()),
    }
}

/// Returns the text that the user reads, or `None` if it would be too long. The model has chosen the arguments, so each of
/// them has a line, and none of their characters is invisible.
fn message(request: &ApprovalRequest) -> Option<String> {
    let tool = request.tool();
    let arguments = tool.input().masked(request.arguments());
    let lines: Vec<String> = match &arguments {
        Value::Object(arguments) => {
            let line = |(name, value): (&String, &Value)| format!("{}: {}", shown(name), shown(&value.to_string()));
            arguments.iter().map(line).collect()
        }
        other => vec![shown(&other.to_string())],
    };
    let question = match lines.is_empty() {
        true => format!("Run `{}`?", tool.id()),
        false => format!("Run `{}` with these arguments?\n\n{}", tool.id(), lines.join("\n")),
    };
    (question.len() <= MAX_BYTES).then_some(question)
}

/// Escapes the invisible characters of a text and shortens it, which the result states.
fn shown(text: &str) -> String {
    let mut shown = escaped(text);
    if let Some((end, _)) = shown.char_indices().nth(MAX_CHARS) {
        let n_left = shown[end..].chars().count();
        shown.truncate(end);
        shown.push_str(&format!("… ({n_left} more characters)"));
    }
    shown
}
