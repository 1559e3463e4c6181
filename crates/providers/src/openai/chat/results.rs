//! The messages with results.

use serde_json::{Value, json};

use crate::reply::{CallResult, IMAGE_TYPES, ResultItem, ResultPart, fields};

/// Returns a message for each result. A result is text, so its images, sounds and files follow in one message of the
/// user: the results must be next to each other.
pub(super) fn messages(items: &[ResultItem<'_>]) -> Vec<Value> {
    let mut media = Vec::new();
    let mut messages = ResultItem::write_each(items, |answer| message(answer, &mut media));
    if !media.is_empty() {
        messages.push(fields([("role", "user".into()), ("content", media.into())]));
    }
    messages
}

fn message(answer: &CallResult<'_>, media: &mut Vec<Value>) -> Value {
    let call = answer.call;
    let mut parts = Vec::with_capacity(answer.parts.len());
    for part in &answer.parts {
        let Some(content) = user_content(part) else {
            parts.push(part.clone());
            continue;
        };
        let kind = part.media().map_or("file", |(kind, ..)| kind);
        let name = format!("{kind} {}", media.len() / 2 + 1);
        parts.push(ResultPart::Text(format!("[{name}: in the next message of the user]")));
        let title = format!("[{name}, from the result of {} ({})]", call.sent_name, call.id);
        media.extend([json!({ "type": "text", "text": title }), content]);
    }
    let text = CallResult { call, parts, is_error: answer.is_error }.to_text();
    fields([("role", "tool".into()), ("tool_call_id", call.id.as_str().into()), ("content", text.into())])
}

/// Returns a part that is not text in the form of the content of a user, if the API accepts it.
fn user_content(part: &ResultPart) -> Option<Value> {
    match part {
        ResultPart::Image { mime_type, .. } if IMAGE_TYPES.contains(&mime_type.as_str()) => {
            Some(json!({ "type": "image_url", "image_url": { "url": part.data_url() } }))
        }
        ResultPart::Audio { data, mime_type } => {
            let format = match mime_type.as_str() {
                "audio/wav" | "audio/x-wav" | "audio/wave" => "wav",
                "audio/mpeg" | "audio/mp3" => "mp3",
                _ => return None,
            };
            Some(json!({ "type": "input_audio", "input_audio": { "data": data, "format": format } }))
        }
        ResultPart::File { name, mime_type, .. } if mime_type == "application/pdf" => {
            Some(json!({ "type": "file", "file": { "filename": name, "file_data": part.data_url() } }))
        }
        _ => None,
    }
}
