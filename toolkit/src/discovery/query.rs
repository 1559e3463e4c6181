//! A question, and which tools may answer it.

use std::borrow::Cow;
use std::hash::{Hash, Hasher};

use super::record::Record;
use crate::tool::{ToolBackend, normalize_tag};

/// A question, and which tools may answer it.
///
/// A text alone is a question to all tools.
///
/// ```
/// # use toolkit::discovery::{Hint, Query};
/// let query = Query::new("send an email").namespace("mail").tag("outgoing").hint(Hint::Destructive, false);
/// # assert_eq!(query.text(), "send an email");
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Query<'q> {
    text: Cow<'q, str>,
    pub(super) filter: Filter,
}

/// A hint about what a tool does to the world (MCP `ToolAnnotations`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Hint {
    /// It changes nothing.
    ReadOnly,
    /// It may delete or overwrite.
    Destructive,
    /// Calling it again changes nothing more.
    Idempotent,
    /// It reaches beyond a closed domain.
    OpenWorld,
}

/// Which tools may answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Filter {
    namespaces: Vec<String>,
    tags: Vec<String>,
    categories: Vec<String>,
    hints: Vec<(Hint, bool)>,
    backends: Vec<ToolBackend>,
}

impl<'q> Query<'q> {
    /// A question to all tools; an empty one is answered by all of them, in the order of their ids.
    pub fn new(text: impl Into<Cow<'q, str>>) -> Self {
        Self { text: text.into(), filter: Filter::default() }
    }

    /// What is asked.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Only tools of this namespace, or of another that is given too; the empty one is that of tools without.
    #[must_use]
    pub fn namespace(mut self, namespace: impl Into<String>) -> Self {
        self.filter.namespaces.push(namespace.into());
        self
    }

    /// Only tools with this tag, or with another that is given too. Tags are compared as they are stored, normalised.
    #[must_use]
    pub fn tag(mut self, tag: &str) -> Self {
        // A tag that nothing is left of is one that no tool has.
        self.filter.tags.push(normalize_tag(tag).unwrap_or_default());
        self
    }

    /// Only tools of this category, in upper or lower case, or of another that is given too.
    #[must_use]
    pub fn category(mut self, category: &str) -> Self {
        self.filter.categories.push(category.trim().to_lowercase());
        self
    }

    /// Only tools that say so of themselves; those that say nothing are left out, whatever MCP would assume.
    #[must_use]
    pub fn hint(mut self, hint: Hint, value: bool) -> Self {
        self.filter.hints.push((hint, value));
        self
    }

    /// Only tools that this runs, or another that is given too.
    #[must_use]
    pub fn backend(mut self, backend: ToolBackend) -> Self {
        self.filter.backends.push(backend);
        self
    }
}

impl<'q> From<&'q str> for Query<'q> {
    fn from(text: &'q str) -> Self {
        Self::new(text)
    }
}

impl<'q> From<&'q String> for Query<'q> {
    fn from(text: &'q String) -> Self {
        Self::new(text.as_str())
    }
}

impl Hash for Query<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let Filter { namespaces, tags, categories, hints, backends } = &self.filter;
        (&self.text, namespaces, tags, categories, hints, backends).hash(state);
    }
}

impl Filter {
    pub(super) fn is_open(&self) -> bool {
        *self == Self::default()
    }

    pub(super) fn admits(&self, record: &Record) -> bool {
        let Self { namespaces, tags, categories, hints, backends } = self;
        let summary = &*record.summary;
        let namespace = summary.namespace.as_deref().unwrap_or_default();
        let category = || summary.category.as_deref().map(|category| category.trim().to_lowercase());
        let says = |hint| match hint {
            Hint::ReadOnly => record.hints.read_only,
            Hint::Destructive => record.hints.destructive,
            Hint::Idempotent => record.hints.idempotent,
            Hint::OpenWorld => record.hints.open_world,
        };
        (namespaces.is_empty() || namespaces.iter().any(|wanted| wanted == namespace))
            && (tags.is_empty() || summary.tags.iter().any(|tag| tags.contains(tag)))
            && (categories.is_empty() || category().is_some_and(|category| categories.contains(&category)))
            && hints.iter().all(|&(hint, value)| says(hint) == Some(value))
            && (backends.is_empty() || record.backends.iter().any(|backend| backends.contains(backend)))
    }
}
