//! Messages of servers.

use std::sync::Arc;

use tokio::task::spawn_blocking;
use toolkit_mcp::Fields;
use toolkit_schema::repair;

use super::message_memory::{LARGE, Received};
use super::raw::{MessageText, Raw};

/// A message of a server.
#[derive(Debug)]
pub(super) struct Incoming {
    pub(super) id: Option<Raw>,
    pub(super) method: Option<String>,
    pub(super) params: Option<Raw>,
    pub(super) result: Option<Raw>,
    pub(super) error: Option<Raw>,
}

/// The messages in a text.
#[derive(Debug, Default)]
pub(super) struct Messages {
    pub(super) messages: Vec<Incoming>,
    /// True if the text has other parts.
    pub(super) has_strays: bool,
}

/// Reads the messages in a text, which is repaired if it is not JSON. A large one is not read on a thread that serves.
pub(super) async fn read(received: Received) -> Messages {
    match received.bytes.len() < LARGE {
        true => messages(received),
        false => spawn_blocking(|| messages(received)).await.unwrap_or_default(),
    }
}

fn messages(Received { bytes, memory }: Received) -> Messages {
    let text = String::from_utf8(bytes).unwrap_or_else(|error| repair::with_numbers(error.as_bytes()));
    let message = Arc::new(MessageText { text, memory });
    if let Ok(read) = Fields::read(&message.text) {
        return Messages::new(&message, read, false);
    }
    let text = repair::with_numbers(message.text.as_bytes());
    let memory = Arc::into_inner(message).and_then(|message| message.memory);
    let repaired = Arc::new(MessageText { text, memory });
    match Fields::read(&repaired.text) {
        Ok(read) => Messages::new(&repaired, read, false),
        Err(before) => Messages::new(&repaired, before, true),
    }
}

impl Messages {
    fn new(text: &Arc<MessageText>, read: Vec<Fields<'_>>, has_strays: bool) -> Self {
        let messages: Vec<Incoming> = read.into_iter().map(|fields| Incoming::new(text, &fields)).collect();
        let has_strays = has_strays || messages.is_empty() || messages.iter().any(Incoming::is_stray);
        Self { messages, has_strays }
    }
}

impl Incoming {
    fn new(text: &Arc<MessageText>, fields: &Fields<'_>) -> Self {
        let part = |part| Raw::part(text, part);
        Self {
            id: fields.id.map(part),
            method: fields.method.as_deref().map(str::to_owned),
            params: fields.params.map(part),
            result: fields.result.map(part),
            error: fields.error.map(part),
        }
    }

    fn is_stray(&self) -> bool {
        self.method.is_none() && self.result.is_none() && self.error.is_none()
    }

    /// Returns the id of the request of this client that the message answers. Some servers answer `1` with `"1"`.
    pub(super) fn own_id(&self) -> Option<u64> {
        self.id.as_ref().and_then(|id| number(id.get()))
    }
}

/// Returns a number, also one that is written as a string.
pub(super) fn number(json: &str) -> Option<u64> {
    json.trim_matches('"').parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_of_equal_fields_of_a_message_is_kept() {
        let read = messages(br#"{"id": 1, "jsonrpc": "2.0", "id": 2, "result": {"a": NaN}}"#.to_vec().into());
        assert_eq!(read.messages[0].own_id(), Some(2));
        assert_eq!(read.messages[0].result.as_ref().unwrap().get(), r#"{"a": "NaN"}"#);
        assert!(messages(b"Welcome to this server".to_vec().into()).has_strays);
        let marked = messages(b"\xef\xbb\xbf{\"id\": \"1\", \"result\": \"\xff\"}".to_vec().into());
        assert_eq!(marked.messages[0].own_id(), Some(1));
        assert_eq!(marked.messages[0].result.as_ref().unwrap().get(), "\"\u{fffd}\"");
    }

    #[test]
    fn messages_before_other_text_are_read() {
        let read = messages(br#"{"id": 1, "result": {}}{"id": 2, "error": {}} bye"#.to_vec().into());
        let ids: Vec<_> = read.messages.iter().map(Incoming::own_id).collect();
        assert_eq!((ids, read.has_strays), (vec![Some(1), Some(2)], true));
    }
}
