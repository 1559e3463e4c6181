//! Eleventh lesson, continued: fields that cannot run into each other.

use schemars::JsonSchema;
use serde::Serialize;

/// A commit.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Commit {
    /// Its full hash.
    pub hash: String,
    /// Who wrote it.
    pub author: String,
    /// The address of the author.
    pub email: String,
    /// When it was written, by ISO 8601.
    pub date: String,
    /// The message; in a log, only its first line.
    pub message: String,
}

/// How many fields a [`Commit`] has.
pub(super) const N_FIELDS: usize = 5;

/// All but the last, each with a NUL behind it, which no field can hold.
pub(super) const FIELDS: &str = "%H%x00%an%x00%ae%x00%aI%x00";

impl Commit {
    pub(super) fn read<'t>(fields: &mut impl Iterator<Item = &'t str>) -> Option<Self> {
        let mut next = || fields.next().map(str::to_owned);
        let hash = next().filter(|hash| !hash.trim().is_empty())?;
        Some(Self {
            hash: hash.trim().to_owned(),
            author: next()?,
            email: next()?,
            date: next()?,
            message: next()?.trim_end().to_owned(),
        })
    }
}
