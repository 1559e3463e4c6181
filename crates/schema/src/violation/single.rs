//! A single violation and its text, which is always one line: the rules of the keywords, worded and shortened.

use std::fmt;
use std::fmt::Write as _;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::failure::{Failure, Kind};
use crate::format;
use crate::pointer::child;
use crate::suggest::suggest;

/// A single reason why a value does not match a schema.
///
/// The fields contain the parts of the message, for programs.
///
/// # Examples
///
/// ```
/// use serde_json::json;
/// use toolkit_schema::Schema;
///
/// let schema = Schema::from_value(json!({ "properties": { "unit": { "enum": ["celsius", "kelvin"] } } }))?;
/// let violations = schema.validate(&json!({ "unit": "celcius" })).unwrap_err();
/// let violation = &violations[0];
/// assert_eq!((&*violation.pointer, &*violation.keyword), ("/unit", "enum"));
/// assert_eq!(violation.sent, Some(json!("celcius")));
/// assert_eq!(violation.suggestion.as_deref(), Some("celsius"));
/// # Ok::<(), toolkit_schema::SchemaError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Violation {
    /// The location, as a JSON Pointer into the value (RFC 6901).
    pub pointer: String,
    /// The schema keyword that is violated.
    pub keyword: String,
    /// The rule without its subject, such as `must be at most 14`.
    pub rule: String,
    /// The limit of the keyword, if it has one.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub limit: Option<Value>,
    /// The value that was sent, unless it is secret, missing, or too large to repeat.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub sent: Option<Value>,
    /// The accepted values, if the schema lists them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allowed: Vec<Value>,
    /// The value or key that was probably meant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
    /// True if the violation concerns an optional property.
    #[serde(skip)]
    #[doc(hidden)]
    pub optional: bool,
}

impl Violation {
    /// Creates a violation from a JSON Pointer and a rule without its subject.
    #[must_use]
    pub fn new(pointer: impl Into<String>, rule: impl Into<String>) -> Self {
        Self {
            pointer: pointer.into(),
            keyword: String::new(),
            rule: rule.into(),
            limit: None,
            sent: None,
            allowed: Vec::new(),
            suggestion: None,
            optional: false,
        }
    }

    /// Appends the text of the violation, a single line.
    #[doc(hidden)]
    pub fn push_to(&self, text: &mut String) {
        let start = text.len();
        match long(&self.pointer) {
            _ if self.pointer.is_empty() => text.push_str("the value"),
            Some(end) => {
                text.push_str(&self.pointer[..end]);
                text.push('…');
            }
            None => text.push_str(&self.pointer),
        }
        text.push(' ');
        text.push_str(&self.rule);
        if let Some(sent) = &self.sent {
            text.push_str(", got ");
            push_json(text, sent);
        }
        if let Some(suggestion) = &self.suggestion {
            text.push_str("; did you mean `");
            text.push_str(suggestion);
            text.push_str("`?");
        }
        escape_invisible(text, start);
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        self.push_to(&mut text);
        f.write_str(&text)
    }
}

/// Returns the byte offset at which to cut a pointer that is too long to print.
fn long(pointer: &str) -> Option<usize> {
    // A character takes at least one byte.
    if pointer.len() <= MAX_POINTER {
        return None;
    }
    pointer.char_indices().nth(MAX_POINTER).map(|(end, _)| end)
}

/// Reads a value that is present, which may be `null`.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// Escapes invisible characters after `start`, so that a key or value cannot forge or hide a line.
fn escape_invisible(text: &mut String, start: usize) {
    // Checks all bytes without an early exit, which vectorizes.
    if text.as_bytes()[start..].iter().fold(true, |plain, byte| plain & matches!(byte, b' '..=b'~')) {
        return;
    }
    let line = text.split_off(start);
    for c in line.chars() {
        match is_invisible(c) {
            true => text.extend(c.escape_unicode()),
            false => text.push(c),
        }
    }
}

/// Returns true for characters without a glyph: controls, line separators, bidirectional and zero-width characters.
fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
        || matches!(c, '\u{e0000}'..='\u{e007f}')
}

/// The maximum length of a printed pointer, in characters.
const MAX_POINTER: usize = 240;

// The texts of a schema and of a value that a message repeats, shortened.

