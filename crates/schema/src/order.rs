//! The order of keys: names of properties in the order of their declaration, all other keys sorted.
//!
//! Models write arguments in the order of the schema, so that a property which others depend on has to come first: a tag
//! before its data, a plan before what follows from it.

use std::collections::HashMap;

use serde_json::{Map, Value};

/// Sorts the keys of a schema, or of a tool that contains schemas, except the names of properties and the keys of
/// instances, which keep the order of their author. The names in `required` follow those of the properties.
///
/// ```
/// use serde_json::json;
///
/// let mut schema = json!({
///     "type": "object",
///     "properties": { "query": { "type": "string", "minLength": 1 }, "limit": { "default": { "b": 1, "a": 2 } } },
///     "required": ["limit", "query"],
/// });
/// toolkit_schema::order::sort(&mut schema);
/// assert_eq!(schema.to_string(), concat!(
///     r#"{"properties":{"query":{"minLength":1,"type":"string"},"limit":{"default":{"b":1,"a":2}}},"#,
///     r#""required":["query","limit"],"type":"object"}"#,
/// ));
/// ```
pub fn sort(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(sort),
        Value::Object(keywords) => {
            keywords.sort_keys();
            sort_required(keywords);
            for (keyword, value) in keywords {
                match (keyword.as_str(), value) {
                    ("properties", Value::Object(named)) => named.values_mut().for_each(sort),
                    ("const" | "default" | "enum" | "example" | "examples" | "input_examples", _) => {}
                    (_, value) => sort(value),
                }
            }
        }
        _ => {}
    }
}

/// Sorts the names in `required` as in `properties`. Names that are not declared stay behind them, in their order.
fn sort_required(keywords: &mut Map<String, Value>) {
    let (Some(Value::Object(properties)), Some(Value::Array(required))) =
        (keywords.get("properties"), keywords.get("required"))
    else {
        return;
    };
    let places: HashMap<&str, usize> = properties.keys().enumerate().map(|(place, name)| (&**name, place)).collect();
    let mut sorted = required.clone();
    sorted.sort_by_key(|name| name.as_str().and_then(|name| places.get(name)).map_or(usize::MAX, |place| *place));
    keywords.insert("required".to_owned(), sorted.into());
}
