//! What there is to read of a tool, at three depths.

mod error;
mod example;
mod schema_info;

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, PoisonError, RwLock};

use serde::Serialize;

pub use self::error::DocError;
pub use self::example::{ArgsSize, ToolExample};
pub use self::schema_info::SchemaInfo;
use super::index::Index;
use super::summary::{Summary, cut, summary_text};
use crate::tool::{Annotations, Tool};

/// How much of a tool's documentation is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Detail {
    /// What it does.
    Summary,
    /// How it is called, too: the tool itself and its schema in short.
    Schema,
    /// How it is used, too: notes, examples and references.
    Full,
}

/// `summary`, `schema` or `full`.
impl FromStr for Detail {
    type Err = DocError;

    fn from_str(text: &str) -> Result<Self, DocError> {
        match text {
            "summary" => Ok(Self::Summary),
            "schema" => Ok(Self::Schema),
            "full" => Ok(Self::Full),
            other => Err(DocError::UnknownDetail { asked: other.chars().take(40).collect() }),
        }
    }
}

/// Documentation of a tool that a host adds to the tool's own.
///
/// ```
/// # use std::sync::Arc;
/// # use toolkit::{Tool, discovery::{Detail, DocEntry, Docs, Index}};
/// # let add = Tool::builder("add").description("Adds two integers.").build()?;
/// # let docs = Docs::of(Arc::new(Index::of(&[add])));
/// docs.register("add", DocEntry::new().notes("Overflow wraps.").external_ref("https://example.com"))?;
/// assert_eq!(docs.describe("add", Detail::Full)?.notes, "Overflow wraps.");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct DocEntry {
    /// In place of the tool's own summary, unless it is empty; cut at [`Docs::MAX_SUMMARY`] characters.
    pub summary: String,
    /// What a caller should know; cut at [`Docs::MAX_NOTES`] characters.
    pub notes: String,
    /// How it is called.
    pub examples: Vec<ToolExample>,
    /// URLs, or ids of resources.
    pub external_refs: Vec<String>,
}

impl DocEntry {
    /// Creates an entry that adds nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the summary.
    #[must_use]
    pub fn summary(mut self, summary: impl Into<String>) -> Self {
        self.summary = summary.into();
        self
    }

    /// Sets the notes.
    #[must_use]
    pub fn notes(mut self, notes: impl Into<String>) -> Self {
        self.notes = notes.into();
        self
    }

    /// Adds an example.
    #[must_use]
    pub fn example(mut self, example: ToolExample) -> Self {
        self.examples.push(example);
        self
    }

    /// Adds a URL, or the id of a resource.
    #[must_use]
    pub fn external_ref(mut self, reference: impl Into<String>) -> Self {
        self.external_refs.push(reference.into());
        self
    }
}

/// What there is to read of a tool. What is empty is left out of its JSON.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToolDoc {
    /// The tool's id.
    pub id: String,
    /// What it does, in at most [`Docs::MAX_SUMMARY`] characters.
    pub summary: String,
    /// The tool itself, from [`Detail::Schema`] on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<Tool>,
    /// Its input schema in short, from [`Detail::Schema`] on, where there is something to say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema_info: Option<SchemaInfo>,
    /// Media types that it takes, from [`Detail::Schema`] on, and so are the next three.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub input_modes: Vec<String>,
    /// Media types that it gives.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub output_modes: Vec<String>,
    /// What a caller must be authorised with, in short.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub security_summary: Option<String>,
    /// What it does to the world.
    #[serde(skip_serializing_if = "Annotations::is_empty")]
    pub annotations: Annotations,
    /// What a caller should know, at [`Detail::Full`], and so are the next two.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub notes: String,
    /// How it is called: what the host registered, or else the examples of the tool's author.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<ToolExample>,
    /// URLs, or ids of resources.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub external_refs: Vec<String>,
}

/// Why a tool could not be looked up.
pub type ResolveError = Box<dyn std::error::Error + Send + Sync>;

type Resolve = dyn Fn(&str) -> Result<Option<Tool>, ResolveError> + Send + Sync;

