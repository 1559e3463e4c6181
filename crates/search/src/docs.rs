//! Documentation of tools at three levels of detail, with examples of calls.

mod args_size;
mod doc_error;
mod example;

use std::collections::BTreeMap;
use std::str::FromStr;
use std::sync::{Arc, PoisonError, RwLock};

use serde::Serialize;
use toolkit::tool::{Annotations, Tool};

pub use self::args_size::ArgsSize;
pub use self::doc_error::{DocError, ResolveError};
pub use self::example::ToolExample;
use crate::index::Index;
pub use crate::summary::SchemaInfo;
use crate::summary::{Summary, cut, summary_text};

toolkit::named! {
    /// The level of detail of a tool's documentation.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use serde_json::json;
    /// use toolkit::Tool;
    /// use toolkit_search::{Detail, Docs, Index};
    ///
    /// let input = json!({ "type": "object", "properties": { "a": { "type": "integer" } } });
    /// let add = Tool::builder("add").input(input).examples([json!({ "a": 1 })]).build()?;
    /// let docs = Docs::new(Arc::new(Index::from_tools(&[add])));
    /// let detail: Detail = "schema".parse()?;
    /// let doc = docs.describe("add", detail)?;
    /// assert!(doc.tool.is_some() && doc.examples.is_empty());
    /// assert_eq!(docs.describe("add", Detail::Full)?.examples.len(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[non_exhaustive]
    pub enum Detail {
        /// The summary.
        Summary = "summary",
        /// Also the tool itself, with a summary of its input schema.
        Schema = "schema",
        /// Also notes, examples and references.
        Full = "full",
    }
}

/// Parses `summary`, `schema` or `full`.
impl FromStr for Detail {
    type Err = DocError;

    fn from_str(text: &str) -> Result<Self, DocError> {
        Self::from_name(text).ok_or_else(|| DocError::UnknownDetail { detail: text.chars().take(40).collect() })
    }
}

/// Documentation of a tool that a host adds to the tool's own.
///
/// ```
/// # use std::sync::Arc;
/// # use toolkit::Tool;
/// # use toolkit_search::{Detail, DocEntry, Docs, Index};
/// # let add = Tool::builder("add").description("Adds two integers.").build()?;
/// # let docs = Docs::new(Arc::new(Index::from_tools(&[add])));
/// docs.register("add", DocEntry::new().notes("Overflow wraps.").external_ref("https://example.com"))?;
/// assert_eq!(docs.describe("add", Detail::Full)?.notes, "Overflow wraps.");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
#[must_use]
pub struct DocEntry {
    /// A summary, which replaces that of the tool unless it is empty; truncated to [`Docs::MAX_SUMMARY`] characters.
    pub summary: String,
    /// Notes for callers; truncated to [`Docs::MAX_NOTES`] characters.
    pub notes: String,
    /// Examples of calls.
    pub examples: Vec<ToolExample>,
    /// URLs or ids of resources.
    pub external_refs: Vec<String>,
}

impl DocEntry {
    /// Creates an empty entry.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the summary.
    pub fn summary(mut self, summary: impl Into<String>) -> Self {
        self.summary = summary.into();
        self
    }

    /// Sets the notes.
    pub fn notes(mut self, notes: impl Into<String>) -> Self {
        self.notes = notes.into();
        self
    }

    /// Adds an example.
    pub fn example(mut self, example: ToolExample) -> Self {
        self.examples.push(example);
        self
    }

    /// Adds a URL or the id of a resource.
    pub fn external_ref(mut self, reference: impl Into<String>) -> Self {
        self.external_refs.push(reference.into());
        self
    }
}

