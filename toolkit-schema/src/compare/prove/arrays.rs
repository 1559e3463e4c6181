//! Goals about arrays.

use serde_json::Value;

use super::super::budget::Undecided;
use super::document::Node;
use super::facts::Facts;
use super::leaf::count;
use super::prover::{Proof, Prover};

impl<'s> Prover<'s, '_> {
    /// Returns true if arrays satisfy a keyword of a goal.
    pub(super) fn keeps_array(&mut self, facts: &Facts<'s>, goal: Node<'s>, keyword: &str, value: &'s Value) -> Proof {
        let (least, most) = self.item_counts(facts);
        self.budget.spend(facts.schemas.len() as u64)?;
        match keyword {
            "minItems" => Ok(count(Some(value)).is_some_and(|limit| least >= limit)),
            "maxItems" => Ok(most.zip(count(Some(value))).is_some_and(|(most, limit)| most <= limit)),
            "uniqueItems" => {
                let is_unique = |node: &Node<'s>| node.get(keyword) == Some(&Value::Bool(true));
                Ok(*value == false || most.is_some_and(|most| most <= 1) || facts.schemas.iter().any(is_unique))
            }
            "contains" => self.keeps_contains(facts, goal, goal.at(value)),
            "prefixItems" => self.keeps_prefix(facts, goal, value),
            "items" if value.is_array() => self.keeps_prefix(facts, goal, value),
            // Draft-07 ignores it unless `items` is an array.
            "additionalItems" if !goal.get("items").is_some_and(Value::is_array) => Ok(true),
            "unevaluatedItems" => match self.evaluated_items(goal, true)? {
                Some(start) => self.keeps_rest(facts, goal.at(value), start),
                None => Ok(true),
            },
            _ => self.keeps_rest(facts, goal.at(value), self.items(goal).0.len()),
        }
    }

    fn keeps_prefix(&mut self, facts: &Facts<'s>, goal: Node<'s>, prefix: &'s Value) -> Proof {
        let (_, most) = self.item_counts(facts);
        for (idx, schema) in prefix.as_array().into_iter().flatten().enumerate() {
            if most.is_some_and(|most| most <= idx as u64) {
                return Ok(true);
            }
            let item = self.at_index(facts, idx)?;
            if !self.entails_below(&item, goal.at(schema))? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns true if a schema accepts every item from index `start`.
    fn keeps_rest(&mut self, facts: &Facts<'s>, schema: Node<'s>, start: usize) -> Proof {
        let (_, most) = self.item_counts(facts);
        let prefix = self.prefix_len(facts).max(start);
        for idx in start..=prefix {
            if most.is_some_and(|most| most <= idx as u64) {
                return Ok(true);
            }
            let item = if idx == prefix { self.at_rest(facts)? } else { self.at_index(facts, idx)? };
            if !self.entails_below(&item, schema)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns the number of leading items that other keywords always evaluate, or `None` if they evaluate all items.
    fn evaluated_items(&mut self, node: Node<'s>, is_outer: bool) -> Result<Option<usize>, Undecided> {
        self.budget.spend(1)?;
        if node.get("items").is_some() || !is_outer && node.get("unevaluatedItems").is_some() {
            return Ok(None);
        }
        let mut start = node.array("prefixItems").len();
        let reference = node.get("$ref").and_then(Value::as_str);
        let target = reference.and_then(|reference| self.documents[node.document].resolve(reference));
        for part in node.array("allOf").iter().chain(target) {
            match self.evaluated_items(node.at(part), false)? {
                Some(end) => start = start.max(end),
                None => return Ok(None),
            }
        }
        Ok(Some(start))
    }

    fn keeps_contains(&mut self, facts: &Facts<'s>, goal: Node<'s>, wanted: Node<'s>) -> Proof {
        let (least_items, most_items) = self.item_counts(facts);
        let (least, most) = self.contains_counts(goal);
        let mut has_enough = least == 0;
        let mut has_not_too_many = most.is_none_or(|most| most_items.is_some_and(|items| items <= most));
        for node in &facts.schemas {
            let Some(given) = node.get("contains") else { continue };
            let (given_least, given_most) = self.contains_counts(*node);
            if !has_enough && given_least >= least {
                let mut item = self.at_any_index(facts)?;
                self.assume(&mut item, node.at(given))?;
                has_enough = self.entails_below(&item, wanted)?;
            }
            if !has_not_too_many && given_most.zip(most).is_some_and(|(given, most)| given <= most) {
                let mut item = self.at_any_index(facts)?;
                self.assume(&mut item, wanted)?;
                has_not_too_many = self.entails_below(&item, node.at(given))?;
            }
        }
        if !has_enough && least_items >= least {
            has_enough = self.keeps_rest(facts, wanted, 0)?;
        }
        if has_enough && has_not_too_many {
            return Ok(true);
        }
        let Some(items) = facts.value().and_then(Value::as_array).map(Vec::len) else { return Ok(false) };
        let (mut surely, mut possibly) = (0, 0);
        for idx in 0..items {
            let item = self.at_index(facts, idx)?;
            surely += u64::from(self.entails_below(&item, wanted)?);
            possibly += u64::from(!self.refutes(&item, wanted)?);
        }
        Ok((has_enough || surely >= least) && (has_not_too_many || most.is_none_or(|most| possibly <= most)))
    }
}