/// The maximum length of a scalar that a message repeats, in characters.
const MAX_SENT: usize = 80;

/// The maximum number of names or values that a message lists.
pub(super) const MAX_LISTED: usize = 40;

/// Returns the start of a rule, with room for the rest.
pub(super) fn begun(start: &str) -> String {
    let mut rule = String::with_capacity(64);
    rule.push_str(start);
    rule
}

/// Appends the first [`MAX_LISTED`] names, separated by commas. `push` appends one of them.
pub(super) fn push_list<T>(text: &mut String, mut names: impl Iterator<Item = T>, push: impl Fn(&mut String, T)) {
    for (idx, name) in names.by_ref().take(MAX_LISTED).enumerate() {
        text.push_str(if idx == 0 { "" } else { ", " });
        let start = text.len();
        push(text, name);
        shorten(text, start);
    }
    if names.next().is_some() {
        text.push_str(", …");
    }
}

/// Appends a name in backticks.
pub(super) fn push_quoted(text: &mut String, name: &str) {
    text.push('`');
    text.push_str(name);
    text.push('`');
}

/// Appends a value as JSON.
pub(super) fn push_json(text: &mut String, value: &Value) {
    match value {
        // The common values without the serializer, which writes each part of a string by itself.
        Value::String(plain) if plain.bytes().all(|byte| byte >= b' ' && !matches!(byte, b'"' | b'\\')) => {
            text.push('"');
            text.push_str(plain);
            text.push('"');
        }
        // Writing to a string cannot fail.
        Value::Number(number) => {
            let _ = write!(text, "{number}");
        }
        value => {
            let _ = write!(text, "{value}");
        }
    }
}

/// The maximum length of schema text in a message, in characters.
const MAX_QUOTED: usize = 240;

/// Truncates the text after `start`, which the schema contains, to [`MAX_QUOTED`] characters.
pub(super) fn shorten(text: &mut String, start: usize) {
    if text.len() - start > MAX_QUOTED
        && let Some((length, _)) = text[start..].char_indices().nth(MAX_QUOTED)
    {
        text.truncate(start + length);
        text.push('…');
    }
}

/// Returns the part of a rejected value that a message may repeat: a short scalar.
pub(super) fn repeatable(instance: &Value) -> Option<Value> {
    let short = match instance {
        Value::String(text) => text.len() <= MAX_SENT || text.chars().nth(MAX_SENT).is_none(),
        Value::Array(items) => items.is_empty(),
        Value::Object(_) => false,
        _ => true,
    };
    short.then(|| instance.clone())
}

/// Shortens long keys in a pointer.
pub(super) fn shorten_pointer(pointer: String) -> String {
    if pointer.len() <= MAX_SENT {
        return pointer;
    }
    let short = |token: &str| match token.char_indices().nth(MAX_SENT) {
        Some((end, _)) => format!("{}…", &token[..end]),
        None => token.to_owned(),
    };
    pointer.split('/').map(short).collect::<Vec<_>>().join("/")
}

// The rules of the keywords, worded for a message.

/// The maximum number of accepted values that a violation contains.
const MAX_ALLOWED: usize = 256;

