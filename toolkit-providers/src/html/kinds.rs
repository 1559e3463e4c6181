//! Descriptions of values by their schemas.

use serde_json::Value;

use super::escape::text;
use toolkit_schema::walk;

/// The maximum number of values that are listed in the row of a field instead of below it.
pub(super) const MAX_INLINE_VALUES: usize = 6;

/// Returns the kind of values that a schema accepts, as HTML.
pub(super) fn kind(schema: &Value) -> String {
    if let Some(values) = values(schema) {
        return match values.len() {
            1..=MAX_INLINE_VALUES => values.iter().map(|value| literal(value)).collect::<Vec<_>>().join(" or "),
            n => format!("one of {n} values"),
        };
    }
    for choice in ["anyOf", "oneOf"] {
        if let Some(branches) = schema.get(choice).and_then(Value::as_array).filter(|branches| !branches.is_empty()) {
            let mut kinds: Vec<String> = branches.iter().map(kind).collect();
            let mut seen = std::collections::HashSet::new();
            kinds.retain(|kind| seen.insert(kind.clone()));
            return match kinds.len() {
                1..=MAX_INLINE_VALUES => kinds.join(" or "),
                n => format!("one of {n} kinds"),
            };
        }
    }
    // The schema was inlined, so that only recursive references are left.
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        return last_name(reference).map_or_else(|| "the same schema".to_owned(), |name| text(&name));
    }
    match schema.get("type") {
        Some(Value::String(name)) => named(name, schema),
        Some(Value::Array(names)) => {
            let names = names.iter().filter_map(Value::as_str).map(|name| named(name, schema));
            names.collect::<Vec<_>>().join(" or ")
        }
        _ if schema.get("properties").is_some() => "object".to_owned(),
        _ => "anything".to_owned(),
    }
}

/// Returns the last segment of a reference, decoded: `Search Filter` for `#/$defs/Search%20Filter`.
fn last_name(reference: &str) -> Option<String> {
    let pointer = walk::pointer(reference)?;
    let last = pointer.rsplit('/').next().filter(|name| !name.is_empty())?;
    Some(last.replace("~1", "/").replace("~0", "~"))
}

/// Returns the values of a schema that accepts only listed values.
pub(super) fn values(schema: &Value) -> Option<Vec<&Value>> {
    if let Some(constant) = schema.get("const") {
        return Some(vec![constant]);
    }
    if let Some(Value::Array(values)) = schema.get("enum") {
        return Some(values.iter().collect());
    }
    // A choice of constants, which may have descriptions.
    let branches = schema.get("oneOf").or_else(|| schema.get("anyOf"))?.as_array()?;
    let constants: Option<Vec<&Value>> = branches.iter().map(|branch| branch.get("const")).collect();
    constants.filter(|constants| !constants.is_empty())
}

fn named(name: &str, schema: &Value) -> String {
    match (name, schema.get("items"), schema.get("additionalProperties")) {
        ("array", Some(items @ Value::Object(_)), _) => format!("list of {}", several(kind(items))),
        ("array", ..) => "list".to_owned(),
        ("object", _, Some(values @ Value::Object(_))) if schema.get("properties").is_none() => {
            format!("map to {}", several(kind(values)))
        }
        _ => text(name),
    }
}

fn several(kind: String) -> String {
    match &*kind {
        "string" | "integer" | "number" | "boolean" | "object" => format!("{kind}s"),
        _ if kind.contains(" or ") => format!("({kind})"),
        _ => kind,
    }
}

/// Formats a value as code.
pub(super) fn literal(value: &Value) -> String {
    let shown = match value {
        Value::String(plain) if !plain.is_empty() => plain.clone(),
        value => {
            let mut value = value.clone();
            value.sort_all_objects();
            value.to_string()
        }
    };
    format!("<code>{}</code>", text(&shown))
}

/// Returns the constraints of a schema other than its kind, each as HTML.
pub(super) fn limits(schema: &Value) -> Vec<String> {
    let mut words = Vec::new();
    for (least, most, one, many) in [
        ("minimum", "maximum", "", ""),
        ("minLength", "maxLength", " character", " characters"),
        ("minItems", "maxItems", " item", " items"),
        ("minProperties", "maxProperties", " entry", " entries"),
    ] {
        let counted = |limit: &Value| format!("{}{}", shown(limit), if *limit == 1 { one } else { many });
        let limit = |keyword: &str| schema.get(keyword).filter(|limit| !is_a_width(limit));
        words.extend(match (limit(least), limit(most)) {
            (Some(least), Some(most)) if least == most => Some(format!("exactly {}", counted(least))),
            (Some(least), Some(most)) => Some(format!("{} to {}", shown(least), counted(most))),
            (Some(least), None) => Some(format!("at least {}", counted(least))),
            (None, Some(most)) => Some(format!("at most {}", counted(most))),
            (None, None) => None,
        });
    }
    for (keyword, before) in
        [("exclusiveMinimum", "more than"), ("exclusiveMaximum", "less than"), ("multipleOf", "a multiple of")]
    {
        words.extend(schema.get(keyword).map(|limit| format!("{before} {}", shown(limit))));
    }
    if let Some(pattern) = schema.get("pattern").and_then(Value::as_str) {
        words.push(format!("matches <code>{}</code>", text(pattern)));
    }
    if let Some(format) = schema.get("format").and_then(Value::as_str) {
        words.push(format!("format <code>{}</code>", text(format)));
    }
    if schema.get("uniqueItems") == Some(&Value::Bool(true)) {
        words.push("unique items".to_owned());
    }
    words
}

/// Returns true if a limit is only that of an integer type.
fn is_a_width(limit: &Value) -> bool {
    const WIDTHS: [i64; 5] = [i32::MIN as i64, i32::MAX as i64, u32::MAX as i64, i64::MIN, i64::MAX];
    limit.as_i64().is_some_and(|limit| WIDTHS.contains(&limit)) || limit.as_u64() == Some(u64::MAX)
}

fn shown(limit: &Value) -> String {
    text(&limit.to_string())
}
