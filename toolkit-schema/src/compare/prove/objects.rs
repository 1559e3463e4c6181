//! Goals about objects.

use std::collections::{BTreeSet, HashSet};

use serde_json::Value;

use super::super::budget::Undecided;
use super::document::Node;
use super::facts::{Case, Facts};
use super::leaf::count;
use super::prover::{Proof, Prover};
use crate::types::Types;
use crate::{Dialect, walk};

/// The keys that are evaluated by other keywords of a goal.
#[derive(Default)]
struct Evaluated<'s> {
    names: HashSet<&'s str>,
    patterns: Vec<&'s str>,
    /// True if all keys are evaluated.
    all: bool,
}

impl<'s> Prover<'s, '_> {
    /// Returns true if objects satisfy a keyword of a goal.
    pub(super) fn keeps_object(&mut self, facts: &Facts<'s>, goal: Node<'s>, keyword: &str, value: &'s Value) -> Proof {
        match keyword {
            "properties" => {
                for (key, schema) in goal.object(keyword) {
                    let inner = self.at_key(facts, key)?;
                    if !self.entails_below(&inner, goal.at(schema))? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            "patternProperties" => self.keeps_patterns(facts, goal),
            "additionalProperties" => {
                let mut evaluated = Evaluated::default();
                evaluated.add_own(goal);
                self.keeps_others(facts, goal.at(value), &evaluated)
            }
            "unevaluatedProperties" => {
                let mut evaluated = Evaluated::default();
                self.evaluate(goal, &mut evaluated, true)?;
                Ok(evaluated.all || self.keeps_others(facts, goal.at(value), &evaluated)?)
            }
            "propertyNames" => self.keeps_names(facts, goal.at(value)),
            "required" => {
                let required = self.required_keys(facts)?;
                let mut names = value.as_array().into_iter().flatten().filter_map(Value::as_str);
                Ok(names.all(|name| required.contains(name)))
            }
            "minProperties" => {
                let required = self.required_keys(facts)?.len() as u64;
                let least = facts.schemas.iter().filter_map(|node| count(node.get(keyword))).max();
                Ok(count(Some(value)).is_some_and(|limit| limit <= least.unwrap_or(0).max(required)))
            }
            "maxProperties" => {
                let limits = facts.schemas.iter().filter_map(|node| {
                    let is_closed = self.other_keys(*node) == Some(&Value::Bool(false));
                    let is_listed = is_closed && node.object("patternProperties").next().is_none();
                    let names = is_listed.then(|| node.object("properties").count() as u64);
                    count(node.get(keyword)).into_iter().chain(names).min()
                });
                Ok(limits.min().zip(count(Some(value))).is_some_and(|(most, limit)| most <= limit))
            }
            _ => self.keeps_dependent(facts, goal, keyword),
        }
    }

    fn keeps_patterns(&mut self, facts: &Facts<'s>, goal: Node<'s>) -> Proof {
        let named = self.named_keys(facts)?;
        for (pattern, schema) in goal.object("patternProperties") {
            for key in &named {
                if self.matchers.is_match(pattern, key, self.budget)? {
                    let inner = self.at_key(facts, key)?;
                    if !self.entails_below(&inner, goal.at(schema))? {
                        return Ok(false);
                    }
                }
            }
            let inner = self.at_other_key(facts, Some(pattern), &[])?;
            if !self.entails_below(&inner, goal.at(schema))? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns true if a schema accepts the values of all keys except the evaluated ones.
    fn keeps_others(&mut self, facts: &Facts<'s>, schema: Node<'s>, evaluated: &Evaluated<'s>) -> Proof {
        if *schema.schema == true {
            return Ok(true);
        }
        for key in self.named_keys(facts)? {
            let mut is_evaluated = evaluated.names.contains(key);
            for pattern in &evaluated.patterns {
                is_evaluated = is_evaluated || self.matchers.is_match(pattern, key, self.budget)?;
            }
            if !is_evaluated {
                let inner = self.at_key(facts, key)?;
                if !self.entails_below(&inner, schema)? {
                    return Ok(false);
                }
            }
        }
        let inner = self.at_other_key(facts, None, &evaluated.patterns)?;
        self.entails_below(&inner, schema)
    }

    /// Adds the keys that a schema always evaluates: those of its own keywords and of the schemas that always apply.
    fn evaluate(&mut self, node: Node<'s>, evaluated: &mut Evaluated<'s>, is_outer: bool) -> Result<(), Undecided> {
        self.budget.spend(1)?;
        evaluated.add_own(node);
        evaluated.all |= node.get("additionalProperties").is_some();
        evaluated.all |= !is_outer && node.get("unevaluatedProperties").is_some();
        for part in node.array("allOf") {
            self.evaluate(node.at(part), evaluated, false)?;
        }
        let reference = node.get("$ref").and_then(Value::as_str);
        match reference.and_then(|reference| self.documents[node.document].resolve(reference)) {
            Some(target) => self.evaluate(node.at(target), evaluated, false),
            None => Ok(()),
        }
    }

    fn keeps_names(&mut self, facts: &Facts<'s>, goal: Node<'s>) -> Proof {
        let mut names = Facts::any();
        self.assume_case(&mut names, &Case::Type(Types::STRING))?;
        for node in &facts.schemas {
            if let Some(schema) = node.get("propertyNames") {
                self.assume(&mut names, node.at(schema))?;
            }
        }
        let closed = facts.schemas.iter().find(|node| self.other_keys(**node) == Some(&Value::Bool(false)));
        if let Some(closed) = closed {
            let named =
                closed.object("properties").map(|(name, _)| Case::Value(std::borrow::Cow::Owned(Value::from(name))));
            let matched = closed.object("patternProperties").map(|(pattern, _)| Case::Matches(pattern));
            let cases: Vec<Case<'s>> = named.chain(matched).collect();
            self.budget.spend(cases.len() as u64)?;
            names.is_contradictory |= cases.is_empty();
            names.choices.push(cases.into());
        }
        self.entails_below(&names, goal)
    }

    /// Returns the keys of every object for which the facts hold.
    pub(super) fn required_keys(&mut self, facts: &Facts<'s>) -> Result<BTreeSet<&'s str>, Undecided> {
        let mut keys = facts.required.clone();
        if let Some(values) = &facts.values {
            let has = |key: &&str| values.iter().all(|value| value.get(*key).is_some());
            keys.extend(self.named_keys(facts)?.into_iter().filter(has));
        }
        loop {
            let before = keys.len();
            for node in &facts.schemas {
                self.budget.spend(1)?;
                let is_known = self.documents[node.document].dialect == Dialect::Draft202012;
                let required = is_known.then(|| node.object("dependentRequired")).into_iter().flatten();
                for (key, names) in required.chain(node.object("dependencies")) {
                    self.budget.spend(1)?;
                    if let Some(names) = names.as_array().filter(|_| keys.contains(key)) {
                        self.budget.spend(names.len() as u64)?;
                        keys.extend(names.iter().filter_map(Value::as_str));
                    }
                }
            }
            if keys.len() == before {
                return Ok(keys);
            }
        }
    }

    fn keeps_dependent(&mut self, facts: &Facts<'s>, goal: Node<'s>, keyword: &str) -> Proof {
        for (key, dependent) in goal.object(keyword) {
            if facts.absent.contains(key) {
                continue;
            }
            self.budget.spend(facts.size())?;
            let mut facts = facts.clone();
            self.assume_case(&mut facts, &Case::Has(key))?;
            let holds = match dependent {
                Value::Array(names) => {
                    let required = self.required_keys(&facts)?;
                    names.iter().filter_map(Value::as_str).all(|name| required.contains(name))
                }
                schema if walk::is_schema(schema) => self.entails(&facts, goal.at(schema))?,
                _ => true,
            };
            if !holds && !self.is_empty(&facts, 1)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl<'s> Evaluated<'s> {
    fn add_own(&mut self, node: Node<'s>) {
        self.names.extend(node.object("properties").map(|(name, _)| name));
        self.patterns.extend(node.object("patternProperties").map(|(pattern, _)| pattern));
    }
}
