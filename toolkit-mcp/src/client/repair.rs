//! Reading messages that need repair.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::Value;
use serde_json::value::RawValue;
use toolkit_schema::repair::repaired;

/// Repairs a message, and keeps the last of fields with the same name. Returns `None` if it is not a message.
pub(super) fn message(json: &[u8]) -> Option<String> {
    let text = repaired(json);
    let fields: BTreeMap<Cow<'_, str>, &RawValue> = serde_json::from_str(&text).ok()?;
    serde_json::to_string(&fields).ok()
}

/// Parses JSON, which is repaired if necessary.
pub(super) fn parse(json: &str) -> serde_json::Result<Value> {
    serde_json::from_str(json).or_else(|_| serde_json::from_str(&repaired(json.as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_of_equal_fields_of_a_message_is_kept() {
        let text = message(br#"{"id": 1, "jsonrpc": "2.0", "id": 2, "result": {"a": NaN}}"#);
        assert_eq!(text.as_deref(), Some(r#"{"id":2,"jsonrpc":"2.0","result":{"a": "NaN"}}"#));
        assert_eq!(message(b"Welcome to this server"), None);
    }
}
