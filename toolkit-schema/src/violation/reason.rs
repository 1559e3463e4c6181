//! Conversion of a validator's errors to violations.

use std::fmt::{self, Display, Write as _};

use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use serde_json::Value;

use super::keys::Keys;
use super::locate::{child, holder, is_optional, is_secret};
use super::secret::Secrets;
use super::single::Violation;
use crate::suggest::suggest;

/// The maximum length of a scalar that a message repeats, in characters.
const MAX_SENT: usize = 80;

/// The maximum number of violations. A value with a million invalid items must not take memory for as many violations.
const MAX_VIOLATIONS: usize = 256;

/// The maximum number of names or values that a message lists.
const MAX_LISTED: usize = 40;

/// The violations collected so far, with the schema and the value that they refer to.
pub(super) struct Explanation<'s> {
    pub(super) schema: &'s Value,
    /// Present if the schema marks any part as secret.
    secrets: Option<Secrets<'s>>,
    instance: &'s Value,
    pub(super) violations: Vec<Violation>,
}

impl<'s> Explanation<'s> {
    pub(super) fn new(schema: &'s Value, has_secrets: bool, instance: &'s Value) -> Self {
        Self { schema, secrets: has_secrets.then(|| Secrets::new(schema)), instance, violations: Vec::with_capacity(8) }
    }

    pub(super) fn is_full(&self) -> bool {
        self.violations.len() >= MAX_VIOLATIONS
    }

    pub(super) fn add(&mut self, mut violation: Violation) {
        if !self.is_full() {
            if let Some(secrets) = &self.secrets {
                secrets.mask(&mut violation);
            }
            self.violations.push(violation);
        }
    }

