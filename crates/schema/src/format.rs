//! Descriptions of string formats. Schemas do not assert formats, so a value may match its schema and still be rejected
//! by the Rust type.

use serde_json::Value;

use super::pointer::tokens;
use super::{example, walk};

/// Describes the format that the schema gives the value at `pointer`, with an example.
pub fn expected_at(schema: &Value, pointer: &str) -> Option<String> {
    let format = at(schema, pointer)?;
    let name = match format {
        "date" => "a date",
        "date-time" => "a date and time with its offset",
        "partial-date-time" => "a date and time without an offset",
        "time" | "partial-time" => "a time",
        "duration" => "a duration",
        "uuid" => "a UUID",
        "uri" | "url" => "an absolute URL",
        "email" => "an email address",
        "ip" => "an IP address",
        "ipv4" => "an IPv4 address",
        "ipv6" => "an IPv6 address",
        _ => return None,
    };
    let standard = match format {
        "date" | "date-time" | "time" | "partial-date-time" | "partial-time" => " (RFC 3339)",
        "duration" => " (ISO 8601)",
        _ => "",
    };
    let example = example::of_format(format)?;
    Some(format!("must be {name}{standard}, as in `{example}`"))
}

/// Returns the format that the schema gives the value at `pointer`.
pub fn at<'a>(schema: &'a Value, pointer: &str) -> Option<&'a str> {
    format_of(schema, schema_at(schema, pointer)?, 0)
}

/// Returns an example of the value at `pointer`.
pub fn example_at(schema: &Value, pointer: &str) -> Option<Value> {
    example::within(schema, schema_at(schema, pointer)?)
}

fn schema_at<'a>(schema: &'a Value, pointer: &str) -> Option<&'a Value> {
    tokens(pointer).try_fold(schema, |place, token| inner(schema, place, &token, 0))
}

/// The maximum depth to which choices and references are followed.
const MAX_DEPTH: usize = 16;

/// Returns the schema of a property or an item.
fn inner<'a>(document: &'a Value, schema: &'a Value, token: &str, depth: usize) -> Option<&'a Value> {
    if depth > MAX_DEPTH {
        return None;
    }
    let property = schema.get("properties").and_then(|properties| properties.get(token));
    let prefix = |idx: usize| schema.get("prefixItems").and_then(|prefix| prefix.get(idx));
    let element = token.parse().ok().and_then(|idx| prefix(idx).or_else(|| schema.get("items")));
    let other = schema.get("additionalProperties").filter(|others| others.is_object());
    property
        .or(element)
        .or(other)
        .or_else(|| parts(document, schema).find_map(|part| inner(document, part, token, depth + 1)))
}

fn format_of<'a>(document: &'a Value, schema: &'a Value, depth: usize) -> Option<&'a str> {
    if depth > MAX_DEPTH {
        return None;
    }
    let own = schema.get("format").and_then(Value::as_str);
    own.or_else(|| parts(document, schema).find_map(|part| format_of(document, part, depth + 1)))
}

fn parts<'a>(document: &'a Value, schema: &'a Value) -> impl Iterator<Item = &'a Value> {
    let target = schema.get("$ref").and_then(Value::as_str).and_then(|reference| walk::resolve(document, reference));
    let lists = ["allOf", "anyOf", "oneOf"].into_iter().filter_map(|keyword| schema.get(keyword)?.as_array());
    target.into_iter().chain(lists.flatten())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::expected_at;

    #[test]
    fn a_format_is_found_where_the_value_stands() {
        let schema = json!({
            "properties": {
                "on": { "anyOf": [{ "type": "string", "format": "date" }, { "type": "null" }] },
                "ids": { "type": "array", "items": { "$ref": "#/$defs/Id" } },
                "city": { "type": "string" },
            },
            "$defs": { "Id": { "type": "string", "format": "uuid" } },
        });
        assert_eq!(expected_at(&schema, "/on").unwrap(), "must be a date (RFC 3339), as in `2024-05-06`");
        assert!(expected_at(&schema, "/ids/3").unwrap().starts_with("must be a UUID, as in `"));
        assert_eq!(expected_at(&schema, "/city"), None);
        assert_eq!(expected_at(&schema, "/none/0"), None);
    }
}
