//! The rules for an object and the walk over one.

use super::at::{At, ok};
use super::node::{ANY, NEVER, NodeId};
use super::{PRIVATE, Plan, Refused};

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

/// So that the ones met fit one word.
pub(super) const MAX_PROPERTIES: usize = 64;

/// Properties, found by their names.
#[derive(Default)]
pub(super) struct Properties {
    all: Box<[Property]>,
    /// A hash table of places in `all`, at most half of it taken; [`FREE`] elsewhere.
    slots: Box<[u8]>,
}

const FREE: u8 = u8::MAX;

pub(super) struct Property {
    name: Box<str>,
    head: u64,
    node: NodeId,
    /// The name as JSON, with the colon after it: most keys are written more often than they are looked at.
    pub(super) json: Box<[u8]>,
}

impl Properties {
    /// `None` where there are too many.
    pub(super) fn new(all: Vec<Property>) -> Option<Properties> {
        (all.len() <= MAX_PROPERTIES).then_some(())?;
        let mut slots = vec![FREE; (2 * all.len()).next_power_of_two()].into_boxed_slice();
        let last = slots.len() - 1;
        for (place, property) in all.iter().enumerate() {
            let mut slot = hash(property.head, property.name.len()) & last;
            while slots[slot] != FREE {
                slot = (slot + 1) & last;
            }
            slots[slot] = u8::try_from(place).ok()?;
        }
        Some(Properties { all: all.into(), slots })
    }

    #[inline]
    fn find(&self, key: &[u8]) -> Option<(usize, &Property)> {
        let head = head(key);
        let last = self.slots.len().checked_sub(1)?;
        let mut slot = hash(head, key.len()) & last;
        // A free slot has no property.
        while let Some(property) = self.all.get(usize::from(self.slots[slot & last])) {
            if property.is_named(key, head) {
                return Some((usize::from(self.slots[slot & last]), property));
            }
            slot = (slot + 1) & last;
        }
        None
    }
}

#[inline]
fn hash(head: u64, length: usize) -> usize {
    // An odd number whose bits have no pattern; the upper half of the product depends on every bit.
    ((head ^ length as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) as usize
}

impl Property {
    /// `None` where the name is one that `serde_json` keeps to itself.
    pub(super) fn new(name: &str, node: NodeId) -> Option<Property> {
        if name.as_bytes().starts_with(PRIVATE) {
            return None;
        }
        let mut json = serde_json::to_vec(name).ok()?;
        json.push(b':');
        Some(Property { name: name.into(), head: head(name.as_bytes()), node, json: json.into() })
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    #[inline]
    fn is_named(&self, key: &[u8], head: u64) -> bool {
        let name = self.name.as_bytes();
        // Up to eight bytes, length and head tell everything; a call to compare memory costs more than they do.
        head == self.head && key.len() == name.len() && (key.len() <= 8 || *key == *name)
    }
}

/// A word that differs for any two keys of the same length up to eight bytes, and for most longer ones.
#[inline]
fn head(key: &[u8]) -> u64 {
    match key {
        [first, .., last] if key.len() < 4 => u64::from(*first) << 16 | u64::from(key[1]) << 8 | u64::from(*last),
        [only] => u64::from(*only),
        [] => 0,
        _ => {
            let (first, last) = (key.first_chunk::<4>(), key.last_chunk::<4>());
            let word = |chunk: Option<&[u8; 4]>| chunk.map_or(0, |chunk| u32::from_le_bytes(*chunk));
            u64::from(word(first)) << 32 | u64::from(word(last))
        }
    }
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
    Known(At<'p>, &'p Property),
    /// Some other key; it may be one that was there before.
    Other(At<'p>),
    /// The tag, which chooses the branch.
    Tag(&'p Tag),
}

/// How far into an object the walk is.
pub(super) struct Members<'p> {
    plan: &'p Plan,
    rule: Option<&'p Object>,
    met: u64,
    count: usize,
}

impl<'p> Members<'p> {
    #[inline]
    pub(super) fn new(plan: &'p Plan, rule: Option<&'p Object>) -> Self {
        Members { plan, rule, met: 0, count: 0 }
    }

    #[inline]
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Takes note of the next key.
    #[inline]
    pub(super) fn enter(&mut self, key: &[u8]) -> Result<Member<'p>, Refused> {
        self.count += 1;
        let Some(rule) = self.rule else {
            return self.enter_other(key, ANY);
        };
        if let Some(tag) = &rule.tag {
            return ok(tag.name.as_bytes() == key).map(|()| Member::Tag(tag));
        }
        ok(self.count <= rule.most)?;
        let Some((place, property)) = rule.properties.find(key) else {
            return self.enter_other(key, rule.rest);
        };
        let bit = 1 << place;
        ok(self.met & bit == 0)?;
        self.met |= bit;
        Ok(Member::Known(At::new(self.plan, property.node), property))
    }

    fn enter_other(&self, key: &[u8], rest: NodeId) -> Result<Member<'p>, Refused> {
        ok(rest != NEVER && !key.starts_with(PRIVATE))?;
        Ok(Member::Other(At::new(self.plan, rest)))
    }

    /// Goes on with the branch whose tag `is_it`, once the tag's value is known.
    pub(super) fn choose(&mut self, tag: &'p Tag, is_it: impl Fn(&Branch) -> bool) -> Result<(), Refused> {
        let branch = tag.branches.iter().find(|branch| is_it(branch));
        let node = At::new(self.plan, branch.ok_or(Refused)?.node);
        *self = node.object()?;
        // The value is the constant that the property asks for, which was all it asked for.
        match self.enter(tag.name.as_bytes())? {
            Member::Known(..) => Ok(()),
            Member::Other(_) | Member::Tag(_) => Err(Refused),
        }
    }

    #[inline]
    pub(super) fn finish(&self) -> Result<(), Refused> {
        let Some(rule) = self.rule else {
            return Ok(());
        };
        ok(rule.tag.is_none() && rule.required & !self.met == 0 && self.count >= rule.least)
    }

    /// Whether it matters to `minProperties` that no key was counted twice. Where at most one is asked for, it doesn't.
    #[inline]
    pub(super) fn counts(&self) -> bool {
        self.rule.is_some_and(|rule| rule.least > 1)
    }
}
