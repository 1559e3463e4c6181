//! Walking an object.

use std::borrow::Cow;
use std::mem;

use serde::de::{DeserializeSeed, MapAccess};

use super::super::Refused;
use super::super::at::At;
use super::super::object::{Member, Members, Tag};
use super::cursor::Cursor;
use super::names::Names;
use super::read;
use super::text::{Key, Text, Word};

pub(super) struct Entries<'c, 'p, 'de> {
    cursor: &'c mut Cursor<'de>,
    members: Members<'p>,
    names: Names<'de>,
    next: Next<'p>,
}

/// What may be read next.
enum Next<'p> {
    Key,
    Value(At<'p>),
    Tag(&'p Tag),
}

impl<'c, 'p, 'de> Entries<'c, 'p, 'de> {
    #[inline]
    pub(super) fn open(cursor: &'c mut Cursor<'de>, at: At<'p>) -> Result<Self, Refused> {
        cursor.open(b'{')?;
        let members = at.object();
        let members = cursor.sure(members)?;
        Ok(Entries { cursor, members, names: Names::default(), next: Next::Key })
    }

    /// The type's value, if the object ends here and nothing went wrong in it.
    #[inline]
    pub(super) fn close<T>(self, value: Result<T, Refused>) -> Result<T, Refused> {
        let value = self.cursor.sure(value)?;
        self.cursor.close(b'}')?;
        let complete = match self.next {
            Next::Key => self.members.finish(),
            Next::Value(_) | Next::Tag(_) => Err(Refused),
        };
        self.cursor.sure(complete).map(|()| value)
    }

    /// The next key, if there is one; after it stands its value.
    fn key(&mut self) -> Result<Option<Cow<'de, str>>, Refused> {
        let is_first = self.members.count() == 0;
        match (self.cursor.peek(), &self.next) {
            (b'}', Next::Key) => return Ok(None),
            (b',', Next::Key) if !is_first => self.cursor.step(),
            (_, Next::Key) if is_first => {}
            _ => return Err(self.cursor.refuse()),
        }
        let key = self.cursor.string()?;
        if self.cursor.peek() != b':' {
            return Err(self.cursor.refuse());
        }
        self.cursor.step();
        let member = self.members.enter(key.as_bytes());
        self.next = match self.cursor.sure(member)? {
            Member::Known(at, _) => Next::Value(at),
            Member::Other(at) => {
                let fresh = self.names.add(&key);
                self.cursor.sure(fresh)?;
                Next::Value(at)
            }
            Member::Tag(tag) => Next::Tag(tag),
        };
        Ok(Some(key))
    }

    /// Reads the value of a tag and goes on with the branch it names.
    #[inline(never)]
    fn tag(&mut self, tag: &'p Tag) -> Result<Cow<'de, str>, Refused> {
        let value = self.cursor.string()?;
        let chosen = self.members.choose(tag, |branch| *branch.value == *value);
        self.cursor.sure(chosen).map(|()| value)
    }
}

impl<'de> MapAccess<'de> for &mut Entries<'_, '_, 'de> {
    type Error = Refused;

    #[inline]
    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Refused> {
        match self.key()? {
            None => Ok(None),
            Some(Cow::Borrowed(key)) => seed.deserialize(Key(Text::Borrowed(key))).map(Some),
            Some(Cow::Owned(key)) => seed.deserialize(Key(Text::Copied(&key))).map(Some),
        }
    }

    #[inline]
    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Refused> {
        match mem::replace(&mut self.next, Next::Key) {
            Next::Value(at) => read(self.cursor, at, seed),
            Next::Tag(tag) => match self.tag(tag)? {
                Cow::Borrowed(value) => seed.deserialize(Word(Text::Borrowed(value))),
                Cow::Owned(value) => seed.deserialize(Word(Text::Copied(&value))),
            },
            Next::Key => Err(self.cursor.refuse()),
        }
    }
}
