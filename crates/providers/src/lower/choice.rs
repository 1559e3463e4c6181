//! Choices and conjunctions (`oneOf`, `anyOf`, `allOf`), types and constants.

use serde_json::{Value, json};

use super::keywords::{applies_to, applies_to_all_types, has_type, may_concern_objects, take, values};
use super::lowering::Lowering;
use super::merge::{Spread, are_disjoint, spread};
use super::schema::lower_schema;
use crate::dialect::Rule;
use crate::loss::Effect;
use toolkit_schema::child;
use toolkit_schema::merge::{Keywords, declares_beyond, flatten, join, simplify_unevaluated};
use toolkit_schema::walk::{self, type_of};

/// Lowers `anyOf` and `oneOf`; `None` if no branch is left.
pub(super) fn lower_choices(lowering: &mut Lowering<'_>, keywords: &mut Keywords, at: &str) -> Option<()> {
    match if lowering.requires(Rule::Closed) { spread(keywords) } else { Spread::Unneeded } {
        Spread::Unneeded => {}
        Spread::Impossible => {
            let reason =
                "cannot be merged with a choice into closed objects; properties of the other part cannot be sent";
            lowering.report(at, "properties", Effect::Narrowed, reason);
        }
        Spread::Done { keywords: merged, is_narrower } => {
            *keywords = merged;
            if is_narrower {
                let reason =
                    "is moved into each branch of a choice; values with properties of several branches cannot be sent";
                lowering.report(at, "unevaluatedProperties", Effect::Narrowed, reason);
            }
        }
    }
    for keyword in ["anyOf", "oneOf"] {
        if let Some(Value::Array(branches)) = keywords.shift_remove(keyword) {
            lower_choice(lowering, keywords, keyword, branches, at)?;
        }
    }
    Some(())
}

fn lower_choice(
    lowering: &mut Lowering<'_>,
    keywords: &mut Keywords,
    keyword: &str,
    branches: Vec<Value>,
    at: &str,
) -> Option<()> {
    let is_either = keyword == "anyOf" || are_disjoint(&branches);
    let n_losses = lowering.losses.len();
    let at_branches = child(at, keyword);
    let n_branches = branches.len();
    let branches: Vec<Value> = branches
        .into_iter()
        .enumerate()
        .filter_map(|(idx, branch)| lower_schema(lowering, branch, &child(&at_branches, &idx.to_string())))
        .collect();
    // In an inexact `oneOf`, a branch could exclude the values of another one, or fail to.
    let is_exact = lowering.losses[n_losses..].iter().all(|loss| loss.effect == Effect::MetadataOnly);
    if lowering.dialect.reads(keyword) && (keyword == "anyOf" || (is_exact && branches.len() == n_branches)) {
        if branches.is_empty() {
            return None;
        }
        keywords.insert(keyword.to_owned(), branches.into());
    } else if !lowering.dialect.reads("anyOf") {
        lowering.report(at, keyword, Effect::Widened, "is not supported; any value is accepted");
    } else if branches.is_empty() {
        return None;
    } else if keywords.contains_key("anyOf") {
        lowering.report(at, keyword, Effect::Widened, "is not supported beside another choice");
    } else {
        if !is_either {
            lowering.report(at, keyword, Effect::Widened, "is replaced by `anyOf`, so that several branches may match");
        }
        keywords.insert("anyOf".to_owned(), branches.into());
    }
    Some(())
}

/// Lowers `allOf`. It becomes a single schema if the dialect does not support it or if closed objects would exclude
/// each other. `None` if a part accepts no value.
pub(super) fn lower_all_of(lowering: &mut Lowering<'_>, keywords: &mut Keywords, at: &str) -> Option<()> {
    let Some(Value::Array(parts)) = keywords.shift_remove("allOf") else {
        return Some(());
    };
    let at_parts = child(at, "allOf");
    let reads = lowering.dialect.reads("allOf");
    let mut kept = Vec::new();
    for (idx, part) in parts.into_iter().enumerate() {
        if reads && !lowering.requires(Rule::Closed) {
            kept.push(lower_schema(lowering, part, &child(&at_parts, &idx.to_string()))?);
            continue;
        }
        let mut part = match part {
            Value::Object(part) => part,
            Value::Bool(false) => Keywords::from_iter([("not".to_owned(), json!({}))]),
            _ => continue,
        };
        simplify_unevaluated(&mut part);
        flatten(&mut part);
        if !part.contains_key("allOf") && join(keywords, &part) {
            continue;
        }
        let part = Value::Object(part);
        let concerns_objects = may_concern_objects(&part);
        if reads && !concerns_objects {
            let part = lower_schema(lowering, part, &child(&at_parts, &idx.to_string()))?;
            // Lowering may have simplified the part.
            let is_joined = part.as_object().is_some_and(|part| !part.contains_key("allOf") && join(keywords, part));
            if !is_joined {
                kept.push(part);
            }
            continue;
        }
        lowering.report(at, "allOf", Effect::Widened, "cannot be merged into one schema; a part of it is removed");
        let known = keywords.get("properties").and_then(Value::as_object);
        if lowering.requires(Rule::Closed) && declares_beyond(&part, known) {
            let reason = "cannot be merged into one schema; properties that only one part declares cannot be sent";
            lowering.report(at, "allOf", Effect::Narrowed, reason);
        }
    }
    if !kept.is_empty() {
        keywords.insert("allOf".to_owned(), kept.into());
    }
    Some(())
}

