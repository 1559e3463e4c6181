//! The fields of `_meta` in requests.

use std::borrow::Cow;

use serde_json::Value;

/// Fields of `_meta` as texts of JSON, in their order. Most of them are the same in all requests.
#[derive(Clone, Default)]
pub(super) struct Meta(Vec<(&'static str, Cow<'static, str>)>);

impl Meta {
    /// Sets a field to a text of JSON.
    pub(super) fn set(&mut self, name: &'static str, json: impl Into<Cow<'static, str>>) {
        let json = json.into();
        match self.0.iter_mut().find(|(known, _)| *known == name) {
            Some((_, known)) => *known = json,
            None => self.0.push((name, json)),
        }
    }

    /// Sets a field to a string.
    pub(super) fn set_text(&mut self, name: &'static str, text: &str) {
        self.set(name, Value::from(text).to_string());
    }

    /// Sets the fields of another one.
    pub(super) fn extend(&mut self, other: &Self) {
        other.0.iter().for_each(|(name, json)| self.set(name, json.clone()));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Appends the object to a message.
    pub(super) fn write(&self, message: &mut Vec<u8>) {
        message.push(b'{');
        for (nth, (name, json)) in self.0.iter().enumerate() {
            if nth > 0 {
                message.push(b',');
            }
            message.push(b'"');
            message.extend_from_slice(name.as_bytes());
            message.extend_from_slice(b"\":");
            message.extend_from_slice(json.as_bytes());
        }
        message.push(b'}');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_that_is_set_again_keeps_its_place() {
        let (mut meta, mut caller) = (Meta::default(), Meta::default());
        meta.set("first", "1");
        meta.set_text("second", "a \"quotation\"");
        caller.set("third", "[3]");
        caller.set("first", "{}");
        meta.extend(&caller);
        let mut message = b"_meta:".to_vec();
        meta.write(&mut message);
        assert_eq!(String::from_utf8(message).unwrap(), r#"_meta:{"first":{},"second":"a \"quotation\"","third":[3]}"#);
    }
}
