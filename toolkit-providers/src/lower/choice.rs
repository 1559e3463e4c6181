//! Choices and conjunctions: `oneOf`, `anyOf`, `allOf`, `const`.

use serde_json::{Value, json};

use super::closed::{declares_beyond, may_concern_objects, simplify_unevaluated};
use super::disjoint::are_disjoint;
use super::join::join;
use super::lowering::{Keywords, Lowering};
use super::spread::{Spread, spread};
use super::types::values;
use crate::loss::Effect;
use toolkit_schema::child;

impl Lowering<'_> {
    /// Lowers `anyOf` and `oneOf`; `None` if no branch is left.
    pub(super) fn lower_choices(&mut self, keywords: &mut Keywords, at: &str) -> Option<()> {
        match if self.dialect.closed { spread(keywords) } else { Spread::Unneeded } {
            Spread::Unneeded => {}
            Spread::Impossible => {
                let reason =
                    "cannot be merged with a choice into closed objects; properties of the other part cannot be sent";
                self.report(at, "properties", Effect::Narrowed, reason);
            }
            Spread::Done { keywords: merged, is_narrower } => {
                *keywords = merged;
                if is_narrower {
                    let reason = "is moved into each branch of a choice; values with properties of several branches cannot be sent";
                    self.report(at, "unevaluatedProperties", Effect::Narrowed, reason);
                }
            }
        }
        for keyword in ["anyOf", "oneOf"] {
            if let Some(Value::Array(branches)) = keywords.remove(keyword) {
                self.lower_choice(keywords, keyword, branches, at)?;
            }
        }
        Some(())
    }

    fn lower_choice(&mut self, keywords: &mut Keywords, keyword: &str, branches: Vec<Value>, at: &str) -> Option<()> {
        let is_either = keyword == "anyOf" || are_disjoint(&branches);
        let n_losses = self.losses.len();
        let at_branches = child(at, keyword);
        let n_branches = branches.len();
        let branches: Vec<Value> = branches
            .into_iter()
            .enumerate()
            .filter_map(|(idx, branch)| self.schema(branch, &child(&at_branches, &idx.to_string())))
            .collect();
        // In an inexact `oneOf`, a branch could exclude the values of another one, or fail to.
        let is_exact = self.losses[n_losses..].iter().all(|loss| loss.effect == Effect::MetadataOnly);
        if self.dialect.reads(keyword) && (keyword == "anyOf" || (is_exact && branches.len() == n_branches)) {
            if branches.is_empty() {
                return None;
            }
            keywords.insert(keyword.to_owned(), branches.into());
        } else if !self.dialect.reads("anyOf") {
            self.report(at, keyword, Effect::Widened, "is not supported; any value is accepted");
        } else if branches.is_empty() {
            return None;
        } else if keywords.contains_key("anyOf") {
            self.report(at, keyword, Effect::Widened, "is not supported beside another choice");
        } else {
            if !is_either {
                self.report(at, keyword, Effect::Widened, "is replaced by `anyOf`, so that several branches may match");
            }
            keywords.insert("anyOf".to_owned(), branches.into());
        }
        Some(())
    }

    /// Lowers `allOf`. It becomes a single schema if the dialect does not support it or if closed objects would exclude
    /// each other. `None` if a part accepts no value.
    pub(super) fn lower_all_of(&mut self, keywords: &mut Keywords, at: &str) -> Option<()> {
        let Some(Value::Array(parts)) = keywords.remove("allOf") else {
            return Some(());
        };
        let at_parts = child(at, "allOf");
        let reads = self.dialect.reads("allOf");
        let mut kept = Vec::new();
        for (idx, part) in parts.into_iter().enumerate() {
            if reads && !self.dialect.closed {
                kept.push(self.schema(part, &child(&at_parts, &idx.to_string()))?);
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
                let part = self.schema(part, &child(&at_parts, &idx.to_string()))?;
                // Lowering may have simplified the part.
                let is_joined =
                    part.as_object().is_some_and(|part| !part.contains_key("allOf") && join(keywords, part));
                if !is_joined {
                    kept.push(part);
                }
                continue;
            }
            self.report(at, "allOf", Effect::Widened, "cannot be merged into one schema; a part of it is removed");
            let known = keywords.get("properties").and_then(Value::as_object);
            if self.dialect.closed && declares_beyond(&part, known) {
                let reason = "cannot be merged into one schema; properties that only one part declares cannot be sent";
                self.report(at, "allOf", Effect::Narrowed, reason);
            }
        }
        if !kept.is_empty() {
            keywords.insert("allOf".to_owned(), kept.into());
        }
        Some(())
    }

    /// Replaces `const` by an `enum` with one value if the dialect does not support it; `None` if no value is left.
    pub(super) fn lower_constant(&self, keywords: &mut Keywords) -> Option<()> {
        // Some providers reject an empty `enum`.
        if !self.dialect.reads("not") && values(keywords).is_some_and(|values| values.is_empty()) {
            return None;
        }
        if !self.dialect.reads("const")
            && let Some(constant) = keywords.remove("const")
        {
            keywords.insert("enum".to_owned(), json!([constant]));
        }
        Some(())
    }
}

/// Merges as many parts as possible into `keywords`, and returns the others.
pub(super) fn join_all(keywords: &mut Keywords, parts: Vec<Value>) -> Vec<Value> {
    keywords.insert("allOf".to_owned(), parts.into());
    flatten(keywords);
    match keywords.remove("allOf") {
        Some(Value::Array(left)) => left,
        _ => Vec::new(),
    }
}

/// Merges the parts of an `allOf` into the schema, as far as a single schema can express them.
fn flatten(keywords: &mut Keywords) {
    let Some(Value::Array(parts)) = keywords.remove("allOf") else {
        return;
    };
    let mut left = Vec::new();
    for part in parts {
        match part {
            Value::Object(mut part) => {
                flatten(&mut part);
                if part.contains_key("allOf") || !join(keywords, &part) {
                    left.push(Value::Object(part));
                }
            }
            Value::Bool(true) => {}
            other => left.push(other),
        }
    }
    if !left.is_empty() {
        keywords.insert("allOf".to_owned(), left.into());
    }
}
