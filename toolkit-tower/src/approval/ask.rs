//! The question whether a call is approved.

use serde_json::json;
use toolkit::call::ask::{Answer, Form, Question};
use toolkit::lint::invisible::escaped;

use super::{ApprovalRequest, Decision};

/// The number of characters of the arguments that the user reads.
const MAX_CHARS: usize = 2000;

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
    match request.context().ask_question(&Question::form(message(&request), form)).await {
        Ok(Answer::Accepted(content)) if content[APPROVE] == true => Decision::Approve,
        Ok(Answer::Accepted(_) | Answer::Declined) => Decision::Deny("the user declined it".to_owned()),
        Ok(Answer::Cancelled) => Decision::Deny("the user closed the question without an answer".to_owned()),
        Ok(Answer::Unsupported) => fallback,
        Err(error) => Decision::Deny(error.message().to_owned()),
    }
}

/// Returns the text that the user reads. The model has chosen the arguments, so none of their characters is invisible.
fn message(request: &ApprovalRequest) -> String {
    let tool = request.tool();
    let arguments = tool.input().masked(request.arguments()).to_string();
    let mut shown = escaped(&arguments);
    if let Some((end, _)) = shown.char_indices().nth(MAX_CHARS) {
        let n_left = shown[end..].chars().count();
        shown.truncate(end);
        shown.push_str(&format!("… ({n_left} more characters)"));
    }
    format!("Run `{}` with these arguments?\n\n{shown}", tool.id())
}
