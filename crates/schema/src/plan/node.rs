//! The compiled form of a schema: its nodes, with the rules for strings, arrays and locations.

mod place;

use std::fmt;
use std::sync::Arc;

pub(crate) use self::place::PlanPlace;
use super::number::Number;
use super::object::{Branch, Member, Members, Object, Tag};
use super::pattern::Pattern;
use super::plan_error::{PlanError, ok};
use super::property::{ANY, NEVER, NodeId};

/// The rules for a value, by its type. A missing rule restricts only the type.
pub(super) struct PlanNode {
    pub(super) kinds: Kinds,
    pub(super) number: Option<Arc<Number>>,
    pub(super) string: Option<Arc<Text>>,
    pub(super) array: Option<Arc<Array>>,
    pub(super) object: Option<Arc<Object>>,
}

impl PlanNode {
    pub(super) const fn plain(kinds: Kinds) -> PlanNode {
        PlanNode { kinds, number: None, string: None, array: None, object: None }
    }

    #[inline]
    pub(super) fn allow(&self, kind: Kinds) -> Result<(), PlanError> {
        ok(self.kinds.meets(kind))
    }

    #[inline]
    pub(super) fn null(&self) -> Result<(), PlanError> {
        self.allow(Kinds::NULL)
    }

    #[inline]
    pub(super) fn boolean(&self, value: bool) -> Result<(), PlanError> {
        self.allow(if value { Kinds::TRUE } else { Kinds::FALSE })
    }

    /// Checks a non-negative integer that `serde_json` stores as an integer.
    #[inline]
    pub(super) fn unsigned(&self, value: u64) -> Result<(), PlanError> {
        self.allow(Kinds::INTEGER)?;
        ok(self.number.as_ref().is_none_or(|rule| rule.admits_unsigned(value)))
    }

    /// Checks a negative integer that `serde_json` stores as an integer.
    #[inline]
    pub(super) fn negative(&self, value: i64) -> Result<(), PlanError> {
        self.allow(Kinds::INTEGER)?;
        ok(self.number.as_ref().is_none_or(|rule| rule.admits_negative(value)))
    }

    /// Checks a finite number that `serde_json` reads as a float.
    #[inline]
    pub(super) fn float(&self, value: f64) -> Result<(), PlanError> {
        self.allow(Kinds::FLOAT)?;
        ok(self.number.as_ref().is_none_or(|rule| rule.admits_float(value)))
    }

    #[inline]
    pub(super) fn string(&self, value: &str) -> Result<(), PlanError> {
        self.allow(Kinds::STRING)?;
        ok(self.string.as_ref().is_none_or(|rule| rule.admits(value)))
    }

    #[inline]
    pub(super) fn array(&self) -> Result<Items<'_>, PlanError> {
        self.allow(Kinds::ARRAY)?;
        Ok(Items::new(self.array.as_deref()))
    }

    #[inline]
    pub(super) fn object(&self) -> Result<Members<'_>, PlanError> {
        self.allow(Kinds::OBJECT)?;
        Ok(Members::new(self.object.as_deref()))
    }
}

/// A set of kinds of JSON values, finer than JSON types so that it includes boolean constants and `integer`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Kinds(u8);

impl Kinds {
    pub(super) const NONE: Kinds = Kinds(0);
    pub(super) const NULL: Kinds = Kinds(1);
    pub(super) const TRUE: Kinds = Kinds(1 << 1);
    pub(super) const FALSE: Kinds = Kinds(1 << 2);
    pub(super) const INTEGER: Kinds = Kinds(1 << 3);
    /// A number that `serde_json` stores as a float. `1.0` is one although it is also an `integer`. Where only integers
    /// are allowed it is refused, which is safe.
    pub(super) const FLOAT: Kinds = Kinds(1 << 4);
    pub(super) const STRING: Kinds = Kinds(1 << 5);
    pub(super) const ARRAY: Kinds = Kinds(1 << 6);
    pub(super) const OBJECT: Kinds = Kinds(1 << 7);
    pub(super) const ALL: Kinds = Kinds(u8::MAX);

    /// Returns the kinds of a type named by `type`.
    pub(super) fn from_type(name: &str) -> Option<Kinds> {
        Some(match name {
            "null" => Kinds::NULL,
            "boolean" => Kinds::TRUE.or(Kinds::FALSE),
            "integer" => Kinds::INTEGER,
            "number" => Kinds::INTEGER.or(Kinds::FLOAT),
            "string" => Kinds::STRING,
            "array" => Kinds::ARRAY,
            "object" => Kinds::OBJECT,
            _ => return None,
        })
    }

    pub(super) const fn or(self, other: Kinds) -> Kinds {
        Kinds(self.0 | other.0)
    }

    pub(super) const fn and(self, other: Kinds) -> Kinds {
        Kinds(self.0 & other.0)
    }

    #[inline]
    pub(super) const fn meets(self, other: Kinds) -> bool {
        self.0 & other.0 != 0
    }

    /// Returns the index of a single kind, from 0 to 7.
    #[inline]
    pub(super) const fn index(self) -> usize {
        (self.0.trailing_zeros() & 7) as usize
    }

