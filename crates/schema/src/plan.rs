//! Validation during serialization and deserialization: one pass between bytes and a typed value, without a tree.
//!
//! A [`Plan`] is a schema compiled to tables that are consulted while a value is read or written. It covers the
//! keywords that look at one value at a time; other schemas have no plan. A plan returns no explanation, only success
//! or [`PlanError`]. After a refusal the caller validates a tree, which decides and explains.
//!
//! While reading, the checks follow the JSON text and not the type. A `Deserialize` may ignore a value, stop early,
//! swallow an error or request a map where the text has an array. A value counts as valid only once its text has been
//! read to the end.
//!
//! | module | part |
//! |---|---|
//! | `node`, `number`, `object`, `pattern`, `property` | the rules of one schema, and those of one type |
//! | `compile` | a plan from a schema, or nothing if a keyword looks at more than one value |
//! | `de` | reads: `cursor` is the position in the text, `value` and `map` follow the calls of `Deserialize`, `approved` reads a value that was validated by other means, `sole` an object beside the type of its only property, `request` records what a type asks for |
//! | `ser` | writes: `output` is the text, `compound` the lists and maps |
//! | `special` | finds the characters of a string that need attention |

mod compile;
mod de;
mod error;
mod node;
mod number;
mod object;
mod pattern;
mod property;
mod ser;
pub mod special;

use std::marker::PhantomData;
use std::sync::LazyLock;

pub(crate) use self::compile::is_annotation;
pub use self::compile::{CheckPath, PlanObstacle};
pub use self::error::TypeError;
pub(crate) use self::node::Place;
pub use self::node::Plan;
pub use self::ser::output::Limited;
pub use de::decimal::{Held, Whole};
pub use de::request::{ProbeOutcome, Request};
pub use de::sole::SoleProperty;
use de::tree::pointer_at;
pub(crate) use de::tree::{read_located, read_tree};
pub use error::{EncodeError, PlanError};
pub(crate) use pattern::Pattern;
use ser::Notes;

impl Plan {
    /// Compiles a draft 2020-12 or draft-07 schema.
    ///
    /// Returns `None` if the schema has an unknown keyword or one that needs the whole value. The caller then validates
    /// a tree.
    #[must_use]
    pub fn compile(schema: &serde_json::Value) -> Option<Plan> {
        let (nodes, root) = compile::compile(schema).ok()?;
        Some(Plan::new(nodes, root))
    }

    /// Returns the first keyword that prevents a plan, or `None` if the schema has a plan.
    #[must_use]
    pub fn obstacle(schema: &serde_json::Value) -> Option<PlanObstacle> {
        compile::compile(schema).err()
    }

