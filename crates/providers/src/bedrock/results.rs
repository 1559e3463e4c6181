//! Results of calls as blocks of a message.

use serde_json::{Value, json};

use crate::reply::{CallResult, ResultPart, fields};
use toolkit_runtime::media_type;

/// The formats of images by their media types.
const IMAGE_FORMATS: [(&str, &str); 4] =
    [("image/png", "png"), ("image/jpeg", "jpeg"), ("image/gif", "gif"), ("image/webp", "webp")];

/// The formats of documents by their media types.
const DOCUMENT_FORMATS: [(&str, &str); 9] = [
    ("application/pdf", "pdf"),
    ("text/plain", "txt"),
    ("text/markdown", "md"),
    ("text/csv", "csv"),
    ("text/html", "html"),
    ("application/msword", "doc"),
    ("application/vnd.openxmlformats-officedocument.wordprocessingml.document", "docx"),
    ("application/vnd.ms-excel", "xls"),
    ("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xlsx"),
];

/// The maximum number of characters of the name of a document, which may have 200 with the id of its call.
const MAX_NAME: usize = 100;

pub(super) fn tool_result(answer: &CallResult<'_>) -> Value {
    let id = &answer.call.id;
    let blocks = answer.parts.iter().enumerate();
    let mut content: Vec<Value> = blocks.filter_map(|(position, part)| block(part, id, position)).collect();
    if content.is_empty() {
        // The API rejects a result without content.
        content.push(json!({ "text": if answer.is_error { "error" } else { "ok" } }));
    }
    let status = if answer.is_error { "error" } else { "success" };
    fields([("toolUseId", id.as_str().into()), ("content", content.into()), ("status", status.into())])
}

fn block(part: &ResultPart, id: &str, position: usize) -> Option<Value> {
    match part {
        ResultPart::Json(json) if json.trim_ascii_start().starts_with('{') => match serde_json::from_str::<Value>(json)
        {
            Ok(object) => return Some(fields([("json", object)])),
            Err(_) => return Some(json!({ "text": json })),
        },
        ResultPart::Image { data, mime_type } => {
            if let Some(format) = format(&IMAGE_FORMATS, mime_type) {
                return Some(json!({ "image": { "format": format, "source": { "bytes": data } } }));
            }
        }
        ResultPart::File { name, data, mime_type } => {
            if let Some(format) = format(&DOCUMENT_FORMATS, mime_type) {
                let name = document_name(name, id, position);
                return Some(json!({ "document": { "format": format, "name": name, "source": { "bytes": data } } }));
            }
        }
        _ => {}
    }
    let text = part.to_text();
    (!text.trim().is_empty()).then(|| json!({ "text": text }))
}

fn format(formats: &[(&str, &'static str)], mime_type: &str) -> Option<&'static str> {
    let essence = media_type(mime_type);
    formats.iter().find(|(known, _)| known.eq_ignore_ascii_case(essence)).map(|(_, format)| *format)
}

/// Returns a name of letters, digits, hyphens and single spaces. It contains the id of the call, since two documents of
/// a request may not have the same name.
fn document_name(name: &str, id: &str, position: usize) -> String {
    let words = |text: &str| -> String {
        let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-').filter(|word| !word.is_empty());
        words.collect::<Vec<_>>().join(" ").chars().take(MAX_NAME - 8).collect()
    };
    format!("{} {} {position}", words(name), words(id)).trim_ascii().to_owned()
}

#[cfg(test)]
mod tests {
    use super::document_name;

    #[test]
    fn the_name_of_a_document_has_only_permitted_characters() {
        assert_eq!(document_name("Q3  report_v2.pdf", "tooluse_1-a", 0), "Q3 report v2 pdf tooluse 1-a 0");
        assert_eq!(document_name("ä/..\n", "", 2), "2");
        assert!(document_name(&"x".repeat(1000), &"y".repeat(1000), usize::MAX).len() <= 210);
    }
}
