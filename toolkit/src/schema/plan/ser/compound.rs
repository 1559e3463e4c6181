//! Writing arrays and objects.

use std::ops::Range;

use serde::ser::{
    Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant, Serializer,
};

use super::super::Refused;
use super::super::array;
use super::super::object::{Member, Members};
use super::key::{WriteKey, with_text};
use super::{Writer, json};

/// An array that is being written.
pub(in super::super) struct Items<'p, 'o> {
    out: &'o mut Vec<u8>,
    items: array::Items<'p>,
    depth: u8,
    tail: &'static [u8],
    /// Set while an item is written, and for good after one that failed.
    open: bool,
}

impl<'p, 'o> Items<'p, 'o> {
    #[inline]
    pub(super) fn new(out: &'o mut Vec<u8>, items: array::Items<'p>, depth: u8, tail: &'static [u8]) -> Self {
        Items { out, items, depth, tail, open: false }
    }

    #[inline]
    fn item<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Refused> {
        if self.open {
            return Err(Refused);
        }
        self.open = true;
        if self.items.count() > 0 {
            self.out.push(b',');
        }
        value.serialize(Writer { out: self.out, at: self.items.next(), depth: self.depth })?;
        self.items.advance();
        self.open = false;
        Ok(())
    }

    #[inline]
    fn close(self) -> Result<(), Refused> {
        if self.open {
            return Err(Refused);
        }
        self.items.finish()?;
        self.out.extend_from_slice(self.tail);
        Ok(())
    }
}

/// An object that is being written.
pub(in super::super) struct Fields<'p, 'o> {
    out: &'o mut Vec<u8>,
    members: Members<'p>,
    depth: u8,
    tail: &'static [u8],
    next: Next<'p>,
    /// Where the keys are that the schema does not name, if they have to differ: nothing keeps a `Serialize` from
    /// writing one twice.
    others: Vec<Range<usize>>,
}

/// What may be written next.
enum Next<'p> {
    Key,
    Value(Member<'p>),
    /// Something went wrong, and whoever asked may not have passed that on.
    Nothing,
}

impl<'p, 'o> Fields<'p, 'o> {
    #[inline]
    pub(super) fn new(out: &'o mut Vec<u8>, members: Members<'p>, depth: u8, tail: &'static [u8]) -> Self {
        Fields { out, members, depth, tail, next: Next::Key, others: Vec::new() }
    }

    #[inline]
    fn expect_key(&mut self) -> Result<(), Refused> {
        let next = std::mem::replace(&mut self.next, Next::Nothing);
        if !matches!(next, Next::Key) {
            return Err(Refused);
        }
        if self.members.count() > 0 {
            self.out.push(b',');
        }
        Ok(())
    }

    #[inline]
    fn field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<(), Refused> {
        self.expect_key()?;
        let member = self.members.enter(key.as_bytes())?;
        if let Member::Known(_, property) = &member {
            self.out.extend_from_slice(&property.json);
        } else {
            let start = self.out.len();
            json(self.out, |s| s.serialize_str(key))?;
            self.note(&member, start);
            self.out.push(b':');
        }
        self.value(member, value)
    }

    /// Takes note of the key that was just written, beginning at `start`.
    #[inline]
    fn note(&mut self, member: &Member<'p>, start: usize) {
        if matches!(member, Member::Other(_)) && self.members.counts() {
            self.others.push(start..self.out.len());
        }
    }

    fn others_differ(&self) -> bool {
        let key = |range: &Range<usize>| &self.out[range.clone()];
        let mut keys: Vec<&[u8]> = self.others.iter().map(key).collect();
        keys.sort_unstable();
        keys.windows(2).all(|two| two[0] != two[1])
    }

    #[inline]
    fn value<T: Serialize + ?Sized>(&mut self, member: Member<'p>, value: &T) -> Result<(), Refused> {
        let (depth, start) = (self.depth, self.out.len());
        match member {
            Member::Known(at, _) | Member::Other(at) => value.serialize(Writer { out: self.out, at, depth })?,
            Member::Tag(tag) => {
                json(self.out, |s| value.serialize(s))?;
                let written = &self.out[start..];
                self.members.choose(tag, |branch| *branch.json == *written)?;
            }
        }
        self.next = Next::Key;
        Ok(())
    }

    #[inline]
    fn close(self) -> Result<(), Refused> {
        if !matches!(self.next, Next::Key) {
            return Err(Refused);
        }
        self.members.finish()?;
        if !self.others.is_empty() && !self.others_differ() {
            return Err(Refused);
        }
        self.out.extend_from_slice(self.tail);
        Ok(())
    }
}

impl SerializeMap for Fields<'_, '_> {
    type Ok = ();
    type Error = Refused;

    #[inline]
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Refused> {
        self.expect_key()?;
        let start = self.out.len();
        key.serialize(WriteKey(self.out))?;
        let members = &mut self.members;
        let member = with_text(&self.out[start..], |text| members.enter(text))?;
        self.note(&member, start);
        self.next = Next::Value(member);
        Ok(())
    }

    #[inline]
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Refused> {
        match std::mem::replace(&mut self.next, Next::Nothing) {
            Next::Value(member) => {
                self.out.push(b':');
                self.value(member, value)
            }
            Next::Key | Next::Nothing => Err(Refused),
        }
    }

    #[inline]
    fn end(self) -> Result<(), Refused> {
        self.close()
    }
}

macro_rules! items_as {
    ($($of:ident::$method:ident)*) => {$(
        impl $of for Items<'_, '_> {
            type Ok = ();
            type Error = Refused;

            #[inline]
            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Refused> {
                self.item(value)
            }

            #[inline]
            fn end(self) -> Result<(), Refused> {
                self.close()
            }
        }
    )*};
}

macro_rules! fields_as {
    ($($of:ident)*) => {$(
        impl $of for Fields<'_, '_> {
            type Ok = ();
            type Error = Refused;

            #[inline]
            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                key: &'static str,
                value: &T,
            ) -> Result<(), Refused> {
                self.field(key, value)
            }

            #[inline]
            fn end(self) -> Result<(), Refused> {
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