    /// Iterates over the kinds of the set.
    pub(super) fn each(self) -> impl Iterator<Item = Kinds> {
        (0..8).map(|bit| Kinds(1 << bit)).filter(move |kind| self.meets(*kind))
    }
}

/// A schema compiled to a form that is checked while serde walks a value.
pub struct Plan {
    nodes: Box<[PlanNode]>,
    root: NodeId,
}

impl Plan {
    pub(super) fn new(nodes: Box<[PlanNode]>, root: NodeId) -> Self {
        Self { nodes, root }
    }

    #[inline]
    pub(super) fn root(&self) -> &PlanNode {
        self.node(self.root)
    }

    #[inline]
    pub(super) fn node(&self, id: NodeId) -> &PlanNode {
        &self.nodes[id as usize]
    }

    /// Returns the state of walking an object by the branch of its tag that `is_selected` accepts. The tag itself has
    /// been entered.
    pub(super) fn choose(&self, tag: &Tag, is_selected: impl Fn(&Branch) -> bool) -> Result<Members<'_>, PlanError> {
        let branch = tag.branches.iter().find(|branch| is_selected(branch)).ok_or(PlanError)?;
        let mut members = self.node(branch.node).object()?;
        // The value is the constant that the property requires, and the property has no other rules.
        match members.enter(tag.name.as_bytes())? {
            Member::Known(_) => Ok(members),
            Member::Other(_) | Member::Tag(_) => Err(PlanError),
        }
    }
}

impl fmt::Debug for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Plan").field("nodes", &self.nodes.len()).finish_non_exhaustive()
    }
}

/// The rules of `prefixItems`, `items`, `minItems`, `maxItems` and `uniqueItems`.
pub(super) struct Array {
    pub(super) prefix: Box<[NodeId]>,
    pub(super) items: NodeId,
    pub(super) least: usize,
    pub(super) most: usize,
    pub(super) unique: bool,
}

/// The state of walking an array.
pub(super) struct Items<'p> {
    rule: Option<&'p Array>,
    count: usize,
}

impl<'p> Items<'p> {
    #[inline]
    pub(super) fn new(rule: Option<&'p Array>) -> Self {
        Items { rule, count: 0 }
    }

    #[inline]
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Returns the node of the next item. Beyond `maxItems`, nothing is allowed.
    #[inline]
    pub(super) fn next(&mut self) -> NodeId {
        let id = match self.rule {
            None => ANY,
            Some(rule) if self.count >= rule.most => NEVER,
            Some(rule) => rule.prefix.get(self.count).copied().unwrap_or(rule.items),
        };
        self.count += 1;
        id
    }

    /// Checks the number of items and their uniqueness. `json` returns the text of the whole array.
    #[inline]
    pub(super) fn finish<'j>(&self, json: impl FnOnce() -> &'j [u8]) -> Result<(), PlanError> {
        ok(self.rule.is_none_or(|rule| {
            rule.least <= self.count && (!rule.unique || self.count < 2 || certainly_differ(json()))
        }))
    }
}

/// Returns true if the items of an array certainly differ. Only strings and integers are compared; for others a tree is
/// needed, where `1` equals `1.0`.
#[inline(never)]
fn certainly_differ(json: &[u8]) -> bool {
    fn differ<T: Ord>(mut items: Vec<T>) -> bool {
        items.sort_unstable();
        items.windows(2).all(|two| two[0] != two[1])
    }
    if let Ok(texts) = serde_json::from_slice::<Vec<String>>(json) {
        return differ(texts);
    }
    serde_json::from_slice::<Vec<i64>>(json).is_ok_and(differ)
}

/// The rules of `minLength`, `maxLength`, `pattern`, and the strings of `enum` or `const`.
pub(super) struct Text {
    pub(super) least: usize,
    pub(super) most: usize,
    pub(super) pattern: Option<Pattern>,
    /// The sorted strings of `enum` or `const`.
    one_of: Option<Box<[Box<str>]>>,
}

impl Text {
    pub(super) fn unbounded() -> Text {
        Text { least: 0, most: usize::MAX, pattern: None, one_of: None }
    }

    /// Sets the strings of `enum` or `const`.
    pub(super) fn set_one_of(&mut self, mut all: Box<[Box<str>]>) {
        all.sort_unstable();
        self.one_of = Some(all);
    }

    #[inline]
    pub(super) fn admits(&self, value: &str) -> bool {
        self.admits_length(value)
            && self.one_of.as_ref().is_none_or(|all| all.binary_search_by(|one| (**one).cmp(value)).is_ok())
            && self.pattern.as_ref().is_none_or(|p| p.is_match(value))
    }

    #[inline]
    fn admits_length(&self, value: &str) -> bool {
        // A character has one to four bytes, so the number of bytes is often sufficient.
        let bytes = value.len();
        let surely_enough = bytes.div_ceil(4) >= self.least;
        let surely_few = bytes <= self.most;
        if surely_enough && surely_few {
            return true;
        }
        if bytes < self.least || bytes.div_ceil(4) > self.most {
            return false;
        }
        let chars = value.chars().count();
        self.least <= chars && chars <= self.most
    }
}
