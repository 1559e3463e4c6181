//! The JSON that is being written.

use std::fmt::Display;

use serde::Serializer;

use super::super::arena::Plan;
use super::super::limited::Limited;
use super::super::refused::Refused;
use super::super::special;

/// How deep `serde_json` reads.
const MAX_DEPTH: u8 = 127;

/// JSON written so far.
pub(in super::super) struct Output<'p> {
    pub(super) plan: &'p Plan,
    pub(in super::super) json: Vec<u8>,
    /// How long the JSON may become. It is asked before each string and each bracket, so that it is exceeded by little.
    max_bytes: usize,
    /// How many arrays and objects are open.
    depth: u8,
    /// Set for good once something went wrong: a `Serialize` may swallow the error and go on.
    failed: bool,
    /// Set for good once the JSON would become too long.
    is_exceeded: bool,
    /// What JSON cannot represent, where it is asked for.
    pub(in super::super) notes: Option<Box<Notes>>,
}

/// The most floats that are noted.
const MAX_FLOATS: usize = 16;

/// What JSON cannot represent, by where it would begin in the text.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    pub(crate) floats: Vec<(usize, f64)>,
    /// A key that is not a string.
    pub(crate) key: Option<usize>,
}

impl<'p> Output<'p> {
    #[inline]
    pub(in super::super) fn new(plan: &'p Plan, json: Vec<u8>, max_bytes: usize) -> Self {
        Output { plan, json, max_bytes, depth: 0, failed: false, is_exceeded: false, notes: None }
    }

    #[inline]
    pub(in super::super) fn has_failed(&self) -> bool {
        self.failed
    }

    #[inline]
    pub(in super::super) fn is_exceeded(&self) -> bool {
        self.is_exceeded
    }

    /// Makes sure that there is room for `n_bytes` more.
    #[inline]
    fn check_room(&mut self, n_bytes: usize) -> Result<(), Refused> {
        if n_bytes > self.max_bytes.saturating_sub(self.json.len()) {
            self.is_exceeded = true;
            return Err(Refused);
        }
        Ok(())
    }

    #[inline]
    pub(super) fn open(&mut self, bracket: u8) -> Result<(), Refused> {
        if self.depth == MAX_DEPTH {
            return Err(Refused);
        }
        self.check_room(1)?;
        self.depth += 1;
        self.json.push(bracket);
        Ok(())
    }

    /// Writes as many brackets as are closed.
    #[inline]
    pub(super) fn close(&mut self, brackets: &'static [u8]) {
        self.depth = self.depth.saturating_sub(brackets.len() as u8);
        // One or two: less than it is worth calling for a copy.
        brackets.iter().for_each(|bracket| self.json.push(*bracket));
    }

    #[inline]
    pub(super) fn string(&mut self, text: &str) -> Result<(), Refused> {
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

    /// Lets `serde_json` write one scalar.
    #[inline]
    pub(super) fn write(
        &mut self,
        write: impl FnOnce(&mut serde_json::Serializer<&mut Vec<u8>>) -> serde_json::Result<()>,
    ) -> Result<(), Refused> {
        self.check_room(1)?;
        write(&mut serde_json::Serializer::new(&mut self.json)).map_err(|_| Refused)
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
    pub(super) fn literal(&mut self, literal: &'static str) -> Result<(), Refused> {
        self.check_room(literal.len())?;
        self.json.extend_from_slice(literal.as_bytes());
        Ok(())
    }

    /// Writes a text of unknown length.
    pub(super) fn display(&mut self, text: &(impl Display + ?Sized)) -> Result<(), Refused> {
        let mut limited = Limited::new(&mut self.json, self.max_bytes);
        let written = serde_json::Serializer::new(&mut limited).collect_str(text).map_err(|_| Refused);
        self.is_exceeded |= limited.is_exceeded();
        written
    }

    /// Makes sure that an error stays one.
    #[inline]
    pub(super) fn sure<T>(&mut self, result: Result<T, Refused>) -> Result<T, Refused> {
        if result.is_err() {
            self.failed = true;
        }
        result
    }
}
