//! Unions (`anyOf` and `oneOf`) whose branch is determined before the value is read.
//!
//! The branch is selected by the type of the value. Branches for the same type are merged if they list strings, if each
//! describes objects with a distinct single key (an externally tagged enum), or if a required property has a distinct
//! constant in each (an internally or adjacently tagged enum). In all of these cases a value matches at most one
//! branch, so `oneOf` is equivalent to `anyOf`.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::kinds::allowed_values;
use super::rules::strings;
use super::{Compiler, Union};
use crate::plan::node::{Kinds, PlanNode, Text};
use crate::plan::object::{Branch, Object, Tag};
use crate::plan::property::{NEVER, NodeId, Properties, Property};

impl<'s> Compiler<'s> {
    pub(super) fn union(&mut self, branches: &'s [Value], exactly_one: bool) -> Option<Union> {
        let mut decider = [NEVER; 8];
        let mut all = Kinds::NONE;
        let mut of_strings = Vec::new();
        let mut of_objects = Vec::new();
        for branch in branches {
            let kinds = self.kinds_of_branch(branch)?;
            let branch = self.follow(branch)?;
            if kinds == Kinds::STRING {
                of_strings.push(branch);
            } else if kinds == Kinds::OBJECT {
                of_objects.push(branch);
            } else {
                let node = self.node(branch)?;
                claim(&mut decider, &mut all, kinds, node)?;
            }
        }
        if !of_strings.is_empty() {
            let node = self.either_string(&of_strings, exactly_one)?;
            claim(&mut decider, &mut all, Kinds::STRING, node)?;
        }
        if !of_objects.is_empty() {
            let node = self.either_object(&of_objects)?;
            claim(&mut decider, &mut all, Kinds::OBJECT, node)?;
        }
        Some(decider)
    }

    /// Gives each union the rules of its branches, so that a single node decides about a value.
    pub(super) fn settle_unions(&mut self) -> Option<()> {
        for (id, union) in &self.unions {
            let mut settled = PlanNode::plain(Kinds::NONE);
            for kind in Kinds::ALL.each() {
                let decider = self.nodes.get(self.decider(union, kind)? as usize)?;
                if decider.kinds.meets(kind) {
                    settled.kinds = settled.kinds.or(kind);
                    match kind {
                        Kinds::INTEGER | Kinds::FLOAT => settled.number.clone_from(&decider.number),
                        Kinds::STRING => settled.string.clone_from(&decider.string),
                        Kinds::ARRAY => settled.array.clone_from(&decider.array),
                        Kinds::OBJECT => settled.object.clone_from(&decider.object),
                        _ => {}
                    }
                }
            }
            // Floats and integers must be decided by the same branch, since a node has one rule for numbers.
            let number = [Kinds::INTEGER, Kinds::FLOAT].map(|kind| self.decider(union, kind));
            (number[0] == number[1] || number.contains(&Some(NEVER))).then_some(())?;
            self.nodes[*id as usize] = settled;
        }
        Some(())
    }

    /// Returns the node that decides for a kind of value, through nested unions.
    fn decider(&self, union: &Union, kind: Kinds) -> Option<NodeId> {
        let mut id = union[kind.index()];
        for _ in 0..=self.unions.len() {
            match self.unions.get(&id) {
                Some(inner) => id = inner[kind.index()],
                None => return Some(id),
            }
        }
        None
    }

