//! Recursive references, which are left after inlining.

use serde_json::Value;

use super::keywords::{ignores_properties, take};
use super::lowering::Lowering;
use crate::dialect::Rule;
use crate::loss::Effect;
use toolkit_schema::merge::Keywords;
use toolkit_schema::walk;

/// Lowers a schema with a reference; `None` if the dialect requires a type, but none is known.
pub(super) fn lower_reference(lowering: &mut Lowering<'_>, keywords: Keywords, at: &str) -> Option<Keywords> {
    if lowering.follows_references() {
        return Some(if lowering.requires(Rule::Reference) {
            remove_siblings(lowering, keywords, at)
        } else {
            keywords
        });
    }
    lowering.n_lost_references += 1;
    if lowering.requires(Rule::Typed) {
        lowering.report(at, "$ref", Effect::Narrowed, "is recursive, which is not supported; no value can be sent");
        return None;
    }
    lowering.report(at, "$ref", Effect::Widened, "is recursive, which is not supported; any value is accepted");
    Some(keywords.into_iter().filter(|(keyword, _)| keyword == "description").collect())
}

fn remove_siblings(lowering: &mut Lowering<'_>, mut keywords: Keywords, at: &str) -> Keywords {
    let beside = take(&mut keywords, |keyword| keyword != "$ref");
    let mut declares = false;
    for keyword in beside.keys() {
        let effect = if walk::is_annotation(keyword) { Effect::MetadataOnly } else { Effect::Widened };
        lowering.report(at, keyword, effect, "is not supported beside a reference");
        declares |= effect == Effect::Widened && !ignores_properties(keyword);
    }
    if declares && lowering.requires(Rule::Closed) {
        let reason =
            "applies to the definition alone; properties that are declared beside the reference cannot be sent";
        lowering.report(at, "additionalProperties", Effect::Narrowed, reason);
    }
    keywords
}

/// Removes the keywords that contain an unsupported reference and cannot be expressed partially.
pub(super) fn lower_unsupported_references(lowering: &mut Lowering<'_>, keywords: &mut Keywords, at: &str) {
    if lowering.follows_references() {
        return;
    }
    let is_unsupported = |keyword: &str| {
        matches!(
            keyword,
            "not"
                | "if"
                | "then"
                | "else"
                | "contains"
                | "propertyNames"
                | "dependentSchemas"
                | "dependencies"
                | "contentSchema"
                | "unevaluatedProperties"
                | "unevaluatedItems"
                | "additionalItems"
        )
    };
    let mut refers: Vec<String> = keywords
        .iter()
        .filter(|(keyword, value)| is_unsupported(keyword) && holds_reference(value))
        .map(|(k, _)| k.clone())
        .collect();
    if refers.iter().any(|keyword| matches!(keyword.as_str(), "if" | "then" | "else")) {
        refers.extend(["if", "then", "else"].map(str::to_owned));
    }
    if refers.iter().any(|keyword| keyword == "contains") {
        refers.extend(["minContains", "maxContains"].map(str::to_owned));
    }
    for keyword in refers {
        if keywords.remove(&keyword).is_some() {
            lowering.n_lost_references += 1;
            lowering.report(at, &keyword, Effect::Widened, "contains a recursive reference, which is not supported");
        }
    }
}

/// Removes the keywords that depend on all other schemas of the same value, if some of these have been lost.
pub(super) fn lower_dependent(lowering: &mut Lowering<'_>, keywords: &mut Keywords, n_lost_before: usize, at: &str) {
    if lowering.n_lost_references == n_lost_before {
        return;
    }
    for keyword in ["unevaluatedProperties", "unevaluatedItems"] {
        if keywords.remove(keyword).is_some() {
            lowering.report(at, keyword, Effect::Widened, "depends on a reference that is not supported");
        }
    }
}

/// Returns true if a value contains a reference at any depth.
fn holds_reference(value: &Value) -> bool {
    match value {
        Value::Object(object) => {
            ["$ref", "$dynamicRef"].iter().any(|keyword| object.get(*keyword).is_some_and(Value::is_string))
                || object.values().any(holds_reference)
        }
        Value::Array(list) => list.iter().any(holds_reference),
        _ => false,
    }
}
