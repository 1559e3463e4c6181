//! From a validator's error to violations.

use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use serde_json::Value;

use super::Violation;
use super::locate::{child, is_secret, nodes};
use crate::suggest::suggest;

/// The longest scalar that is repeated to the caller, in characters.
const MAX_SENT: usize = 80;

/// Adds the violations that `error` stands for.
///
/// Most errors are one. An unexpected key is one each, and a choice of schemas is explained by the branch that was
/// most likely meant.
pub(super) fn explain(schema: &Value, error: &ValidationError<'_>, violations: &mut Vec<Violation>) {
    let pointer = error.instance_path().to_string();
    let path = nodes(schema, error.evaluation_path().as_str());
    let at = |pointer: String, rule: String| Violation {
        pointer,
        keyword: error.kind().keyword().to_owned(),
        rule,
        limit: None,
        sent: sent(error.instance(), &path),
        allowed: Vec::new(),
        suggestion: None,
    };
    let limited = |rule: String, limit: Value| Violation { limit: Some(limit), ..at(pointer.clone(), rule) };
    let plural = |n: u64, noun: &str| format!("{n} {noun}{}", if n == 1 { "" } else { "s" });

    let violation = match error.kind() {
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            // The keyword's own schema is last; the properties stand in the one before it.
            let known = path.iter().rev().find_map(|node| node.get("properties")?.as_object());
            for key in unexpected {
                let names = || known.into_iter().flat_map(serde_json::Map::keys).map(String::as_str);
                let suggestion = suggest(key, names()).map(str::to_owned);
                let rule = match suggestion {
                    Some(_) => "is not an argument".to_owned(),
                    None => match names().collect::<Vec<_>>().join("`, `") {
                        none if none.is_empty() => "is not an argument; there are none".to_owned(),
                        names => format!("is not an argument; expected `{names}`"),
                    },
                };
                violations.push(Violation {
                    sent: None,
                    allowed: names().map(Value::from).collect(),
                    suggestion,
                    ..at(child(&pointer, &shorten(key)), rule)
                });
            }
            return;
        }
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
            let branch = meant(error.instance(), context);
            if let Some(branch) = branch {
                for error in branch {
                    explain(schema, error, violations);
                }
                return;
            }
            at(pointer.clone(), "fits none of the forms that may stand there".to_owned())
        }
        Kind::OneOfMultipleValid { .. } => {
            at(pointer.clone(), "must fit exactly one form, and fits several".to_owned())
        }
        Kind::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            Violation { sent: None, ..at(child(&pointer, name), "is required".to_owned()) }
        }
        Kind::Type { kind } => {
            let names = type_names(kind);
            Violation {
                allowed: names.iter().map(|&name| name.into()).collect(),
                ..at(pointer.clone(), format!("must be {}", one_of(&names)))
            }
        }
        Kind::Enum { options } => choice(at(pointer.clone(), String::new()), options, error.instance()),
        Kind::Constant { expected_value } => {
            let options = Value::Array(vec![(**expected_value).clone()]);
            choice(at(pointer.clone(), String::new()), &options, error.instance())
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
        Kind::MaxItems { limit } => limited(format!("must have at most {}", plural(*limit, "item")), (*limit).into()),
        Kind::MinItems { limit } => limited(format!("must have at least {}", plural(*limit, "item")), (*limit).into()),
        Kind::MaxProperties { limit } => limited(format!("must have at most {} keys", *limit), (*limit).into()),
        Kind::MinProperties { limit } => limited(format!("must have at least {} keys", *limit), (*limit).into()),
        Kind::MultipleOf { multiple_of } => {
            limited(format!("must be a multiple of {multiple_of}"), (*multiple_of).into())
        }
        Kind::Pattern { pattern } => limited(format!("must match `{pattern}`"), pattern.as_str().into()),
        Kind::UniqueItems => at(pointer.clone(), "must not have an item twice".to_owned()),
        Kind::FalseSchema => at(pointer.clone(), "must not be there".to_owned()),
        Kind::Not { .. } => at(pointer.clone(), "has a form that is excluded".to_owned()),
        Kind::Contains => at(pointer.clone(), "lacks an item that must be there".to_owned()),
        Kind::AdditionalItems { limit } => limited(format!("must have at most {} items", *limit), (*limit).into()),
        Kind::UnevaluatedItems { .. } => at(pointer.clone(), "has items that may not be there".to_owned()),
        Kind::PropertyNames { error } => {
            explain(schema, error, violations);
            return;
        }
        // The rest cannot come from a schema without formats and content, or is worded by the author.
        _ => at(pointer.clone(), "is not valid".to_owned()),
    };
    violations.push(violation);
}

/// The branch of a choice that was most likely meant: the one whose errors lie deepest, then the one with fewest.
///
/// A branch that refuses the value's type, or its tag, was not meant as long as another one accepts that.
fn meant<'e>(instance: &Value, context: &'e [Vec<ValidationError<'static>>]) -> Option<&'e [ValidationError<'static>]> {
    let depth = |error: &ValidationError<'_>| error.instance_path().as_str().matches('/').count();
    let here = context.iter().flatten().map(depth).min().unwrap_or(0);
    let score = |branch: &&Vec<ValidationError<'static>>| {
        let wrong_type = branch.iter().any(|error| depth(error) == here && matches!(error.kind(), Kind::Type { .. }));
        let wrong_tag =
            branch.iter().any(|error| depth(error) == here + 1 && matches!(error.kind(), Kind::Constant { .. }));
        let wrong_key = branch.iter().any(|error| matches!(error.kind(), Kind::Required { .. }));
        (wrong_type, wrong_tag, wrong_key, branch.len())
    };
    let best = context.iter().filter(|branch| !branch.is_empty()).min_by_key(score)?;
    let (wrong_type, wrong_tag, ..) = score(&best);
    let others = context.iter().filter(|branch| score(branch).0 == wrong_type).count();
    // With no branch that even has the right shape, one of them would be a guess among many.
    let only_null_beside = context.len() <= 2 && !instance.is_null();
    ((!wrong_type && !wrong_tag) || others == 1 || only_null_beside).then_some(best)
}

fn choice(violation: Violation, options: &Value, instance: &Value) -> Violation {
    let allowed = options.as_array().cloned().unwrap_or_default();
    let shown: Vec<String> = allowed.iter().take(40).map(Value::to_string).collect();
    let more = if allowed.len() > shown.len() { ", …" } else { "" };
    let rule = match &shown[..] {
        [only] => format!("must be {only}"),
        _ => format!("must be one of {}{more}", shown.join(", ")),
    };
    let names = allowed.iter().filter_map(Value::as_str);
    let suggestion = instance.as_str().and_then(|sent| suggest(sent, names)).map(str::to_owned);
    Violation { rule, suggestion, allowed, ..violation }
}

/// What may be repeated of a refused value: a short scalar that is no secret.
fn sent(instance: &Value, path: &[&Value]) -> Option<Value> {
    let short = match instance {
        Value::String(text) => text.chars().nth(MAX_SENT).is_none(),
        Value::Array(items) => items.is_empty(),
        Value::Object(_) => false,
        _ => true,
    };
    (short && !is_secret(path)).then(|| instance.clone())
}

fn shorten(key: &str) -> String {
    key.chars().take(MAX_SENT).collect()
}

fn type_names(kind: &TypeKind) -> Vec<&'static str> {
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
    let article = |name: &&str| match *name {
        "null" => "null".to_owned(),
        "integer" | "object" | "array" => format!("an {name}"),
        _ => format!("a {name}"),
    };
    names.iter().map(article).collect::<Vec<_>>().join(" or ")
}
