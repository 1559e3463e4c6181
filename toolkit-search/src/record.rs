//! The records of an index.

use std::borrow::Cow;
use std::fmt;
use std::ops::{Deref, Range};
use std::sync::{Arc, OnceLock};

use serde_json::json;

use super::summary::Summary;
use toolkit::tool::{Annotations, Tool, ToolBackend};

/// A tool with its backends and its searchable data.
#[derive(Debug)]
pub(super) struct Record {
    pub(super) tool: LazyTool,
    /// The backends in the order of registration, at least one.
    pub(super) backends: Vec<ToolBackend>,
    pub(super) summary: Arc<Summary>,
    pub(super) hints: Hints,
}

/// The hints of a tool, which are copied since the metadata of a function may not have been generated.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hints {
    pub(super) read_only: Option<bool>,
    pub(super) destructive: Option<bool>,
    pub(super) idempotent: Option<bool>,
    pub(super) open_world: Option<bool>,
}

impl Record {
    pub(super) fn new(tool: Tool, backends: Vec<ToolBackend>) -> Self {
        let parsed = transient(&tool);
        let (summary, hints) = (Arc::new(Summary::new(&parsed)), Hints::new(parsed.annotations()));
        drop(parsed);
        Self { tool: LazyTool::from(tool), summary, backends, hints }
    }

    pub(super) fn id(&self) -> &str {
        &self.summary.id
    }
}

impl Hints {
    fn new(annotations: &Annotations) -> Self {
        Self {
            read_only: annotations.read_only,
            destructive: annotations.destructive,
            idempotent: annotations.idempotent,
            open_world: annotations.open_world,
        }
    }
}

/// A tool, or its position in a file, from which it is read at its first use.
pub(super) struct LazyTool {
    tool: OnceLock<Tool>,
    /// Boxed, since most tools are not from a file.
    source: Option<Box<FileTool>>,
}

/// The position of a tool in a file, and its identity.
pub(super) struct FileTool {
    pub(super) file: Arc<Vec<u8>>,
    pub(super) range: Range<usize>,
    pub(super) summary: Arc<Summary>,
}

impl LazyTool {
    pub(super) fn from_file(source: FileTool) -> Self {
        Self { tool: OnceLock::new(), source: Some(Box::new(source)) }
    }

    /// Returns the tool for temporary use; the metadata of a function is generated in a clone and not kept.
    pub(super) fn read_only(&self) -> Cow<'_, Tool> {
        transient(self)
    }

    /// Writes the canonical JSON of the tool.
    pub(super) fn put_json(&self, out: &mut Vec<u8>) {
        match self.source.as_ref().and_then(|source| source.json()) {
            Some(json) => out.extend(json),
            None => out.extend(self.read_only().to_json().to_string().as_bytes()),
        }
    }

    /// Returns the tool, unless the file contains an invalid or another one.
    pub(super) fn valid(&self) -> Option<&Tool> {
        Some(&**self).filter(|tool| self.source.as_ref().is_none_or(|source| source.is_of(tool)))
    }
}

impl From<Tool> for LazyTool {
    fn from(tool: Tool) -> Self {
        Self { tool: OnceLock::from(tool), source: None }
    }
}

/// An invalid tool of a forged file becomes an empty tool.
impl Deref for LazyTool {
    type Target = Tool;

    fn deref(&self) -> &Tool {
        self.tool.get_or_init(|| {
            let read = self.source.as_ref().and_then(|source| source.read());
            read.unwrap_or_else(|| {
                let nothing = json!({ "name": "", "inputSchema": {} });
                Tool::from_json(nothing).expect("it has a name and a schema")
            })
        })
    }
}

impl fmt::Debug for LazyTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.tool.fmt(f)
    }
}

impl FileTool {
    fn json(&self) -> Option<&[u8]> {
        self.file.get(self.range.clone())
    }

    fn read(&self) -> Option<Tool> {
        let tool = Tool::from_json(self.json()?).ok()?;
        Some(tool).filter(|tool| self.is_of(tool))
    }

    fn is_of(&self, tool: &Tool) -> bool {
        tool.id().to_string() == self.summary.id
    }
}

/// Returns a clone of a function, so that its generated metadata is not kept.
fn transient(tool: &Tool) -> Cow<'_, Tool> {
    // Only functions generate metadata.
    if tool.entry().is_some() { Cow::Owned(tool.clone()) } else { Cow::Borrowed(tool) }
}