/// Replaces `const` by an `enum` with one value if the dialect does not support it; `None` if no value is left.
pub(super) fn lower_constant(lowering: &Lowering<'_>, keywords: &mut Keywords) -> Option<()> {
    // Some providers reject an empty `enum`.
    if !lowering.dialect.reads("not") && values(keywords).is_some_and(|values| values.is_empty()) {
        return None;
    }
    if !lowering.dialect.reads("const")
        && let Some(constant) = keywords.shift_remove("const")
    {
        keywords.insert("enum".to_owned(), json!([constant]));
    }
    Some(())
}

/// Lowers `type`; `None` if no value is left.
pub(super) fn lower_types(lowering: &mut Lowering<'_>, keywords: &mut Keywords, at: &str) -> Option<()> {
    if !keywords.contains_key("type") {
        lower_implied_type(lowering, keywords, at);
    }
    if !lowering.requires(Rule::OneType) {
        return Some(());
    }
    let Some(Value::Array(names)) = keywords.get("type") else {
        return Some(());
    };
    let mut names: Vec<String> = names.iter().filter_map(Value::as_str).map(str::to_owned).collect();
    if let Some(values) = values(keywords) {
        names.retain(|name| values.iter().any(|value| has_type(value, name)));
    }
    let kinds: Vec<&String> = names.iter().filter(|name| *name != "null").collect();
    match kinds[..] {
        [] if names.is_empty() => return None,
        [] => drop(keywords.insert("type".to_owned(), json!("null"))),
        [kind] if names.len() == 1 => drop(keywords.insert("type".to_owned(), json!(kind))),
        _ if keywords.contains_key("anyOf") => {
            keywords.shift_remove("type");
            lowering.report(at, "type", Effect::Widened, "is not supported beside a choice");
        }
        _ => return split_types(lowering, keywords, &names, at),
    }
    Some(())
}

/// Replaces a list of types by a choice with a branch for each type.
fn split_types(lowering: &mut Lowering<'_>, keywords: &mut Keywords, names: &[String], at: &str) -> Option<()> {
    let outside: Keywords = take(keywords, walk::is_annotation);
    let values = values(keywords);
    keywords.shift_remove("enum");
    keywords.shift_remove("const");
    let branches = names.iter().map(|name| {
        let about = keywords.iter().filter(|(keyword, _)| keyword.as_str() != "type" && applies_to(keyword, name));
        let mut branch: Keywords = about.map(|(keyword, value)| (keyword.clone(), value.clone())).collect();
        branch.insert("type".to_owned(), json!(name));
        if let Some(values) = &values
            && name != "null"
        {
            let values: Vec<Value> = values.iter().filter(|value| has_type(value, name)).cloned().collect();
            branch.insert("enum".to_owned(), values.into());
        }
        Value::Object(branch)
    });
    let branches: Vec<Value> = branches.collect();
    let branches: Vec<Value> = branches.into_iter().filter_map(|branch| lower_schema(lowering, branch, at)).collect();
    *keywords = outside;
    if branches.is_empty() {
        return None;
    }
    keywords.insert("anyOf".to_owned(), branches.into());
    Some(())
}

/// Adds a missing type, from the enum or else from the other keywords.
fn lower_implied_type(lowering: &mut Lowering<'_>, keywords: &mut Keywords, at: &str) {
    if keywords.keys().any(|keyword| matches!(keyword.as_str(), "anyOf" | "oneOf" | "allOf")) {
        return;
    }
    if let Some(values) = values(keywords) {
        let mut names: Vec<&str> = values.iter().map(type_of).collect();
        names.sort_unstable();
        names.dedup();
        if names.is_empty() {
            return;
        }
        let names = if let [name] = names[..] { json!(name) } else { json!(names) };
        keywords.insert("type".to_owned(), names);
        return;
    }
    if !lowering.requires(Rule::Typed) {
        return;
    }
    // The keywords do not exclude other types, so that this narrows the schema.
    let about = ["object", "array", "string", "number"];
    let named = about
        .into_iter()
        .find(|name| keywords.keys().any(|keyword| !applies_to_all_types(keyword) && applies_to(keyword, name)));
    let (name, reason) = match named {
        Some(name) => (name, "is missing, but required; values of other types cannot be sent"),
        None => ("string", "is missing, but required; only strings can be sent"),
    };
    keywords.insert("type".to_owned(), json!(name));
    lowering.report(at, "type", Effect::Narrowed, reason);
}
