//! Queries with filters.

use std::borrow::Cow;
use std::hash::{Hash, Hasher};

use super::record::Record;
use toolkit::tool::{ToolBackend, normalize_tag};

/// A query with filters.
///
/// A text converts to a query without filters.
///
/// ```
/// use toolkit::Tool;
/// use toolkit_search::{Index, Query};
///
/// let mail = Tool::builder("send").namespace("mail").tags(["outgoing"]).build()?;
/// let chat = Tool::builder("send").namespace("chat").tags(["outgoing"]).build()?;
/// let index = Index::from_tools(&[mail, chat]);
/// assert_eq!(index.search("send", 5).len(), 2);
/// let hits = index.search(Query::new("send").namespace("mail").tag("outgoing"), 5);
/// assert_eq!((hits.len(), &*hits[0].summary.id), (1, "mail:send"));
/// # Ok::<(), toolkit::catalog::Diagnostics>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Query<'q> {
    text: Cow<'q, str>,
    pub(super) filter: Filter,
}

/// A behavior hint of a tool (MCP `ToolAnnotations`).
///
/// A filter by a hint only matches tools that declare it; a tool without a hint is neither read-only nor modifying.
///
/// ```
/// use toolkit::Tool;
/// use toolkit_search::{BehaviorHint, Index, Query};
///
/// let index = Index::from_tools(&[
///     Tool::builder("read_file").read_only(true).build()?,
///     Tool::builder("delete_file").read_only(false).build()?,
///     Tool::builder("copy_file").build()?,
/// ]);
/// let hits = index.search(Query::new("file").hint(BehaviorHint::ReadOnly, true), 5);
/// assert_eq!((hits.len(), &*hits[0].summary.name), (1, "read_file"));
/// # Ok::<(), toolkit::catalog::Diagnostics>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BehaviorHint {
    /// The tool does not modify its environment.
    ReadOnly,
    /// The tool may perform destructive updates.
    Destructive,
    /// Repeated calls with the same arguments have no additional effect.
    Idempotent,
    /// The tool interacts with an open world of external entities.
    OpenWorld,
}

/// The filters of a query.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Filter {
    namespaces: Vec<String>,
    tags: Vec<String>,
    categories: Vec<String>,
    hints: Vec<(BehaviorHint, bool)>,
    backends: Vec<ToolBackend>,
}

impl<'q> Query<'q> {
    /// Creates a query without filters. An empty text matches all tools, in the order of their ids.
    pub fn new(text: impl Into<Cow<'q, str>>) -> Self {
        Self { text: text.into(), filter: Filter::default() }
    }

    /// Returns the text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Restricts the result to a namespace. Several namespaces are alternatives. The empty one contains the tools
    /// without one.
    #[must_use]
    pub fn namespace(mut self, namespace: impl Into<String>) -> Self {
        self.filter.namespaces.push(namespace.into());
        self
    }

    /// Restricts the result to tools with a tag. Several tags are alternatives. Tags are compared in their normalized
    /// form.
    #[must_use]
    pub fn tag(mut self, tag: &str) -> Self {
        // No tool has an empty tag.
        self.filter.tags.push(normalize_tag(tag).unwrap_or_default());
        self
    }

    /// Restricts the result to a category, case-insensitively. Several categories are alternatives.
    #[must_use]
    pub fn category(mut self, category: &str) -> Self {
        self.filter.categories.push(category.trim().to_lowercase());
        self
    }

    /// Restricts the result to tools with this value of a hint. Tools without the hint are excluded, whatever its
    /// default in MCP.
    #[must_use]
    pub fn hint(mut self, hint: BehaviorHint, value: bool) -> Self {
        self.filter.hints.push((hint, value));
        self
    }

    /// Restricts the result to tools of a backend. Several backends are alternatives.
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
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    pub(super) fn matches(&self, record: &Record) -> bool {
        let Self { namespaces, tags, categories, hints, backends } = self;
        let category = || record.category().map(|category| category.trim().to_lowercase());
        let value_of = |hint| match hint {
            BehaviorHint::ReadOnly => record.hints.read_only,
            BehaviorHint::Destructive => record.hints.destructive,
            BehaviorHint::Idempotent => record.hints.idempotent,
            BehaviorHint::OpenWorld => record.hints.open_world,
        };
        (namespaces.is_empty() || namespaces.iter().any(|wanted| wanted == record.namespace()))
            && (tags.is_empty() || record.has_tag(|tag| tags.iter().any(|wanted| wanted == tag)))
            && (categories.is_empty() || category().is_some_and(|category| categories.contains(&category)))
            && hints.iter().all(|&(hint, value)| value_of(hint) == Some(value))
            && (backends.is_empty() || record.backends().iter().any(|backend| backends.contains(backend)))
    }
}
