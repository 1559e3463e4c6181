//! Writing of arrays and objects.

use serde::ser::{
    Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant,
};

use super::super::node::{Kinds, PlanNode};
use super::super::object::{Member, Members, Tag};
use super::super::plan_error::PlanError;
use super::super::{node, special};
use super::Writer;
use super::key::{WriteKey, with_text};
use super::output::JsonOutput;

/// The place of an array or object.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Nesting {
    Value,
    /// A struct that stands for its only field, which is raw JSON.
    Raw,
    /// Inside the object of a variant, which ends with it.
    Variant,
}

/// An array that is being written.
pub struct Items<'w, 'p> {
    out: &'w mut JsonOutput<'p>,
    items: node::Items<'p>,
    nesting: Nesting,
    start: usize,
}

impl<'w, 'p> Items<'w, 'p> {
    #[inline]
    pub(super) fn new(out: &'w mut JsonOutput<'p>, items: node::Items<'p>, nesting: Nesting) -> Self {
        let start = out.json.len() - 1;
        Items { out, items, nesting, start }
    }

    #[inline]
    fn item<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), PlanError> {
        if self.items.count() > 0 {
            self.out.json.push(b',');
        }
        let node = self.out.plan.node(self.items.next());
        let written = value.serialize(Writer { out: self.out, node });
        self.out.poison_on_err(written)
    }

    #[inline(never)]
    fn close(&mut self) -> Result<(), PlanError> {
        self.out.close(b']');
        let end = self.out.json.len();
        if self.nesting == Nesting::Variant {
            self.out.close(b'}');
        }
        self.items.finish(|| &self.out.json[self.start..end])
    }
}

/// An object that is being written.
pub struct ObjectWriter<'w, 'p> {
    out: &'w mut JsonOutput<'p>,
    members: Members<'p>,
    nesting: Nesting,
    /// The value that must follow, since its key has been written.
    next: Option<Next<'p>>,
}

/// The value that follows, with its rules.
struct Next<'p> {
    node: &'p PlanNode,
    then: Then<'p>,
}

/// The step after a value is written.
enum Then<'p> {
    Nothing,
    /// The tag selects the rules for what follows.
    Choose(&'p Tag),
    /// The string, which contains raw JSON, is replaced by its text.
    Unquote,
}

/// The rules for the value of a tag, and for raw JSON.
static STRING: PlanNode = PlanNode::plain(Kinds::STRING);

impl<'w, 'p> ObjectWriter<'w, 'p> {
    #[inline]
    pub(super) fn new(out: &'w mut JsonOutput<'p>, members: Members<'p>, nesting: Nesting) -> Self {
        ObjectWriter { out, members, nesting, next: None }
    }

    pub(super) fn raw(out: &'w mut JsonOutput<'p>) -> Self {
        ObjectWriter { out, members: Members::new(None), nesting: Nesting::Raw, next: None }
    }

    #[inline]
    fn field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<(), PlanError> {
        let next = match self.property(key, special::head(key.as_bytes())) {
            Some(node) => Next { node, then: Then::Nothing },
            None => match self.other(key) {
                Ok(next) => next,
                Err(PlanError) => return Err(PlanError),
            },
        };
        self.value(next, value)
    }

    /// Writes a key that the schema declares. Writes nothing for other keys.
    fn property(&mut self, key: &'static str, head: u64) -> Option<&'p PlanNode> {
        let is_first = self.members.count() == 0;
        let property = self.members.enter_known(key.as_bytes(), head)?;
        property.write(is_first, &mut self.out.json);
        Some(self.out.plan.node(property.node))
    }

    #[inline(never)]
    fn other(&mut self, key: &str) -> Result<Next<'p>, PlanError> {
        if self.nesting == Nesting::Raw {
            return Ok(Next { node: &STRING, then: Then::Unquote });
        }
        self.begin_key();
        let written = self.out.string(key);
        self.out.poison_on_err(written)?;
        let member = self.members.enter(key.as_bytes());
        self.out.json.push(b':');
        self.next(member)
    }

    /// Writes a comma if necessary, and returns the offset at which the key starts.
    fn begin_key(&mut self) -> usize {
        if self.members.count() > 0 {
            self.out.json.push(b',');
        }
        self.out.json.len()
    }

