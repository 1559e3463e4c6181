//! The keywords that are left: each is kept, moved to the description or removed, by the rules of the dialect about its
//! value.
//!
//! The rules are checked also where no other pass looks.

use serde_json::{Value, json};

use super::lowering::{Lowering, describe};
use crate::dialect::Rule;
use crate::loss::Effect;
use toolkit_schema::merge::Keywords;
use toolkit_schema::walk;

/// Lowers each remaining keyword: keeps it, moves it to the description, or removes it.
pub(super) fn lower_remaining(lowering: &mut Lowering<'_>, keywords: &mut Keywords, at: &str) {
    lower_integer_bounds(lowering, keywords);
    let mut names: Vec<String> = keywords.keys().cloned().collect();
    names.sort_unstable();
    for keyword in names {
        lower_keyword(lowering, keywords, &keyword, at);
    }
}

fn lower_keyword(lowering: &mut Lowering<'_>, keywords: &mut Keywords, keyword: &str, at: &str) {
    match keyword {
        _ if lowering.dialect.reads(keyword) && accepts_value(lowering, keywords, keyword) => {}
        "format" | "default" => {
            describe(keywords, keyword);
            keywords.shift_remove(keyword);
            lowering.report(at, keyword, Effect::MetadataOnly, "is moved to the description");
        }
        _ if walk::is_annotation(keyword) || matches!(keyword, "$schema" | "$id" | "$defs" | "definitions") => {
            keywords.shift_remove(keyword);
            lowering.report(at, keyword, Effect::MetadataOnly, "is not supported");
        }
        _ => {
            let is_described = describe(keywords, keyword);
            keywords.shift_remove(keyword);
            let reason = if is_described { "is moved to the description" } else { "is not supported" };
            // Empty conditions accept every value.
            lowering.report(at, keyword, Effect::Widened, reason);
        }
    }
}

/// Returns true if the dialect supports the value of a keyword that it reads.
fn accepts_value(lowering: &Lowering<'_>, keywords: &Keywords, keyword: &str) -> bool {
    match keyword {
        "format" => accepts_format(lowering, keywords),
        // These have been lowered.
        "items" | "prefixItems" | "properties" | "anyOf" | "oneOf" | "allOf" | "additionalProperties" | "type" => true,
        _ => !breaks_rule(lowering, keywords, keyword),
    }
}

fn accepts_format(lowering: &Lowering<'_>, keywords: &Keywords) -> bool {
    let Some(formats) = lowering.dialect.formats else { return true };
    let format = keywords.get("format").and_then(Value::as_str).unwrap_or_default();
    formats.contains(&format) && (!keywords.contains_key("type") || walk::may_be(keywords, "string"))
}

/// Replaces exclusive bounds of integers: more than 3 is at least 4.
fn lower_integer_bounds(lowering: &Lowering<'_>, keywords: &mut Keywords) {
    if keywords.get("type").is_none_or(|name| name != "integer") {
        return;
    }
    for (exclusive, inclusive, step) in [("exclusiveMinimum", "minimum", 1), ("exclusiveMaximum", "maximum", -1)] {
        let bound = keywords.get(exclusive).and_then(Value::as_i64).and_then(|bound| bound.checked_add(step));
        if let Some(bound) = bound
            && !lowering.dialect.reads(exclusive)
            && !keywords.contains_key(inclusive)
        {
            keywords.shift_remove(exclusive);
            keywords.insert(inclusive.to_owned(), bound.into());
        }
    }
}

/// Returns true if the dialect rejects the value of a keyword: a pattern, or a schema that contains one, or an array
/// without items.
pub(super) fn breaks_rule(lowering: &Lowering<'_>, keywords: &Keywords, keyword: &str) -> bool {
    let Some(value) = keywords.get(keyword).filter(|_| !walk::is_annotation(keyword)) else { return false };
    let breaks = |rule: Rule| {
        let alone = || json!({ keyword: value });
        lowering.requires(rule) && !rule.broken_by(lowering.dialect, "", None, &alone()).is_empty()
    };
    breaks(Rule::Items) || breaks(Rule::Pattern)
}

/// Removes the keywords beside a reference that the dialect rejects.
pub(super) fn remove_rejected(lowering: &mut Lowering<'_>, keywords: &mut Keywords, at: &str) {
    let mut names: Vec<String> = keywords.keys().cloned().collect();
    names.sort_unstable();
    for keyword in names.into_iter().filter(|keyword| keyword != "$defs") {
        if breaks_rule(lowering, keywords, &keyword) {
            describe(keywords, &keyword);
            keywords.shift_remove(&keyword);
            lowering.report(at, &keyword, Effect::Widened, "is not supported beside a reference");
        }
    }
}
