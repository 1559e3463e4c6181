//! Merging of an object and the branches of a choice beside it into one schema.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::keywords::{constrains_object, describes_objects};
use toolkit_schema::equality::equal;
use toolkit_schema::merge::{Keywords, declares_beyond, has_in_place, join, names, simplify_unevaluated};
use toolkit_schema::walk;

/// The result of [`spread`].
pub(super) enum Spread {
    /// The keywords beside the choice do not restrict objects.
    Unneeded,
    /// The keywords would have another meaning in a branch.
    Impossible,
    /// All keywords are in the branches.
    Done {
        keywords: Keywords,
        /// A value that matches several branches could have properties of each, but now matches none of them.
        is_narrower: bool,
    },
}

/// Merges the keywords beside a choice into each of its branches.
pub(super) fn spread(keywords: &Keywords) -> Spread {
    let choices = ["anyOf", "oneOf"].into_iter().filter(|choice| keywords.contains_key(*choice));
    let choices: Vec<&str> = choices.collect();
    let choice = match choices[..] {
        [] => return Spread::Unneeded,
        [choice] => choice,
        _ => {
            let concerns = |choice: &&str| declares_beyond(&json!({ *choice: keywords[*choice] }), None);
            return if choices.iter().any(concerns) { Spread::Impossible } else { Spread::Unneeded };
        }
    };
    let mut beside = keywords.clone();
    beside.retain(|keyword, _| keyword != choice && !walk::is_annotation(keyword));
    if !describes_objects(&beside) && !beside.keys().any(|keyword| constrains_object(keyword)) {
        return Spread::Unneeded;
    }
    spread_into(keywords, choice, &beside).unwrap_or(Spread::Impossible)
}

fn spread_into(keywords: &Keywords, choice: &str, beside: &Keywords) -> Option<Spread> {
    let Some(Value::Array(branches)) = keywords.get(choice) else {
        return None;
    };
    let open = Keywords::new();
    let possible = branches.iter().filter(|branch| **branch != false);
    let merged = possible.map(|branch| merge(branch.as_object().unwrap_or(&open), beside));
    let merged: Vec<Keywords> = merged.collect::<Option<Vec<_>>>()?.into_iter().flatten().collect();
    let closes = keywords.get("unevaluatedProperties") == Some(&Value::Bool(false));
    let names = |branch: &Keywords| -> BTreeSet<String> {
        branch.get("properties").and_then(Value::as_object).into_iter().flat_map(Map::keys).cloned().collect()
    };
    let all_alike = merged.windows(2).all(|pair| names(&pair[0]) == names(&pair[1]));
    let is_narrower = closes && choice == "anyOf" && !all_alike && !are_disjoint(branches);
    let mut spread = keywords.clone();
    spread.retain(|keyword, _| walk::is_annotation(keyword));
    spread.insert(choice.to_owned(), merged.into_iter().map(Value::Object).collect());
    Some(Spread::Done { keywords: spread, is_narrower })
}