    /// Adds the violations for an error of the validator.
    ///
    /// Most errors become one violation. Unexpected keys become one violation each. A choice is explained by the branch
    /// that was most likely meant.
    pub(super) fn explain(&mut self, error: &ValidationError<'_>) {
        match error.kind() {
            Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
                self.unexpected(error, unexpected);
            }
            Kind::AnyOf { context } | Kind::OneOfNotValid { context } => self.choice(error, context),
            Kind::PropertyNames { error: inner } => {
                let pointer = error.instance_path().to_string();
                let key = inner.instance().as_str().unwrap_or_default();
                let before = self.violations.len();
                self.explain(inner);
                for violation in &mut self.violations[before..] {
                    violation.pointer = shorten_pointer(child(&pointer, key));
                    violation.rule = format!("is not a valid key: {}", violation.rule);
                    if let Some(secrets) = &self.secrets {
                        secrets.mask(violation);
                    }
                }
            }
            // The object may not have any key. The error does not name the key, so all of them are reported.
            Kind::FalseSchema if is_about_keys(error) => {
                let object = self.instance.pointer(error.instance_path().as_str()).and_then(Value::as_object);
                let keys: Vec<String> =
                    object.into_iter().flat_map(serde_json::Map::keys).take(MAX_VIOLATIONS).cloned().collect();
                self.unexpected(error, &keys);
            }
            _ => self.add(self.reason(error)),
        }
    }

    /// Adds a violation for each key that is not allowed.
    fn unexpected(&mut self, error: &ValidationError<'_>, unexpected: &[String]) {
        let path = error.evaluation_path();
        let holder = holder(self.schema, path.as_str());
        let sees_all = path.as_str().ends_with("/unevaluatedProperties");
        let keys = holder.map_or_else(Keys::default, |holder| Keys::declared_in(self.schema, holder, sees_all));
        for key in unexpected {
            if self.is_full() {
                return;
            }
            let violation = match keys.patterns[..] {
                [] => self.unknown_key(error, key, &keys.names),
                _ => self.unmatched_key(error, key, &keys),
            };
            self.add(violation);
        }
    }

    /// Creates the violation of a key that is not declared and matches no pattern.
    fn unmatched_key(&self, error: &ValidationError<'_>, key: &str, keys: &Keys<'_>) -> Violation {
        let patterns = listed(keys.patterns.iter().copied().map(Quoted));
        let expected = match keys.names[..] {
            [] => format!("a key that matches {patterns}"),
            _ => format!("{}, or a key that matches {patterns}", listed(keys.names.iter().copied().map(Quoted))),
        };
        let violation = self.unknown_key(error, key, &keys.names);
        let rule = match violation.suggestion {
            Some(_) => violation.rule,
            None => format!("is not a key of this object; expected {expected}"),
        };
        Violation { rule, ..violation }
    }

    /// Creates the violation of a key that is not among `names`.
    pub(super) fn unknown_key(&self, error: &ValidationError<'_>, key: &str, names: &[&str]) -> Violation {
        let suggestion = suggest(key, names.iter().copied()).map(str::to_owned);
        let rule = match (&suggestion, names) {
            (Some(_), _) => "is not an argument".to_owned(),
            (None, []) => "is not an argument; no arguments are accepted".to_owned(),
            (None, names) => format!("is not an argument; expected {}", listed(names.iter().copied().map(Quoted))),
        };
        Violation {
            keyword: "additionalProperties".to_owned(),
            allowed: names.iter().take(MAX_LISTED).map(|&name| name.into()).collect(),
            suggestion,
            ..Violation::new(shorten_pointer(child(error.instance_path().as_str(), key)), rule)
        }
    }

    /// Creates a violation with a rule and the value that was sent.
    pub(super) fn plain(&self, error: &ValidationError<'_>, rule: String) -> Violation {
        let pointer = error.instance_path().as_str();
        let instance = error.instance();
        // Only a `null` can be an omitted property, and only scalars are repeated.
        let sent = repeatable(instance);
        let path = error.evaluation_path();
        let is_secret = self.secrets.is_some() && sent.is_some() && is_secret(self.schema, path.as_str());
        Violation {
            keyword: error.kind().keyword().to_owned(),
            sent: sent.filter(|_| !is_secret),
            optional: instance.is_null() && is_optional(self.schema, path.as_str(), pointer),
            ..Violation::new(shorten_pointer(pointer.to_owned()), rule)
        }
    }

    fn reason(&self, error: &ValidationError<'_>) -> Violation {
        let at = |rule: String| self.plain(error, rule);
        let limited = |rule: String, limit: Value| Violation { limit: Some(limit), ..at(rule) };
        let plural = |n: u64, noun: &str| format!("{n} {noun}{}", if n == 1 { "" } else { "s" });

        match error.kind() {
            Kind::OneOfMultipleValid { .. } => {
                at("must match exactly one of the allowed forms, but matches several".to_owned())
            }
            Kind::Required { property } => {
                let name = property.as_str().unwrap_or_default();
                let pointer = shorten_pointer(child(error.instance_path().as_str(), name));
                let keyword = "required".to_owned();
                Violation { keyword, ..Violation::new(pointer, "is required".to_owned()) }
            }
            Kind::Type { kind } => wrong_type(at(String::new()), error.instance(), &type_names(kind)),
            Kind::Enum { options } => {
                not_one_of(at(String::new()), options.as_array().map_or(&[], Vec::as_slice), error.instance())
            }
            Kind::Constant { expected_value } => {
                not_one_of(at(String::new()), std::slice::from_ref(&**expected_value), error.instance())
            }
            Kind::Maximum { limit } => limited(format!("must be at most {limit}"), limit.clone()),
            Kind::Minimum { limit } => limited(format!("must be at least {limit}"), limit.clone()),
            Kind::ExclusiveMaximum { limit } => limited(format!("must be less than {limit}"), limit.clone()),
            Kind::ExclusiveMinimum { limit } => limited(format!("must be more than {limit}"), limit.clone()),
            Kind::MaxLength { limit } => {
                limited(format!("must have at most {}", plural(*limit, "character")), (*limit).into())
            }
            Kind::MinLength { limit } => {
                limited(format!("must have at least {}", plural(*limit, "character")), (*limit).into())
            }
            Kind::MaxItems { limit } => {
                limited(format!("must have at most {}", plural(*limit, "item")), (*limit).into())
            }
            Kind::MinItems { limit } => {
                limited(format!("must have at least {}", plural(*limit, "item")), (*limit).into())
            }
            Kind::MaxProperties { limit } => {
                limited(format!("must have at most {}", plural(*limit, "key")), (*limit).into())
            }
            Kind::MinProperties { limit } => {
                limited(format!("must have at least {}", plural(*limit, "key")), (*limit).into())
            }
            Kind::MultipleOf { multiple_of } => {
                limited(format!("must be a multiple of {multiple_of}"), (*multiple_of).into())
            }
            Kind::Pattern { pattern } => {
                limited(format!("must match `{}`", short(pattern.clone())), pattern.as_str().into())
            }
            Kind::UniqueItems => at("must not contain duplicate items".to_owned()),
            Kind::FalseSchema => at("is not allowed".to_owned()),
            Kind::Not { .. } => at("matches a form that is not allowed".to_owned()),
            Kind::Contains => at("must contain matching items, as `contains` requires".to_owned()),
            Kind::AdditionalItems { limit } => {
                limited(format!("must have at most {}", plural(*limit as u64, "item")), (*limit).into())
            }
            Kind::BacktrackLimitExceeded { .. } => at("is too expensive to match against a pattern".to_owned()),
            Kind::UnevaluatedItems { .. } => at("has items that are not allowed".to_owned()),
            // The remaining kinds need `format` or content assertions, or use the message of the author.
            _ => at("is not valid".to_owned()),
        }
    }
}

