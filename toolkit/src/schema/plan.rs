//! Validation in step with serde: one pass from bytes to a typed value and back, without a tree between.
//!
//! A [`Plan`] is a schema compiled into tables that can be consulted while a value goes by. It covers the keywords
//! that look at one value at a time; a schema that needs more has no plan. A plan never words an error: it says
//! "certainly valid" or [`Refused`], and after a refusal the caller validates a tree, which decides and explains.
//!
//! Reading, the checks follow what the JSON text holds, not what the type asks for. Whatever the type's `Deserialize`
//! does (ignore a value, stop early, swallow an error, ask for a map where the text has an array), a value counts as
//! valid only once its text has been walked to the end.

mod arena;
mod array;
mod compile;
mod de;
mod limited;
mod node;
mod number;
mod object;
mod pattern;
mod property;
mod reason;
mod refused;
mod ser;
pub(crate) mod special;
mod string;

use std::marker::PhantomData;
use std::sync::LazyLock;

pub use arena::Plan;
pub(crate) use de::asked::{Answer, Asked};
pub(crate) use de::decimal::{Held, Whole};
pub(crate) use de::tree::read_tree;
pub(crate) use limited::Limited;
pub use reason::{CheckPath, PlanObstacle};
pub use refused::{NotEncoded, Refused};
pub(crate) use ser::Notes;

impl Plan {
    /// The plan of a draft 2020-12 schema.
    ///
    /// `None` where the schema uses something that needs the whole value, or that is unknown here: the caller then
    /// validates a tree.
    #[must_use]
    pub fn compile(schema: &serde_json::Value) -> Option<Plan> {
        let (nodes, root) = compile::compile(schema).ok()?;
        Some(Plan::new(nodes, root))
    }

    /// Why a schema has no plan: the first thing found that needs the whole value. `None` where it has one.
    #[must_use]
    pub fn why_not(schema: &serde_json::Value) -> Option<PlanObstacle> {
        compile::compile(schema).err()
    }

    /// The plan that approves of every value.
    pub(crate) fn anything() -> &'static Plan {
        static ANYTHING: LazyLock<Plan> =
            LazyLock::new(|| Plan::compile(&serde_json::Value::Bool(true)).expect("`true` has a plan"));
        &ANYTHING
    }

    /// Reads a value of which the schema certainly approves.
    ///
    /// Beyond the schema, a key that an object has twice is refused, and so is anything after the value.
    ///
    /// # Errors
    ///
    /// [`Refused`] where the bytes are not certainly valid, or are not a `T`.
    pub fn decode<'de, T: serde::Deserialize<'de>>(&self, json: &'de [u8]) -> Result<T, Refused> {
        let mut cursor = de::Cursor::new(self, json)?;
        let value = de::read(&mut cursor, self.root(), PhantomData)?;
        match cursor.is_through() {
            true => Ok(value),
            false => Err(Refused),
        }
    }

    /// Reads a value of any schema: another reader has approved of it. Whole numbers are read as integers where the
    /// type asks for one, however they are spelled; `whole` is given the places of those that a tree holds
    /// as floats.
    pub(crate) fn decode_approved<'de, T: serde::Deserialize<'de>>(
        json: &'de [u8],
        whole: &mut Vec<usize>,
    ) -> Result<T, Refused> {
        let plan = Self::anything();
        let mut cursor = de::Cursor::new(plan, json)?;
        cursor.whole = Some(Vec::new());
        let value = de::read(&mut cursor, plan.root(), PhantomData)?;
        if !cursor.is_through() {
            return Err(Refused);
        }
        whole.extend(cursor.whole.take().unwrap_or_default());
        Ok(value)
    }

    /// Returns what a `T` asks for after the front of a text, with the code that reads whole texts.
    pub fn ask<T: serde::de::DeserializeOwned>(front: &[u8]) -> Answer {
        let plan = Self::anything();
        de::asked::listen(|| {
            let Ok(mut cursor) = de::Cursor::new(plan, front) else { return false };
            let _ = de::read(&mut cursor, plan.root(), PhantomData::<T>);
            cursor.is_at_end()
        })
    }

    /// Appends the JSON of `value` to `out`: the bytes that `serde_json::to_writer` writes.
    ///
    /// # Errors
    ///
    /// [`Refused`] where those bytes are not certainly valid, or `value` can't be written as JSON. What was appended
    /// to `out` by then is unspecified.
    pub fn encode<T: serde::Serialize + ?Sized>(&self, value: &T, out: &mut Vec<u8>) -> Result<(), Refused> {
        self.encode_at_most(value, out, usize::MAX).map_err(|_| Refused)
    }

    /// As [`Plan::encode`], up to a length. Of a string that is too long no byte is read.
    ///
    /// # Errors
    ///
    /// [`NotEncoded::TooLong`] where the JSON has more than `max_bytes` bytes, though one that exceeds it by little may be
    /// written; otherwise as for [`Plan::encode`].
    #[inline]
    pub fn encode_at_most<T: serde::Serialize + ?Sized>(
        &self,
        value: &T,
        out: &mut Vec<u8>,
        max_bytes: usize,
    ) -> Result<(), NotEncoded> {
        let mut output = ser::Output::new(self, std::mem::take(out), max_bytes);
        let written = self.write(value, &mut output);
        let (has_failed, is_exceeded) = (output.has_failed(), output.is_exceeded());
        *out = output.json;
        match written {
            Ok(()) if !has_failed => Ok(()),
            _ if is_exceeded => Err(NotEncoded::TooLong),
            _ => Err(NotEncoded::Refused),
        }
    }

    /// Writes a value. The only place that calls its `Serialize`, so that rustc inlines that here, and here alone.
    #[inline(never)]
    fn write<'p, T: serde::Serialize + ?Sized>(
        &'p self,
        value: &T,
        output: &mut ser::Output<'p>,
    ) -> Result<(), Refused> {
        value.serialize(ser::Writer { out: output, node: self.root() })
    }

    /// Writes `value` as far as it goes, and notes what JSON cannot represent.
    pub(crate) fn note_unwritable<T: serde::Serialize + ?Sized>(value: &T) -> (Vec<u8>, Notes) {
        let plan = Self::anything();
        let mut output = ser::Output::new(plan, Vec::new(), usize::MAX);
        output.notes = Some(Box::default());
        // What went wrong is in the notes.
        let _ = plan.write(value, &mut output);
        (output.json, output.notes.map_or_else(Notes::default, |notes| *notes))
    }
}
