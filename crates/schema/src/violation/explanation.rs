//! Description of failures as violations. A key that counts as unevaluated only because something else is wrong is not reported.
//!
//! Explaining recurses: the failures of the branch that was meant are explained in turn.

use std::borrow::Cow;

use serde_json::Value;

use super::Repairs;
use super::locate::{Keys, holder, is_optional, is_secret};
use super::secret::Secrets;
use super::single::{
    MAX_LISTED, Violation, begun, outlined, push_list, push_quoted, repeatable, shorten_pointer, with_rule,
};
use crate::failure::{FailureKind, KeywordFailure};
use crate::pointer::child;
use crate::suggest::suggest;

/// The maximum number of violations. A value with a million invalid items must not take memory for as many violations.
pub(super) const MAX_VIOLATIONS: usize = 256;

/// The violations collected so far, with the schema and the value that they refer to.
pub(super) struct Explanation<'s> {
    pub(super) schema: &'s Value,
    /// Present if the schema marks any part as secret.
    secrets: Option<Secrets<'s>>,
    instance: &'s Value,
    /// If present, the violations have no rules, and those that no repair concerns are left out.
    pub(super) outline: Option<Repairs>,
    pub(super) violations: Vec<Violation>,
    /// The violations of keys that a schema declares which does not match, by the pointer of their object.
    declared: Vec<(String, Violation)>,
}

impl<'s> Explanation<'s> {
    pub(super) fn new(schema: &'s Value, has_secrets: bool, instance: &'s Value) -> Self {
        Self {
            schema,
            secrets: has_secrets.then(|| Secrets::new(schema)),
            instance,
            outline: None,
            violations: Vec::new(),
            declared: Vec::new(),
        }
    }

    pub(super) fn outline(schema: &'s Value, has_secrets: bool, instance: &'s Value, repairs: Repairs) -> Self {
        Self { outline: Some(repairs), ..Self::new(schema, has_secrets, instance) }
    }

    pub(super) fn is_full(&self) -> bool {
        self.violations.len() >= MAX_VIOLATIONS
    }

    /// Returns the violations, sorted by their location.
    ///
    /// A key counts as unevaluated if the schema that declares it does not match. This is a violation of its own only if
    /// nothing else is wrong with the object.
    pub(super) fn finish(mut self) -> Vec<Violation> {
        for (object, violation) in std::mem::take(&mut self.declared) {
            if !self.violations.iter().any(|other| other.pointer.starts_with(&object)) {
                self.add(violation);
            }
        }
        self.violations.sort_by(|a, b| a.pointer.cmp(&b.pointer));
        self.violations.dedup();
        self.violations
    }

    pub(super) fn add(&mut self, mut violation: Violation) {
        if !self.is_full() {
            if let Some(secrets) = &self.secrets {
                secrets.mask(&mut violation);
            }
            self.violations.push(violation);
        }
    }

    /// Adds the violations for a failure.
    ///
    /// Most failures become one violation. Unexpected keys become one violation each. A choice is explained by the branch
    /// that was most likely meant.
    pub(super) fn explain(&mut self, failure: &KeywordFailure<'_>) {
        match &failure.kind {
            _ if self.outline.is_some_and(|repairs| !may_be_repaired(failure, repairs)) => {}
            FailureKind::AdditionalProperties(unexpected) | FailureKind::UnevaluatedProperties(unexpected) => {
                self.unexpected(failure, unexpected);
            }
            FailureKind::AnyOf(branches) | FailureKind::OneOf(branches) => self.choice(failure, branches),
            FailureKind::PropertyNames(inner) => {
                let pointer = failure.location.pointer();
                let key = inner.instance.as_str().unwrap_or_default();
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
            // The object may not have any key. The failure does not name the key, so all of them are reported.
            FailureKind::False if is_about_keys(failure) => {
                let object = self.instance.pointer(&failure.location.pointer()).and_then(Value::as_object);
                let keys = object.into_iter().flat_map(serde_json::Map::keys).take(MAX_VIOLATIONS);
                self.unexpected(failure, &keys.map(Cow::from).collect::<Vec<_>>());
            }
            _ if self.outline.is_some() => self.add(outlined(self.plain(failure, String::new()), failure)),
            _ => self.add(with_rule(self.plain(failure, String::new()), failure)),
        }
    }

    /// Adds a violation for each key that is not allowed.
    fn unexpected(&mut self, failure: &KeywordFailure<'_>, unexpected: &[Cow<'_, str>]) {
        let path = failure.location.path();
        let holder = holder(self.schema, &path);
        let sees_all = path.ends_with("/unevaluatedProperties");
        let keys = holder.map_or_else(Keys::default, |holder| Keys::declared_in(self.schema, holder, sees_all));
        for key in unexpected {
            if self.is_full() {
                return;
            }
            if sees_all && keys.names.contains(&&**key) {
                let object = failure.location.pointer();
                let rule = "is not allowed beside the other arguments".to_owned();
                let violation = Violation::new(shorten_pointer(child(&object, key)), rule);
                let violation = Violation { keyword: "unevaluatedProperties".to_owned(), ..violation };
                if self.declared.len() < MAX_VIOLATIONS {
                    self.declared.push((shorten_pointer(object.into_owned()), violation));
                }
                continue;
            }
            let violation = match keys.patterns[..] {
                [] => self.unknown_key(failure, key, &keys.names),
                _ => self.unmatched_key(failure, key, &keys),
            };
            self.add(violation);
        }
    }

