//! Conversion of a validator's errors to violations.
//!
//! Explaining recurses between this file and `choice.rs`: the errors of the branch that was meant are explained in turn.

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind as Kind;
use serde_json::Value;

use super::keys::Keys;
use super::locate::{child, holder, is_optional, is_secret};
use super::rule::with_rule;
use super::secret::Secrets;
use super::single::Violation;
use super::text::{MAX_LISTED, Quoted, listed, repeatable, shorten_pointer};
use crate::suggest::suggest;

/// The maximum number of violations. A value with a million invalid items must not take memory for as many violations.
const MAX_VIOLATIONS: usize = 256;

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
            _ => self.add(with_rule(self.plain(error, String::new()), error)),
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
}

fn is_about_keys(error: &ValidationError<'_>) -> bool {
    let path = error.evaluation_path();
    path.as_str().ends_with("/additionalProperties") || path.as_str().ends_with("/unevaluatedProperties")
}
