//! Walking an object.

use std::cell::Cell;
use std::fmt;
use std::mem;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, Visitor};

use super::super::Refused;
use super::super::at::At;
use super::super::object::{Member, Members, Tag};
use super::names::Names;
use super::text::{Key, Text, Word};
use super::{Walk, refused};

pub(super) struct CheckedMap<'p, 'de, A> {
    inner: A,
    members: Members<'p>,
    names: Names<'de>,
    next: Next<'p>,
}

/// What may be read next.
enum Next<'p> {
    Key,
    Value(At<'p>),
    Tag(&'p Tag),
    /// Something went wrong, and whoever asked may not have passed that on.
    Nothing,
}

impl<'de, 'p, A: MapAccess<'de>> CheckedMap<'p, 'de, A> {
    #[inline]
    pub(super) fn new(inner: A, members: Members<'p>) -> Self {
        CheckedMap { inner, members, names: Names::default(), next: Next::Key }
    }

    /// Whether the members met so far make a valid object. That there are no more is for `serde_json` to say.
    #[inline]
    pub(super) fn finish(self) -> Result<(), A::Error> {
        if !matches!(self.next, Next::Key) {
            return Err(refused(Refused));
        }
        self.members.finish().map_err(refused)
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for CheckedMap<'_, 'de, A> {
    type Error = A::Error;

    #[inline]
    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, A::Error> {
        if !matches!(mem::replace(&mut self.next, Next::Nothing), Next::Key) {
            return Err(refused(Refused));
        }
        let key = self.inner.next_key_seed(WatchKey {
            seed,
            members: &mut self.members,
            names: &mut self.names,
            next: &mut self.next,
        })?;
        if key.is_none() {
            self.next = Next::Key;
        }
        Ok(key)
    }

    #[inline]
    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        let value = match mem::replace(&mut self.next, Next::Nothing) {
            Next::Value(at) => {
                let walked = Cell::new(false);
                let value = self.inner.next_value_seed(Walk { seed, at, walked: &walked })?;
                if !walked.get() {
                    return Err(refused(Refused));
                }
                value
            }
            Next::Tag(tag) => {
                let members = &mut self.members;
                self.inner.next_value_seed(WatchTag { seed, members, tag })?
            }
            Next::Key | Next::Nothing => return Err(refused(Refused)),
        };
        self.next = Next::Key;
        Ok(value)
    }

    #[inline]
    fn size_hint(&self) -> Option<usize> {
        self.inner.size_hint()
    }
}

/// Reads a key as text, looks it up, and hands the text to the type's own seed.
struct WatchKey<'m, 'p, 'de, S> {
    seed: S,
    members: &'m mut Members<'p>,
    names: &'m mut Names<'de>,
    next: &'m mut Next<'p>,
}

impl<'de, S: DeserializeSeed<'de>> WatchKey<'_, '_, 'de, S> {
    #[inline]
    fn enter<E: Error>(self, key: Text<'de, '_>) -> Result<S::Value, E> {
        let next = match self.members.enter(key.as_str().as_bytes()).map_err(refused)? {
            Member::Known(at, _) => Next::Value(at),
            Member::Other(at) => {
                self.names.add(key).map_err(refused)?;
                Next::Value(at)
            }
            Member::Tag(tag) => Next::Tag(tag),
        };
        let value = self.seed.deserialize(Key::new(key))?;
        *self.next = next;
        Ok(value)
    }
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for WatchKey<'_, '_, 'de, S> {
    type Value = S::Value;

    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, key: D) -> Result<S::Value, D::Error> {
        key.deserialize_str(self)
    }
}

impl<'de, S: DeserializeSeed<'de>> Visitor<'de> for WatchKey<'_, '_, 'de, S> {
    type Value = S::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    #[inline]
    fn visit_str<E: Error>(self, key: &str) -> Result<S::Value, E> {
        self.enter(Text::Copied(key))
    }

    #[inline]
    fn visit_borrowed_str<E: Error>(self, key: &'de str) -> Result<S::Value, E> {
        self.enter(Text::Borrowed(key))
    }
}

/// Reads the value of a tag and goes on with the branch it names.
struct WatchTag<'m, 'p, S> {
    seed: S,
    members: &'m mut Members<'p>,
    tag: &'p Tag,
}

impl<'de, S: DeserializeSeed<'de>> WatchTag<'_, '_, S> {
    fn choose<E: Error>(self, value: Text<'de, '_>) -> Result<S::Value, E> {
        let chosen = self.members.choose(self.tag, |branch| *branch.value == *value.as_str());
        chosen.map_err(refused)?;
        self.seed.deserialize(Word::new(value))
    }
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for WatchTag<'_, '_, S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, value: D) -> Result<S::Value, D::Error> {
        value.deserialize_str(self)
    }
}

impl<'de, S: DeserializeSeed<'de>> Visitor<'de> for WatchTag<'_, '_, S> {
    type Value = S::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a tag")
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<S::Value, E> {
        self.choose(Text::Copied(value))
    }

    fn visit_borrowed_str<E: Error>(self, value: &'de str) -> Result<S::Value, E> {
        self.choose(Text::Borrowed(value))
    }
}