/// The documentation of tools: what they say of themselves, and what the host adds.
///
/// ```
/// # use std::sync::Arc;
/// # use toolkit::{Tool, discovery::{Detail, Docs, Index}};
/// # let add = Tool::builder("add").description("Adds two integers.").build()?;
/// let docs = Docs::of(Arc::new(Index::of(&[add])));
/// assert_eq!(docs.describe("add", Detail::Summary)?.summary, "Adds two integers.");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Docs {
    resolve: Box<Resolve>,
    entries: RwLock<BTreeMap<String, Arc<DocEntry>>>,
    max_examples: usize,
}

impl Docs {
    /// How long a summary is at most, in characters.
    pub const MAX_SUMMARY: usize = 200;
    /// How long notes are at most, in characters.
    pub const MAX_NOTES: usize = 2000;

    /// Of the tools of an index, as it is when it is asked.
    #[must_use]
    pub fn of(index: Arc<Index>) -> Self {
        Self::resolving(move |id| Ok(index.snapshot().get(id).map(|(tool, _)| tool.clone())))
    }

    /// Of tools that `resolve` finds by their ids.
    pub fn resolving(resolve: impl Fn(&str) -> Result<Option<Tool>, ResolveError> + Send + Sync + 'static) -> Self {
        Self { resolve: Box::new(resolve), entries: RwLock::default(), max_examples: 10 }
    }

    /// Shows at most so many examples of a tool; 10 where nothing is said.
    #[must_use]
    pub fn max_examples(self, max_examples: usize) -> Self {
        Self { max_examples, ..self }
    }

    /// Documents a tool, in place of what was registered for it before.
    ///
    /// # Errors
    ///
    /// The arguments of an example are too large, or do not fit the tool's schema. A tool that is not known yet is
    /// documented all the same, and its examples are not checked.
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

    /// Replaces the examples of a tool, and nothing else.
    ///
    /// # Errors
    ///
    /// As for [`Docs::register`].
    pub fn register_examples(&self, id: &str, examples: Vec<ToolExample>) -> Result<(), DocError> {
        let examples = self.checked(id, examples)?;
        let known = self.entry(id).map(|entry| DocEntry::clone(&entry)).unwrap_or_default();
        self.put(id, DocEntry { examples, ..known });
        Ok(())
    }

    /// The documentation of a tool.
    ///
    /// # Errors
    ///
    /// There is no such tool; or there is documentation only, and more than a summary is asked for; or the tool could
    /// not be looked up.
    pub fn describe(&self, id: &str, detail: Detail) -> Result<ToolDoc, DocError> {
        let entry = self.entry(id);
        let tool = match (self.resolve)(id) {
            Ok(tool) => tool,
            // A summary that is there needs no tool.
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
        let mut doc = ToolDoc {
            id: id.to_owned(),
            summary,
            tool: None,
            schema_info: None,
            input_modes: Vec::new(),
            output_modes: Vec::new(),
            security_summary: None,
            annotations: Annotations::NONE,
            notes: String::new(),
            examples: Vec::new(),
            external_refs: Vec::new(),
        };
        if detail >= Detail::Full {
            doc.examples = self.examples_of(tool.as_ref(), entry.as_deref());
            if let Some(entry) = &entry {
                doc.notes.clone_from(&entry.notes);
                doc.external_refs.clone_from(&entry.external_refs);
            }
        }
        if let Some(tool) = tool.filter(|_| detail >= Detail::Schema) {
            let Summary { input_modes, output_modes, security_summary, .. } = Summary::of(&tool);
            (doc.input_modes, doc.output_modes, doc.security_summary) = (input_modes, output_modes, security_summary);
            doc.annotations = tool.annotations().clone();
            doc.schema_info = SchemaInfo::of(tool.input().as_value());
            doc.tool = Some(tool);
        }
        Ok(doc)
    }

    /// The examples of a tool, at most `max` and at most as many as are shown of any tool.
    ///
    /// # Errors
    ///
    /// There is neither such a tool nor documentation of one, or it could not be looked up.
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
            let small = of_author.filter(|args| ArgsSize::of(args).is_small());
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

impl fmt::Debug for Docs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Docs").field("max_examples", &self.max_examples).finish_non_exhaustive()
    }
}
