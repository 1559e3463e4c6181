//! Proofs of goals, keyword by keyword.

use std::borrow::Cow;
use std::collections::HashSet;

use serde_json::{Map, Value};

use super::document::Node;
use super::empty::EFFORT;
use super::facts::Facts;
use super::leaf::exact_text;
use super::number::{self, End, Number};
use super::prover::{MAX_KEY, MAX_KNOWN, Proof, Prover};
use crate::types::Types;

impl<'s> Prover<'s, '_> {
    /// Returns true if `goal` accepts every value for which the facts hold.
    pub(super) fn entails(&mut self, facts: &Facts<'s>, goal: Node<'s>) -> Proof {
        self.budget.spend(1)?;
        if facts.is_contradictory || facts.types.is_empty() {
            return Ok(true);
        }
        let keywords = match goal.schema {
            Value::Bool(true) => return Ok(true),
            Value::Object(keywords) => keywords,
            _ => return self.is_empty(facts, EFFORT),
        };
        if self.depth >= self.max_depth {
            return Ok(false);
        }
        let key = facts.key(goal.schema);
        if let Some(key) = &key {
            self.budget.spend(1 + (self.open.len() + key.facts.len()) as u64 / 4)?;
            if let Some(known) = self.known.get(key) {
                return Ok(*known);
            }
            if let Some(place) = self.open.iter().rposition(|(open, _)| open == key) {
                // The value is smaller, and the proof for values of its size does not depend on this one.
                let is_smaller = self.open[place].1 < self.level;
                self.lowest_used = self.lowest_used.min(if is_smaller { place } else { usize::MAX });
                return Ok(is_smaller);
            }
            self.open.push((key.clone(), self.level));
        }
        let place = self.open.len() - usize::from(key.is_some());
        let outer = std::mem::replace(&mut self.lowest_used, usize::MAX);
        self.depth += 1;
        let proof = self.entails_keywords(facts, goal, keywords);
        self.depth -= 1;
        if let Some(key) = key {
            self.open.truncate(place);
            let is_closed = self.lowest_used >= place;
            match proof {
                Ok(holds) if is_closed && self.known.len() < MAX_KNOWN && key.facts.len() <= MAX_KEY => {
                    self.known.insert(key, holds);
                }
                _ => {}
            }
            if is_closed {
                self.lowest_used = usize::MAX;
            }
        }
        self.lowest_used = self.lowest_used.min(outer);
        proof
    }

    fn entails_keywords(&mut self, facts: &Facts<'s>, goal: Node<'s>, keywords: &'s Map<String, Value>) -> Proof {
        for node in &facts.schemas {
            if self.is_same(*node, goal)? {
                return Ok(true);
            }
        }
        let asserting: Vec<(&str, &Value)> = self.documents[goal.document].asserting(keywords).collect();
        for (keyword, value) in asserting {
            if !self.follows(facts, goal, keyword, value)? {
                self.unproven.get_or_insert_with(|| keyword.to_owned());
                return Ok(false);
            }
            self.unproven = None;
        }
        Ok(true)
    }

    /// Returns true if a keyword follows from the facts, or from each of their cases.
    fn follows(&mut self, facts: &Facts<'s>, goal: Node<'s>, keyword: &str, value: &'s Value) -> Proof {
        self.budget.spend(1)?;
        if self.is_given(facts, goal, keyword, value)? || self.follows_at_once(facts, goal, keyword, value)? {
            return Ok(true);
        }
        if self.depth >= self.max_depth {
            return Ok(false);
        }
        let Some((rest, cases)) = self.cases(facts)? else { return Ok(false) };
        self.depth += 1;
        for case in cases.iter() {
            let facts = self.with_case(&rest, case)?;
            if !self.is_empty(&facts, 1)? && !self.follows(&facts, goal, keyword, value)? {
                self.depth -= 1;
                return Ok(false);
            }
        }
        self.depth -= 1;
        Ok(true)
    }

    fn follows_at_once(&mut self, facts: &Facts<'s>, goal: Node<'s>, keyword: &str, value: &'s Value) -> Proof {
        if let Some(known) = facts.value()
            && let Some(meets) = self.value_meets(known, keyword, value)?
        {
            return Ok(meets);
        }
        let list = value.as_array().map_or(&[][..], Vec::as_slice);
        let is_about = match keyword {
            "minimum" | "exclusiveMinimum" | "maximum" | "exclusiveMaximum" | "multipleOf" => Types::NUMBER,
            "minLength" | "maxLength" | "pattern" => Types::STRING,
            "items" | "prefixItems" | "additionalItems" | "unevaluatedItems" | "minItems" | "maxItems"
            | "uniqueItems" | "contains" => Types::ARRAY,
            "properties"
            | "patternProperties"
            | "additionalProperties"
            | "unevaluatedProperties"
            | "propertyNames"
            | "required"
            | "minProperties"
            | "maxProperties"
            | "dependencies"
            | "dependentRequired"
            | "dependentSchemas" => Types::OBJECT,
            _ => Types::ALL,
        };
        if !facts.types.meets(is_about) {
            return Ok(true);
        }
        match keyword {
            "type" => Ok(facts.types.is_within(Types::named(value))),
            "const" => self.is_one_of(facts, std::slice::from_ref(value)),
            "enum" => self.is_one_of(facts, list),
            "$ref" => {
                let target = value.as_str().and_then(|reference| self.documents[goal.document].resolve(reference));
                target.map_or(Ok(false), |target| self.entails(facts, goal.at(target)))
            }
            "allOf" => self.entails_each(facts, goal, list),
            "anyOf" => {
                for branch in list {
                    if self.entails(facts, goal.at(branch))? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            "oneOf" => self.entails_one(facts, goal, list),
            "not" => self.refutes(facts, goal.at(value)),
            "then" | "else" => {
                let Some(condition) = goal.get("if").map(|condition| goal.at(condition)) else { return Ok(true) };
                self.budget.spend(facts.size())?;
                let mut facts = facts.clone();
                match keyword {
                    "then" => self.assume(&mut facts, condition)?,
                    _ => self.assume_not(&mut facts, condition)?,
                }
                Ok(self.entails(&facts, goal.at(value))? || self.is_empty(&facts, 1)?)
            }
            // The keyword that they modify takes them into account.
            "if" | "minContains" | "maxContains" => Ok(true),
            _ if is_about == Types::NUMBER => self.keeps_number(facts, keyword, value),
            _ if is_about == Types::STRING => self.keeps_text(facts, keyword, value),
            _ if is_about == Types::ARRAY => self.keeps_array(facts, goal, keyword, value),
            _ if is_about == Types::OBJECT => self.keeps_object(facts, goal, keyword, value),
            _ => Ok(false),
        }
    }

    fn entails_each(&mut self, facts: &Facts<'s>, goal: Node<'s>, parts: &'s [Value]) -> Proof {
        for part in parts {
            if !self.entails(facts, goal.at(part))? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns true if one branch is entailed and all others are refuted.
    fn entails_one(&mut self, facts: &Facts<'s>, goal: Node<'s>, branches: &'s [Value]) -> Proof {
        for (idx, branch) in branches.iter().enumerate() {
            if !self.entails(facts, goal.at(branch))? {
                continue;
            }
            let mut is_only = true;
            for (other, branch) in branches.iter().enumerate() {
                is_only = is_only && (other == idx || self.refutes(facts, goal.at(branch))?);
            }
            return Ok(is_only);
        }
        Ok(false)
    }

    /// Returns true if every value that the facts allow is in `allowed`.
    fn is_one_of(&mut self, facts: &Facts<'s>, allowed: &[Value]) -> Proof {
        let values = match &facts.values {
            Some(values) => Cow::Borrowed(values),
            None => match self.integers(facts) {
                Some(values) => Cow::Owned(values),
                None => return Ok(false),
            },
        };
        let mut texts = HashSet::new();
        for value in allowed {
            texts.insert(exact_text(value, self.budget)?);
        }
        for value in values.iter() {
            if !texts.contains(&exact_text(value, self.budget)?) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns the integers that the facts allow, if there are few.
    fn integers(&self, facts: &Facts<'s>) -> Option<Vec<Cow<'s, Value>>> {
        const MAX_INTEGERS: i128 = 64;

        if facts.types != Types::INTEGER {
            return None;
        }
        let [lower, upper] = [End::Lower, End::Upper].map(|end| number::bound(facts, end));
        match (lower?.at, upper?.at) {
            (Number::Integer(lower), Number::Integer(upper))
                if upper - lower < MAX_INTEGERS && lower.abs() < 1 << 50 && upper.abs() < 1 << 50 =>
            {
                Some((lower..=upper).map(|integer| Cow::Owned(Value::from(integer as i64))).collect())
            }
            _ => None,
        }
    }
}
