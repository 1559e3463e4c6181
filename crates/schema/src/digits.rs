//! Digits of numbers that a [`Value`] does not keep.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::value::RawValue;
use serde_json::{Number, Value};

use super::pointer::tokens;
use super::repair::repaired;

/// The texts of the numbers of a JSON text that its [`Value`] would change: integers of more than 64 bits, decimals such as
/// `1.10`, and numbers beyond the range of a float, which [repair](repaired) makes strings.
///
/// They are written in place of the numbers of the value, so that a message passes through a program with its digits. The
/// memory is proportional to that of the text.
#[derive(Clone, Debug, Default)]
pub struct Digits(Option<Node>);

/// The part of a JSON text in which such numbers are.
#[derive(Clone, Debug)]
enum Node {
    Number(Box<str>),
    Fields(BTreeMap<String, Node>),
    Items(BTreeMap<usize, Node>),
}

/// The number of levels that parsers of JSON accept.
const MAX_DEPTH: usize = 128;

impl Digits {
    /// Reads the digits in a JSON text, also in one with syntax errors, up to a part that is nested too deep to be parsed.
    pub fn read(json: &str) -> Self {
        let bytes = json.as_bytes();
        let (mut root, mut open, mut at) = (None, Vec::new(), 0);
        while let Some(&byte) = bytes.get(at).filter(|_| open.len() <= MAX_DEPTH) {
            let start = at;
            at += 1;
            match byte {
                b'"' => {
                    at = end_of_string(bytes, at);
                    if let Some(Open::Object { key, has_key: has_key @ false, .. }) = open.last_mut() {
                        (*key, *has_key) = (&json[start..at], true);
                    }
                }
                b'{' => open.push(Open::Object { key: "\"\"", has_key: false, fields: BTreeMap::new() }),
                b'[' => open.push(Open::Array { idx: 0, items: BTreeMap::new() }),
                b'}' | b']' => close(&mut open, &mut root),
                b',' => match open.last_mut() {
                    Some(Open::Object { has_key, .. }) => *has_key = false,
                    Some(Open::Array { idx, .. }) => *idx += 1,
                    None => {}
                },
                b'-' | b'0'..=b'9' => {
                    at += bytes[at..].iter().take_while(|byte| is_part_of_number(**byte)).count();
                    let number = &json[start..at];
                    if !is_kept(number) && serde_json::from_str::<&RawValue>(number).is_ok() {
                        put(&mut open, &mut root, Node::Number(number.into()));
                    }
                }
                _ => {}
            }
        }
        while !open.is_empty() {
            close(&mut open, &mut root);
        }
        Self(root)
    }

    /// Returns true if a value keeps the digits of each number.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Returns the digits of a value that has this one as its part `pointer`.
    #[must_use]
    pub fn below(self, pointer: &str) -> Self {
        let names: Vec<_> = tokens(pointer).collect();
        let within = |node, name: Cow<'_, str>| Node::Fields(BTreeMap::from([(name.into_owned(), node)]));
        Self(self.0.map(|node| names.into_iter().rev().fold(node, within)))
    }

    /// Writes a value, the part `pointer` of the one that was read, with the digits of its numbers. A part that was
    /// changed since is written as it is.
    pub fn write(&self, value: &Value, pointer: &str, out: &mut Vec<u8>) {
        write(self.at(pointer), value, out);
    }

    fn at(&self, pointer: &str) -> Option<&Node> {
        tokens(pointer).try_fold(self.0.as_ref()?, |node, name| node.part(&name))
    }
}

impl Node {
    fn part(&self, name: &str) -> Option<&Self> {
        match self {
            Self::Number(_) => None,
            Self::Fields(fields) => fields.get(name),
            Self::Items(items) => items.get(&name.parse().ok()?),
        }
    }
}

fn write(node: Option<&Node>, value: &Value, out: &mut Vec<u8>) {
    match (node, value) {
        (Some(Node::Number(text)), value) if denotes(text, value) => out.extend_from_slice(text.as_bytes()),
        (Some(Node::Items(nodes)), Value::Array(items)) => {
            out.push(b'[');
            for (idx, item) in items.iter().enumerate() {
                if idx > 0 {
                    out.push(b',');
                }
                write(nodes.get(&idx), item, out);
            }
            out.push(b']');
        }
        (Some(Node::Fields(nodes)), Value::Object(fields)) => {
            out.push(b'{');
            for (idx, (key, value)) in fields.iter().enumerate() {
                if idx > 0 {
                    out.push(b',');
                }
                push(out, key);
                out.push(b':');
                write(nodes.get(key), value, out);
            }
            out.push(b'}');
        }
        (_, value) => push(out, value),
    }
}

/// An object or array that has not ended, with the numbers in it.
enum Open<'j> {
    Object { key: &'j str, has_key: bool, fields: BTreeMap<String, Node> },
    Array { idx: usize, items: BTreeMap<usize, Node> },
}

/// Adds a part to the object or array that is open.
fn put(open: &mut [Open<'_>], root: &mut Option<Node>, node: Node) {
    match open.last_mut() {
        Some(Open::Object { key, fields, .. }) => {
            let key: Option<String> =
                serde_json::from_str(key).or_else(|_| serde_json::from_str(&repaired(key.as_bytes()))).ok();
            fields.insert(key.unwrap_or_default(), node);
        }
        Some(Open::Array { idx, items }) => drop(items.insert(*idx, node)),
        None => *root = Some(node),
    }
}

fn close(open: &mut Vec<Open<'_>>, root: &mut Option<Node>) {
    match open.pop() {
        Some(Open::Object { fields, .. }) if !fields.is_empty() => put(open, root, Node::Fields(fields)),
        Some(Open::Array { items, .. }) if !items.is_empty() => put(open, root, Node::Items(items)),
        _ => {}
    }
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
    fn memory_and_time_are_bounded_by_the_text() {
        let key = "k".repeat(100_000);
        let json = format!(r#"{{"{key}":{{"{key}":[{}1.10]}}}}"#, "1.10,1.5,".repeat(100_000));
        assert_eq!(written(&json, |_| {}), json);
        let (deep, wide) = ("[".repeat(1_000_000), "[1.10],".repeat(1_000));
        assert!(Digits::read(&format!("{deep}1.10")).is_empty());
        assert!(!Digits::read(&format!("[{wide}{deep}1.10")).is_empty());
    }
}
