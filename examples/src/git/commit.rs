//! Eleventh lesson, continued: fields with an unambiguous separator.

use schemars::JsonSchema;
use serde::Serialize;

/// A commit.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Commit {
    /// The full hash.
    pub hash: String,
    /// The name of the author.
    pub author: String,
    /// The email address of the author.
    pub email: String,
    /// The author date, in ISO 8601.
    pub date: String,
    /// The message; in a log, only its first line.
    pub message: String,
}

/// The number of fields of a [`Commit`].
pub(super) const N_FIELDS: usize = 5;

/// The format of all fields but the last, each followed by NUL, which no field can contain.
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
