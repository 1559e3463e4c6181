//! Parsing of JSON text to a tree, with an error for duplicate keys.
//!
//! `serde_json` keeps the last of several equal keys. Two parsers that keep different ones disagree about what was
//! validated and what was executed, so duplicate keys are rejected.

use std::collections::HashSet;
use std::fmt;
use std::io;

use serde::Serialize;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use super::plan::{read_tree, special};
use super::repair::{is_beyond_floats, surrogates};

/// Parses JSON text.
///
/// # Errors
///
/// Returns a message with the position of a syntax error, the duplicate key, or the nesting limit.
pub fn parse(text: &[u8]) -> Result<Value, String> {
    read_tree(text, &mut |_| {}).map_err(|_| syntax_error(text))
}

/// Returns a message that explains why a text cannot be parsed.
#[cold]
pub(crate) fn syntax_error(text: &[u8]) -> String {
    if text.trim_ascii().is_empty() {
        return "not valid JSON: the text is empty; use `{}` for an empty object".to_owned();
    }
    if text.starts_with(b"\xEF\xBB\xBF") {
        return "not valid JSON: it starts with a byte order mark".to_owned();
    }
    let Err(error) = serde_json::from_slice::<Checked>(text) else {
        // `serde_json` may be compiled to accept numbers of any size.
        return "not valid JSON: number out of range".to_owned();
    };
    // The jargon of `serde_json` for a text that starts like `null`, `true` or `false`.
    let error =
        error.to_string().replace("expected ident at", "expected a value, of which a text has double quotes, at");
    match error.strip_prefix("recursion limit exceeded") {
        Some(place) => format!("the JSON is nested deeper than 127 levels{place}"),
        None => format!("not valid JSON: {error}"),
    }
}

/// The maximum depth that the parser accepts.
const MAX_DEPTH: usize = 127;

/// Returns true if a tree is nested deeper than the parser accepts.
pub fn is_too_deep(value: &Value) -> bool {
    is_too_deep_below(value, 0)
}

/// Returns true if a tree is nested deeper than the parser accepts when `n_levels` others contain it.
pub fn is_too_deep_below(value: &Value, n_levels: usize) -> bool {
    MAX_DEPTH.checked_sub(n_levels).is_none_or(|levels| is_deeper(value, levels))
}

/// Returns true if a tree has more levels than `levels`.
pub(super) fn is_deeper(value: &Value, levels: usize) -> bool {
    match value {
        Value::Array(items) => levels == 0 || items.iter().any(|item| is_deeper(item, levels - 1)),
        Value::Object(object) => levels == 0 || object.values().any(|value| is_deeper(value, levels - 1)),
        _ => false,
    }
}

/// Returns the length of a value as JSON text in bytes: a number above `max` if it is longer, and `usize::MAX` if it cannot be
/// written.
pub fn length(value: &(impl Serialize + ?Sized), max: usize) -> usize {
    let mut counter = Counter { n_bytes: 0, max };
    match serde_json::to_writer(&mut counter, value) {
        Err(_) if counter.n_bytes <= max => usize::MAX,
        _ => counter.n_bytes,
    }
}

struct Counter {
    n_bytes: usize,
    max: usize,
}