/// Merges a branch and the keywords beside the choice: `Some(None)` if no value matches both, and `None` if a single
/// schema cannot express both.
fn merge(branch: &Keywords, beside: &Keywords) -> Option<Option<Keywords>> {
    let (mut branch, mut beside) = (branch.clone(), beside.clone());
    simplify_unevaluated(&mut branch);
    let is_opaque =
        |schema: &Keywords| ["$ref", "patternProperties"].iter().any(|keyword| schema.contains_key(*keyword));
    if is_opaque(&branch) || is_opaque(&beside) {
        return None;
    }
    let closed = |schema: &Keywords| schema.get("additionalProperties") == Some(&Value::Bool(false));
    let (branch_closes, beside_closes) = (closed(&branch), closed(&beside));
    // Each rejects the undeclared properties of the other. A value that is not an object may match both.
    let refused = [branch_closes && !confine(&mut beside, &branch), beside_closes && !confine(&mut branch, &beside)];
    let is_object = |schema: &Keywords| schema.get("type").is_some_and(|name| name == "object");
    if refused.contains(&true) && (is_object(&branch) || is_object(&beside)) {
        return Some(None);
    }
    if (branch_closes || beside_closes) && (has_in_place(&branch) || has_in_place(&beside)) {
        return None;
    }
    let welcomes = branch.shift_remove("additionalProperties").filter(|_| !branch_closes);
    let is_map = beside.shift_remove("additionalProperties").is_some_and(|others| others != false);
    let sees_all = beside.shift_remove("unevaluatedProperties");
    let is_plain = |others: Option<&Value>, plain: bool| others.is_none_or(|others| *others == plain);
    if is_map
        || branch.contains_key("unevaluatedProperties")
        || !is_plain(welcomes.as_ref(), true)
        || !is_plain(sees_all.as_ref(), false)
    {
        return None;
    }
    let mut merged = branch;
    if !join(&mut merged, &beside) {
        return None;
    }
    if branch_closes || beside_closes {
        merged.insert("additionalProperties".to_owned(), false.into());
    } else if let Some(others) = welcomes {
        merged.insert("additionalProperties".to_owned(), others);
    } else if let Some(others) = sees_all {
        merged.insert("unevaluatedProperties".to_owned(), others);
        simplify_unevaluated(&mut merged);
    }
    Some(Some(merged))
}

/// Removes the properties of `open` that `closed` does not declare; false if `open` requires one of them.
fn confine(open: &mut Keywords, closed: &Keywords) -> bool {
    let known = closed.get("properties").and_then(Value::as_object);
    let is_known = |name: &str| known.is_some_and(|known| known.contains_key(name));
    if let Some(Value::Object(properties)) = open.get_mut("properties") {
        properties.retain(|name, _| is_known(name));
    }
    walk::required(open).all(is_known)
}

/// Returns true if no value can match two of the branches.
pub(crate) fn are_disjoint(branches: &[Value]) -> bool {
    let mut pairs = branches.iter().enumerate().flat_map(|(idx, a)| branches[idx + 1..].iter().map(move |b| (a, b)));
    pairs.all(|(a, b)| types_are_disjoint(a, b) || values_are_disjoint(a, b) || tags_are_disjoint(a, b))
}

fn types_are_disjoint(a: &Value, b: &Value) -> bool {
    let (Some(a), Some(b)) = (a.get("type").and_then(names), b.get("type").and_then(names)) else {
        return false;
    };
    let overlap = |a: &str, b: &str| a == b || matches!((a, b), ("integer", "number") | ("number", "integer"));
    !a.iter().any(|a| b.iter().any(|b| overlap(a, b)))
}

fn values_are_disjoint(a: &Value, b: &Value) -> bool {
    let (Some(a), Some(b)) = (values(a), values(b)) else {
        return false;
    };
    !a.iter().any(|a| b.iter().any(|b| equal(a, b)))
}

fn values(schema: &Value) -> Option<Vec<&Value>> {
    match (schema.get("const"), schema.get("enum")) {
        (Some(constant), _) => Some(vec![constant]),
        (None, Some(Value::Array(values))) => Some(values.iter().collect()),
        _ => None,
    }
}

/// Returns true if both schemas are of objects that require a property with disjoint values.
fn tags_are_disjoint(a: &Value, b: &Value) -> bool {
    let is_object = |schema: &Value| schema.get("type").is_some_and(|name| name == "object");
    let (Some(of_a), Some(of_b)) = (a.get("properties"), b.get("properties")) else {
        return false;
    };
    let mut names = of_a.as_object().into_iter().flatten();
    is_object(a)
        && is_object(b)
        && names.any(|(name, tag)| {
            walk::requires(a, name)
                && walk::requires(b, name)
                && of_b.get(name).is_some_and(|other| values_are_disjoint(tag, other) || types_are_disjoint(tag, other))
        })
}
