//! The keys of an object and the items of an array, and the rules for them.

use std::borrow::Cow;
use std::collections::HashSet;
use std::mem;

use super::super::node::{Items, PlanNode};
use super::super::object::{Member, Members, Tag};
use super::super::plan_error::{PlanError, ok};
use super::super::property::Property;
use super::super::special;
use super::cursor::Cursor;

/// An object that is being read.
pub(super) struct Entries<'c, 'p, 'de> {
    pub(super) cursor: &'c mut Cursor<'p, 'de>,
    members: Members<'p>,
    names: SeenKeys<'de>,
    next: Next<'p>,
}

/// The part of an object that may be read next.
pub(super) enum Next<'p> {
    Key,
    Value(&'p PlanNode),
    Tag(&'p Tag),
}

/// The outcome of looking for a key.
pub(super) enum EntryStep<'p> {
    Property(&'p Property),
    End,
    /// Needs the slow path.
    Other,
}

impl<'c, 'p, 'de> Entries<'c, 'p, 'de> {
    #[inline]
    pub(super) fn open(cursor: &'c mut Cursor<'p, 'de>, node: &'p PlanNode) -> Result<Self, PlanError> {
        cursor.open(b'{')?;
        let members = cursor.poison_on_err(node.object())?;
        Ok(Entries { cursor, members, names: SeenKeys::default(), next: Next::Key })
    }

    /// Checks that the object ends here and had no error.
    #[inline]
    pub(super) fn close(&mut self, is_read: bool) -> Result<(), PlanError> {
        if is_read { self.end() } else { Err(self.cursor.fail_within()) }
    }

    #[inline]
    fn end(&mut self) -> Result<(), PlanError> {
        if self.cursor.close(b'}').is_err() {
            return Err(self.cursor.fail_unread());
        }
        let complete = match self.next {
            Next::Key => self.members.finish(),
            Next::Value(_) | Next::Tag(_) => Err(PlanError),
        };
        self.cursor.poison_on_err(complete)
    }

    /// Reads the next key if it has no escapes and is a declared property that has not occurred before, or finds the
    /// end. Consumes nothing and reports no error otherwise.
    pub(super) fn property(&mut self) -> EntryStep<'p> {
        if !matches!(self.next, Next::Key) {
            return EntryStep::Other;
        }
        let rest = self.cursor.rest();
        // This check is unambiguous, and avoids the comparison with the predicted key.
        if rest.first() == Some(&b'}') {
            return EntryStep::End;
        }
        let property = match self.members.enter_likely(rest) {
            Some((property, length)) => {
                self.cursor.skip(length);
                property
            }
            None if self.cursor.peek() == b'}' => return EntryStep::End,
            None => match self.named_property() {
                Some(property) => property,
                None => return EntryStep::Other,
            },
        };
        self.next = Next::Value(self.cursor.plan.node(property.node));
        EntryStep::Property(property)
    }

    #[inline(never)]
    fn named_property(&mut self) -> Option<&'p Property> {
        let start = self.cursor.position();
        let property = self.try_property();
        if property.is_none() {
            self.cursor.seek(start);
        }
        property
    }

    #[inline]
    fn try_property(&mut self) -> Option<&'p Property> {
        let cursor = &mut *self.cursor;
        if self.members.count() > 0 {
            if cursor.peek() != b',' {
                return None;
            }
            cursor.skip(1);
        }
        if cursor.peek() != b'"' {
            return None;
        }
        cursor.skip(1);
        let text = cursor.rest();
        let mut head = special::head(text);
        let mut length = special::in_head(head);
        if length < 8 {
            head &= (1 << (8 * length)) - 1;
        } else {
            length += special::position(text.get(8..)?);
        }
        if *text.get(length)? != b'"' {
            return None;
        }
        let property = self.members.enter_read(&text[..length], head)?;
        cursor.skip(length + 1);
        // A missing colon is an error.
        if cursor.peek() == b':' {
            cursor.skip(1);
            return Some(property);
        }
        cursor.fail();
        None
    }

    /// Reads the next key if there is one, and its colon.
    #[inline(never)]
    pub(super) fn key(&mut self) -> Result<Option<Cow<'de, str>>, PlanError> {
        let is_first = self.members.count() == 0;
        match (self.cursor.peek(), &self.next) {
            (b'}', Next::Key) => return Ok(None),
            (b',', Next::Key) if !is_first => self.cursor.skip(1),
            (_, Next::Key) if is_first => {}
            _ => return Err(self.cursor.fail()),
        }
        let key = self.cursor.any_string()?;
        if self.cursor.peek() != b':' {
            return Err(self.cursor.fail());
        }
        self.cursor.skip(1);
        let member = self.members.enter(key.as_bytes());
        let plan = self.cursor.plan;
        self.next = match self.cursor.poison_on_err(member)? {
            Member::Known(property) => Next::Value(plan.node(property.node)),
            Member::Other(node) => {
                let fresh = self.names.add(&key);
                self.cursor.poison_on_err(fresh)?;
                Next::Value(plan.node(node))
            }
            Member::Tag(tag) => Next::Tag(tag),
        };
        Ok(Some(key))
    }

    /// Fails because the type rejects the key. In approved text another key may follow.
    #[cold]
    pub(super) fn fail_key(&mut self) -> PlanError {
        if self.cursor.is_approved() {
            self.cursor.skip_rejected();
            self.next = Next::Key;
        }
        PlanError
    }

    /// Returns the part that follows. After it, a key is expected.
    #[inline]
    pub(super) fn take_next(&mut self) -> Next<'p> {
        mem::replace(&mut self.next, Next::Key)
    }

    /// Reads the value of a tag and continues with the branch that it selects.
    #[inline(never)]
    pub(super) fn tag(&mut self, tag: &'p Tag) -> Result<Cow<'de, str>, PlanError> {
        let value = self.cursor.any_string()?;
        let chosen = self.cursor.plan.choose(tag, |branch| *branch.value == *value);
        self.members = self.cursor.poison_on_err(chosen)?;
        Ok(value)
    }
}

