//! Repair of JSON that other programs send and parsers reject.

/// Literals of other languages for numbers that JSON does not have.
const LITERALS: [&str; 3] = ["NaN", "Infinity", "-Infinity"];

/// Replaces the parts of a JSON text that parsers reject: invalid UTF-8 and unpaired surrogates become U+FFFD. Numbers
/// beyond the range of a 64-bit float, and literals such as `NaN`, become strings, which keep their digits. Removes a
/// byte order mark. Does not change other text.
pub fn repaired(json: &[u8]) -> String {
    repair(json, |token| LITERALS.contains(&token) || is_beyond_floats(token))
}

/// Does the same as [`repaired`], except for the numbers, which remain valid JSON.
pub fn with_numbers(json: &[u8]) -> String {
    repair(json, |token| LITERALS.contains(&token))
}

/// Replaces the numbers beyond the range of a 64-bit float with the largest floats, for a comparison with a schema.
pub fn in_range(json: &str) -> String {
    let replaced = |token: &str| match (is_beyond_floats(token), token.starts_with('-')) {
        (false, _) => None,
        (true, false) => Some(format!("{:e}", f64::MAX)),
        (true, true) => Some(format!("{:e}", f64::MIN)),
    };
    rewrite(json.as_bytes(), replaced)
}

/// Replaces what is not text, and writes the tokens that cannot be read as strings.
fn repair(json: &[u8], is_unreadable: impl Fn(&str) -> bool) -> String {
    rewrite(json, |token| is_unreadable(token).then(|| format!("\"{token}\"")))
}

/// Replaces what is not text, and tokens.
fn rewrite(json: &[u8], replaced: impl Fn(&str) -> Option<String>) -> String {
    let json = String::from_utf8_lossy(json.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(json));
    let mut out = String::with_capacity(json.len());
    let mut rest = &*json;
    while let Some(first) = rest.chars().next() {
        let token = match first {
            '"' => {
                rest = push_string(&mut out, rest);
                continue;
            }
            '-' | '0'..='9' | 'A'..='Z' | 'a'..='z' => {
                let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '+' | '.');
                &rest[..rest.find(|c| !is_part(c)).unwrap_or(rest.len())]
            }
            other => &rest[..other.len_utf8()],
        };
        out.push_str(replaced(token).as_deref().unwrap_or(token));
        rest = &rest[token.len()..];
    }
    out
}

/// Returns true if a token is a number beyond the range of a 64-bit float.
pub(crate) fn is_beyond_floats(token: &str) -> bool {
    let is_number = token.trim_start_matches('-').starts_with(|c: char| c.is_ascii_digit());
    is_number && token.parse().is_ok_and(f64::is_infinite)
}

/// Appends the string at the start of `rest`, without unpaired surrogates. Returns the text after it.
fn push_string<'j>(out: &mut String, rest: &'j str) -> &'j str {
    let mut n_done = 0;
    let mut at = 1;
    while let Some(found) = rest[at..].find(['"', '\\']) {
        at += found;
        if rest[at..].starts_with('"') {
            at += 1;
            out.push_str(&rest[n_done..at]);
            return &rest[at..];
        }
        at += match surrogates(&rest[at..]) {
            Some(PAIR) => PAIR,
            None => {
                out.extend([&rest[n_done..at], "\\ufffd"]);
                n_done = at + 6;
                6
            }
            // An escape is at least two characters, of which the second may be wide.
            Some(_) => 1 + rest[at + 1..].chars().next().map_or(0, char::len_utf8),
        };
    }
    out.push_str(&rest[n_done..]);
    ""
}

/// The length of the escapes of a pair of surrogates.
const PAIR: usize = 12;

/// Returns the length of the escape `\\u…` at the start of a text, or that of a pair of surrogates. Returns `None` for a
/// surrogate that is not part of a pair.
pub(crate) fn surrogates(text: &str) -> Option<usize> {
    match surrogate(text) {
        None => Some(2),
        Some(0xD800..=0xDBFF) if matches!(surrogate(&text[6..]), Some(0xDC00..=0xDFFF)) => Some(PAIR),
        Some(_) => None,
    }
}

/// Returns the surrogate that the escape at the start of a text denotes.
fn surrogate(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    u16::from_str_radix(digits, 16).ok().filter(|unit| (0xD800..=0xDFFF).contains(unit))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn what_parsers_reject_is_repaired() {
        let longest = "9".repeat(400);
        for (text, expected) in [
            (
                r#"["\ud800", "\udc00", "\uD800\uD800\udc00", "\ud83d\ude00"]"#,
                json!(["\u{fffd}", "\u{fffd}", "\u{fffd}\u{10000}", "😀"]),
            ),
            (r#"{"\ud800": "\\ud800", "a\"\ud800": "\ud80", "b": 1}"#, json!(null)),
            (
                r#"{"\ud800": "\\ud800", "a\"\udfff": "\"", "b": 1}"#,
                json!({ "\u{fffd}": "\\ud800", "a\"\u{fffd}": "\"", "b": 1 }),
            ),
            (
                "[NaN,-Infinity, Infinity,\"NaN\", 1e400,-1E+999 , 1e308, 0.1]",
                json!(["NaN", "-Infinity", "Infinity", "NaN", "1e400", "-1E+999", 1e308, 0.1]),
            ),
            (&format!("[{longest}]"), json!([longest])),
            ("[true, false, null, \"é\\é\"]", json!(null)),
            ("[true, false, null, \"é\"]", json!([true, false, null, "é"])),
            ("\u{feff}[1]", json!([1])),
            ("[1e400", json!(null)),
            ("\"\\", json!(null)),
            ("\"\\ud800", json!(null)),
        ] {
            let parsed: Value = serde_json::from_str(&repaired(text.as_bytes())).unwrap_or_default();
            assert_eq!(parsed, expected, "{text}");
        }
        assert_eq!(with_numbers(b"[\"\\ud800\", NaN, -1e400]"), "[\"\\ufffd\", \"NaN\", -1e400]");
        assert_eq!(in_range("{\"a\":[1e400, -1E+999, 1.10],\"1e400\":\"1e400\"}"), {
            r#"{"a":[1.7976931348623157e308, -1.7976931348623157e308, 1.10],"1e400":"1e400"}"#
        });
        let bytes = b"[\"a\xFF\xC3\", 1]";
        assert_eq!(repaired(bytes), "[\"a\u{fffd}\u{fffd}\", 1]");
    }

    #[test]
    fn valid_text_is_not_changed() {
        for text in [r#"{"a": [1, -2.5e-7, "\ud83d\ude00\u0041\n\"", "NaN"], "": {"b": null}}"#, "", "Infinite", "x y"]
        {
            assert_eq!(repaired(text.as_bytes()), text);
        }
    }
}
