//! The rules of the keywords, worded for a message.

use serde_json::Value;

use super::locate::child;
use super::single::Violation;
use super::text::{listed, short, shorten_pointer};
use crate::failure::{Failure, Kind};
use crate::suggest::suggest;

/// The maximum number of accepted values that a violation contains.
const MAX_ALLOWED: usize = 256;

/// Completes the violation of a failure with the rule of the keyword.
pub(super) fn with_rule(violation: Violation, failure: &Failure<'_>) -> Violation {
    let at = |rule: &str| (rule.to_owned(), None);
    let limited = |rule: String, limit: Value| (rule, Some(limit));
    let plural = |n: u64, noun: &str| format!("{n} {noun}{}", if n == 1 { "" } else { "s" });

    let (rule, limit) = match &failure.kind {
        Kind::OneOfSeveral => at("must match exactly one of the allowed forms, but matches several"),
        Kind::Required(name) => {
            let pointer = shorten_pointer(child(&failure.pointer, name));
            let keyword = "required".to_owned();
            return Violation { keyword, ..Violation::new(pointer, "is required".to_owned()) };
        }
        Kind::Type(names) => return wrong_type(violation, &failure.instance, names),
        Kind::Enum(options) => return not_one_of(violation, options, &failure.instance),
        Kind::Const(constant) => return not_one_of(violation, std::slice::from_ref(&**constant), &failure.instance),
        Kind::Maximum(limit) => limited(format!("must be at most {limit}"), Value::clone(limit)),
        Kind::Minimum(limit) => limited(format!("must be at least {limit}"), Value::clone(limit)),
        Kind::ExclusiveMaximum(limit) => limited(format!("must be less than {limit}"), Value::clone(limit)),
        Kind::ExclusiveMinimum(limit) => limited(format!("must be more than {limit}"), Value::clone(limit)),
        Kind::MaxLength(limit) => {
            limited(format!("must have at most {}", plural(*limit, "character")), (*limit).into())
        }
        Kind::MinLength(limit) => {
            limited(format!("must have at least {}", plural(*limit, "character")), (*limit).into())
        }
        Kind::MaxItems(limit) => limited(format!("must have at most {}", plural(*limit, "item")), (*limit).into()),
        Kind::MinItems(limit) => limited(format!("must have at least {}", plural(*limit, "item")), (*limit).into()),
        Kind::MaxProperties(limit) => limited(format!("must have at most {}", plural(*limit, "key")), (*limit).into()),
        Kind::MinProperties(limit) => limited(format!("must have at least {}", plural(*limit, "key")), (*limit).into()),
        Kind::MultipleOf(divisor) => limited(format!("must be a multiple of {divisor}"), (*divisor).into()),
        Kind::Pattern(pattern) => {
            limited(format!("must match `{}`", short(pattern.to_string())), pattern.as_ref().into())
        }
        Kind::UniqueItems => at("must not contain duplicate items"),
        Kind::False => at("is not allowed"),
        Kind::Not => at("matches a form that is not allowed"),
        Kind::Contains => at("must contain matching items, as `contains` requires"),
        Kind::AdditionalItems(limit) => {
            limited(format!("must have at most {}", plural(*limit, "item")), (*limit).into())
        }
        Kind::BacktrackLimit => at("is too expensive to match against a pattern"),
        Kind::UnevaluatedItems => at("has items that are not allowed"),
        // The remaining kinds need `format` or content assertions, or use the message of the author.
        _ => at("is not valid"),
    };
    Violation { rule, limit, ..violation }
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
    let sent = match instance {
        _ if violation.sent.is_some() => String::new(),
        instance => format!(", not {}", with_article(type_name(instance))),
    };
    Violation {
        keyword: "type".to_owned(),
        rule: format!("must be {}{sent}", one_of(names)),
        allowed: types(names),
        ..violation
    }
}

fn types(names: &[&str]) -> Vec<Value> {
    names.iter().map(|&name| name.into()).collect()
}

/// Creates the violation of a value that is not among `options`.
pub(super) fn not_one_of(violation: Violation, options: &[Value], instance: &Value) -> Violation {
    let rule = match options {
        [only] => format!("must be {}", short(only.to_string())),
        _ => format!("must be one of {}", listed(options.iter())),
    };
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