fn is_about_keys(error: &ValidationError<'_>) -> bool {
    let path = error.evaluation_path();
    path.as_str().ends_with("/additionalProperties") || path.as_str().ends_with("/unevaluatedProperties")
}

/// Creates the violation of a value whose type is not among `names`.
pub(super) fn wrong_type(violation: Violation, instance: &Value, names: &[&str]) -> Violation {
    let sent = match instance {
        _ if violation.sent.is_some() => String::new(),
        instance => format!(", not {}", with_article(type_name(instance))),
    };
    Violation {
        keyword: "type".to_owned(),
        rule: format!("must be {}{sent}", one_of(names)),
        allowed: names.iter().map(|&name| name.into()).collect(),
        ..violation
    }
}

/// Creates the violation of a value that is not among `options`.
pub(super) fn not_one_of(violation: Violation, options: &[Value], instance: &Value) -> Violation {
    let rule = match options {
        [only] => format!("must be {}", short(only.to_string())),
        _ => format!("must be one of {}", listed(options.iter())),
    };
    let names = options.iter().filter_map(Value::as_str);
    let suggestion = instance.as_str().and_then(|sent| suggest(sent, names)).map(str::to_owned);
    let allowed = options.iter().take(MAX_VIOLATIONS).cloned().collect();
    Violation { rule, suggestion, allowed, ..violation }
}

/// Joins the first [`MAX_LISTED`] names with commas.
pub(super) fn listed<T: Display>(mut names: impl Iterator<Item = T>) -> String {
    let mut text = String::new();
    for (idx, name) in names.by_ref().take(MAX_LISTED).enumerate() {
        text.push_str(if idx == 0 { "" } else { ", " });
        let start = text.len();
        // Writing to a string cannot fail.
        let _ = write!(text, "{name}");
        shorten(&mut text, start);
    }
    if names.next().is_some() {
        text.push_str(", …");
    }
    text
}

/// A name in backticks.
pub(super) struct Quoted<'n>(pub(super) &'n str);

impl Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('`')?;
        f.write_str(self.0)?;
        f.write_char('`')
    }
}

/// The maximum length of schema text in a message, in characters.
const MAX_QUOTED: usize = 240;

/// Shortens a text of the schema for a message.
fn short(mut text: String) -> String {
    shorten(&mut text, 0);
    text
}

/// Truncates the text after `start` to [`MAX_QUOTED`] characters.
fn shorten(text: &mut String, start: usize) {
    if text.len() - start > MAX_QUOTED
        && let Some((length, _)) = text[start..].char_indices().nth(MAX_QUOTED)
    {
        text.truncate(start + length);
        text.push('…');
    }
}

/// Returns the part of a rejected value that a message may repeat: a short scalar.
fn repeatable(instance: &Value) -> Option<Value> {
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

pub(super) fn type_names(kind: &TypeKind) -> Vec<&'static str> {
    let all = ["string", "integer", "number", "boolean", "object", "array", "null"];
    match kind {
        TypeKind::Single(single) => {
            let single = single.to_string();
            all.into_iter().filter(|name| *name == single).collect()
        }
        TypeKind::Multiple(several) => {
            let several: Vec<String> = several.iter().map(|one| one.to_string()).collect();
            all.into_iter().filter(|name| several.iter().any(|one| one == name)).collect()
        }
    }
}

fn one_of(names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| with_article(name)).collect();
    match &names[..] {
        [first @ .., last] if !first.is_empty() => format!("{} or {last}", first.join(", ")),
        names => names.concat(),
    }
}

fn with_article(name: &str) -> String {
    match name {
        "null" => "null".to_owned(),
        "integer" | "object" | "array" => format!("an {name}"),
        _ => format!("a {name}"),
    }
}
