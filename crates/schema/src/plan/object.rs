//! The rules for objects, and their state while one is walked.

use super::plan_error::{PlanError, ok};
use super::property::is_reserved;
use super::property::{ANY, NEVER, NodeId};
use super::property::{Properties, Property};
use super::special::head;

/// The rules of `properties`, `required`, `additionalProperties`, `minProperties` and `maxProperties`, or those of a
/// tagged union of objects.
pub(super) struct Object {
    pub(super) properties: Properties,
    pub(super) required: u64,
    /// The rules for all other keys.
    pub(super) rest: NodeId,
    pub(super) least: usize,
    pub(super) most: usize,
    /// If present, all other fields are unused, and the branch selected by the tag contains the rules.
    pub(super) tag: Option<Tag>,
}

impl Object {
    /// Returns true if an object with these properties, and `count` in total, is complete.
    fn allows(&self, met: u64, count: usize) -> bool {
        self.required & !met == 0 && self.tag.is_none() && self.least <= count && count <= self.most
    }
}

/// The property whose value selects the branch of a union. It has to be the first property, since the rules for
/// preceding ones would be unknown.
pub(super) struct Tag {
    pub(super) name: Box<str>,
    pub(super) branches: Box<[Branch]>,
}

pub(super) struct Branch {
    pub(super) value: Box<str>,
    /// The value as `serde_json` writes it.
    pub(super) json: Box<[u8]>,
    pub(super) node: NodeId,
}

/// The meaning of a key.
pub(super) enum Member<'p> {
    /// A declared property that has not occurred before.
    Known(&'p Property),
    /// Any other key, which may have occurred before.
    Other(NodeId),
    /// The tag that selects the branch.
    Tag(&'p Tag),
}

/// The state of walking an object.
pub(super) struct Members<'p> {
    rule: Option<&'p Object>,
    met: u64,
    count: usize,
    last: Option<&'p Property>,
}

impl<'p> Members<'p> {
    #[inline]
    pub(super) fn new(rule: Option<&'p Object>) -> Self {
        Members { rule, met: 0, count: 0, last: None }
    }

    #[inline]
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Enters the predicted property if the JSON text continues with its key exactly as `serde_json` writes it. Returns
    /// the property and the length of the key, including the colon and a preceding comma.
    #[inline]
    pub(super) fn enter_likely(&mut self, text: &[u8]) -> Option<(&'p Property, usize)> {
        let property = self.rule?.properties.likely_after(self.last)?;
        let length = property.is_written_at(text, self.count == 0)?;
        self.meet(property).map(|property| (property, length))
    }

    /// Enters a property that has not occurred before, and predicts it for the next object.
    #[inline]
    pub(super) fn enter_read(&mut self, key: &[u8], head: u64) -> Option<&'p Property> {
        let properties = &self.rule?.properties;
        let property = properties.find(key, head)?;
        properties.learn(self.last, property);
        self.meet(property)
    }

    /// Enters a property that has not occurred before.
    #[inline]
    pub(super) fn enter_known(&mut self, key: &[u8], head: u64) -> Option<&'p Property> {
        let property = self.rule?.properties.find(key, head)?;
        self.meet(property)
    }

    #[inline]
    fn meet(&mut self, property: &'p Property) -> Option<&'p Property> {
        if self.met & property.bit != 0 {
            return None;
        }
        self.met |= property.bit;
        self.count += 1;
        self.last = Some(property);
        self.last
    }

    /// Enters the next key.
    pub(super) fn enter(&mut self, key: &[u8]) -> Result<Member<'p>, PlanError> {
        if let Some(property) = self.enter_known(key, head(key)) {
            return Ok(Member::Known(property));
        }
        self.count += 1;
        let mut rest = ANY;
        if let Some(rule) = self.rule {
            if let Some(tag) = &rule.tag {
                return ok(tag.name.as_bytes() == key).map(|()| Member::Tag(tag));
            }
            ok(rule.properties.find(key, head(key)).is_none())?;
            rest = rule.rest;
        }
        ok(rest != NEVER && !is_reserved(key))?;
        Ok(Member::Other(rest))
    }

    #[inline]
    pub(super) fn finish(&self) -> Result<(), PlanError> {
        ok(self.rule.is_none_or(|rule| rule.allows(self.met, self.count)))
    }

    /// Returns true if `minProperties` requires that duplicate keys are detected, which is the case if it is above one.
    #[inline]
    pub(super) fn counts(&self) -> bool {
        self.rule.is_some_and(|rule| rule.least > 1)
    }
}
