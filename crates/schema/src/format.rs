//! String formats: their descriptions, and patterns that enforce them. Schemas do not assert formats, so a value may match
//! its schema and still be rejected by the Rust type.

use std::sync::LazyLock;

use serde_json::{Map, Value, json};

use super::pointer::tokens;
use super::walk;

/// Adds to each text with a known `format` the pattern of that format, so that validation enforces it.
///
/// The formats are `date`, `time`, `date-time` (RFC 3339), `duration` (ISO 8601), `email` (as in HTML, without quoted
/// names), `hostname` (RFC 1123), `ipv4`, `uri` (RFC 3986) and `uuid`. Others stay hints: a type such as
/// [`std::net::IpAddr`] enforces them. A leap second is accepted in each minute, and the labels of international host
/// names are not decoded.
///
/// # Examples
///
/// For one argument, or for a struct with all its fields, it is a transform of `schemars`:
///
/// ```
/// use serde_json::json;
/// use toolkit_schema::{Schema, enforce_formats};
///
/// #[derive(schemars::JsonSchema)]
/// struct Invitation {
///     #[schemars(email, transform = enforce_formats)]
///     to: String,
///     #[schemars(email)]
///     from: String,
/// }
///
/// let schema = Schema::input::<Invitation>()?;
/// assert!(schema.is_valid(&json!({ "to": "ada@example.com", "from": "?" })));
/// let violation = schema.first_violation(&json!({ "to": "ada", "from": "?" })).unwrap();
/// assert_eq!(violation.to_string(), r#"/to must be an email address, as in `ada@example.com`, got "ada""#);
/// # Ok::<(), toolkit_schema::SchemaError>(())
/// ```
pub fn enforce_formats(schema: &mut schemars::Schema) {
    if let Some(keywords) = schema.as_object_mut() {
        enforce_in(keywords);
    }
}

/// Does the same as [`enforce_formats`] for a schema as JSON.
pub fn enforce(schema: &mut Value) {
    if let Value::Object(keywords) = schema {
        enforce_in(keywords);
    }
}

fn enforce_in(keywords: &mut Map<String, Value>) {
    walk::each_mut(keywords, |_, schema| enforce(schema));
    let pattern = keywords.get("format").and_then(Value::as_str).and_then(pattern_of);
    match (pattern, keywords.get("pattern")) {
        (Some(pattern), None) => drop(keywords.insert("pattern".to_owned(), pattern.into())),
        (Some(pattern), Some(own)) if own != pattern => {
            let both = keywords.entry("allOf").or_insert_with(|| json!([]));
            if let Some(both) = both.as_array_mut().filter(|both| both.iter().all(|part| part["pattern"] != pattern)) {
                both.push(json!({ "pattern": pattern }));
            }
        }
        _ => {}
    }
}

/// The patterns of formats. They use only what every regular expression engine reads alike.
static PATTERNS: LazyLock<[(&str, String); 9]> = LazyLock::new(|| {
    let day = "(?:0[1-9]|1[0-9]|2[0-8])";
    let leap = "(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29";
    let months = format!("(?:0[13578]|1[02])-(?:{day}|29|3[01]|30)|(?:0[469]|11)-(?:{day}|29|30)|02-{day}");
    let date = format!("(?:[0-9]{{4}}-(?:{months})|{leap})");
    let offset = "(?:[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])";
    let time = format!(r"(?:[01][0-9]|2[0-3]):[0-5][0-9]:(?:[0-5][0-9]|60)(?:\.[0-9]+)?{offset}");
    let (of_clock, of_calendar) = (
        "T(?:[0-9]+H(?:[0-9]+M(?:[0-9]+S)?)?|[0-9]+M(?:[0-9]+S)?|[0-9]+S)",
        "(?:[0-9]+Y(?:[0-9]+M(?:[0-9]+D)?)?|[0-9]+M(?:[0-9]+D)?|[0-9]+D)",
    );
    let label = "[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?";
    let host = format!(r"{label}(?:\.{label})*");
    let word = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+";
    let octet = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])";
    [
        ("date", format!("^{date}$")),
        ("time", format!("^{time}$")),
        ("date-time", format!("^{date}[Tt]{time}$")),
        ("duration", format!("^P(?:[0-9]+W|{of_calendar}(?:{of_clock})?|{of_clock})$")),
        ("email", format!(r"^{word}(?:\.{word})*@{host}$")),
        ("hostname", format!("^{host}$")),
        ("ipv4", format!(r"^(?:{octet}\.){{3}}{octet}$")),
        ("uri", r"^[A-Za-z][A-Za-z0-9+.-]*:(?:[A-Za-z0-9._~:/?#@!$&'()*+,;=\[\]-]|%[0-9A-Fa-f]{2})*$".to_owned()),
        ("uuid", "^[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$".to_owned()),
    ]
});

/// Returns true if [`enforce_formats`] knows the format.
pub fn is_enforceable(format: &str) -> bool {
    pattern_of(format).is_some()
}

fn pattern_of(format: &str) -> Option<&'static str> {
    PATTERNS.iter().find(|(name, _)| *name == format).map(|(_, pattern)| &**pattern)
}

/// Returns the format that a pattern enforces.
pub(crate) fn of_pattern(pattern: &str) -> Option<&'static str> {
    PATTERNS.iter().find(|(_, known)| known == pattern).map(|(name, _)| *name)
}

/// Describes the format that the schema gives the value at `pointer`, with an example.
pub fn expected_at(schema: &Value, pointer: &str) -> Option<String> {
    expected(at(schema, pointer)?)
}

/// Describes a format, with an example.
pub(crate) fn expected(format: &str) -> Option<String> {
    let name = match format {
        "date" => "a date",
        "date-time" => "a date and time with its offset",
        "partial-date-time" => "a date and time without an offset",
        "time" | "partial-time" => "a time",
        "duration" => "a duration",
        "uuid" => "a UUID",
        "uri" | "url" => "an absolute URL",
        "email" => "an email address",
        "hostname" => "a host name",
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
    let example = example(format)?;
    Some(format!("must be {name}{standard}, as in `{example}`"))
}

/// Returns a string of the format (JSON Schema 2020-12, Validation 7.3). Schemas do not assert formats, but Rust types
/// may.
pub(crate) fn example(format: &str) -> Option<&'static str> {
    Some(match format {
        "date" => "2024-05-06",
        "date-time" => "2024-05-06T12:30:00Z",
        "time" => "12:30:00Z",
        "partial-date-time" => "2024-05-06T12:30:00",
        "partial-time" => "12:30:00",
        "duration" => "PT1H30M",
        "email" => "ada@example.com",
        "hostname" => "example.com",
        "ip" | "ipv4" => "192.0.2.1",
        "ipv6" => "2001:db8::1",
        "uri" | "url" => "https://example.com/",
        "uuid" => "f81d4fae-7dec-11d0-a765-00a0c91e6bf6",
        _ => return None,
    })
}

/// Returns the format that the schema gives the value at `pointer`.
pub fn at<'a>(schema: &'a Value, pointer: &str) -> Option<&'a str> {
    format_of(schema, schema_at(schema, pointer)?, 0)
}

/// Returns the schema of the value at `pointer`.
pub(super) fn schema_at<'a>(schema: &'a Value, pointer: &str) -> Option<&'a Value> {
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