/// Completes the violation of a failure with the rule of the keyword.
pub(super) fn with_rule(violation: Violation, failure: &Failure<'_>) -> Violation {
    let at = |rule: &str| (rule.to_owned(), None);

    let (rule, limit) = match &failure.kind {
        Kind::OneOfSeveral => at("must match exactly one of the allowed forms, but matches several"),
        Kind::Required(name) => {
            let pointer = shorten_pointer(child(&failure.location.pointer(), name));
            let keyword = "required".to_owned();
            return Violation { keyword, ..Violation::new(pointer, "is required".to_owned()) };
        }
        Kind::Type(names) => return wrong_type(violation, &failure.instance, names),
        Kind::Enum(options) => return not_one_of(violation, options, &failure.instance),
        Kind::Const(constant) => return not_one_of(violation, std::slice::from_ref(&**constant), &failure.instance),
        Kind::Maximum(limit) => limited("must be at most ", limit),
        Kind::Minimum(limit) => limited("must be at least ", limit),
        Kind::ExclusiveMaximum(limit) => limited("must be less than ", limit),
        Kind::ExclusiveMinimum(limit) => limited("must be more than ", limit),
        Kind::MaxLength(limit) => counted("must have at most ", *limit, " character"),
        Kind::MinLength(limit) => counted("must have at least ", *limit, " character"),
        Kind::MaxItems(limit) => counted("must have at most ", *limit, " item"),
        Kind::MinItems(limit) => counted("must have at least ", *limit, " item"),
        Kind::MaxProperties(limit) => counted("must have at most ", *limit, " key"),
        Kind::MinProperties(limit) => counted("must have at least ", *limit, " key"),
        Kind::MultipleOf(divisor) => (format!("must be a multiple of {divisor}"), Some((*divisor).into())),
        Kind::Pattern(pattern) => {
            let rule = format::of_pattern(pattern).and_then(format::expected).unwrap_or_else(|| {
                let mut rule = begun("must match `");
                rule.push_str(pattern);
                shorten(&mut rule, "must match `".len());
                rule.push('`');
                rule
            });
            (rule, Some(pattern.as_ref().into()))
        }
        Kind::UniqueItems => at("must not contain duplicate items"),
        Kind::False => at("is not allowed"),
        Kind::Not => at("matches a form that is not allowed"),
        Kind::Contains => at("must contain matching items, as `contains` requires"),
        Kind::AdditionalItems(limit) => counted("must have at most ", *limit, " item"),
        Kind::BacktrackLimit => at("is too expensive to match against a pattern"),
        Kind::UnevaluatedItems => at("has items that are not allowed"),
        // The remaining kinds need `format` or content assertions, or use the message of the author.
        _ => at("is not valid"),
    };
    Violation { rule, limit, ..violation }
}

/// Returns the rule and the limit of a keyword that compares numbers.
fn limited(bound: &str, limit: &Value) -> (String, Option<Value>) {
    let mut rule = begun(bound);
    push_json(&mut rule, limit);
    (rule, Some(limit.clone()))
}

/// Returns the rule and the limit of a keyword that counts.
fn counted(bound: &str, limit: u64, noun: &str) -> (String, Option<Value>) {
    let limit = limit.into();
    let mut rule = begun(bound);
    push_json(&mut rule, &limit);
    rule.push_str(noun);
    rule.push_str(if limit == 1 { "" } else { "s" });
    (rule, Some(limit))
}

/// Completes the outline of a violation, with the types that are accepted.
pub(super) fn outlined(violation: Violation, failure: &Failure<'_>) -> Violation {
    match &failure.kind {
        Kind::Type(names) => Violation { allowed: types(names), ..violation },
        _ => violation,
    }
}

/// Creates the violation of a value whose type is not among `names`.
pub(super) fn wrong_type(violation: Violation, instance: &Value, names: &[&str]) -> Violation {
    let mut rule = begun("must be ");
    for (idx, name) in names.iter().enumerate() {
        rule.push_str(match idx {
            0 => "",
            _ if idx + 1 == names.len() => " or ",
            _ => ", ",
        });
        push_with_article(&mut rule, name);
    }
    if violation.sent.is_none() {
        rule.push_str(", not ");
        push_with_article(&mut rule, type_name(instance));
    }
    Violation { keyword: "type".to_owned(), rule, allowed: types(names), ..violation }
}

fn types(names: &[&str]) -> Vec<Value> {
    names.iter().map(|&name| name.into()).collect()
}

/// Creates the violation of a value that is not among `options`.
pub(super) fn not_one_of(violation: Violation, options: &[Value], instance: &Value) -> Violation {
    let mut rule = begun("must be ");
    match options {
        [only] => {
            push_json(&mut rule, only);
            shorten(&mut rule, "must be ".len());
        }
        _ => {
            rule.push_str("one of ");
            push_list(&mut rule, options.iter(), push_json);
        }
    }
    let names = options.iter().filter_map(Value::as_str);
    let suggestion = instance.as_str().and_then(|sent| suggest(sent, names)).map(str::to_owned);
    let allowed = options.iter().take(MAX_ALLOWED).cloned().collect();
    Violation { rule, suggestion, allowed, ..violation }
}

/// Returns the JSON type of a value.
pub(super) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn push_with_article(rule: &mut String, name: &str) {
    rule.push_str(match name {
        "null" => "",
        "integer" | "object" | "array" => "an ",
        _ => "a ",
    });
    rule.push_str(name);
}
