//! Diagnostics of a catalog.

use std::fmt;

use super::Tool;
use super::entry::Location;
use toolkit_schema::{quoted, shown_id};

/// A problem of a catalog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    kind: DiagnosticKind,
    message: String,
    tools: Vec<(String, Option<Location>)>,
}

/// The kind of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DiagnosticKind {
    /// Two tools have one id.
    DuplicateId,
    /// A former name is the name of something else.
    AliasTaken,
    /// An input schema accepts something other than objects.
    NotAnObject,
    /// A schema is not sound.
    InvalidSchema,
    /// The keys of a map cannot be read from a string.
    ImpossibleKey,
    /// An example is not JSON, or the input schema refuses it.
    InvalidExample,
    /// `meta` is not a JSON object.
    InvalidMeta,
    /// A text of the tool is meant to deceive; see [`lint`](crate::lint).
    Deceptive,
    /// A document is not a tool: fields are missing, or are not of their kind.
    Malformed,
    /// A name, a namespace or a former name has characters that it must not have, or too many.
    InvalidName,
    /// A version is not one that `semver` reads.
    InvalidVersion,
    /// Under the naming policy, two tools get one name, or a name that clients refuse.
    WireName,
    /// The state that a tool borrows is missing.
    MissingState,
    /// The host passed two values of one type of state.
    DuplicateState,
    /// The namespace of an instance is not one, or no tool borrows from the instance.
    InvalidInstance,
    /// The tool needs a feature that is switched off.
    MissingFeature,
    /// A setting of the dispatcher lets no call succeed.
    InvalidSetting,
    /// The catalog differs from an expectation.
    Unexpected,
    /// A change that breaks callers, and no version that says so.
    Broken,
    /// A tool of a backend stands in a namespace of the program.
    NamespaceTaken,
    /// The contract of a tool of a backend is not the one that the lock holds.
    NotReviewed,
    /// A text, a schema or the record of a tool of a backend is longer than the limits allow.
    TooLong,
}

impl Diagnostic {
    /// Creates a problem of these tools, or of a document that is not a tool yet.
    pub fn new<'t>(
        kind: DiagnosticKind,
        message: impl Into<String>,
        tools: impl IntoIterator<Item = &'t Tool>,
    ) -> Self {
        let tools = tools.into_iter();
        Self {
            kind,
            message: message.into(),
            tools: tools.map(|tool| (tool.id().to_string(), tool.location())).collect(),
        }
    }

    pub(crate) fn duplicate_id(a: &Tool, b: &Tool) -> Self {
        let message = format!("two tools have the id `{}`", shown_id(a.id()));
        Self::new(DiagnosticKind::DuplicateId, message, [a, b])
    }

    pub(crate) fn alias_taken(alias: &str, tool: &Tool, other: &Tool) -> Self {
        let message = format!("the alias {} is taken", quoted(alias));
        Self::new(DiagnosticKind::AliasTaken, message, [tool, other])
    }

    /// Returns the kind.
    #[must_use]
    pub fn kind(&self) -> DiagnosticKind {
        self.kind
    }

    /// Returns the message, without the places.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Returns the tools concerned: their ids, and their locations if they are functions of this program.
    pub fn tools(&self) -> impl Iterator<Item = (&str, Option<Location>)> {
        self.tools.iter().map(|(id, location)| (&**id, *location))
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        for (id, location) in &self.tools {
            write!(f, "\n  {}", shown_id(id))?;
            if let Some(location) = location {
                write!(f, " at {location}")?;
            }
        }
        Ok(())
    }
}

/// The maximum number of tools that a message names.
const MAX_NAMED: usize = 8;

/// Returns the ids of tools for a message: the first few, and the number of the others.
pub(crate) fn ids_of<'t>(tools: impl ExactSizeIterator<Item = &'t Tool>, between: &str) -> String {
    let n_more = tools.len().saturating_sub(MAX_NAMED);
    let mut ids: Vec<String> = tools.take(MAX_NAMED).map(|tool| format!("`{}`", shown_id(tool.id()))).collect();
    if n_more > 0 {
        ids.push(format!("{n_more} more"));
    }
    ids.join(between)
}

/// All problems of a catalog; at least one.
#[derive(Clone, PartialEq, Eq)]
pub struct Diagnostics(Vec<Diagnostic>);

impl Diagnostics {
    pub(crate) fn none_or(diagnostics: Vec<Diagnostic>) -> Result<(), Self> {
        if diagnostics.is_empty() { Ok(()) } else { Err(Self(diagnostics)) }
    }

    /// Appends other problems.
    pub(crate) fn and(mut self, others: Self) -> Self {
        self.0.extend(others.0);
        self
    }

    /// Returns an iterator over the problems.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.0.iter()
    }
}

impl From<Diagnostic> for Diagnostics {
    fn from(diagnostic: Diagnostic) -> Self {
        Self(vec![diagnostic])
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (idx, diagnostic) in self.0.iter().enumerate() {
            let separator = if idx == 0 { "" } else { "\n" };
            write!(f, "{separator}{diagnostic}")?;
        }
        Ok(())
    }
}

// `unwrap` in a test prints the `Debug` form.
impl fmt::Debug for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Diagnostics {}
