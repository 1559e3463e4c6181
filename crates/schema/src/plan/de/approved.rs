//! Text that was validated by other means, so that only its type can reject it.

use serde::de::{Expected, Unexpected};

use super::super::node::Plan;
use super::super::plan_error;
use super::super::plan_error::PlanError;
use super::super::plan_error::{Reason, Recording, TypeError};
use super::cursor::Cursor;
use super::number::{self, Number};
use super::{request, tree};

/// A cursor that reads what `serde_json` reads from a tree, and records why a type rejects it.
pub(in super::super) struct Approved<'de> {
    pub(in super::super) cursor: Cursor<'static, 'de>,
    recording: Recording,
}

impl<'de> Approved<'de> {
    pub(in super::super) fn new(json: &'de [u8]) -> Result<Self, TypeError> {
        match Cursor::new(Plan::anything(), json) {
            Ok(mut cursor) => {
                cursor.whole = Some(Vec::new());
                Ok(Self { cursor, recording: Recording::start() })
            }
            Err(PlanError) => Err(TypeError::new(Reason::default())),
        }
    }

    /// Returns true if all of the text was read, and appends the offsets of the floats that were read as integers.
    pub(in super::super) fn finish(&mut self, whole: &mut Vec<usize>) -> bool {
        let is_complete = self.cursor.finish();
        if is_complete {
            whole.extend(self.cursor.whole.take().unwrap_or_default());
        }
        is_complete
    }

    /// Returns the reason of the error that was returned last.
    #[cold]
    pub(in super::super) fn into_error(self) -> TypeError {
        TypeError::new(self.recording.into_reason())
    }
}

impl TypeError {
    /// Returns the JSON pointer of the innermost value that was rejected. `json` is the text that was read.
    pub fn pointer(&self, json: &[u8]) -> String {
        self.offset.and_then(|offset| tree::pointer_at(json, offset)).unwrap_or_default()
    }
}

/// The errors that a type causes. In approved text the cursor moves past the value, since the type may swallow its error
/// and continue.
impl<'de> Cursor<'_, 'de> {
    /// Fails because the type rejects the value that starts at `start`.
    #[cold]
    pub(super) fn fail_from(&mut self, start: usize) -> PlanError {
        if start == self.bytes().len() {
            request::record_missing_value();
        }
        if self.is_approved() {
            plan_error::record_offset(start);
            // Arrays and objects were left by what opened them.
            if self.position() == start {
                self.skip_value();
            }
        }
        self.fail()
    }

    /// Fails because the type expects another kind of value than the next one.
    #[cold]
    pub(super) fn other_kind(&mut self, expected: &dyn Expected) -> PlanError {
        if self.is_approved() {
            let start = self.position();
            let text;
            let unexpected = match self.peek() {
                b'[' => Unexpected::Seq,
                b'{' => Unexpected::Map,
                b'n' => Unexpected::Unit,
                byte @ (b't' | b'f') => Unexpected::Bool(byte == b't'),
                b'"' => {
                    text = self.any_string().unwrap_or_default();
                    Unexpected::Str(&text)
                }
                _ => match number::number(self) {
                    Ok(Number::Unsigned(value)) => Unexpected::Unsigned(value),
                    Ok(Number::Negative(value)) => Unexpected::Signed(value),
                    Ok(Number::Float(value)) => Unexpected::Float(value),
                    Err(PlanError) => Unexpected::Other("number"),
                },
            };
            plan_error::record_unexpected("invalid type", unexpected, expected);
            self.seek(start);
        }
        self.fail()
    }

    /// Moves past the value of a key that the type rejects. The location of the error is that of the value.
    #[cold]
    pub(super) fn skip_rejected(&mut self) {
        self.peek();
        plan_error::record_offset(self.position());
        self.skip_value();
    }

    /// Returns true if the type ignores the value that starts at the cursor, and may do so. Moves past it.
    #[cold]
    pub(super) fn may_ignore(&mut self) -> bool {
        if self.is_approved() {
            self.skip_value();
        } else {
            self.fail();
        }
        self.is_approved()
    }

    /// Fails within an array or object, and leaves it if a type may swallow the error.
    #[cold]
    pub(super) fn fail_within(&mut self) -> PlanError {
        if self.is_approved() {
            self.leave();
        }
        self.fail()
    }

    /// Fails because a type has not read all of an array or object.
    #[cold]
    pub(super) fn fail_unread(&mut self) -> PlanError {
        plan_error::record_message(&"the value has more parts than expected");
        self.fail_within()
    }

    /// Returns true if the next value is an array that was validated by other means.
    #[inline]
    pub(super) fn is_approved_array(&mut self) -> bool {
        self.is_approved() && self.peek() == b'['
    }

    /// Reads the text of the next value, unless it would be passed on without validation.
    #[cold]
    pub(super) fn raw(&mut self) -> Option<&'de str> {
        if !self.is_approved() {
            return None;
        }
        self.peek();
        let start = self.position();
        self.skip_value();
        str::from_utf8(self.read_since(start)).ok()
    }
}
