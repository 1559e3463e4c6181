//! What has changed, and whom it concerns.

use std::fmt;

use serde::Serialize;
use serde_json::Value;

/// One change of one tool.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Change {
    /// The id of the tool as it was; of a new one, as it is.
    pub tool: String,
    /// What it means for those who call.
    pub verdict: Verdict,
    /// What of the tool has changed.
    pub part: Part,
    /// Where: a JSON Pointer into the schema, its definitions written out; or the name of the field.
    pub pointer: String,
    /// What has changed, as a sentence without a subject.
    pub what: String,
    /// Something that was accepted and no longer is, or is given and never was, where one was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub example: Option<Value>,
    /// The least version that would announce it, where the one that is there does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub needs: Option<String>,
}

/// What a change means for those who call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Verdict {
    /// Nothing that a program could see.
    Cosmetic,
    /// More is accepted or promised than before.
    Additive,
    /// It could not be decided, and counts as breaking.
    Unknown,
    /// Something that worked works no longer.
    Breaking,
}

/// What of a tool has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Part {
    /// Whether it is there, and what it says of itself.
    Record,
    /// What it takes.
    Input,
    /// What it gives.
    Output,
}

/// All changes from one catalogue to another, by tool, part and place.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Comparison {
    pub(super) changes: Vec<Change>,
}

impl Comparison {
    /// The changes.
    pub fn changes(&self) -> impl Iterator<Item = &Change> {
        self.changes.iter()
    }

    /// The worst of them; `None` where nothing has changed.
    #[must_use]
    pub fn verdict(&self) -> Option<Verdict> {
        self.changes.iter().map(|change| change.verdict).max()
    }

    /// Those that break callers, or may, and whose version does not say so.
    pub fn unannounced(&self) -> impl Iterator<Item = &Change> {
        self.changes.iter().filter(|change| change.verdict >= Verdict::Unknown && change.needs.is_some())
    }
}

impl Verdict {
    /// `cosmetic`, `additive`, `unknown` or `breaking`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Verdict::Cosmetic => "cosmetic",
            Verdict::Additive => "additive",
            Verdict::Unknown => "unknown",
            Verdict::Breaking => "breaking",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = match self.part {
            Part::Record => "",
            Part::Input => "input ",
            Part::Output => "output ",
        };
        let place = if self.pointer.is_empty() && self.part != Part::Record { "root" } else { &self.pointer };
        let space = if place.is_empty() { "" } else { " " };
        write!(f, "{}: {} {part}{place}{space}{}", self.verdict, self.tool, self.what)?;
        if let Some(example) = &self.example {
            write!(f, ", as {example}")?;
        }
        match &self.needs {
            Some(version) => write!(f, "; that takes version {version}"),
            None => Ok(()),
        }
    }
}
