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
    pub(super) tool: Kept,
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
        let said = forgetful(&tool);
        let (summary, hints) = (Arc::new(Summary::of(&said)), Hints::of(said.annotations()));
        drop(said);
        Self { tool: Kept::from(tool), summary, backends, hints }
    }

    pub(super) fn id(&self) -> &str {
        &self.summary.id
    }
}

impl Hints {
    fn of(annotations: &Annotations) -> Self {
        Self {
            read_only: annotations.read_only,
            destructive: annotations.destructive,
            idempotent: annotations.idempotent,
            open_world: annotations.open_world,
        }
    }
}

/// A tool, or its position in a file, from which it is read at its first use.
pub(super) struct Kept {
    tool: OnceLock<Tool>,
    /// Boxed, since most tools are not from a file.
    place: Option<Box<Place>>,
}

/// The position of a tool in a file, and its identity.
pub(super) struct Place {
    pub(super) file: Arc<Vec<u8>>,
    pub(super) range: Range<usize>,
    pub(super) summary: Arc<Summary>,
}

impl Kept {
    pub(super) fn at(place: Place) -> Self {
        Self { tool: OnceLock::new(), place: Some(Box::new(place)) }
    }

    /// Returns the tool for temporary use; the metadata of a function is generated in a clone and not kept.
    pub(super) fn read_only(&self) -> Cow<'_, Tool> {
        forgetful(self)
    }

    /// Writes the canonical JSON of the tool.
    pub(super) fn put_json(&self, out: &mut Vec<u8>) {
        match self.place.as_ref().and_then(|place| place.json()) {
            Some(json) => out.extend(json),
            None => out.extend(self.read_only().to_json().to_string().as_bytes()),
        }
    }

    /// Returns the tool, unless the file contains an invalid or another one.
    pub(super) fn sound(&self) -> Option<&Tool> {
        Some(&**self).filter(|tool| self.place.as_ref().is_none_or(|place| place.is_of(tool)))
    }
}

impl From<Tool> for Kept {
    fn from(tool: Tool) -> Self {
        Self { tool: OnceLock::from(tool), place: None }
    }
}

/// An invalid tool of a forged file becomes an empty tool.
impl Deref for Kept {
    type Target = Tool;

    fn deref(&self) -> &Tool {
        self.tool.get_or_init(|| {
            let read = self.place.as_ref().and_then(|place| place.read());
            read.unwrap_or_else(|| {
                let nothing = json!({ "name": "", "inputSchema": {} });
                Tool::from_json(nothing).expect("it has a name and a schema")
            })
        })
    }
}

impl fmt::Debug for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.tool.fmt(f)
    }
}

impl Place {
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
fn forgetful(tool: &Tool) -> Cow<'_, Tool> {
    // Only functions generate metadata.
    if tool.entry().is_some() { Cow::Owned(tool.clone()) } else { Cow::Borrowed(tool) }
}
