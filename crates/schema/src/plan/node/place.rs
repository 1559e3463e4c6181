//! The rules of a plan for one location of a tree.
//!
//! The evaluator looks for the failures of a value that a plan has refused. Most parts of such a value are valid, and the
//! plan decides about them much faster.

use serde_json::Value;

use super::{Kinds, Plan, PlanNode};
use crate::plan::property::{ANY, NodeId};
use crate::plan::special::head;

/// The rules for the value at one location: those of all schemas that apply to it, except the branches of choices.
#[derive(Clone, Copy)]
pub(crate) struct PlanPlace<'p> {
    plan: &'p Plan,
    node: &'p PlanNode,
}

impl<'p> PlanPlace<'p> {
    pub(crate) fn root(plan: &'p Plan) -> Self {
        Self { plan, node: plan.root() }
    }

    /// Returns the rules for a property. Returns `None` if they depend on other properties, or if the plan refuses
    /// objects and therefore ignores their rules.
    pub(crate) fn property(self, key: &str) -> Option<Self> {
        let rules = match self.node.kinds.meets(Kinds::OBJECT) {
            true => &self.node.object,
            false => return None,
        };
        match rules.as_deref() {
            None => self.at(ANY),
            Some(rules) if rules.tag.is_some() => None,
            Some(rules) => {
                let property = rules.properties.find(key.as_bytes(), head(key.as_bytes()));
                self.at(property.map_or(rules.rest, |property| property.node))
            }
        }
    }

    /// Returns the rules for an item. Returns `None` if the plan refuses arrays.
    pub(crate) fn item(self, idx: usize) -> Option<Self> {
        let rules = match self.node.kinds.meets(Kinds::ARRAY) {
            true => &self.node.array,
            false => return None,
        };
        self.at(rules.as_ref().map_or(ANY, |rules| rules.prefix.get(idx).copied().unwrap_or(rules.items)))
    }

    fn at(self, id: NodeId) -> Option<Self> {
        Some(Self { node: self.plan.node(id), ..self })
    }

    /// Returns true if the value is certainly valid. Never true for arrays and objects, so that no part of a value is
    /// visited more than once.
    pub(crate) fn admits(self, value: &Value) -> bool {
        let node = self.node;
        let admitted = match value {
            Value::Null => node.null(),
            Value::Bool(value) => node.boolean(*value),
            Value::String(text) => node.string(text),
            Value::Number(number) => match (number.as_u64(), number.as_i64(), number.as_f64()) {
                (Some(value), ..) => node.unsigned(value),
                (None, Some(value), _) => node.negative(value),
                (None, None, Some(value)) => node.float(value),
                (None, None, None) => return false,
            },
            Value::Array(_) | Value::Object(_) => return false,
        };
        admitted.is_ok()
    }
}
