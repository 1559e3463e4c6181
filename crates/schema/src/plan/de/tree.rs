//! Parsing of JSON text to a tree.

use std::fmt::Write as _;

use serde_json::map::Entry;
use serde_json::{Map, Value};

use super::super::node::Plan;
use super::super::plan_error::PlanError;
use super::cursor::Cursor;
use super::decimal::HeldNumber;
use super::number::natural;
use crate::pointer::push_child;

/// A number in JSON text.
pub(crate) struct Spelled<'a> {
    pub(crate) pointer: &'a str,
    /// The offset of its text.
    pub(crate) start: usize,
    pub(crate) text: &'a str,
    pub(crate) held: &'a HeldNumber,
}

/// Parses JSON text and passes each number in it to `see`, without its pointer, except for natural numbers, whose text a tree
/// never changes.
///
/// # Errors
///
/// Returns [`PlanError`] if the text is not JSON, has a duplicate key, is nested too deep, or contains a number that is
/// too large for a float.
pub(crate) fn read_tree(json: &[u8], see: &mut dyn FnMut(Spelled<'_>)) -> Result<Value, PlanError> {
    read(json, false, see)
}

/// Does the same as [`read_tree`], and passes every number with its pointer.
///
/// # Errors
///
/// The same as [`read_tree`].
pub(crate) fn read_located(json: &[u8], see: &mut dyn FnMut(Spelled<'_>)) -> Result<Value, PlanError> {
    read(json, true, see)
}

fn read(json: &[u8], locates: bool, see: &mut dyn FnMut(Spelled<'_>)) -> Result<Value, PlanError> {
    let mut cursor = Cursor::new(Plan::anything(), json)?;
    let value = TreeReader { cursor: &mut cursor, pointer: String::new(), locates, see, sought: None }.value()?;
    if cursor.finish() { Ok(value) } else { Err(PlanError) }
}

/// Returns the pointer of the value that starts at an offset of JSON text, or of the object with a key there. The text may
/// end behind it.
pub(crate) fn pointer_at(json: &[u8], offset: usize) -> Option<String> {
    let mut cursor = Cursor::new(Plan::anything(), json).ok()?;
    let mut sought = Sought { offset, pointer: None };
    let sought_in = Some(&mut sought);
    // The value that is sought may precede an error.
    let see = &mut |_: Spelled<'_>| ();
    let _ = TreeReader { cursor: &mut cursor, pointer: String::new(), locates: true, see, sought: sought_in }.value();
    sought.pointer
}

/// A value whose pointer is sought.
struct Sought {
    offset: usize,
    pointer: Option<String>,
}

struct TreeReader<'c, 'p, 'de, 's> {
    cursor: &'c mut Cursor<'p, 'de>,
    pointer: String,
    /// True if the pointer is wanted. Otherwise it stays empty.
    locates: bool,
    see: &'s mut dyn FnMut(Spelled<'_>),
    sought: Option<&'s mut Sought>,
}

impl TreeReader<'_, '_, '_, '_> {
    fn value(&mut self) -> Result<Value, PlanError> {
        let next = self.cursor.peek();
        self.look();
        match next {
            b'"' => self.cursor.any_string().map(|text| Value::String(text.into_owned())),
            b'{' => self.object(),
            b'[' => self.array(),
            b't' | b'f' => self.cursor.boolean().map(Value::Bool),
            b'n' => self.cursor.literal(b"null").map(|()| Value::Null),
            _ => self.number(),
        }
    }

    /// Keeps the pointer if the cursor is at the offset that is sought.
    fn look(&mut self) {
        if let Some(sought) = &mut self.sought
            && sought.offset == self.cursor.position()
        {
            sought.pointer = Some(self.pointer.clone());
        }
    }

    fn array(&mut self) -> Result<Value, PlanError> {
        self.cursor.open(b'[')?;
        let mut items = Vec::new();
        let length = self.pointer.len();
        while self.cursor.peek() != b']' {
            self.comma(items.is_empty())?;
            if self.locates {
                // Writing to a string cannot fail.
                let _ = write!(self.pointer, "/{}", items.len());
            }
            items.push(self.value()?);
            self.pointer.truncate(length);
        }
        self.cursor.close(b']')?;
        Ok(Value::Array(items))
    }

    fn object(&mut self) -> Result<Value, PlanError> {
        self.cursor.open(b'{')?;
        let mut object = Map::new();
        let length = self.pointer.len();
        while self.cursor.peek() != b'}' {
            self.comma(object.is_empty())?;
            self.cursor.peek();
            self.look();
            let key = self.cursor.any_string()?.into_owned();
            self.cursor.literal(b":")?;
            if self.locates {
                push_child(&mut self.pointer, &key);
            }
            match object.entry(key) {
                Entry::Vacant(slot) => slot.insert(self.value()?),
                Entry::Occupied(_) => return Err(self.cursor.fail()),
            };
            self.pointer.truncate(length);
        }
        self.cursor.close(b'}')?;
        Ok(Value::Object(object))
    }

    fn comma(&mut self, is_first: bool) -> Result<(), PlanError> {
        if is_first {
            return Ok(());
        }
        self.cursor.literal(b",")?;
        // JSON allows no trailing comma.
        match self.cursor.peek() {
            b']' | b'}' => Err(self.cursor.fail()),
            _ => Ok(()),
        }
    }

    fn number(&mut self) -> Result<Value, PlanError> {
        let is_located = self.locates;
        if let Some((natural, end)) = natural(self.cursor.bytes(), self.cursor.position()).filter(|_| !is_located) {
            self.cursor.seek(end);
            return Ok(natural.into());
        }
        let (start, text) = (self.cursor.position(), self.cursor.number_text());
        let held = str::from_utf8(text).ok().and_then(|text| Some((text, HeldNumber::read(text)?)));
        let Some((text, held)) = held else {
            return Err(self.cursor.fail());
        };
        self.cursor.skip(text.len());
        (self.see)(Spelled { pointer: &self.pointer, start, text, held: &held });
        Ok(Value::Number(held.number))
    }
}
