//! The items of an array, and the rules for them.

use super::super::array::Items;
use super::super::error::PlanError;
use super::super::node::Node;
use super::cursor::Cursor;

/// An array that is being read.
pub(super) struct Elements<'c, 'p, 'de> {
    pub(super) cursor: &'c mut Cursor<'p, 'de>,
    items: Items<'p>,
    start: usize,
}

impl<'c, 'p, 'de> Elements<'c, 'p, 'de> {
    pub(super) fn open(cursor: &'c mut Cursor<'p, 'de>, node: &'p Node) -> Result<Self, PlanError> {
        cursor.open(b'[')?;
        let start = cursor.position() - 1;
        let items = cursor.poison_on_err(node.array())?;
        Ok(Elements { cursor, items, start })
    }

    /// Returns `value` if the array ends here and had no error.
    #[inline]
    pub(super) fn close<T>(&mut self, value: Result<T, PlanError>) -> Result<T, PlanError> {
        if let Err(PlanError) = value {
            return Err(self.cursor.fail_within());
        }
        match self.end() {
            Ok(()) => value,
            Err(PlanError) => Err(PlanError),
        }
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
    pub(super) fn next(&mut self) -> Result<Option<&'p Node>, PlanError> {
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