    fn either_string(&mut self, branches: &[&'s Value], exactly_one: bool) -> Option<NodeId> {
        if let [only] = branches {
            return self.node(only);
        }
        let mut all: Vec<Box<str>> = Vec::new();
        for branch in branches {
            for value in self.listed_strings(branch)? {
                // A duplicate within one branch would be harmless, but does not occur in practice.
                if exactly_one && all.contains(&value) {
                    return None;
                }
                all.push(value);
            }
        }
        let mut node = PlanNode::plain(Kinds::STRING);
        let mut listed = Text::unbounded();
        listed.set_one_of(all.into());
        node.string = Some(Arc::new(listed));
        self.add(node)
    }

    /// Returns the strings of a schema that only lists strings.
    fn listed_strings(&self, schema: &'s Value) -> Option<Box<[Box<str>]>> {
        let keywords = schema.as_object()?;
        let listing = |(keyword, _): &(&str, _)| matches!(*keyword, "type" | "enum" | "const");
        let only_lists = self.asserting(keywords)?.iter().all(listing);
        let is_string = self.kinds_of_branch(schema)? == Kinds::STRING;
        (only_lists && is_string).then_some(())?;
        Some(strings(allowed_values(keywords)??))
    }

    fn either_object(&mut self, branches: &[&'s Value]) -> Option<NodeId> {
        if let [only] = branches {
            return self.node(only);
        }
        let keywords: Option<Vec<_>> = branches.iter().map(|b| b.as_object()).collect();
        let keywords = keywords?;
        let object = match self.one_key_each(&keywords) {
            Some(properties) => self.externally_tagged(&properties)?,
            None => self.tagged(branches, &keywords)?,
        };
        let mut node = PlanNode::plain(Kinds::OBJECT);
        node.object = Some(Arc::new(object));
        self.add(node)
    }

    /// Returns the property of each branch, if each has exactly one, requires it, and all names differ.
    fn one_key_each(&self, branches: &[&'s Map<String, Value>]) -> Option<Vec<(&'s str, &'s Value)>> {
        let mut properties: Vec<(&str, &Value)> = Vec::new();
        for keywords in branches {
            let known = |(keyword, _): &(&str, _)| {
                matches!(*keyword, "type" | "properties" | "required" | "additionalProperties")
            };
            let only_known = self.asserting(keywords)?.iter().all(known);
            let closed = keywords.get("additionalProperties") == Some(&Value::Bool(false));
            let mut own = keywords.get("properties")?.as_object()?.iter();
            let (name, schema) = own.next()?;
            let required = keywords.get("required")?.as_array()?;
            let fits = only_known
                && closed
                && own.next().is_none()
                && matches!(required.as_slice(), [only] if only == name)
                && properties.iter().all(|(other, _)| other != name);
            fits.then_some(())?;
            properties.push((name, schema));
        }
        Some(properties)
    }

    fn externally_tagged(&mut self, own: &[(&'s str, &'s Value)]) -> Option<Object> {
        let mut properties: Vec<Property> = Vec::new();
        for (name, schema) in own {
            properties.push(self.property(name, schema)?);
        }
        Some(Object {
            properties: Properties::new(properties)?,
            required: 0,
            rest: NEVER,
            least: 1,
            most: 1,
            tag: None,
        })
    }

    fn tagged(&mut self, branches: &[&'s Value], keywords: &[&'s Map<String, Value>]) -> Option<Object> {
        let candidates = keywords.first()?.get("properties")?.as_object()?;
        let tag = candidates.keys().find_map(|name| Some((name, self.tag_values(name, keywords)?)));
        let (name, values) = tag?;
        let mut chosen = Vec::new();
        for (branch, values) in branches.iter().zip(values) {
            let node = self.node(branch)?;
            for value in values {
                chosen.push(Branch { json: serde_json::to_vec(&*value).ok()?.into(), value, node });
            }
        }
        Some(Object {
            properties: Properties::new(Vec::new())?,
            required: 0,
            rest: NEVER,
            least: 0,
            most: usize::MAX,
            tag: Some(Tag { name: name.as_str().into(), branches: chosen.into() }),
        })
    }

    /// Returns the constants of a property in each branch, if it is required in each and the constants are distinct.
    fn tag_values(&self, name: &str, branches: &[&'s Map<String, Value>]) -> Option<Vec<Box<[Box<str>]>>> {
        let mut all: Vec<Box<[Box<str>]>> = Vec::new();
        for keywords in branches {
            let nested = ["anyOf", "oneOf", "allOf", "$ref"];
            let plain = !nested.iter().any(|keyword| keywords.contains_key(*keyword));
            let required = keywords.get("required")?.as_array()?;
            (plain && required.iter().any(|other| other == name)).then_some(())?;
            let schema = self.follow(keywords.get("properties")?.get(name)?)?;
            let values = self.listed_strings(schema)?;
            let fresh = values.iter().all(|value| !all.iter().any(|o| o.contains(value)));
            fresh.then_some(())?;
            all.push(values);
        }
        Some(all)
    }
}

/// Assigns a node to some kinds of values, unless one of them already has a node.
fn claim(decider: &mut [NodeId; 8], all: &mut Kinds, kinds: Kinds, node: NodeId) -> Option<()> {
    (!all.meets(kinds)).then_some(())?;
    *all = all.or(kinds);
    for kind in kinds.each() {
        decider[kind.index()] = node;
    }
    Some(())
}
