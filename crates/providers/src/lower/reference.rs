//! Recursive references, which are left after inlining.

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
