//! Detection of facts that hold for no value.

use super::assume::{assume, cases, with_case};
use super::children::{at_index, at_key, item_counts, required_keys};
use super::facts::{DocumentNode, Facts};
use super::goal::entails;
use super::leaf::{count, value_meets};
use super::number;
use super::same::is_same;
use super::{Proof, Prover};
use crate::types::Types;

/// The maximum number of levels of a value that are examined.
pub(super) const EFFORT: usize = 4;
/// The maximum number of items that are examined.
const MAX_ITEMS: u64 = 8;

/// Returns true if a schema rejects every value for which the facts hold.
pub(super) fn refutes<'s>(prover: &mut Prover<'s, '_>, facts: &Facts<'s>, node: DocumentNode<'s>) -> Proof {
    for refuting in &facts.refuting {
        if is_same(prover, *refuting, node)? {
            return Ok(true);
        }
    }
    prover.budget.spend(facts.size())?;
    let mut both = facts.clone();
    assume(prover, &mut both, node)?;
    is_empty(prover, &both, EFFORT)
}

/// Returns true if the facts hold for no value. With an effort above 1, the cases of the facts are examined too.
pub(super) fn is_empty<'s>(prover: &mut Prover<'s, '_>, facts: &Facts<'s>, effort: usize) -> Proof {
    prover.budget.spend(facts.size())?;
    if facts.is_contradictory || facts.types.is_empty() {
        return Ok(true);
    }
    if prover.depth >= prover.max_depth {
        return Ok(false);
    }
    prover.depth += 1;
    let is_empty =
        is_empty_at_once(prover, facts, effort)? || effort > 1 && is_every_case_empty(prover, facts, effort)?;
    prover.depth -= 1;
    Ok(is_empty)
}

fn is_every_case_empty<'s>(prover: &mut Prover<'s, '_>, facts: &Facts<'s>, effort: usize) -> Proof {
    let Some((rest, cases)) = cases(prover, facts)? else { return Ok(false) };
    for case in cases.iter() {
        let facts = with_case(prover, &rest, case)?;
        if !is_empty(prover, &facts, effort)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn is_empty_at_once<'s>(prover: &mut Prover<'s, '_>, facts: &Facts<'s>, effort: usize) -> Proof {
    if let Some(values) = &facts.values {
        let mut are_refuted = true;
        for value in values {
            are_refuted = are_refuted && is_refuted(prover, facts, value)?;
        }
        if are_refuted {
            return Ok(true);
        }
    }
    let counts = |keyword: &'static str| facts.schemas.iter().filter_map(move |node| count(node.get(keyword)));
    let conflict = |least: Option<u64>, most: Option<u64>| least > most && most.is_some();
    let is_conflict = match facts.types {
        types if types.is_within(Types::NUMBER) => number::excludes_all(facts),
        Types::STRING => conflict(counts("minLength").max(), counts("maxLength").min()),
        Types::ARRAY => {
            let (least, most) = item_counts(prover, facts);
            conflict(Some(least), most)
        }
        Types::OBJECT => {
            let least = counts("minProperties").max().max(Some(facts.required.len() as u64));
            conflict(least, counts("maxProperties").min()) || !facts.required.is_disjoint(&facts.absent)
        }
        _ => false,
    };
    if is_conflict {
        return Ok(true);
    }
    if effort == 0 {
        return Ok(false);
    }
    match facts.types {
        Types::ARRAY => {
            let (least, _) = item_counts(prover, facts);
            for idx in 0..least.min(MAX_ITEMS) {
                let item = at_index(prover, facts, idx as usize)?;
                if is_empty(prover, &item, effort - 1)? {
                    return Ok(true);
                }
            }
        }
        Types::OBJECT => {
            for key in required_keys(prover, facts)? {
                let inner = at_key(prover, facts, key)?;
                if is_empty(prover, &inner, effort - 1)? {
                    return Ok(true);
                }
            }
        }
        _ => {}
    }
    for idx in 0..facts.refuting.len() {
        prover.budget.spend(facts.size())?;
        let mut others = facts.clone();
        let refuting = others.refuting.swap_remove(idx);
        // The facts are no longer identified by their origin.
        others.forget_origin();
        if entails(prover, &others, refuting)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns true if a keyword of the facts rejects a value.
fn is_refuted<'s>(prover: &mut Prover<'s, '_>, facts: &Facts<'s>, value: &serde_json::Value) -> Proof {
    for node in &facts.schemas {
        let Some(keywords) = node.schema.as_object() else { continue };
        for (keyword, limit) in keywords {
            if value_meets(prover, value, keyword, limit)? == Some(false) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}
