//! Optional properties in dialects that require all properties: null represents an absent one.

use serde_json::{Value, json};

use super::lowering::Keywords;

/// Makes every property required, and lets previously optional ones be null. The names are sorted, since the order of map
/// keys depends on the features of `serde_json`.
pub(super) fn require_all(keywords: &mut Keywords) {
    let Some(Value::Object(properties)) = keywords.get_mut("properties") else {
        return;
    };
    let mut names: Vec<String> = properties.keys().cloned().collect();
    names.sort_unstable();
    let required = match keywords.insert("required".to_owned(), names.into()) {
        Some(Value::Array(required)) => required,
        _ => Vec::new(),
    };
    if let Some(Value::Object(properties)) = keywords.get_mut("properties") {
        let optional = properties.iter_mut().filter(|(name, _)| !required.iter().any(|other| other == name.as_str()));
        optional.for_each(|(_, schema)| allow_null(schema));
    }
}

/// Extends a schema to accept null.
fn allow_null(schema: &mut Value) {
    let Value::Object(keywords) = schema else {
        return;
    };
    if keywords.is_empty() {
        return;
    }
    let absent = json!({ "type": "null" });
    let is_only =
        |allowed: fn(&str) -> bool| keywords.keys().all(|keyword| keyword == "description" || allowed(keyword));
    if keywords.contains_key("type") && is_only(ignores_null) {
        add_null(keywords);
    } else if is_only(|keyword| keyword == "anyOf") {
        if let Some(Value::Array(branches)) = keywords.get_mut("anyOf")
            && !branches.contains(&absent)
        {
            branches.push(absent);
        }
    } else {
        // Keywords beside the type may reject null, too.
        let described = keywords.remove("description");
        let inner = std::mem::take(keywords);
        keywords.extend(described.map(|text| ("description".to_owned(), text)));
        keywords.insert("anyOf".to_owned(), json!([inner, absent]));
    }
}

/// Returns true if a keyword accepts null with any value, or is extended to.
fn ignores_null(keyword: &str) -> bool {
    !matches!(keyword, "const" | "anyOf" | "oneOf" | "allOf" | "not" | "if" | "then" | "else" | "$ref" | "$dynamicRef")
}

fn add_null(keywords: &mut Keywords) {
    match keywords.get_mut("type") {
        Some(Value::String(name)) if name == "null" => {}
        Some(kind @ Value::String(_)) => *kind = json!([kind.take(), "null"]),
        Some(Value::Array(names)) if !names.iter().any(|name| name == "null") => names.push(json!("null")),
        _ => {}
    }
    if let Some(Value::Array(values)) = keywords.get_mut("enum")
        && !values.iter().any(Value::is_null)
    {
        values.push(Value::Null);
    }
}
