//! Digits of numbers that a [`Value`] does not keep.

use std::collections::BTreeMap;

use serde_json::value::RawValue;
use serde_json::{Number, Value};

use super::pointer::push_child;
use super::repair::repaired;

/// The texts of the numbers of a JSON text that its [`Value`] would change, by pointer: integers of more than 64 bits,
/// decimals such as `1.10`, and numbers beyond the range of a float, which [repair](repaired) makes strings.
///
/// They are written in place of the numbers of the value, so that a message passes through a program with its digits.
#[derive(Clone, Debug, Default)]
pub struct Digits(BTreeMap<String, String>);

impl Digits {
    /// Reads the digits in a JSON text, which is read to its end even if it is invalid.
    pub fn read(json: &str) -> Self {
        let bytes = json.as_bytes();
        let (mut texts, mut open, mut at) = (BTreeMap::new(), Vec::new(), 0);
        while let Some(&byte) = bytes.get(at) {
            let start = at;
            at += 1;
            match byte {
                b'"' => {
                    at = end_of_string(bytes, at);
                    if let Some(Open::Object { key, has_key: has_key @ false }) = open.last_mut() {
                        (*key, *has_key) = (&json[start..at], true);
                    }
                }
                b'{' => open.push(Open::Object { key: "\"\"", has_key: false }),
                b'[' => open.push(Open::Array(0)),
                b'}' | b']' => drop(open.pop()),
                b',' => match open.last_mut() {
                    Some(Open::Object { has_key, .. }) => *has_key = false,
                    Some(Open::Array(idx)) => *idx += 1,
                    None => {}
                },
                b'-' | b'0'..=b'9' => {
                    at += bytes[at..].iter().take_while(|byte| is_part_of_number(**byte)).count();
                    let number = &json[start..at];
                    if !is_kept(number) && serde_json::from_str::<&RawValue>(number).is_ok() {
                        texts.insert(pointer(&open), number.to_owned());
                    }
                }
                _ => {}
            }
        }
        Self(texts)
    }

    /// Returns true if a value keeps the digits of each number.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Removes the numbers beyond the range of a float, which many parsers reject.
    #[must_use]
    pub fn readable(&self) -> Self {
        let texts = self.0.iter().filter(|(_, text)| serde_json::from_str::<Number>(text).is_ok());
        Self(texts.map(|(place, text)| (place.clone(), text.clone())).collect())
    }

    /// Returns the digits of a value that is the part `pointer` of another one.
    #[must_use]
    pub fn below(&self, pointer: &str) -> Self {
        Self(self.0.iter().map(|(place, text)| ([pointer, place].concat(), text.clone())).collect())
    }

    /// Writes a value, the part `pointer` of the one that was read, with the digits of its numbers. A part that was
    /// changed since is written as it is.
    pub fn write(&self, value: &Value, pointer: &str, out: &mut Vec<u8>) {
        if !self.has_within(pointer) {
            return push(out, value);
        }
        match value {
            Value::Array(items) => {
                out.push(b'[');
                for (idx, item) in items.iter().enumerate() {
                    if idx > 0 {
                        out.push(b',');
                    }
                    self.write(item, &child(pointer, &idx.to_string()), out);
                }
                out.push(b']');
            }
            Value::Object(fields) => {
                out.push(b'{');
                for (idx, (key, value)) in fields.iter().enumerate() {
                    if idx > 0 {
                        out.push(b',');
                    }
                    push(out, key);
                    out.push(b':');
                    self.write(value, &child(pointer, key), out);
                }
                out.push(b'}');
            }
            value => match self.0.get(pointer).filter(|text| denotes(text, value)) {
                Some(text) => out.extend_from_slice(text.as_bytes()),
                None => push(out, value),
            },
        }
    }

    /// Returns the value with the largest floats in place of the numbers beyond their range, for a comparison with a
    /// schema.
    #[must_use]
    pub fn in_range(&self, mut value: Value, pointer: &str) -> Value {
        for (place, text) in &self.0 {
            if let Some(slot) = place.strip_prefix(pointer).and_then(|place| value.pointer_mut(place))
                && slot.is_string()
                && denotes(text, slot)
            {
                *slot = if text.starts_with('-') { f64::MIN } else { f64::MAX }.into();
            }
        }
        value
    }