    /// Creates the violation of a key that is not declared and matches no pattern.
    fn unmatched_key(&self, failure: &KeywordFailure<'_>, key: &str, keys: &Keys<'_>) -> Violation {
        let violation = self.unknown_key(failure, key, &keys.names);
        if violation.suggestion.is_some() {
            return violation;
        }
        let mut rule = begun("is not a key of this object; expected ");
        push_list(&mut rule, keys.names.iter().copied(), push_quoted);
        rule.push_str(if keys.names.is_empty() { "" } else { ", or " });
        rule.push_str("a key that matches ");
        push_list(&mut rule, keys.patterns.iter().copied(), push_quoted);
        Violation { rule, ..violation }
    }

    /// Creates the violation of a key that is not among `names`.
    pub(super) fn unknown_key(&self, failure: &KeywordFailure<'_>, key: &str, names: &[&str]) -> Violation {
        let absent = names.iter().copied().filter(|name| failure.instance.get(name).is_none());
        let suggestion = suggest(key, absent).map(str::to_owned);
        let rule = match (&suggestion, names) {
            (Some(_), _) => "is not an argument".to_owned(),
            (None, []) => "is not an argument; no arguments are accepted".to_owned(),
            (None, names) => {
                let mut rule = begun("is not an argument; expected ");
                push_list(&mut rule, names.iter().copied(), push_quoted);
                rule
            }
        };
        Violation {
            keyword: "additionalProperties".to_owned(),
            allowed: names.iter().take(MAX_LISTED).map(|&name| name.into()).collect(),
            suggestion,
            ..Violation::new(shorten_pointer(child(&failure.location.pointer(), key)), rule)
        }
    }

    /// Creates a violation with a rule and the value that was sent.
    pub(super) fn plain(&self, failure: &KeywordFailure<'_>, rule: String) -> Violation {
        let (pointer, instance) = (failure.location.pointer(), &*failure.instance);
        // Only a `null` can be an omitted property, and only scalars are repeated.
        let sent = if self.outline.is_some() { None } else { repeatable(instance) };
        let is_secret = self.secrets.is_some() && sent.is_some() && is_secret(self.schema, &failure.location.path());
        Violation {
            keyword: failure.kind.keyword().to_owned(),
            sent: sent.filter(|_| !is_secret),
            optional: instance.is_null() && is_optional(self.schema, &failure.location.path(), &pointer),
            ..Violation::new(shorten_pointer(pointer.into_owned()), rule)
        }
    }
}

/// Returns true if a repair may satisfy the keyword.
fn may_be_repaired(failure: &KeywordFailure<'_>, repairs: Repairs) -> bool {
    failure.instance.is_null()
        || match &failure.kind {
            FailureKind::Type(_) => repairs == Repairs::Replacement,
            FailureKind::AnyOf(branches) | FailureKind::OneOf(branches) => {
                branches.iter().flatten().any(|failure| may_be_repaired(failure, repairs))
            }
            _ => false,
        }
}

fn is_about_keys(failure: &KeywordFailure<'_>) -> bool {
    let path = failure.location.path();
    path.ends_with("/additionalProperties") || path.ends_with("/unevaluatedProperties")
}
