//! Contradictions that an author wrote: defaults that do not match their own schema, and bounds that exclude every value.

use serde_json::{Map, Value};

use super::excerpt::shown_pointer;
use super::pointer::child;
use super::schema::Schema;
use super::walk::{self, Token};

/// The bounds that contradict each other if the first is above the second.
const BOUNDS: [[&str; 2]; 4] =
    [["minimum", "maximum"], ["minLength", "maxLength"], ["minItems", "maxItems"], ["minProperties", "maxProperties"]];

/// The maximum number of defaults that are validated: each takes a copy of the definitions, and a schema may be that of another
/// server.
const MAX_DEFAULTS: usize = 256;

/// A contradiction in a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contradiction {
    /// True if a default does not match its schema.
    pub is_default: bool,
    /// The place and the reason, as a sentence.
    pub message: String,
}

/// Returns the contradictions of a schema of arguments.
///
/// ```
/// use serde_json::json;
/// use toolkit_schema::contradiction::contradictions;
///
/// let schema = json!({ "type": "object", "properties": {
///     "days": { "type": "integer", "maximum": 10, "default": 20 },
///     "port": { "type": "integer", "minimum": 5, "maximum": 1 },
/// } });
/// let messages: Vec<String> = contradictions(&schema).into_iter().map(|found| found.message).collect();
/// assert_eq!(messages, [
///     "the default of /days must be at most 10, got 20",
///     "/port accepts no value: its `minimum` 5 is above its `maximum` 1",
/// ]);
/// ```
#[must_use]
pub fn contradictions(schema: &Value) -> Vec<Contradiction> {
    let mut found = Vec::new();
    find(schema, schema, "", &mut 0, &mut found);
    found
}

fn find(document: &Value, schema: &Value, at: &str, n_defaults: &mut usize, found: &mut Vec<Contradiction>) {
    let Value::Object(keywords) = schema else { return };
    let shown = || match at {
        "" => "the input".to_owned(),
        at => shown_pointer(at),
    };
    for [least, most] in BOUNDS {
        if let (Some(low), Some(high)) = (keywords.get(least), keywords.get(most))
            && low.as_f64() > high.as_f64()
        {
            let message = format!("{} accepts no value: its `{least}` {low} is above its `{most}` {high}", shown());
            found.push(Contradiction { is_default: false, message });
        }
    }
    // An optional argument may have `null` as its default, which lists omit.
    let default = keywords.get("default").filter(|default| !default.is_null());
    *n_defaults += usize::from(default.is_some());
    if let Some(default) = default.filter(|_| *n_defaults <= MAX_DEFAULTS)
        && let Ok(part) = Schema::from_value(within(document, keywords))
        && let Some(violation) = part.first_violation(default)
    {
        let inner = if violation.pointer.is_empty() { String::new() } else { format!("{}: ", violation.pointer) };
        let got = violation.sent.map(|sent| format!(", got {sent}")).unwrap_or_default();
        let message = format!("the default of {} {inner}{}{got}", shown(), violation.rule);
        found.push(Contradiction { is_default: true, message });
    }
    walk::each_at(keywords, |keyword, token, sub| {
        let place = match (keyword, token) {
            ("properties", Token::Name(name)) => child(at, name),
            ("$defs" | "definitions", Token::Name(name)) => child("", name),
            ("items" | "additionalProperties", _) => child(at, "*"),
            ("not" | "if", _) => return,
            _ => at.to_owned(),
        };
        find(document, sub, &place, n_defaults, found);
    });
}

/// Returns a part of a document as a document.
fn within(document: &Value, part: &Map<String, Value>) -> Value {
    let mut part = part.clone();
    part.shift_remove("default");
    for container in walk::CONTAINERS {
        if let Some(definitions) = document.get(container) {
            part.insert(container.to_owned(), definitions.clone());
        }
    }
    part.into()
}
