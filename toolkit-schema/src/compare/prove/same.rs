//! Comparison of schemas by their asserting keywords.

use std::collections::HashMap;

use serde_json::Value;

use super::document::Node;
use super::facts::Facts;
use super::leaf::exact_text;
use super::prover::{Proof, Prover};
use crate::walk::{self, Holds};

impl<'s> Prover<'s, '_> {
    /// Returns true if two schemas have the same asserting keywords with the same values. References are followed.
    pub(super) fn is_same(&mut self, a: Node<'s>, b: Node<'s>) -> Proof {
        self.is_same_within(a, b, &mut Vec::new())
    }

    fn is_same_within(&mut self, a: Node<'s>, b: Node<'s>, open: &mut Vec<(*const Value, *const Value)>) -> Proof {
        self.budget.spend(1)?;
        if std::ptr::eq(a.schema, b.schema) {
            return Ok(true);
        }
        let (x, y) = match (a.schema, b.schema) {
            (Value::Object(x), Value::Object(y)) => (x, y),
            (a, b) => return Ok(a == b),
        };
        let [of_a, of_b] = [self.documents[a.document], self.documents[b.document]];
        if of_a.dialect != of_b.dialect {
            return Ok(false);
        }
        self.budget.spend((x.len() + y.len()) as u64)?;
        let asserted: Vec<(&str, &Value)> = of_a.asserting(x).collect();
        let others: HashMap<&str, &Value> = of_b.asserting(y).collect();
        if asserted.len() != others.len() {
            return Ok(false);
        }
        for (keyword, value) in asserted {
            let Some(other) = others.get(keyword).copied() else { return Ok(false) };
            let is_same = self.is_same_value(a, b, (keyword, value, other), open)?;
            if !is_same {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns true if a keyword has the same value in two schemas of one dialect.
    fn is_same_value(
        &mut self,
        a: Node<'s>,
        b: Node<'s>,
        (keyword, value, other): (&str, &'s Value, &'s Value),
        open: &mut Vec<(*const Value, *const Value)>,
    ) -> Proof {
        Ok(match (walk::holds(keyword, value), value, other) {
            _ if keyword == "$ref" => self.is_same_target(a, b, value, other, open)?,
            (Holds::One, value, other) => self.is_same_within(a.at(value), b.at(other), open)?,
            (Holds::List, Value::Array(values), Value::Array(others)) => {
                let mut is_same = values.len() == others.len();
                for (value, other) in values.iter().zip(others) {
                    is_same = is_same && self.is_same_within(a.at(value), b.at(other), open)?;
                }
                is_same
            }
            (Holds::Named, Value::Object(values), Value::Object(others)) => {
                let mut is_same = values.len() == others.len();
                for (name, value) in values {
                    is_same = is_same
                        && match others.get(name) {
                            Some(other) if walk::is_schema(value) && walk::is_schema(other) => {
                                self.is_same_within(a.at(value), b.at(other), open)?
                            }
                            Some(other) => value == other,
                            None => false,
                        };
                }
                is_same
            }
            (Holds::None, value, other) => exact_text(value, self.budget)? == exact_text(other, self.budget)?,
            _ => false,
        })
    }

    /// Returns true if a schema of the facts has the keyword with the same value, provided that the keyword does not
    /// depend on the keywords beside it.
    pub(super) fn is_given(&mut self, facts: &Facts<'s>, goal: Node<'s>, keyword: &str, value: &'s Value) -> Proof {
        const DEPENDENT: [&str; 12] = [
            "additionalProperties",
            "unevaluatedProperties",
            "items",
            "additionalItems",
            "unevaluatedItems",
            "contains",
            "minContains",
            "maxContains",
            "if",
            "then",
            "else",
            "$dynamicRef",
        ];
        if DEPENDENT.contains(&keyword) {
            return Ok(false);
        }
        for node in &facts.schemas {
            let is_of_dialect = self.documents[node.document].dialect == self.documents[goal.document].dialect;
            if let Some(given) = node.get(keyword).filter(|_| is_of_dialect)
                && self.is_same_value(*node, goal, (keyword, given, value), &mut Vec::new())?
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns true if two references resolve to the same schema. Targets that are already being compared are assumed
    /// to be the same; a difference between them is found by that comparison.
    fn is_same_target(
        &mut self,
        a: Node<'s>,
        b: Node<'s>,
        value: &'s Value,
        other: &'s Value,
        open: &mut Vec<(*const Value, *const Value)>,
    ) -> Proof {
        let target = |node: Node<'s>, reference: &Value| {
            let target = self.documents[node.document].resolve(reference.as_str()?)?;
            Some(node.at(target))
        };
        let (Some(a), Some(b)) = (target(a, value), target(b, other)) else {
            // The meta-schema is the only target outside of the documents.
            return Ok(value == other && value.as_str().is_some_and(|reference| !reference.starts_with('#')));
        };
        let pair = (std::ptr::from_ref(a.schema), std::ptr::from_ref(b.schema));
        self.budget.spend(open.len() as u64)?;
        if open.contains(&pair) {
            return Ok(true);
        }
        open.push(pair);
        let is_same = self.is_same_within(a, b, open)?;
        // The pair stays in `open`: if the schemas differ, the whole comparison fails anyway.
        Ok(is_same)
    }
}