    /// Returns the plan that accepts every value.
    pub fn anything() -> &'static Plan {
        static ANYTHING: LazyLock<Plan> =
            LazyLock::new(|| Plan::compile(&serde_json::Value::Bool(true)).expect("`true` has a plan"));
        &ANYTHING
    }

    /// Deserializes a value from JSON that certainly matches the schema.
    ///
    /// In addition to the schema, duplicate keys and trailing characters are rejected.
    ///
    /// # Errors
    ///
    /// Returns [`PlanError`] if the text is not certainly valid or is not a `T`.
    pub fn decode<'de, T: serde::Deserialize<'de>>(&self, json: &'de [u8]) -> Result<T, PlanError> {
        self.decode_property(json, None)
    }

    /// Deserializes the only property of an object, if one is given. Otherwise the same as [`Plan::decode`].
    ///
    /// # Errors
    ///
    /// The same as [`Plan::decode`].
    #[inline]
    pub fn decode_property<'de, T: serde::Deserialize<'de>>(
        &self,
        json: &'de [u8],
        property: Option<&'static SoleProperty>,
    ) -> Result<T, PlanError> {
        let Ok(mut cursor) = de::Cursor::new(self, json) else { return Err(PlanError) };
        let value = de::read_root(&mut cursor, self.root(), property, PhantomData);
        if cursor.finish() { value } else { Err(PlanError) }
    }

    /// Deserializes a value, or the only property of an object, that was validated by other means, as `serde_json`
    /// deserializes a tree. Whole numbers are read as integers where the type requests one, in any notation; the offsets
    /// of those that a tree stores as floats are appended to `whole`.
    ///
    /// # Errors
    ///
    /// Returns the reason why the type rejects the value.
    pub fn decode_approved<'de, T: serde::Deserialize<'de>>(
        json: &'de [u8],
        property: Option<&'static SoleProperty>,
        whole: &mut Vec<usize>,
    ) -> Result<T, TypeError> {
        let mut approved = de::Approved::new(json)?;
        match de::read_root(&mut approved.cursor, Self::anything().root(), property, PhantomData) {
            Ok(value) if approved.finish(whole) => Ok(value),
            _ => Err(approved.into_error()),
        }
    }

    /// Returns true if a `T` can be read from a property that is absent, as an option can.
    #[must_use]
    pub fn is_optional<T: serde::de::DeserializeOwned>() -> bool {
        static ANY: SoleProperty = SoleProperty::new("");
        de::read_absent(&ANY, PhantomData::<T>).is_ok()
    }

    /// Returns what a `T` requests after the start of a text. Uses the same code as [`Plan::decode_property`].
    pub fn probe<T: serde::de::DeserializeOwned>(
        front: &[u8],
        property: Option<&'static SoleProperty>,
    ) -> ProbeOutcome {
        let plan = Self::anything();
        de::request::record_during(&mut || {
            let Ok(mut cursor) = de::Cursor::new(plan, front) else { return (false, false) };
            let is_value = de::read_root(&mut cursor, plan.root(), property, PhantomData::<T>).is_ok();
            (cursor.is_at_end(), is_value)
        })
    }

    /// Appends the JSON of `value` to `out`: the same bytes that `serde_json::to_writer` writes.
    ///
    /// # Errors
    ///
    /// Returns [`PlanError`] if the value does not certainly match the schema, or cannot be represented in JSON. The
    /// bytes appended to `out` by then are unspecified.
    pub fn encode<T: serde::Serialize + ?Sized>(&self, value: &T, out: &mut Vec<u8>) -> Result<(), PlanError> {
        self.encode_at_most(value, out, usize::MAX).map_err(|_| PlanError)
    }

    /// Does the same as [`Plan::encode`] up to a length. A string that exceeds the rest of it is not read.
    ///
    /// # Errors
    ///
    /// Returns [`EncodeError::TooLong`] if the JSON has more than `max_bytes` bytes, although a small excess may be
    /// written. Otherwise the same as [`Plan::encode`].
    #[inline]
    pub fn encode_at_most<T: serde::Serialize + ?Sized>(
        &self,
        value: &T,
        out: &mut Vec<u8>,
        max_bytes: usize,
    ) -> Result<(), EncodeError> {
        let mut output = ser::Output::new(self, std::mem::take(out), max_bytes);
        let written = self.write(value, &mut output);
        let (has_failed, is_exceeded) = (output.has_failed(), output.is_exceeded());
        *out = output.json;
        match written {
            Ok(()) if !has_failed => Ok(()),
            _ if is_exceeded => Err(EncodeError::TooLong),
            _ => Err(EncodeError::Uncertain),
        }
    }

    /// Writes a value. `Serialize` is called only here, so that rustc inlines it exactly once.
    #[inline(never)]
    fn write<'p, T: serde::Serialize + ?Sized>(
        &'p self,
        value: &T,
        output: &mut ser::Output<'p>,
    ) -> Result<(), PlanError> {
        value.serialize(ser::Writer { out: output, node: self.root() })
    }

    /// Finds the parts of a value that JSON cannot represent, by writing it as far as possible.
    #[cold]
    pub fn unwritable<T: serde::Serialize + ?Sized>(value: &T) -> Unwritable {
        let plan = Self::anything();
        let mut output = ser::Output::new(plan, Vec::new(), usize::MAX);
        output.notes = Some(Box::default());
        // The notes contain the error.
        let _ = plan.write(value, &mut output);
        let at = |offset: usize| pointer_at(&output.json, offset).unwrap_or_default();
        let notes = output.notes.map_or_else(Notes::default, |notes| *notes);
        Unwritable {
            floats: notes.floats.into_iter().map(|(offset, float)| (at(offset), float)).collect(),
            map: notes.key.map(at),
        }
    }
}

/// The parts of a value that JSON cannot represent, as JSON Pointers.
pub struct Unwritable {
    /// The first few non-finite floats, which `serde_json` writes as `null`.
    pub floats: Vec<(String, f64)>,
    /// The first map with a key that JSON cannot represent, where serialization stops.
    pub map: Option<String>,
}
