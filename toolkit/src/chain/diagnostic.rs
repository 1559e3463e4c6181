//! What is wrong with a chain.

use std::fmt;

use super::{Chain, Step};
use toolkit_schema::shown_pointer;

/// One thing for which a chain is not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainDiagnostic {
    kind: ChainDiagnosticKind,
    step: Option<usize>,
    label: Option<String>,
    pointer: String,
    message: String,
}

/// What kind of thing is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ChainDiagnosticKind {
    /// There are more than [`MAX_STEPS`](super::MAX_STEPS) steps.
    TooManySteps,
    /// Two steps have one id.
    DuplicateId,
    /// A step refers to one that is not there, or that stands no earlier.
    UnknownStep,
    /// What should be a JSON Pointer is none.
    InvalidPointer,
    /// One argument comes from two places.
    ArgumentTwice,
    /// A step of a sequential chain says what it waits for.
    MisplacedAfter,
    /// No tool has that name, or several have.
    UnknownTool,
    /// The tool's input schema refuses the arguments, as far as they are known.
    InvalidArguments,
    /// The earlier step's output schema has nothing where the pointer leads.
    NothingThere,
    /// What the earlier step returns is never of a type that the argument takes.
    TypeMismatch,
}

impl ChainDiagnostic {
    /// A problem of the chain as a whole.
    pub(super) fn of_chain(kind: ChainDiagnosticKind, message: String) -> Self {
        Self { kind, step: None, label: None, pointer: String::new(), message }
    }

    /// What kind of thing is wrong.
    #[must_use]
    pub fn kind(&self) -> ChainDiagnosticKind {
        self.kind
    }

    /// The step, by its place in the chain, where it is about one.
    #[must_use]
    pub fn step(&self) -> Option<usize> {
        self.step
    }

    /// Where, as a JSON Pointer into the chain's JSON (RFC 6901).
    #[must_use]
    pub fn pointer(&self) -> &str {
        &self.pointer
    }

    /// What is wrong, without where.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for ChainDiagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A key may hold what forges a line, or hides one.
        match &self.label {
            Some(label) => write!(f, "{} ({label}): {}", shown_pointer(&self.pointer), self.message),
            None => f.write_str(&self.message),
        }
    }
}

/// More than this help nobody, and each may cost a search for the nearest name.
pub(super) const MAX_DIAGNOSTICS: usize = 100;

/// Everything for which a chain is not run, in the order of the steps; of very many the first hundred.
#[derive(Clone, PartialEq, Eq)]
pub struct ChainDiagnostics(Vec<ChainDiagnostic>);

impl ChainDiagnostics {
    /// `Ok` if nothing is wrong.
    pub(super) fn none_or(diagnostics: Vec<ChainDiagnostic>) -> Result<(), Self> {
        if diagnostics.is_empty() { Ok(()) } else { Err(Self(diagnostics)) }
    }

    /// The problems.
    #[must_use]
    pub fn into_vec(self) -> Vec<ChainDiagnostic> {
        self.0
    }
}

impl std::ops::Deref for ChainDiagnostics {
    type Target = [ChainDiagnostic];

    fn deref(&self) -> &[ChainDiagnostic] {
        &self.0
    }
}

impl fmt::Display for ChainDiagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the chain cannot run:")?;
        self.0.iter().try_for_each(|diagnostic| write!(f, "\n{diagnostic}"))
    }
}

// `unwrap` in a test prints this, and the reader of a failed test is a person too.
impl fmt::Debug for ChainDiagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for ChainDiagnostics {}

/// Where a problem is found: a step, and what it is called.
#[derive(Clone, Copy)]
pub(super) struct Place<'c> {
    chain: &'c Chain,
    pub(super) idx: usize,
}

impl<'c> Place<'c> {
    pub(super) fn all(chain: &'c Chain) -> impl Iterator<Item = (Self, &'c Step)> {
        chain.steps().iter().enumerate().map(move |(idx, step)| (Self { chain, idx }, step))
    }

    /// A problem of this step, at `pointer` within its JSON.
    pub(super) fn diagnostic(
        self,
        kind: ChainDiagnosticKind,
        pointer: &str,
        message: impl Into<String>,
    ) -> ChainDiagnostic {
        let step = &self.chain.steps()[self.idx];
        ChainDiagnostic {
            kind,
            step: Some(self.idx),
            label: Some(shown(step.id().unwrap_or(step.tool()))),
            pointer: format!("{}/{}{pointer}", self.chain.order.pointer(), self.idx),
            message: message.into(),
        }
    }
}

/// A name as a message repeats it: on one line, and not for ever.
pub(super) fn shown(name: &str) -> String {
    let shown: String = name.chars().take(120).collect();
    format!("`{}`", shown.escape_debug())
}
