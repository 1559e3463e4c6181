//! Results of calls as function responses.

use serde_json::{Map, Value, json};

use crate::reply::{Answer, Item, Part, fields};

/// The types of media that a function response may contain.
const MEDIA_TYPES: [&str; 5] = ["image/png", "image/jpeg", "image/webp", "application/pdf", "text/plain"];

/// Writes a part for each result.
pub(super) fn write_results(items: &[Item<'_>]) -> Vec<Value> {
    let written = items.iter().map(|item| match item {
        Item::Answer(answer) => fields([("functionResponse", function_response(answer))]),
        Item::Written(part) => (*part).clone(),
    });
    written.collect()
}

fn function_response(answer: &Answer<'_>) -> Value {
    let (media, texts): (Vec<&Part>, Vec<&Part>) = answer.parts.iter().partition(|part| is_supported(part));
    let mut response = Map::new();
    // Without ids, calls and results correspond by name and order, and a result with another id is rejected.
    if answer.call.has_id {
        response.insert("id".to_owned(), answer.call.id.as_str().into());
    }
    response.insert("name".to_owned(), answer.call.sent_name.as_str().into());
    let outcome = if answer.is_error { "error" } else { "output" };
    response.insert("response".to_owned(), fields([(outcome, output(&texts, answer.is_error))]));
    let media: Vec<Value> = media.into_iter().filter_map(inline_data).collect();
    if !media.is_empty() {
        response.insert("parts".to_owned(), media.into());
    }
    response.into()
}

/// Returns the structured result, or else the text.
fn output(texts: &[&Part], is_error: bool) -> Value {
    match texts {
        [] if !is_error => json!({}),
        [Part::Json(json)] if !is_error => serde_json::from_str(json).unwrap_or_else(|_| json.as_str().into()),
        texts => texts.iter().map(|part| part.to_text()).collect::<Vec<_>>().join("\n").into(),
    }
}

fn is_supported(part: &Part) -> bool {
    part.media().is_some_and(|(_, mime_type, _)| MEDIA_TYPES.contains(&mime_type))
}

fn inline_data(part: &Part) -> Option<Value> {
    let (_, mime_type, data) = part.media()?;
    Some(json!({ "inlineData": { "mimeType": mime_type, "data": data } }))
}
