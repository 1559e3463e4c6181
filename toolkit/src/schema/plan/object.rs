//! The rules for an object and the walk over one.

use super::arena::Plan;
use super::node::{ANY, NEVER, NodeId};
use super::property::{Properties, Property};
use super::refused::{PRIVATE, Refused, ok};
use super::special::head;

/// `properties`, `required`, `additionalProperties`, `minProperties` and `maxProperties`; or a tagged union of such.
pub(super) struct Object {
    pub(super) properties: Properties,
    pub(super) required: u64,
    /// What holds for every other key.
    pub(super) rest: NodeId,
    pub(super) least: usize,
    pub(super) most: usize,
    /// Where this is set, it is all there is: the branch that the tag names says the rest.
    pub(super) tag: Option<Tag>,
}

/// The property whose value tells the branches of a union apart. It has to come first, since the checks of what comes
/// before it would be unknown.
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

/// What a key announces.
pub(super) enum Member<'p> {
    /// A property of the schema; that it comes twice has been ruled out.
    Known(&'p Property),
    /// Some other key; it may be one that was there before.
    Other(NodeId),
    /// The tag, which chooses the branch.
    Tag(&'p Tag),
}

/// How far into an object the walk is.
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

    /// Takes note of the next key if JSON text goes on with it just as `serde_json` would write it, and it is the one
    /// that is likely; says how many bytes that takes, the colon and the comma before it included.
    #[inline]
    pub(super) fn enter_likely(&mut self, text: &[u8]) -> Option<(&'p Property, usize)> {
        let property = self.rule?.properties.likely_after(self.last)?;
        let length = property.is_written_at(text, self.count == 0)?;
        self.meet(property).map(|property| (property, length))
    }

    /// Takes note of the next key if it is a property that has not come before. Next time it is the likely one.
    #[inline]
    pub(super) fn enter_read(&mut self, key: &[u8], head: u64) -> Option<&'p Property> {
        let properties = &self.rule?.properties;
        let property = properties.find(key, head)?;
        properties.learn(self.last, property);
        self.meet(property)
    }

    /// Takes note of the next key if it is a property that has not come before.
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

    /// Takes note of the next key.
    pub(super) fn enter(&mut self, key: &[u8]) -> Result<Member<'p>, Refused> {
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
        ok(rest != NEVER && !key.starts_with(PRIVATE))?;
        Ok(Member::Other(rest))
    }

    /// Goes on with the branch whose tag `is_it`, once the tag's value is known.
    pub(super) fn choose(
        &mut self,
        plan: &'p Plan,
        tag: &'p Tag,
        is_it: impl Fn(&Branch) -> bool,
    ) -> Result<(), Refused> {
        let branch = tag.branches.iter().find(|branch| is_it(branch));
        *self = plan.node(branch.ok_or(Refused)?.node).object()?;
        // The value is the constant that the property asks for, which was all it asked for.
        match self.enter(tag.name.as_bytes())? {
            Member::Known(_) => Ok(()),
            Member::Other(_) | Member::Tag(_) => Err(Refused),
        }
    }

    #[inline]
    pub(super) fn finish(&self) -> Result<(), Refused> {
        ok(self.rule.is_none_or(|rule| {
            rule.required & !self.met == 0 && rule.tag.is_none() && rule.least <= self.count && self.count <= rule.most
        }))
    }

    /// Whether it matters to `minProperties` that no key was counted twice. Where at most one is asked for, it doesn't.
    #[inline]
    pub(super) fn counts(&self) -> bool {
        self.rule.is_some_and(|rule| rule.least > 1)
    }
}