/// The documentation of a tool. Empty fields are omitted from its JSON.
///
/// ```
/// use std::sync::Arc;
/// use serde_json::json;
/// use toolkit::Tool;
/// use toolkit_search::{Detail, Docs, Index};
///
/// let add = Tool::builder("add").description("Adds two integers.\n\nOverflow wraps.").build()?;
/// let docs = Docs::new(Arc::new(Index::from_tools(&[add])));
/// let doc = docs.describe("add", Detail::Summary)?;
/// assert_eq!(serde_json::to_value(&doc)?, json!({ "id": "add", "summary": "Adds two integers." }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToolDoc {
    /// The id of the tool.
    pub id: String,
    /// The summary, at most [`Docs::MAX_SUMMARY`] characters.
    pub summary: String,
    /// The tool itself. Set for [`Detail::Schema`] and [`Detail::Full`], as are the next five fields.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<Tool>,
    /// A summary of the input schema, unless it would be empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema_info: Option<SchemaInfo>,
    /// The media types of the input.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub input_modes: Vec<String>,
    /// The media types of the output.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub output_modes: Vec<String>,
    /// A summary of the required authorization.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub security_summary: Option<String>,
    /// The effects of the tool.
    #[serde(skip_serializing_if = "Annotations::is_empty")]
    pub annotations: Annotations,
    /// The notes. Set for [`Detail::Full`], as are the next two fields.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub notes: String,
    /// Examples of calls: those that the host registered, or else those of the tool's author.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<ToolExample>,
    /// URLs or ids of resources.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub external_refs: Vec<String>,
}

type Resolve = dyn Fn(&str) -> Result<Option<Tool>, ResolveError> + Send + Sync;

/// The documentation of tools: their own, and that which the host adds.
///
/// ```
/// # use std::sync::Arc;
/// # use toolkit::Tool;
/// # use toolkit_search::{Detail, Docs, Index};
/// # let add = Tool::builder("add").description("Adds two integers.").build()?;
/// let docs = Docs::new(Arc::new(Index::from_tools(&[add])));
/// assert_eq!(docs.describe("add", Detail::Summary)?.summary, "Adds two integers.");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Docs {
    resolve: Box<Resolve>,
    entries: RwLock<BTreeMap<String, Arc<DocEntry>>>,
    max_examples: usize,
}

impl Docs {
    /// The maximum length of a summary in characters.
    pub const MAX_SUMMARY: usize = 200;
    /// The maximum length of notes in characters.
    pub const MAX_NOTES: usize = 2000;

    /// Creates the documentation of the tools of an index, including tools that are added later.
    #[must_use]
    pub fn new(index: Arc<Index>) -> Self {
        Self::with_resolver(move |id| Ok(index.snapshot().get(id).map(|(tool, _)| tool.clone())))
    }

