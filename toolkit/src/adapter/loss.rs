//! What a target cannot say.

use std::fmt;

use serde::Serialize;

/// One thing that a target cannot say of a tool, or says in other words.
///
/// Losses are in a fixed order: the tool's own record first, then its input schema and its output schema, each from the
/// root down, names in their order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Loss {
    /// Where in the tool it is.
    pub side: Side,
    /// Where on that side: a JSON Pointer into the schema, its definitions written out where they are used; or the name
    /// of the field.
    pub pointer: String,
    /// The keyword or field that is lost.
    pub keyword: String,
    /// What it means for who calls.
    pub effect: Effect,
    /// What became of it, as a sentence without a subject.
    pub reason: String,
}

/// A side of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Side {
    /// What it says of itself.
    Record,
    /// What it takes.
    Input,
    /// What it gives.
    Output,
}

/// What a loss means for who calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Effect {
    /// Nothing that was accepted is refused, nor the other way round.
    Untold,
    /// The target accepts what the tool refuses; the dispatcher refuses it still.
    Widened,
    /// The target has no way to say what the tool accepts.
    Narrowed,
}

impl Loss {
    /// One thing that is lost. For a field of the record `pointer` is its name behind a slash.
    #[must_use]
    pub fn new(
        side: Side,
        pointer: impl Into<String>,
        keyword: impl Into<String>,
        effect: Effect,
        reason: impl Into<String>,
    ) -> Self {
        Self { side, pointer: pointer.into(), keyword: keyword.into(), effect, reason: reason.into() }
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.side {
            Side::Record => write!(f, "`{}` {}", self.keyword, self.reason),
            Side::Input => write!(f, "input {}: `{}` {}", Place(&self.pointer), self.keyword, self.reason),
            Side::Output => write!(f, "output {}: `{}` {}", Place(&self.pointer), self.keyword, self.reason),
        }
    }
}

struct Place<'p>(&'p str);

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_empty() { "root" } else { self.0 })
    }
}
