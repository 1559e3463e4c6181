//! `propertyOrdering`, without which Gemini writes the properties of an object sorted by name.

use serde_json::Value;
use toolkit_schema::walk;

/// The keyword, which only Gemini has.
const PROPERTY_ORDERING: &str = "propertyOrdering";

/// Adds the order of the properties to each object in a schema whose properties are not sorted by name.
pub(super) fn add(schema: &mut Value) {
    let Value::Object(keywords) = schema else { return };
    walk::each_mut(keywords, |_, sub| add(sub));
    if let Some(Value::Object(properties)) = keywords.get("properties")
        && !properties.keys().is_sorted()
    {
        let names: Value = properties.keys().map(String::as_str).collect();
        keywords.insert(PROPERTY_ORDERING.to_owned(), names);
    }
}

/// Puts the properties of each object in a schema in their order, and removes the keyword.
pub(super) fn resolve(schema: &mut Value) {
    let Value::Object(keywords) = schema else { return };
    walk::each_mut(keywords, |_, sub| resolve(sub));
    if let Some(Value::Array(names)) = keywords.shift_remove(PROPERTY_ORDERING)
        && let Some(Value::Object(properties)) = keywords.get_mut("properties")
    {
        let mut others = std::mem::take(properties);
        properties.extend(names.iter().filter_map(|name| others.shift_remove_entry(name.as_str()?)));
        properties.extend(others);
    }
}
