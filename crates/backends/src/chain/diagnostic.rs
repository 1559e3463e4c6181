//! Diagnostics of chains.

use std::fmt;

use toolkit_schema::shown_pointer;

use super::definition::Chain;
use super::step::Step;

/// A defect that prevents a chain from running.
///
/// # Examples
///
/// ```
/// use toolkit::{Dispatcher, catalog, tool};
/// use toolkit_backends::chain::{Chain, Step};
///
/// /// Returns the population of a city.
/// #[tool]
/// fn population(city: String) -> u64 {
///     city.len() as u64
/// }
///
/// let dispatcher = Dispatcher::new(catalog![population]?)?;
/// let chain = Chain::new().then(Step::new("population").arg("town", "Lima"));
/// let diagnostics = chain.check(&dispatcher).unwrap_err();
/// let unknown = &diagnostics[1];
/// assert_eq!((unknown.step(), unknown.pointer()), (Some(0), "/0/args/town"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainDiagnostic {
    kind: ChainDiagnosticKind,
    step: Option<usize>,
    label: Option<String>,
    pointer: String,
    message: String,
}

/// The kind of a [`ChainDiagnostic`].
///
/// # Examples
///
/// The result of the first tool is a number, and the second takes text:
///
/// ```
/// use toolkit::{Dispatcher, catalog, tool};
/// use toolkit_backends::chain::{Chain, ChainDiagnosticKind, Step};
///
/// /// Counts the words of a text.
/// #[tool]
/// fn count(text: String) -> usize {
///     text.split_whitespace().count()
/// }
///
/// let dispatcher = Dispatcher::new(catalog![count]?)?;
/// let chain = Chain::new()
///     .then(Step::new("count").named("first").arg("text", "one two"))
///     .then(Step::new("count").take("text", "first", ""));
/// let diagnostics = chain.check(&dispatcher).unwrap_err();
/// assert_eq!(diagnostics[0].kind(), ChainDiagnosticKind::TypeMismatch);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ChainDiagnosticKind {
    /// The chain has more than [`MAX_STEPS`](super::MAX_STEPS) steps.
    TooManySteps,
    /// Two steps have the same id.
    DuplicateId,
    /// A step refers to a step that does not exist or does not come before it.
    UnknownStep,
    /// A text is not a JSON Pointer.
    InvalidPointer,
    /// An argument has two sources.
    ArgumentTwice,
    /// A step of a sequential chain has `after`.
    MisplacedAfter,
    /// `sleep` or `until` is no time, or too long.
    InvalidWait,
    /// `attempts` is not from 1 to 100, or the tool may not be called again.
    InvalidAttempts,
    /// The name of the tool is unknown or ambiguous.
    UnknownTool,
    /// The known arguments do not match the tool's input schema.
    InvalidArguments,
    /// According to the output schema of the earlier step, there is no value at the pointer.
    NothingThere,
    /// The type of the earlier step's result does not match the type of the argument.
    TypeMismatch,
}

impl ChainDiagnostic {
    /// Creates a diagnostic of the chain as a whole.
    pub(super) fn new(kind: ChainDiagnosticKind, message: String) -> Self {
        Self { kind, step: None, label: None, pointer: String::new(), message }
    }

    /// Returns the kind of the defect.
    #[must_use]
    pub fn kind(&self) -> ChainDiagnosticKind {
        self.kind
    }

    /// Returns the index of the step, if the defect concerns one.
    #[must_use]
    pub fn step(&self) -> Option<usize> {
        self.step
    }

    /// Returns the location as a JSON Pointer (RFC 6901) into the JSON of the chain.
    #[must_use]
    pub fn pointer(&self) -> &str {
        &self.pointer
    }

    /// Returns the message without the location.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for ChainDiagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A key may contain control characters that forge or hide lines.
        match &self.label {
            Some(label) => write!(f, "{} ({label}): {}", shown_pointer(&self.pointer), self.message),
            None => f.write_str(&self.message),
        }
    }
}

/// The maximum number of diagnostics. More are of little use, and each may cost a search for the nearest name.
pub(super) const MAX_DIAGNOSTICS: usize = 100;

/// The defects of a chain in the order of the steps, at most 100.
///
/// Dereferences to a slice of [`ChainDiagnostic`]s.
///
/// # Examples
///
/// ```
/// use toolkit::{Catalog, Dispatcher};
/// use toolkit_backends::chain::{Chain, Step};
///
/// let dispatcher = Dispatcher::new(Catalog::new([])?)?;
/// let chain = Chain::new().then(Step::new("fetch").named("page")).then(Step::new("fetch").named("page"));
/// let diagnostics = chain.check(&dispatcher).unwrap_err();
/// assert_eq!(diagnostics.len(), 3);
/// assert!(diagnostics.to_string().starts_with("the chain cannot run:\n/0/toolId (`page`): no tool is named `fetch`"));
/// # Ok::<(), toolkit::catalog::Diagnostics>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct ChainDiagnostics(Vec<ChainDiagnostic>);

impl ChainDiagnostics {
    /// Returns `Ok` if there are no diagnostics.
    pub(super) fn none_or(diagnostics: Vec<ChainDiagnostic>) -> Result<(), Self> {
        if diagnostics.is_empty() { Ok(()) } else { Err(Self(diagnostics)) }
    }

    /// Returns the diagnostics.
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

// `unwrap` in a test prints the `Debug` form, which should be readable.
impl fmt::Debug for ChainDiagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for ChainDiagnostics {}

/// A step of a chain, as the location of a diagnostic.
#[derive(Clone, Copy)]
pub(super) struct StepLocation<'c> {
    chain: &'c Chain,
    pub(super) idx: usize,
}

impl<'c> StepLocation<'c> {
    pub(super) fn all(chain: &'c Chain) -> impl Iterator<Item = (Self, &'c Step)> {
        chain.steps().iter().enumerate().map(move |(idx, step)| (Self { chain, idx }, step))
    }

    /// Creates a diagnostic of this step, at `pointer` within its JSON.
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

/// Shortens and escapes a name for a message.
pub(super) fn shown(name: &str) -> String {
    let shown: String = name.chars().take(120).collect();
    format!("`{}`", shown.escape_debug())
}
