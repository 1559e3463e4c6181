//! Texts of JSON values in the messages of servers.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use serde::de::{DeserializeOwned, Deserializer as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use toolkit_schema::repair::repaired;

use super::message_memory::MessageMemory;

/// The text of a JSON value in a message. Clones share the text of the message.
#[derive(Clone)]
pub(super) struct Raw {
    message: Arc<MessageText>,
    range: Range<usize>,
}

/// The text of a message, which keeps its memory.
pub(super) struct MessageText {
    pub(super) text: String,
    pub(super) memory: Option<MessageMemory>,
}

impl Raw {
    /// Returns a part of a message.
    pub(super) fn part(message: &Arc<MessageText>, part: &RawValue) -> Self {
        let start = part.get().as_ptr().addr() - message.text.as_ptr().addr();
        Self { message: Arc::clone(message), range: start..start + part.get().len() }
    }

    pub(super) fn get(&self) -> &str {
        &self.message.text[self.range.clone()]
    }

    /// Parses the text, which is repaired if necessary.
    pub(super) fn parse<T: DeserializeOwned>(&self) -> serde_json::Result<T> {
        serde_json::from_str(self.get()).or_else(|_| serde_json::from_str(&repaired(self.get().as_bytes())))
    }

    /// Returns the fields of an object. The last of fields with the same name counts.
    pub(super) fn fields(&self) -> Option<BTreeMap<String, Self>> {
        let fields: BTreeMap<String, &RawValue> = serde_json::from_str(self.get()).ok()?;
        Some(fields.into_iter().map(|(name, value)| (name, Self::part(&self.message, value))).collect())
    }

    /// Returns a field of an object.
    pub(super) fn field(&self, name: &str) -> Option<Self> {
        // Most results lack most fields, and a search is much faster than a parser.
        if !self.get().contains(name) {
            return None;
        }
        let value = serde_json::Deserializer::from_str(self.get()).deserialize_map(LastField(name)).ok()??;
        Some(Self::part(&self.message, value))
    }

    /// Returns the text of a field of an object.
    pub(super) fn text_field(&self, name: &str) -> Option<String> {
        self.field(name)?.text()
    }

    pub(super) fn is_object(&self) -> bool {
        self.get().starts_with('{')
    }

    /// Returns the elements of a list, of which there are at most `max`. The others are not read.
    pub(super) fn elements(&self, max: usize) -> Option<Vec<Self>> {
        let elements = first_elements(self.get(), max).ok()?;
        Some(elements.into_iter().map(|element| Self::part(&self.message, element)).collect())
    }

    /// Returns true for the result of a call that reports an error.
    pub(super) fn is_error(&self) -> bool {
        self.field("isError").is_some_and(|is_error| is_error.get() == "true")
    }

    /// Returns the text of a string.
    pub(super) fn text(&self) -> Option<String> {
        self.parse().ok()
    }

    /// Returns the text, without a copy if nothing else has the message.
    pub(super) fn into_bytes(self) -> Vec<u8> {
        match Arc::try_unwrap(self.message) {
            Ok(message) => {
                let mut bytes = message.text.into_bytes();
                bytes.truncate(self.range.end);
                bytes.drain(..self.range.start);
                bytes
            }
            Err(shared) => shared.text[self.range].as_bytes().to_vec(),
        }
    }
}

impl From<String> for Raw {
    fn from(text: String) -> Self {
        let range = 0..text.len();
        Self { message: Arc::new(MessageText { text, memory: None }), range }
    }
}

impl fmt::Debug for Raw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.get())
    }
}

/// Finds the last field with a name.
struct LastField<'n>(&'n str);

impl<'j> Visitor<'j> for LastField<'_> {
    type Value = Option<&'j RawValue>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'j>>(self, mut fields: A) -> Result<Self::Value, A::Error> {
        let mut last = None;
        while let Some(FieldName(name)) = fields.next_key()? {
            match name == self.0 {
                true => last = Some(fields.next_value()?),
                false => drop(fields.next_value::<IgnoredAny>()?),
            }
        }
        Ok(last)
    }
}

/// The name of a field, without a copy if it has no escapes.
#[derive(Deserialize)]
struct FieldName<'j>(#[serde(borrow)] Cow<'j, str>);

/// Returns a value as text.
pub(super) fn raw_value(value: &(impl Serialize + ?Sized)) -> Box<RawValue> {
    to_raw_value(value).expect("the value has string keys only, and writing to memory does not fail")
}

fn first_elements(json: &str, max: usize) -> serde_json::Result<Vec<&RawValue>> {
    struct First(usize);

    impl<'j> Visitor<'j> for First {
        type Value = Vec<&'j RawValue>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a list")
        }

        fn visit_seq<A: SeqAccess<'j>>(self, mut list: A) -> Result<Self::Value, A::Error> {
            let mut first = Vec::new();
            while first.len() < self.0 {
                match list.next_element()? {
                    Some(element) => first.push(element),
                    None => return Ok(first),
                }
            }
            while list.next_element::<IgnoredAny>()?.is_some() {}
            Ok(first)
        }
    }

    serde_json::Deserializer::from_str(json).deserialize_seq(First(max))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_of_equal_fields_of_an_object_is_found() {
        let found = |text: &str| Raw::from(text.to_owned()).field("a").map(|field| field.get().to_owned());
        for (text, field) in [
            (r#"{"b":{"a":1},"a": [2, "a"] ,"c":"a"}"#, Some(r#"[2, "a"]"#)),
            (r#"{"a":1,"b":2,"a":3}"#, Some("3")),
            (r#"{"\u0062":"a","a":null}"#, Some("null")),
            (r#"{"b":{"a":1}}"#, None),
            (r#"["a"]"#, None),
            (r#"{"a":1"#, None),
        ] {
            assert_eq!(found(text).as_deref(), field, "{text}");
        }
    }
}
