//! Detection of facts that hold for no value.

use super::document::Node;
use super::facts::Facts;
use super::leaf::count;
use super::number;
use super::prover::{Proof, Prover};
use crate::types::Types;

/// The maximum number of levels of a value that are examined.
pub(super) const EFFORT: usize = 4;
/// The maximum number of items that are examined.
const MAX_ITEMS: u64 = 8;

impl<'s> Prover<'s, '_> {
    /// Returns true if a schema rejects every value for which the facts hold.
    pub(super) fn refutes(&mut self, facts: &Facts<'s>, node: Node<'s>) -> Proof {
        for refuting in &facts.refuting {
            if self.is_same(*refuting, node)? {
                return Ok(true);
            }
        }
        self.budget.spend(facts.size())?;
        let mut both = facts.clone();
        self.assume(&mut both, node)?;
        self.is_empty(&both, EFFORT)
    }

    /// Returns true if the facts hold for no value. With an effort above 1, the cases of the facts are examined too.
    pub(super) fn is_empty(&mut self, facts: &Facts<'s>, effort: usize) -> Proof {
        self.budget.spend(facts.size())?;
        if facts.is_contradictory || facts.types.is_empty() {
            return Ok(true);
        }
        if self.depth >= self.max_depth {
            return Ok(false);
        }
        self.depth += 1;
        let is_empty =
            self.is_empty_at_once(facts, effort)? || effort > 1 && self.is_every_case_empty(facts, effort)?;
        self.depth -= 1;
        Ok(is_empty)
    }

    fn is_every_case_empty(&mut self, facts: &Facts<'s>, effort: usize) -> Proof {
        let Some((rest, cases)) = self.cases(facts)? else { return Ok(false) };
        for case in cases.iter() {
            let facts = self.with_case(&rest, case)?;
            if !self.is_empty(&facts, effort)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn is_empty_at_once(&mut self, facts: &Facts<'s>, effort: usize) -> Proof {
        if let Some(values) = &facts.values {
            let mut are_refuted = true;
            for value in values {
                are_refuted = are_refuted && self.is_refuted(facts, value)?;
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
                let (least, most) = self.item_counts(facts);
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
                let (least, _) = self.item_counts(facts);
                for idx in 0..least.min(MAX_ITEMS) {
                    let item = self.at_index(facts, idx as usize)?;
                    if self.is_empty(&item, effort - 1)? {
                        return Ok(true);
                    }
                }
            }
            Types::OBJECT => {
                for key in self.required_keys(facts)? {
                    let inner = self.at_key(facts, key)?;
                    if self.is_empty(&inner, effort - 1)? {
                        return Ok(true);
                    }
                }
            }
            _ => {}
        }
        for idx in 0..facts.refuting.len() {
            self.budget.spend(facts.size())?;
            let mut others = facts.clone();
            let refuting = others.refuting.swap_remove(idx);
            // The facts are no longer identified by their origin.
            others.forget_origin();
            if self.entails(&others, refuting)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns true if a keyword of the facts rejects a value.
    fn is_refuted(&mut self, facts: &Facts<'s>, value: &serde_json::Value) -> Proof {
        for node in &facts.schemas {
            let Some(keywords) = node.schema.as_object() else { continue };
            for (keyword, limit) in keywords {
                if self.value_meets(value, keyword, limit)? == Some(false) {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}
