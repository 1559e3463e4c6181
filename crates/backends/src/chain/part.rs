//! A part of the JSON text of a result.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use toolkit_schema::pointer::tokens;

/// Returns the part at a JSON Pointer, without a tree of the rest. Of two equal keys, the last one counts.
pub(super) fn part<'j>(json: &'j [u8], pointer: &str) -> Option<&'j RawValue> {
    let (mut json, mut part) = (json, None);
    for token in tokens(pointer) {
        let found = serde_json::Deserializer::from_slice(json).deserialize_any(Within(&token)).ok()??;
        json = found.get().as_bytes();
        part = Some(found);
    }
    part.or_else(|| serde_json::from_slice(json).ok())
}

/// Visits an object or an array, and returns the part under one token.
struct Within<'t>(&'t str);

impl<'de> Visitor<'de> for Within<'_> {
    type Value = Option<&'de RawValue>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object or an array")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Self::Value, A::Error> {
        let mut found = None;
        while let Some(is_sought) = fields.next_key_seed(IsKey(self.0))? {
            match is_sought {
                true => found = Some(fields.next_value()?),
                false => drop(fields.next_value::<IgnoredAny>()?),
            }
        }
        Ok(found)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let is_index = self.0 == "0" || !self.0.starts_with(['+', '0']);
        let (nth, mut found) = (self.0.parse::<usize>().ok().filter(|_| is_index), None);
        let mut idx = 0;
        loop {
            match nth == Some(idx) {
                true => found = items.next_element()?,
                false if items.next_element::<IgnoredAny>()?.is_none() => return Ok(found),
                false => {}
            }
            idx += 1;
        }
    }
}

/// Returns true for one key.
struct IsKey<'t>(&'t str);

impl<'de> DeserializeSeed<'de> for IsKey<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, key: D) -> Result<bool, D::Error> {
        key.deserialize_str(self)
    }
}

impl Visitor<'_> for IsKey<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E>(self, key: &str) -> Result<bool, E> {
        Ok(key == self.0)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::part;

    #[test]
    fn a_part_is_that_of_the_tree() {
        let value = json!({ "a": [1, { "b/c": [true] }, []], "~": null, "0": "x", "é\"": { "": 2 } });
        let text = value.to_string();
        for pointer in [
            "",
            "/a",
            "/a/0",
            "/a/1",
            "/a/1/b~1c",
            "/a/1/b~1c/0",
            "/a/2",
            "/a/3",
            "/a/01",
            "/a/+1",
            "/a/-1",
            "/~0",
            "/0",
            "/é\"",
            "/é\"/",
            "/b",
            "/a/x",
            "/0/0",
            "/~0/a",
        ] {
            let found = part(text.as_bytes(), pointer).map(|part| serde_json::from_str::<Value>(part.get()).unwrap());
            assert_eq!(found.as_ref(), value.pointer(pointer), "{pointer}");
        }
    }

    #[test]
    fn the_last_of_two_equal_keys_counts() {
        assert_eq!(part(br#"{ "a": 1, "b": 3, "a": [2, {}] }"#, "/a").unwrap().get(), "[2, {}]");
        assert!(part(b"nonsense", "").is_none() && part(br#"{"a": 1"#, "/a").is_none());
    }
}
