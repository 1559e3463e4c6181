//! The text of JSON values, borrowed from a message.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// The text of a JSON value, like [`RawValue`].
#[derive(Clone, Copy, Debug)]
pub(super) struct JsonText<'m>(&'m str);

impl<'m> JsonText<'m> {
    pub(super) fn new(text: &'m str) -> Self {
        Self(text)
    }

    pub(super) fn get(self) -> &'m str {
        self.0
    }
}

impl<'de: 'm, 'm> Deserialize<'de> for JsonText<'m> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <&RawValue>::deserialize(deserializer).map(|value| Self(value.get()))
    }
}

/// Returns true for a string or an integer (`RequestId` of all revisions).
pub(super) fn is_id(text: &str) -> bool {
    text.starts_with('"') || text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-')
}

/// Returns the text of a JSON string.
pub(super) fn text(json: &str) -> Option<Cow<'_, str>> {
    let inner = json.strip_prefix('"')?.strip_suffix('"')?;
    if inner.contains('\\') {
        return serde_json::from_str(json).ok().map(Cow::Owned);
    }
    Some(Cow::Borrowed(inner))
}
