//! The rules of the keywords, worded for a message.

use serde_json::Value;

use super::Violation;
use super::repeated::{begun, push_json, push_list, shorten, shorten_pointer};
use crate::failure::{FailureKind, KeywordFailure};
use crate::format;
use crate::pointer::child;
use crate::suggest::suggest;
use crate::walk;

/// The maximum number of accepted values that a violation contains.
const MAX_ALLOWED: usize = 256;

/// Completes the violation of a failure with the rule of the keyword.
pub(in super::super) fn with_rule(violation: Violation, failure: &KeywordFailure<'_>) -> Violation {
    let at = |rule: &str| (rule.to_owned(), None);

    let (rule, limit) = match &failure.kind {
        FailureKind::OneOfSeveral => at("must match exactly one of the allowed forms, but matches several"),
        FailureKind::Required(name) => {
            let pointer = shorten_pointer(child(&failure.location.pointer(), name));
            let keyword = "required".to_owned();
            return Violation { keyword, ..Violation::new(pointer, "is required".to_owned()) };
        }
        FailureKind::Type(names) => return wrong_type(violation, &failure.instance, names),
        FailureKind::Enum(options) => return not_one_of(violation, options, &failure.instance),
        FailureKind::Const(constant) => {
            return not_one_of(violation, std::slice::from_ref(&**constant), &failure.instance);
        }
        FailureKind::Maximum(limit) => limited("must be at most ", limit),
        FailureKind::Minimum(limit) => limited("must be at least ", limit),
        FailureKind::ExclusiveMaximum(limit) => limited("must be less than ", limit),
        FailureKind::ExclusiveMinimum(limit) => limited("must be more than ", limit),
        FailureKind::MaxLength(limit) => counted("must have at most ", *limit, " character"),
        FailureKind::MinLength(limit) => counted("must have at least ", *limit, " character"),
        FailureKind::MaxItems(limit) => counted("must have at most ", *limit, " item"),
        FailureKind::MinItems(limit) => counted("must have at least ", *limit, " item"),
        FailureKind::MaxProperties(limit) => counted("must have at most ", *limit, " key"),
        FailureKind::MinProperties(limit) => counted("must have at least ", *limit, " key"),
        FailureKind::MultipleOf(divisor) => (format!("must be a multiple of {divisor}"), Some((*divisor).into())),
        FailureKind::Pattern(pattern) => {
            let rule = format::of_pattern(pattern).and_then(format::expected).unwrap_or_else(|| {
                let mut rule = begun("must match `");
                rule.push_str(pattern);
                shorten(&mut rule, "must match `".len());
                rule.push('`');
                rule
            });
            (rule, Some(pattern.as_ref().into()))
        }
        FailureKind::UniqueItems => at("must not contain duplicate items"),
        FailureKind::False => at("is not allowed"),
        FailureKind::Not => at("matches a form that is not allowed"),
        FailureKind::Contains => at("must contain matching items, as `contains` requires"),
        FailureKind::AdditionalItems(limit) => counted("must have at most ", *limit, " item"),
        FailureKind::BacktrackLimit => at("is too expensive to match against a pattern"),
        FailureKind::UnevaluatedItems => at("has items that are not allowed"),
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
pub(in super::super) fn outlined(violation: Violation, failure: &KeywordFailure<'_>) -> Violation {
    match &failure.kind {
        FailureKind::Type(names) => Violation { allowed: types(names), ..violation },
        _ => violation,
    }
}

/// Creates the violation of a value whose type is not among `names`.
pub(in super::super) fn wrong_type(violation: Violation, instance: &Value, names: &[&str]) -> Violation {
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
pub(in super::super) fn not_one_of(violation: Violation, options: &[Value], instance: &Value) -> Violation {
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

/// Returns the JSON type of a value, of which JSON has one for all numbers.
pub(in super::super) fn type_name(value: &Value) -> &'static str {
    match walk::type_of(value) {
        "integer" => "number",
        name => name,
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
