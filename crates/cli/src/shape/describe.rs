//! Descriptions of kinds and constraints in words.

use serde_json::Value;

use super::{Kind, Shape};

/// Describes a kind, such as `list of integers`.
pub(crate) fn describe_kind(kind: &Kind<'_>) -> String {
    match kind {
        Kind::Boolean => "boolean".to_owned(),
        Kind::Integer => "integer".to_owned(),
        Kind::Number => "number".to_owned(),
        Kind::Text => "string".to_owned(),
        Kind::Choice(choices) => {
            let values: Vec<&str> = choices.iter().map(|choice| choice.value).collect();
            values.join(" | ")
        }
        Kind::List(items) => format!("list of {}", plural(&items.kind())),
        Kind::Object(_) => "object".to_owned(),
        Kind::Map(Some(values)) => format!("map of {}", plural(&values.kind())),
        Kind::Map(None) => "object".to_owned(),
        Kind::Any(types) if types.is_empty() => "any JSON".to_owned(),
        Kind::Any(types) => {
            let words = types.iter().map(|name| match *name {
                "array" => "list",
                name => name,
            });
            words.collect::<Vec<_>>().join(" or ")
        }
    }
}

fn plural(kind: &Kind<'_>) -> String {
    match kind {
        Kind::Boolean | Kind::Integer | Kind::Number | Kind::Object(_) | Kind::Map(None) => {
            format!("{}s", describe_kind(kind))
        }
        Kind::Text => "strings".to_owned(),
        Kind::List(items) => format!("lists of {}", plural(&items.kind())),
        Kind::Map(Some(values)) => format!("maps of {}", plural(&values.kind())),
        Kind::Any(types) if types.is_empty() => describe_kind(kind),
        Kind::Choice(_) | Kind::Any(_) => format!("({})", describe_kind(kind)),
    }
}

/// Describes the constraints of a value, such as `1 to 14`.
pub(crate) fn constraints(shape: &Shape<'_>) -> Vec<String> {
    let mut words = Vec::new();
    let mut range = |least: &str, most: &str, unit: &str| {
        words.extend(describe_range(shape.get(least), shape.get(most), unit));
    };
    range("minimum", "maximum", "");
    range("minLength", "maxLength", "character|characters");
    range("minItems", "maxItems", "item|items");
    range("minProperties", "maxProperties", "entry|entries");
    for (keyword, before) in
        [("exclusiveMinimum", "more than "), ("exclusiveMaximum", "less than "), ("multipleOf", "a multiple of ")]
    {
        words.extend(shape.get(keyword).map(|limit| format!("{before}{limit}")));
    }
    if let Some(Value::String(pattern)) = shape.get("pattern") {
        words.push(format!("matches {pattern}"));
    }
    if let Some(Value::String(format)) = shape.get("format").filter(|format| !is_rust_width(format)) {
        words.push(format.clone());
    }
    if shape.get("uniqueItems") == Some(&Value::Bool(true)) {
        words.push("unique items".to_owned());
    }
    words
}

/// Describes a range. `unit` is the singular and the plural of the unit, such as `item|items`.
fn describe_range(least: Option<&Value>, most: Option<&Value>, unit: &str) -> Option<String> {
    let counted = |limit: &Value| match unit.split_once('|') {
        None => limit.to_string(),
        Some((one, _)) if limit == 1 => format!("1 {one}"),
        Some((_, many)) => format!("{limit} {many}"),
    };
    match (least, most) {
        // `minimum: 0` of an unsigned integer is shown, since JSON has no unsigned integers.
        (Some(least), Some(most)) if least == most => Some(format!("exactly {}", counted(least))),
        (Some(least), Some(most)) => Some(format!("{least} to {}", counted(most))),
        (Some(least), None) => Some(format!("at least {}", counted(least))),
        (None, Some(most)) => Some(format!("at most {}", counted(most))),
        (None, None) => None,
    }
}

/// Returns true for formats that are Rust types, such as `uint8` and `double`, and not textual formats.
fn is_rust_width(format: &Value) -> bool {
    let name = format.as_str().unwrap_or_default();
    matches!(name, "float" | "double" | "int" | "uint")
        || ["int", "uint"].iter().any(|prefix| {
            let width = name.strip_prefix(prefix).unwrap_or_default();
            !width.is_empty() && width.bytes().all(|byte| byte.is_ascii_digit())
        })
}