    /// Returns the rules for the value of a key.
    fn next(&mut self, member: Result<Member<'p>, PlanError>) -> Result<Next<'p>, PlanError> {
        let node = match self.out.poison_on_err(member)? {
            Member::Known(property) => property.node,
            Member::Tag(tag) => return Ok(Next { node: &STRING, then: Then::Choose(tag) }),
            // A `Serialize` may write a key twice, which would count as one property.
            Member::Other(_) if self.members.counts() => return self.out.poison_on_err(Err(PlanError)),
            Member::Other(node) => node,
        };
        Ok(Next { node: self.out.plan.node(node), then: Then::Nothing })
    }

    #[inline]
    fn value<T: Serialize + ?Sized>(&mut self, next: Next<'p>, value: &T) -> Result<(), PlanError> {
        let start = self.out.json.len();
        let written = value.serialize(Writer { out: self.out, node: next.node });
        match (written, next.then) {
            (Ok(()), Then::Nothing) => Ok(()),
            (Ok(()), then) => self.after(then, start),
            (written, _) => self.out.poison_on_err(written),
        }
    }

    /// Does what follows a value that was written from `start` on.
    #[inline(never)]
    fn after(&mut self, then: Then<'p>, start: usize) -> Result<(), PlanError> {
        let outcome = match then {
            Then::Nothing => Ok(()),
            Then::Choose(tag) => self.choose(tag, start),
            Then::Unquote => self.unquote(start),
        };
        self.out.poison_on_err(outcome)
    }

    fn choose(&mut self, tag: &'p Tag, start: usize) -> Result<(), PlanError> {
        let written = &self.out.json[start..];
        self.members = self.out.plan.choose(tag, |branch| *branch.json == *written)?;
        Ok(())
    }

    /// Replaces the string that was written from `start` on by its text, which is JSON.
    #[cold]
    fn unquote(&mut self, start: usize) -> Result<(), PlanError> {
        let text: String = serde_json::from_slice(&self.out.json[start..]).map_err(|_| PlanError)?;
        self.out.json.truncate(start);
        self.out.json.extend_from_slice(text.as_bytes());
        Ok(())
    }

    // Inlined, because moving all fields to a function takes longer than what it does.
    #[inline]
    fn close(self) -> Result<(), PlanError> {
        if self.next.is_some() {
            return Err(PlanError);
        }
        if self.nesting == Nesting::Raw {
            return Ok(());
        }
        self.out.close(b'}');
        if self.nesting == Nesting::Variant {
            self.out.close(b'}');
        }
        self.members.finish()
    }
}

impl SerializeMap for ObjectWriter<'_, '_> {
    type Ok = ();
    type Error = PlanError;

    #[inline]
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), PlanError> {
        let start = self.begin_key();
        let written = key.serialize(WriteKey(self.out));
        let written = written.inspect_err(|_| self.out.note_key(start));
        self.out.poison_on_err(written)?;
        let members = &mut self.members;
        let member = with_text(&self.out.json[start..], |text| members.enter(text));
        let next = self.next(member)?;
        let pending = self.next.replace(next);
        self.out.poison_on_err(if pending.is_none() { Ok(()) } else { Err(PlanError) })
    }

    #[inline]
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), PlanError> {
        let next = self.next.take().ok_or(PlanError);
        let next = self.out.poison_on_err(next)?;
        self.out.json.push(b':');
        self.value(next, value)
    }

    #[inline]
    fn end(self) -> Result<(), PlanError> {
        self.close()
    }
}

macro_rules! items_as {
    ($($of:ident::$method:ident)*) => {$(
        impl $of for Items<'_, '_> {
            type Ok = ();
            type Error = PlanError;

            #[inline]
            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), PlanError> {
                self.item(value)
            }

            #[inline]
            fn end(mut self) -> Result<(), PlanError> {
                self.close()
            }
        }
    )*};
}

macro_rules! fields_as {
    ($($of:ident)*) => {$(
        impl $of for ObjectWriter<'_, '_> {
            type Ok = ();
            type Error = PlanError;

            #[inline]
            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                key: &'static str,
                value: &T,
            ) -> Result<(), PlanError> {
                self.field(key, value)
            }

            #[inline]
            fn end(self) -> Result<(), PlanError> {
                self.close()
            }
        }
    )*};
}

items_as! {
    SerializeSeq::serialize_element SerializeTuple::serialize_element
    SerializeTupleStruct::serialize_field SerializeTupleVariant::serialize_field
}
fields_as! { SerializeStruct SerializeStructVariant }
