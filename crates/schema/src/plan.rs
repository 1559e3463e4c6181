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
//! | `de` | reads: `cursor` is the position in the text, `value` and `map` follow the calls of `Deserialize`, `approved` reads a value that was validated by other means, `sole` an object beside the type of its only property, `request` records what a type asks for; `number`, `decimal` and `text` are single values, and `tree` a value of any type |
//! | `ser` | writes: `output` is the text, `compound` the lists and maps |
//! | `special` | finds the characters of a string that need attention |

mod compile;
mod de;
mod node;
mod number;
mod object;
mod pattern;
mod plan_error;
mod property;
mod ser;
pub mod special;

use std::sync::LazyLock;

use serde::Serialize;
use serde::de::DeserializeOwned;

pub use self::compile::{CheckPath, PlanObstacle};
pub(crate) use self::compile::{is_annotation, pointer_to};
pub use self::node::Plan;
pub(crate) use self::node::PlanPlace;
pub use self::plan_error::TypeError;
pub use self::ser::Writer as Sink;
pub use self::ser::output::Limited;
pub(crate) use de::decimal::{HeldNumber, Whole};
pub use de::request::{ProbeOutcome, TypeRequest};
pub use de::sole::SoleProperty;
use de::tree::pointer_at;
pub(crate) use de::tree::{read_located, read_tree};
pub use de::{Read, Value as Source};
pub(crate) use pattern::Pattern;
use plan_error::Recording;
pub use plan_error::{EncodeError, PlanError};
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
    pub fn decode<T: DeserializeOwned>(&self, json: &[u8]) -> Result<T, PlanError> {
        let mut value = None;
        self.read(json, None, &mut into_slot(&mut value))?;
        value.ok_or(PlanError)
    }

    /// Reads JSON that certainly matches the schema: the whole value, or that of the only property of an object. Otherwise
    /// the same as [`Plan::decode`].
    ///
    /// # Errors
    ///
    /// The same as [`Plan::decode`].
    #[inline]
    pub fn read(
        &self,
        json: &[u8],
        property: Option<&'static SoleProperty>,
        read: &mut Read<'_>,
    ) -> Result<(), PlanError> {
        let mut cursor = de::Cursor::new(self, json)?;
        let outcome = de::read_root(&mut cursor, self.root(), property, read);
        if cursor.finish() { outcome } else { Err(PlanError) }
    }

    /// Reads a value, or the only property of an object, that was validated by other means, as `serde_json` reads a tree.
    /// Whole numbers are read as integers where the type requests one, in any notation; the offsets of those that a tree
    /// stores as floats are appended to `whole`.
    ///
    /// # Errors
    ///
    /// Returns the reason why the type rejects the value.
    pub fn read_approved(
        json: &[u8],
        property: Option<&'static SoleProperty>,
        whole: &mut Vec<usize>,
        read: &mut Read<'_>,
    ) -> Result<(), TypeError> {
        let mut approved = de::Approved::new(json)?;
        match de::read_root(&mut approved.cursor, Self::anything().root(), property, read) {
            Ok(()) if approved.finish(whole) => Ok(()),
            _ => Err(approved.into_error()),
        }
    }

    /// Returns true if `read` reads a value from a property that is absent, as that of an option does.
    #[must_use]
    pub fn is_optional(read: &mut Read<'_>) -> bool {
        static ANY: SoleProperty = SoleProperty::new("");
        de::read_absent(&ANY, read).is_ok()
    }

    /// Returns what `read` requests after the start of a text.
    pub fn probe(front: &[u8], property: Option<&'static SoleProperty>, read: &mut Read<'_>) -> ProbeOutcome {
        let plan = Self::anything();
        de::request::record_during(&mut || {
            let Ok(mut cursor) = de::Cursor::new(plan, front) else { return (false, false) };
            let is_value = de::read_root(&mut cursor, plan.root(), property, &mut *read).is_ok();
            (cursor.is_at_end(), is_value)
        })
    }

    /// Appends the JSON of `value` to `out`: the same bytes that `serde_json::to_writer` writes.
    ///
    /// # Errors
    ///
    /// Returns [`PlanError`] if the value does not certainly match the schema, or cannot be represented in JSON. The
    /// bytes appended to `out` by then are unspecified.
    pub fn encode<T: Serialize + ?Sized>(&self, value: &T, out: &mut Vec<u8>) -> Result<(), PlanError> {
        self.write(out, usize::MAX, &mut |sink| value.serialize(sink)).map_err(|_| PlanError)
    }

    /// Appends what `write` writes, up to a length. A string that exceeds the rest of it is not read. Otherwise the same as
    /// [`Plan::encode`].
    ///
    /// # Errors
    ///
    /// Returns [`EncodeError::TooLong`] if the JSON has more than `max_bytes` bytes, although a small excess may be
    /// written. Otherwise the same as [`Plan::encode`].
    #[inline]
    pub fn write(&self, out: &mut Vec<u8>, max_bytes: usize, write: &mut Write<'_>) -> Result<(), EncodeError> {
        let mut output = ser::JsonOutput::new(self, std::mem::take(out), max_bytes);
        let written = write(ser::Writer::new(&mut output));
        let outcome = output.outcome(written);
        *out = output.json;
        outcome
    }

    /// Appends what `write` writes, without rules: as `serde_json` does, up to a length. The value is validated by other
    /// means.
    ///
    /// # Errors
    ///
    /// Returns the reason why the value has no JSON.
    pub fn write_unchecked(
        out: &mut Vec<u8>,
        max_bytes: usize,
        write: &mut Write<'_>,
    ) -> Result<NonFinite, UnwritableError> {
        let mut output = ser::JsonOutput::new(Self::anything(), std::mem::take(out), max_bytes);
        output.notes = Some(Box::default());
        let recording = Recording::start();
        let written = write(ser::Writer::new(&mut output));
        let outcome = output.outcome(written);
        let notes = output.notes.take().map_or_else(Notes::default, |notes| *notes);
        *out = output.json;
        let at = |offset: usize| pointer_at(out, offset).unwrap_or_default();
        match outcome {
            Ok(()) => Ok(notes.floats.into_iter().map(|(offset, float)| (at(offset), float)).collect()),
            Err(EncodeError::TooLong) => Err(UnwritableError::TooLong),
            Err(EncodeError::Uncertain) => Err(match notes.key {
                Some(offset) => UnwritableError::Key(at(offset)),
                None => UnwritableError::Type(
                    recording.into_reason().message.unwrap_or_else(|| "cannot be serialized".to_owned()),
                ),
            }),
        }
    }
}