/// The number of keys that are compared linearly, without allocation.
const FEW: usize = 8;

/// The keys that have occurred.
#[derive(Default)]
pub(super) struct SeenKeys<'de> {
    few: Option<[&'de str; FEW]>,
    count: usize,
    /// Keys beyond the first few, and keys with escapes, which are not contained in the input verbatim.
    more: Option<HashSet<Cow<'de, str>>>,
}

impl<'de> SeenKeys<'de> {
    /// Adds a key. Returns an error if it is a duplicate.
    #[expect(clippy::ptr_arg, reason = "only what is borrowed from the input can be kept without a copy")]
    pub(super) fn add(&mut self, key: &Cow<'de, str>) -> Result<(), PlanError> {
        let few = self.few.get_or_insert([""; FEW]);
        ok(!few[..self.count].contains(&&**key))?;
        if let Cow::Borrowed(name) = key
            && self.count < FEW
            && self.more.is_none()
        {
            few[self.count] = name;
            self.count += 1;
            return Ok(());
        }
        ok(self.more.get_or_insert_default().insert(key.clone()))
    }
}

/// An array that is being read.
pub(super) struct Elements<'c, 'p, 'de> {
    pub(super) cursor: &'c mut Cursor<'p, 'de>,
    items: Items<'p>,
    start: usize,
}

impl<'c, 'p, 'de> Elements<'c, 'p, 'de> {
    pub(super) fn open(cursor: &'c mut Cursor<'p, 'de>, node: &'p PlanNode) -> Result<Self, PlanError> {
        cursor.open(b'[')?;
        let start = cursor.position() - 1;
        let items = cursor.poison_on_err(node.array())?;
        Ok(Elements { cursor, items, start })
    }

    /// Checks that the array ends here and had no error.
    #[inline]
    pub(super) fn close(&mut self, is_read: bool) -> Result<(), PlanError> {
        if is_read { self.end() } else { Err(self.cursor.fail_within()) }
    }

    #[inline]
    fn end(&mut self) -> Result<(), PlanError> {
        if self.cursor.close(b']').is_err() {
            return Err(self.cursor.fail_unread());
        }
        let complete = self.items.finish(|| self.cursor.read_since(self.start));
        self.cursor.poison_on_err(complete)
    }

    /// Returns the rules for the next item, or `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<&'p PlanNode>, PlanError> {
        let is_first = self.items.count() == 0;
        match self.cursor.peek() {
            b']' => return Ok(None),
            b',' if !is_first => self.cursor.skip(1),
            _ if is_first => {}
            _ => return Err(self.cursor.fail()),
        }
        Ok(Some(self.cursor.plan.node(self.items.next())))
    }
}