impl io::Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.n_bytes = self.n_bytes.saturating_add(bytes.len());
        if self.n_bytes > self.max { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(bytes.len()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The properties of a JSON text that parsers of other programs reject.
#[derive(Clone, Copy, Debug, Default)]
pub struct TextScan {
    /// True if a value is nested deeper than 127 levels.
    pub is_too_deep: bool,
    /// True if a string contains the escape of a surrogate that is not part of a pair.
    pub has_unpaired_surrogates: bool,
    /// True if a number is beyond the range of a 64-bit float.
    pub has_unbounded_numbers: bool,
    /// The number of values and keys, each of which takes about 80 bytes in a tree.
    pub n_values: usize,
}

/// The length of a number from which its digits alone may be beyond the range of a float.
const MIN_UNBOUNDED: usize = 309;

impl TextScan {
    /// Scans a text whose syntax is valid.
    #[must_use]
    pub fn new(json: &str) -> Self {
        let bytes = json.as_bytes();
        let (mut scan, mut at, mut depth) = (Self::default(), 0, 0_usize);
        while let Some(&byte) = bytes.get(at) {
            let start = at;
            at += 1;
            match byte {
                b'"' => {
                    at = scan.end_of_string(json, at);
                    scan.n_values += 1;
                }
                b'[' | b'{' => {
                    depth += 1;
                    scan.n_values += 1;
                    scan.is_too_deep |= depth > MAX_DEPTH;
                }
                b']' | b'}' => depth = depth.saturating_sub(1),
                b't' | b'f' | b'n' => scan.n_values += 1,
                b'-' | b'0'..=b'9' => {
                    let is_part =
                        |byte: &&u8| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'+' | b'-');
                    at += bytes[at..].iter().take_while(is_part).count();
                    scan.n_values += 1;
                    let number = &json[start..at];
                    let may_be_unbounded = number.len() >= MIN_UNBOUNDED || number.contains(['e', 'E']);
                    scan.has_unbounded_numbers |= may_be_unbounded && is_beyond_floats(number);
                }
                _ => {}
            }
        }
        scan
    }

    /// Returns the offset after the string whose text starts at `at`.
    fn end_of_string(&mut self, json: &str, mut at: usize) -> usize {
        let bytes = json.as_bytes();
        loop {
            at += special::position(&bytes[at..]);
            match (bytes.get(at), bytes.get(at + 1)) {
                (Some(b'\\'), Some(b'u')) => match surrogates(&json[at..]) {
                    Some(n_bytes) => at += n_bytes,
                    None => {
                        self.has_unpaired_surrogates = true;
                        at += 2;
                    }
                },
                (Some(b'\\'), Some(_)) => at += 2,
                (Some(b'"'), _) => return at + 1,
                (Some(_), _) => at += 1,
                (None, _) => return bytes.len(),
            }
        }
    }
}

/// JSON without duplicate keys.
struct Checked;

impl<'de> Deserialize<'de> for Checked {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Checked)
    }
}

impl<'de> Visitor<'de> for Checked {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self, A::Error> {
        while items.next_element::<Checked>()?.is_some() {}
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self, A::Error> {
        let mut keys = HashSet::new();
        while let Some(key) = entries.next_key::<String>()? {
            if keys.contains(&key) {
                return Err(twice(&key));
            }
            keys.insert(key);
            entries.next_value::<Checked>()?;
        }
        Ok(self)
    }
}

#[cold]
fn twice<E: Error>(key: &str) -> E {
    let key: String = key.chars().take(60).collect();
    E::custom(format_args!("duplicate key `{}` in an object", key.escape_debug()))
}

#[cfg(test)]
mod tests {
    use super::TextScan;

    #[test]
    fn a_scan_finds_what_other_parsers_reject() {
        let nested = |n| format!("{}1{}", "[".repeat(n), "]".repeat(n));
        for (json, expected) in [
            (&*nested(127), [false; 3]),
            (&*nested(128), [true, false, false]),
            (&format!("[{}]", "[{}],".repeat(1_000)), [false; 3]),
            (&format!(r#"{{"{}":"\\{}"}}"#, "[".repeat(200), "{".repeat(200)), [false; 3]),
            (r#""\ud83d\ude00 \u00e9 \\ud800 \"\ud83d\ude00""#, [false; 3]),
            (r#"["a","\ud800"]"#, [false, true, false]),
            (r#"{"\udc00":1}"#, [false, true, false]),
            (r#""\ud800\n""#, [false, true, false]),
            ("[1e308,-1.5E-400,true,\"1e400\"]", [false; 3]),
            ("[1,-1E+999]", [false, false, true]),
            (&"9".repeat(400), [false, false, true]),
        ] {
            let scan = TextScan::new(json);
            let found = [scan.is_too_deep, scan.has_unpaired_surrogates, scan.has_unbounded_numbers];
            assert_eq!(found, expected, "{json}");
        }
    }
}