    fn has_within(&self, pointer: &str) -> bool {
        let below = format!("{pointer}/");
        self.0.contains_key(pointer)
            || self.0.range(below.clone()..).next().is_some_and(|(key, _)| key.starts_with(&below))
    }
}

/// An object or array that has not ended.
enum Open<'j> {
    Object { key: &'j str, has_key: bool },
    Array(usize),
}

fn pointer(open: &[Open<'_>]) -> String {
    let mut pointer = String::new();
    for open in open {
        match open {
            Open::Object { key, .. } => {
                let key: Option<String> =
                    serde_json::from_str(key).or_else(|_| serde_json::from_str(&repaired(key.as_bytes()))).ok();
                push_child(&mut pointer, &key.unwrap_or_default());
            }
            Open::Array(idx) => push_child(&mut pointer, &idx.to_string()),
        }
    }
    pointer
}

fn child(pointer: &str, token: &str) -> String {
    super::pointer::child(pointer, token)
}

/// Returns the offset after the string whose text starts at `at`.
fn end_of_string(bytes: &[u8], mut at: usize) -> usize {
    while let Some(&byte) = bytes.get(at) {
        at += 1;
        match byte {
            b'"' => return at,
            b'\\' => at += 1,
            _ => {}
        }
    }
    bytes.len()
}

fn is_part_of_number(byte: u8) -> bool {
    byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'+' | b'-')
}

/// Returns true if a value writes the number as its text.
fn is_kept(number: &str) -> bool {
    let digits = number.strip_prefix('-').unwrap_or(number);
    if digits.len() <= 18 && digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return number != "-0";
    }
    serde_json::from_str::<Number>(number).is_ok_and(|read| read.to_string() == number)
}

/// Returns true if the value is the one that was read from the number.
fn denotes(number: &str, value: &Value) -> bool {
    match (serde_json::from_str::<Number>(number), value) {
        (Ok(read), Value::Number(number)) => read == *number,
        (Err(_), Value::String(text)) => text == number,
        _ => false,
    }
}

fn push(out: &mut Vec<u8>, value: &(impl serde::Serialize + ?Sized)) {
    serde_json::to_writer(out, value).expect("keys are text, and writing to a vector cannot fail");
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn written(json: &str, change: impl FnOnce(&mut Value)) -> String {
        let mut value: Value =
            serde_json::from_str(json).or_else(|_| serde_json::from_str(&repaired(json.as_bytes()))).unwrap();
        change(&mut value);
        let mut out = Vec::new();
        Digits::read(json).write(&value, "", &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn numbers_are_written_with_their_digits() {
        for json in [
            "18446744073709551616",
            r#"{"a":[1.10,{"b/c~":-12345678901234567890123,"d":1e400}],"e":"1.10","f":[],"g":-0}"#,
            r#"[[1,2.50],"\"1.10",{"":1E5},{"\\":0.10},1e400,-1e-400,"1e400"]"#,
            "[1,-2,0.5,1e+16,9007199254740993,true,null]",
        ] {
            assert_eq!(written(json, |_| {}), json);
        }
        assert!(Digits::read(r#"{"a":[1,-2.5,18446744073709551615,"1.10"]}"#).is_empty());
        assert_eq!(written(r#"{"\ud800":1.10}"#, |_| {}), "{\"\u{fffd}\":1.10}");
    }

    #[test]
    fn changed_parts_are_written_as_they_are() {
        let change = |value: &mut Value| value["a"] = json!({ "b": 2 });
        assert_eq!(written(r#"{"a":{"b":1.10},"c":2.0e0}"#, change), r#"{"a":{"b":2},"c":2.0e0}"#);
        assert_eq!(written(r#"{"a":1.10,"a":7}"#, |_| {}), r#"{"a":7}"#);
    }

    #[test]
    fn numbers_beyond_floats_are_the_largest_ones_for_schemas() {
        let json = r#"{"s":{"a":1e400,"b":"1e401","c":[-1e400]}}"#;
        let value: Value = serde_json::from_str(&repaired(json.as_bytes())).unwrap();
        let read = Digits::read(json).in_range(value["s"].clone(), "/s");
        assert_eq!(read, json!({ "a": f64::MAX, "b": "1e401", "c": [f64::MIN] }));
    }
}