    /// Creates the documentation of the tools that `resolve` returns for their ids.
    ///
    /// ```
    /// use toolkit::Tool;
    /// use toolkit_search::{Detail, Docs};
    ///
    /// let add = Tool::builder("add").description("Adds two integers.").build()?;
    /// let docs = Docs::with_resolver(move |id| Ok((id == "add").then(|| add.clone())));
    /// assert_eq!(docs.describe("add", Detail::Summary)?.summary, "Adds two integers.");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_resolver(resolve: impl Fn(&str) -> Result<Option<Tool>, ResolveError> + Send + Sync + 'static) -> Self {
        Self { resolve: Box::new(resolve), entries: RwLock::default(), max_examples: 10 }
    }

    /// Sets the maximum number of examples of a tool. 10 by default.
    #[must_use]
    pub fn max_examples(self, max_examples: usize) -> Self {
        Self { max_examples, ..self }
    }

    /// Registers documentation of a tool, and replaces existing documentation.
    ///
    /// # Errors
    ///
    /// Returns an error if the arguments of an example are too large or do not match the tool's schema. Examples of a
    /// tool that is not known yet are not checked.
    pub fn register(&self, id: &str, entry: DocEntry) -> Result<(), DocError> {
        let examples = self.checked(id, entry.examples)?;
        let entry = DocEntry {
            summary: cut(&entry.summary, Self::MAX_SUMMARY),
            notes: cut(&entry.notes, Self::MAX_NOTES),
            examples,
            external_refs: entry.external_refs,
        };
        self.put(id, entry);
        Ok(())
    }

    /// Registers the examples of a tool, and keeps its other documentation.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Docs::register`].
    pub fn register_examples(&self, id: &str, examples: Vec<ToolExample>) -> Result<(), DocError> {
        let examples = self.checked(id, examples)?;
        let known = self.entry(id).map(|entry| DocEntry::clone(&entry)).unwrap_or_default();
        self.put(id, DocEntry { examples, ..known });
        Ok(())
    }

    /// Returns the documentation of a tool.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such tool, if there is documentation without a tool and `detail` is more than a
    /// summary, or if the resolver fails.
    pub fn describe(&self, id: &str, detail: Detail) -> Result<ToolDoc, DocError> {
        let entry = self.entry(id);
        let tool = match (self.resolve)(id) {
            Ok(tool) => tool,
            // A registered summary does not need the tool.
            Err(_) if entry.is_some() && detail == Detail::Summary => None,
            Err(error) => return Err(DocError::Resolver(error)),
        };
        let summary = match (&tool, &entry) {
            (None, None) => return Err(DocError::UnknownTool { id: id.to_owned() }),
            (None, Some(_)) if detail > Detail::Summary => return Err(DocError::NoTool { id: id.to_owned() }),
            (_, Some(entry)) if !entry.summary.is_empty() => entry.summary.clone(),
            (Some(tool), _) => cut(&summary_text(tool, tool.meta().as_ref()), Self::MAX_SUMMARY),
            (None, Some(_)) => String::new(),
        };
        let mut doc = ToolDoc { id: id.to_owned(), summary, ..ToolDoc::default() };
        if detail >= Detail::Full {
            doc.examples = self.examples_of(tool.as_ref(), entry.as_deref());
            if let Some(entry) = &entry {
                doc.notes.clone_from(&entry.notes);
                doc.external_refs.clone_from(&entry.external_refs);
            }
        }
        if let Some(tool) = tool.filter(|_| detail >= Detail::Schema) {
            let Summary { input_modes, output_modes, security_summary, .. } = Summary::new(&tool);
            (doc.input_modes, doc.output_modes, doc.security_summary) = (input_modes, output_modes, security_summary);
            doc.annotations = tool.annotations().clone();
            doc.schema_info = SchemaInfo::from_schema(tool.input().as_value());
            doc.tool = Some(tool);
        }
        Ok(doc)
    }

    /// Returns the examples of a tool, at most `max` and at most [`Docs::max_examples`].
    ///
    /// # Errors
    ///
    /// Returns an error if there is neither such a tool nor documentation of it, or if the resolver fails.
    pub fn examples(&self, id: &str, max: usize) -> Result<Vec<ToolExample>, DocError> {
        let entry = self.entry(id);
        let tool = (self.resolve)(id).map_err(DocError::Resolver)?;
        if tool.is_none() && entry.is_none() {
            return Err(DocError::UnknownTool { id: id.to_owned() });
        }
        let mut examples = self.examples_of(tool.as_ref(), entry.as_deref());
        examples.truncate(max);
        Ok(examples)
    }

    fn examples_of(&self, tool: Option<&Tool>, entry: Option<&DocEntry>) -> Vec<ToolExample> {
        let registered = entry.map(|entry| &*entry.examples).unwrap_or_default().iter().cloned();
        let mut examples: Vec<ToolExample> = registered.take(self.max_examples).collect();
        if examples.is_empty() {
            let of_author = tool.map(Tool::examples).unwrap_or_default().into_iter();
            let small = of_author.filter(|args| ArgsSize::measure(args).is_small());
            examples.extend(small.take(self.max_examples).map(ToolExample::new));
        }
        examples
    }

    fn checked(&self, id: &str, examples: Vec<ToolExample>) -> Result<Vec<ToolExample>, DocError> {
        let tool = (self.resolve)(id).ok().flatten();
        examples.into_iter().enumerate().map(|(nth, example)| example.checked(nth, tool.as_ref())).collect()
    }

    fn entry(&self, id: &str) -> Option<Arc<DocEntry>> {
        self.entries.read().unwrap_or_else(PoisonError::into_inner).get(id).cloned()
    }

    fn put(&self, id: &str, entry: DocEntry) {
        let mut entries = self.entries.write().unwrap_or_else(PoisonError::into_inner);
        entries.insert(id.to_owned(), Arc::new(entry));
    }
}

toolkit::debug_fields!(Docs { max_examples });
