//! Texts of servers in the messages of errors.

#[cfg(test)]
mod tests;

use serde_json::Value;
use toolkit::schema::excerpt::escaped;

use super::failure::ServerError;

/// The length in characters to which a server's error message is truncated.
const MAX_MESSAGE_CHARS: usize = 2_000;
/// The length in bytes to which the data of a server's error are truncated.
const MAX_DATA_BYTES: usize = 1_000;

/// Returns the text of a JSON-RPC error: its message, and the beginning of its data. Invisible characters are escaped.
pub(super) fn text_of(error: &ServerError) -> String {
    let message = shortened(error.message.trim());
    let data = match &error.data {
        Some(Value::String(text)) => text.trim().to_owned(),
        Some(data) if !data.is_null() => data.to_string(),
        _ => String::new(),
    };
    let data = match data.floor_char_boundary(MAX_DATA_BYTES) {
        end if end < data.len() => format!("{}…", &data[..end]),
        _ => data,
    };
    let is_shown = !data.is_empty() && !message.contains(&data);
    let text = match (message.is_empty(), is_shown) {
        (true, true) => data,
        (false, true) => format!("{message} ({data})"),
        (_, false) => message,
    };
    shortened(&escaped(&text))
}

/// Appends the text of a server to a message, if there is one.
pub(super) fn followed(message: &str, text: &str) -> String {
    if text.is_empty() { message.to_owned() } else { format!("{message}: {text}") }
}

/// Truncates the message of a server.
pub(super) fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_MESSAGE_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
