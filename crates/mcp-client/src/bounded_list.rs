//! Lists of tools that are longer than a client accepts, in a message or in a batch: the rest is dropped before the list is
//! parsed.
//!
//! A parsed tool takes up to forty times the memory of its text.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde::Deserializer;
use serde::de::{IgnoredAny, SeqAccess, Visitor};
use serde_json::value::RawValue;
use toolkit_schema::repair;

/// The size of a message in bytes up to which it is parsed as it is.
const SMALL: usize = 1 << 20;

type Fields<'j> = BTreeMap<Cow<'j, str>, &'j RawValue>;

/// Returns a message, or a batch of messages, without the tools after the first `max` ones, or `None` if it has no more.
pub(super) fn shortened(message: &[u8], max: usize) -> Option<String> {
    if message.len() <= SMALL {
        return None;
    }
    // A text that is not valid JSON is repaired, as by the parser.
    let text = repair::with_numbers(message);
    let Ok(batch) = serde_json::from_str::<Vec<&RawValue>>(&text) else { return shortened_one(&text, max) };
    let shorter: Vec<Option<String>> = batch.iter().map(|message| shortened_one(message.get(), max)).collect();
    if shorter.iter().all(Option::is_none) {
        return None;
    }
    let messages: Vec<&str> =
        batch.iter().zip(&shorter).map(|(message, shorter)| shorter.as_deref().unwrap_or(message.get())).collect();
    Some(format!("[{}]", messages.join(",")))
}

fn shortened_one(message: &str, max: usize) -> Option<String> {
    let mut fields: Fields<'_> = serde_json::from_str(message).ok()?;
    let mut result: Fields<'_> = serde_json::from_str(fields.get("result")?.get()).ok()?;
    let first = serde_json::Deserializer::from_str(result.get("tools")?.get()).deserialize_seq(First(max)).ok()??;
    let tools = serde_json::value::to_raw_value(&first).ok()?;
    result.insert(Cow::Borrowed("tools"), &tools);
    let result = serde_json::value::to_raw_value(&result).ok()?;
    fields.insert(Cow::Borrowed("result"), &result);
    serde_json::to_string(&fields).ok()
}

/// Reads the first elements of a sequence, or `None` if it has no others.
struct First(usize);

impl<'j> Visitor<'j> for First {
    type Value = Option<Vec<&'j RawValue>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'j>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut first = Vec::new();
        while first.len() < self.0 {
            match list.next_element()? {
                Some(element) => first.push(element),
                None => return Ok(None),
            }
        }
        if list.next_element::<IgnoredAny>()?.is_none() {
            return Ok(None);
        }
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Some(first))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_large_message_with_more_tools_is_shortened() {
        let list = |n: usize, bytes: usize, next: &str| {
            let tools = vec![format!("{{\"name\":\"{}\"}}", "x".repeat(bytes)); n].join(",");
            format!("{{\"id\":1,\"result\":{{\"nextCursor\":{next},\"tools\":[{tools}]}}}}")
        };
        assert_eq!(shortened(list(3, 10, "\"a\"").as_bytes(), 2), None);
        assert_eq!(shortened(list(2, SMALL, "\"a\"").as_bytes(), 2), None);
        assert_eq!(shortened(list(3, SMALL, "\"a\"").as_bytes(), 2), Some(list(2, SMALL, "\"a\"")));
        let batch = |n: usize| format!("[{{\"id\":2}},{}]", list(n, SMALL, "\"a\""));
        assert_eq!(shortened(batch(2).as_bytes(), 2), None);
        assert_eq!(shortened(batch(3).as_bytes(), 2), Some(batch(2)));
        let repaired = shortened(list(3, SMALL, "NaN").as_bytes(), 2).unwrap();
        assert!(repaired.len() < 3 * SMALL && repaired.contains("\"nextCursor\":"), "{}", &repaired[..60]);
        assert_eq!(shortened("x".repeat(2 * SMALL).as_bytes(), 2), None);
    }
}
