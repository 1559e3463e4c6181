//! The next value of the output, and the writing of scalars.

use std::fmt::Display;

use serde::ser::Serializer;

use super::compound::ObjectWriter;
use super::key::with_text;
use super::output::JsonOutput;
use crate::plan::node::{Kinds, PlanNode};
use crate::plan::object::Member;
use crate::plan::plan_error::PlanError;

/// Writes one value, to which the rules of `node` apply: a serializer.
pub struct Writer<'w, 'p> {
    pub(in super::super) out: &'w mut JsonOutput<'p>,
    pub(in super::super) node: &'p PlanNode,
}

impl<'w, 'p> Writer<'w, 'p> {
    #[inline]
    pub(in super::super) fn new(out: &'w mut JsonOutput<'p>) -> Self {
        let node = out.plan.root();
        Self { out, node }
    }

    /// Writes an integer of more than 64 bits. It would be read as a float, so that no plan admits it.
    #[cold]
    pub(super) fn wide(
        self,
        write: impl FnOnce(&mut serde_json::Serializer<&mut Vec<u8>>) -> serde_json::Result<()>,
    ) -> Result<(), PlanError> {
        if self.out.is_unchecked() { self.out.write(write) } else { Err(PlanError) }
    }

    /// Begins a struct whose only field is raw JSON, which no plan validates.
    #[cold]
    pub(super) fn raw(self) -> Result<ObjectWriter<'w, 'p>, PlanError> {
        if self.out.is_unchecked() { Ok(ObjectWriter::raw(self.out)) } else { Err(PlanError) }
    }

    #[inline]
    pub(super) fn null(self) -> Result<(), PlanError> {
        self.node.null()?;
        self.out.literal("null")
    }

    #[inline]
    pub(super) fn boolean(self, value: bool) -> Result<(), PlanError> {
        self.node.boolean(value)?;
        self.out.literal(if value { "true" } else { "false" })
    }

    pub(super) fn short_float(self, value: f32) -> Result<(), PlanError> {
        if !value.is_finite() {
            return self.non_finite(value.into());
        }
        self.node.allow(Kinds::FLOAT)?;
        let start = self.out.json.len();
        self.out.write(|s| s.serialize_f32(value))?;
        match self.node.number {
            None => Ok(()),
            Some(_) => self.node.float(read_back(&self.out.json[start..])?),
        }
    }

    #[inline]
    pub(super) fn float(self, value: f64) -> Result<(), PlanError> {
        if !value.is_finite() {
            return self.non_finite(value);
        }
        self.node.allow(Kinds::FLOAT)?;
        let start = self.out.json.len();
        self.out.write(|s| s.serialize_f64(value))?;
        match &self.node.number {
            None => Ok(()),
            Some(rule) if rule.admits_around(value) => Ok(()),
            Some(_) => self.node.float(read_back(&self.out.json[start..])?),
        }
    }

    /// Writes `null`, as `serde_json` does for such a number.
    #[cold]
    fn non_finite(self, value: f64) -> Result<(), PlanError> {
        self.out.note_float(value);
        self.null()
    }

    #[inline]
    pub(super) fn string(self, value: &str) -> Result<(), PlanError> {
        // The length limit is checked first, since the rules for a string read all of it.
        self.out.string(value)?;
        self.node.string(value)
    }

    pub(super) fn display<T: Display + ?Sized>(self, value: &T) -> Result<(), PlanError> {
        self.node.allow(Kinds::STRING)?;
        let start = self.out.json.len();
        self.out.display(value)?;
        match self.node.string {
            None => Ok(()),
            Some(_) => with_text(&self.out.json[start..], |text| {
                self.node.string(std::str::from_utf8(text).map_err(|_| PlanError)?)
            }),
        }
    }

    /// Opens the object around the content of a variant. The caller closes it.
    pub(super) fn variant(self, variant: &str) -> Result<Writer<'w, 'p>, PlanError> {
        let mut members = self.node.object()?;
        let node = match members.enter(variant.as_bytes())? {
            Member::Known(property) => property.node,
            Member::Other(node) => node,
            Member::Tag(_) => return Err(PlanError),
        };
        members.finish()?;
        self.out.open(b'{')?;
        self.out.string(variant)?;
        self.out.json.push(b':');
        Ok(Writer { node: self.out.plan.node(node), out: self.out })
    }
}

/// Parses the number as a reader will, which can differ from the original in the last digit.
fn read_back(json: &[u8]) -> Result<f64, PlanError> {
    serde_json::from_slice(json).map_err(|_| PlanError)
}
