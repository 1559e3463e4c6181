//! Values and names as literals. No text can end its literal.

use std::fmt::Write as _;

use serde_json::Value;

use super::ty::{Node, Property, Type};

/// Returns the type whose only value is `value`.
pub(super) fn literal(value: &Value) -> Type {
    match value {
        Value::Null => Type::Primitive("null"),
        Value::Bool(value) => Type::Literal(value.to_string()),
        Value::Number(number) => Type::Literal(number.to_string()),
        Value::String(text) => Type::Literal(quoted(text)),
        Value::Array(items) => {
            let items: Vec<Node> = items.iter().map(|item| literal(item).into()).collect();
            Type::Tuple { n_required: items.len(), items, rest: None }
        }
        Value::Object(object) => {
            let property = |(name, value): (&String, &Value)| {
                let node = literal(value).into();
                Property { name: name.clone(), is_optional: false, node }
            };
            let properties: Vec<Property> = object.iter().map(property).collect();
            let rest = properties.is_empty().then(|| Box::new(Type::Never.into()));
            Type::Object { properties, rest }
        }
    }
}

/// Returns a property name: an identifier if it is one, or else a string literal.
pub(super) fn property_name(name: &str) -> String {
    if is_identifier(name) { name.to_owned() } else { quoted(name) }
}

/// Returns true for an identifier of ASCII letters, digits, `_` and `$`, also if it is a reserved word.
pub(super) fn is_identifier(name: &str) -> bool {
    let starts = |c: char| c.is_ascii_alphabetic() || matches!(c, '_' | '$');
    name.starts_with(starts) && name.chars().all(|c| starts(c) || c.is_ascii_digit())
}

/// Returns a string literal. Everything that ends a line, is invisible, or changes the direction of the text is escaped.
pub(super) fn quoted(text: &str) -> String {
    let mut hidden = toolkit::schema::excerpt::hidden(text).map(|(at, _)| at).peekable();
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for (at, c) in text.char_indices() {
        let is_hidden = hidden.next_if_eq(&at).is_some();
        // Writing to a string cannot fail.
        let _ = match c {
            '"' | '\\' => write!(out, "\\{c}"),
            '\n' => out.write_str("\\n"),
            '\r' => out.write_str("\\r"),
            '\t' => out.write_str("\\t"),
            '\u{2028}' | '\u{2029}' => write!(out, "{}", c.escape_unicode()),
            c if is_hidden || c.is_control() => write!(out, "{}", c.escape_unicode()),
            c => out.write_char(c),
        };
    }
    out.push('"');
    out
}
