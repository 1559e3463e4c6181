//! Equality and canonical text of JSON by value, where `100`, `100.0` and `1e2` are the same number.

use std::fmt::Write as _;

use serde_json::{Number, Value};

/// Returns true if two values are equal as JSON Schema defines it: numbers compare by value, and the order of keys does
/// not matter.
pub fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a == b || number(a) == number(b),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| equal(a, b)))
        }
        (a, b) => a == b,
    }
}

/// Appends the canonical text of a value: without whitespace, keys sorted by their bytes, numbers by value. Two values
/// have the same text if and only if they are [`equal`].
pub fn write_canonical(value: &Value, text: &mut String) {
    match value {
        Value::Number(value) => text.push_str(&number(value)),
        Value::Array(items) => {
            text.push('[');
            for (idx, item) in items.iter().enumerate() {
                if idx > 0 {
                    text.push(',');
                }
                write_canonical(item, text);
            }
            text.push(']');
        }
        Value::Object(object) => {
            let mut entries: Vec<(&String, &Value)> = object.iter().collect();
            entries.sort_unstable_by_key(|(key, _)| *key);
            text.push('{');
            for (idx, (key, value)) in entries.into_iter().enumerate() {
                if idx > 0 {
                    text.push(',');
                }
                write_string(key, text);
                text.push(':');
                write_canonical(value, text);
            }
            text.push('}');
        }
        Value::String(value) => write_string(value, text),
        Value::Bool(value) => text.push_str(if *value { "true" } else { "false" }),
        Value::Null => text.push_str("null"),
    }
}

/// Escapes no more than JSON requires, so that the text does not depend on the version of a serializer.
fn write_string(value: &str, text: &mut String) {
    text.push('"');
    for c in value.chars() {
        match c {
            '"' | '\\' => text.extend(['\\', c]),
            '\0'..='\u{1f}' => {
                // Writing to a `String` cannot fail.
                let _ = write!(text, "\\u{:04x}", u32::from(c));
            }
            c => text.push(c),
        }
    }
    text.push('"');
}

/// Returns the canonical text of a number. An integer in a 64-bit type is exact; every other number is the `f64` that a
/// validator compares.
fn number(number: &Number) -> String {
    /// 2⁶⁴, the lower bound of the integers that `serde_json` stores as floats.
    const END: f64 = 18_446_744_073_709_551_616.0;

    if number.as_i64().is_some() || number.as_u64().is_some() {
        let text = number.to_string();
        // With `serde_json/arbitrary_precision`, a number is the text that was read.
        return if text == "-0" { "0".to_owned() } else { text };
    }
    match number.as_f64().filter(|float| float.is_finite()) {
        Some(float) if float.fract() == 0.0 && float.abs() < END => (float as i128).to_string(),
        Some(float) => format!("{float:e}"),
        None => number.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{equal, write_canonical};

    fn canonical(value: &Value) -> String {
        let mut text = String::new();
        write_canonical(value, &mut text);
        text
    }

    #[test]
    fn equal_values_and_no_others_have_equal_text() {
        let read = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        let classes: [&[&str]; 11] = [
            &["100", "100.0", "1e2", "1E+2", "10000e-2"],
            &["0", "-0", "0.0", "-0.0", "0e9"],
            &["-7", "-7.0"],
            &["0.1", "1e-1"],
            &["18446744073709551615"],
            &["18446744073709551616", "18446744073709551616.0"],
            &["9007199254740993"],
            &["9007199254740992", "9007199254740992.0"],
            &[r#""100""#],
            &[r#"{"a": [1, {"b": 2.0}], "c": null}"#, r#"{"c": null, "a": [1.0, {"b": 2}]}"#],
            &[r#""\u0001\"\\\u00e9""#, "\"\\u0001\\u0022\\\\é\""],
        ];
        for (i, class) in classes.iter().enumerate() {
            for (j, other) in classes.iter().enumerate() {
                for (a, b) in class.iter().flat_map(|a| other.iter().map(move |b| (read(a), read(b)))) {
                    assert_eq!(equal(&a, &b), i == j, "{a} and {b}");
                    assert_eq!(canonical(&a) == canonical(&b), i == j, "{a} and {b}");
                }
            }
        }
    }

    #[test]
    fn canonical_text_is_json_with_sorted_keys() {
        let value = json!({ "b": "\u{1f}\"\u{7f}é", "a": [1.5, -2, 1e300, true, null], "B": {} });
        let text = canonical(&value);
        assert_eq!(text, "{\"B\":{},\"a\":[1.5e0,-2,1e300,true,null],\"b\":\"\\u001f\\\"\u{7f}é\"}");
        assert!(equal(&serde_json::from_str(&text).unwrap(), &value));
    }
}
