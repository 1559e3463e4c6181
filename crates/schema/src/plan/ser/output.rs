//! The JSON output, with a length limit.

use std::fmt::Display;
use std::io;

use serde::Serializer;

use super::super::node::Plan;
use super::super::plan_error::{EncodeError, PlanError};
use super::super::special;

/// The maximum depth, the same as that of `serde_json`.
const MAX_DEPTH: u8 = 127;

/// The JSON written so far.
pub(in super::super) struct JsonOutput<'p> {
    pub(super) plan: &'p Plan,
    pub(in super::super) json: Vec<u8>,
    /// The maximum length of the JSON. It is checked before each string and bracket, so the output exceeds it by
    /// little.
    max_bytes: usize,
    /// The number of open arrays and objects.
    depth: u8,
    /// Set permanently by the first error, since a `Serialize` may swallow the error and continue.
    failed: bool,
    /// Set permanently once the JSON would exceed the maximum length.
    is_exceeded: bool,
    /// If present, there are no rules, and what JSON cannot represent is recorded.
    pub(in super::super) notes: Option<Box<Notes>>,
}

/// The maximum number of recorded floats.
const MAX_FLOATS: usize = 16;

/// Values that JSON cannot represent, with their offset in the text.
#[derive(Debug, Default)]
pub struct Notes {
    pub floats: Vec<(usize, f64)>,
    /// The offset of a key that is not a string.
    pub key: Option<usize>,
}

impl<'p> JsonOutput<'p> {
    #[inline]
    pub(in super::super) fn new(plan: &'p Plan, json: Vec<u8>, max_bytes: usize) -> Self {
        JsonOutput { plan, json, max_bytes, depth: 0, failed: false, is_exceeded: false, notes: None }
    }

    /// Returns the outcome of a value that was `written`.
    #[inline]
    pub(in super::super) fn outcome(&self, written: Result<(), PlanError>) -> Result<(), EncodeError> {
        match written {
            Ok(()) if !self.failed && self.json.len() <= self.max_bytes => Ok(()),
            Ok(()) if !self.failed => Err(EncodeError::TooLong),
            _ if self.is_exceeded => Err(EncodeError::TooLong),
            _ => Err(EncodeError::Uncertain),
        }
    }

    /// Returns true if there are no rules, and the value is validated by other means.
    #[cold]
    pub(super) fn is_unchecked(&self) -> bool {
        self.notes.is_some()
    }

    /// Checks that there is room for `n_bytes` more.
    #[inline]
    fn check_room(&mut self, n_bytes: usize) -> Result<(), PlanError> {
        if n_bytes > self.max_bytes.saturating_sub(self.json.len()) {
            self.is_exceeded = true;
            return Err(PlanError);
        }
        Ok(())
    }

    #[inline]
    pub(super) fn open(&mut self, bracket: u8) -> Result<(), PlanError> {
        if self.depth == MAX_DEPTH && !self.is_unchecked() {
            return Err(PlanError);
        }
        self.check_room(1)?;
        // Without a limit, the depth means nothing.
        self.depth = self.depth.saturating_add(1);
        self.json.push(bracket);
        Ok(())
    }

    /// Writes a closing bracket.
    #[inline(never)]
    pub(super) fn close(&mut self, bracket: u8) {
        self.depth = self.depth.saturating_sub(1);
        self.json.push(bracket);
    }

    #[inline]
    pub(super) fn string(&mut self, text: &str) -> Result<(), PlanError> {
        let bytes = text.as_bytes();
        self.check_room(bytes.len())?;
        if special::position(bytes) < bytes.len() {
            return self.write(|s| s.serialize_str(text));
        }
        self.json.reserve(bytes.len() + 2);
        self.json.push(b'"');
        self.json.extend_from_slice(bytes);
        self.json.push(b'"');
        Ok(())
    }

    /// Writes a scalar with `serde_json`.
    #[inline]
    pub(super) fn write(
        &mut self,
        write: impl FnOnce(&mut serde_json::Serializer<&mut Vec<u8>>) -> serde_json::Result<()>,
    ) -> Result<(), PlanError> {
        self.check_room(1)?;
        write(&mut serde_json::Serializer::new(&mut self.json)).map_err(|_| PlanError)
    }

    #[cold]
    pub(super) fn note_float(&mut self, value: f64) {
        let place = self.json.len();
        if let Some(notes) = self.notes.as_mut().filter(|notes| notes.floats.len() < MAX_FLOATS) {
            notes.floats.push((place, value));
        }
    }

    #[cold]
    pub(super) fn note_key(&mut self, place: usize) {
        if let Some(notes) = &mut self.notes {
            notes.key = notes.key.or(Some(place));
        }
    }

    /// Writes `true`, `false` or `null`.
    #[inline]
    pub(super) fn literal(&mut self, literal: &'static str) -> Result<(), PlanError> {
        self.check_room(literal.len())?;
        self.json.extend_from_slice(literal.as_bytes());
        Ok(())
    }

    /// Writes a text of unknown length.
    pub(super) fn display(&mut self, text: &(impl Display + ?Sized)) -> Result<(), PlanError> {
        let mut limited = Limited::new(&mut self.json, self.max_bytes);
        let written = serde_json::Serializer::new(&mut limited).collect_str(text).map_err(|_| PlanError);
        self.is_exceeded |= limited.is_exceeded();
        written
    }

    /// Marks the output as failed if `result` is an error, so that the error cannot be swallowed.
    #[inline]
    pub(super) fn poison_on_err<T>(&mut self, result: Result<T, PlanError>) -> Result<T, PlanError> {
        if result.is_err() {
            self.failed = true;
        }
        result
    }
}

/// Appends to a JSON text up to a length. Longer writes fail.
pub struct Limited<'j> {
    json: &'j mut Vec<u8>,
    max_bytes: usize,
    is_exceeded: bool,
}

impl<'j> Limited<'j> {
    /// Appends to `json`, until it has `max_bytes` bytes.
    pub fn new(json: &'j mut Vec<u8>, max_bytes: usize) -> Self {
        Self { json, max_bytes, is_exceeded: false }
    }

    /// Returns true if a write exceeded the limit.
    pub fn is_exceeded(&self) -> bool {
        self.is_exceeded
    }
}

impl io::Write for Limited<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.len() > self.max_bytes.saturating_sub(self.json.len()) {
            self.is_exceeded = true;
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.json.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