/// Writes one value to a serializer.
pub type Write<'w> = dyn FnMut(Sink<'_, '_>) -> Result<(), PlanError> + 'w;

/// Returns the code that reads a `T` into a slot. Nothing else is compiled for each type, but what reads its parts.
pub fn into_slot<T: DeserializeOwned>(
    slot: &mut Option<T>,
) -> impl FnMut(Source<'_, '_, '_>) -> Result<(), PlanError> + '_ {
    move |source| match T::deserialize(source) {
        Ok(value) => {
            *slot = Some(value);
            Ok(())
        }
        Err(PlanError) => Err(PlanError),
    }
}

/// Reads a `T` and drops it.
pub fn discard<T: DeserializeOwned>(source: Source<'_, '_, '_>) -> Result<(), PlanError> {
    match T::deserialize(source) {
        Ok(_) => Ok(()),
        Err(PlanError) => Err(PlanError),
    }
}

/// The first few non-finite floats of a value, which `serde_json` writes as `null`, with their JSON Pointers.
pub type NonFinite = Vec<(String, f64)>;

/// The reason why a value has no JSON.
#[derive(Debug, PartialEq, Eq)]
pub enum UnwritableError {
    /// The JSON exceeds the limit.
    TooLong,
    /// The value has a map with a key that JSON cannot represent, at this JSON Pointer.
    Key(String),
    /// The type refuses, with this message.
    Type(String),
}
