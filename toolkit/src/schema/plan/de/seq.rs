//! Walking an array.

use std::cell::Cell;

use serde::de::{DeserializeSeed, SeqAccess};

use super::super::Refused;
use super::super::array::Items;
use super::{Walk, refused};

pub(super) struct CheckedSeq<'p, A> {
    inner: A,
    items: Items<'p>,
    /// Set while an item is read, and for good after one that was not walked.
    open: bool,
}

impl<'de, 'p, A: SeqAccess<'de>> CheckedSeq<'p, A> {
    #[inline]
    pub(super) fn new(inner: A, items: Items<'p>) -> Self {
        CheckedSeq { inner, items, open: false }
    }

    /// Whether the items met so far make a valid array. That there are no more is for `serde_json` to say.
    #[inline]
    pub(super) fn finish(self) -> Result<(), A::Error> {
        if self.open {
            return Err(refused(Refused));
        }
        self.items.finish().map_err(refused)
    }
}

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for CheckedSeq<'_, A> {
    type Error = A::Error;

    #[inline]
    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, A::Error> {
        if self.open {
            return Err(refused(Refused));
        }
        self.open = true;
        let walked = Cell::new(false);
        let item = self.inner.next_element_seed(Walk { seed, at: self.items.next(), walked: &walked })?;
        if item.is_some() {
            if !walked.get() {
                return Err(refused(Refused));
            }
            self.items.advance();
        }
        self.open = false;
        Ok(item)
    }

    #[inline]
    fn size_hint(&self) -> Option<usize> {
        self.inner.size_hint()
    }
}
