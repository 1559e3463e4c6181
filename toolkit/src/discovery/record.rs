//! A tool as the index holds it.

use std::borrow::Cow;
use std::fmt;
use std::ops::{Deref, Range};
use std::sync::{Arc, OnceLock};

use serde_json::json;

use super::summary::Summary;
use crate::tool::{Annotations, Tool, ToolBackend};

/// A tool, what runs it, and what is found of it.
#[derive(Debug)]
pub(super) struct Record {
    pub(super) tool: Kept,
    /// At least one, in the order of registration.
    pub(super) backends: Vec<ToolBackend>,
    pub(super) summary: Arc<Summary>,
    pub(super) hints: Hints,
}

/// What a tool says of its effects; kept apart, because the tool may not have built what it says of itself.
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

/// A tool, or where in a file it stands: then it is read when somebody asks.
pub(super) struct Kept {
    tool: OnceLock<Tool>,
    /// Behind a pointer, because most tools are from no file.
    place: Option<Box<Place>>,
}

/// Where in a file a tool stands, and which one it is.
pub(super) struct Place {
    pub(super) file: Arc<Vec<u8>>,
    pub(super) range: Range<usize>,
    pub(super) summary: Arc<Summary>,
}

impl Kept {
    pub(super) fn at(place: Place) -> Self {
        Self { tool: OnceLock::new(), place: Some(Box::new(place)) }
    }

    /// The tool to be read and given back: what a function says of itself is not kept.
    pub(super) fn read_only(&self) -> Cow<'_, Tool> {
        forgetful(self)
    }

    /// Writes its canonical JSON.
    pub(super) fn put_json(&self, out: &mut Vec<u8>) {
        match self.place.as_ref().and_then(|place| place.json()) {
            Some(json) => out.extend(json),
            None => out.extend(self.read_only().to_json().to_string().as_bytes()),
        }
    }

    /// The tool, unless what stands in the file is none, or another one.
    pub(super) fn sound(&self) -> Option<&Tool> {
        Some(&**self).filter(|tool| self.place.as_ref().is_none_or(|place| place.is_of(tool)))
    }
}

impl From<Tool> for Kept {
    fn from(tool: Tool) -> Self {
        Self { tool: OnceLock::from(tool), place: None }
    }
}

/// What a forged file has in the place of a tool becomes a tool that says nothing.
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

/// A tool of which nothing that is built to be read is kept.
fn forgetful(tool: &Tool) -> Cow<'_, Tool> {
    // Only functions build something.
    if tool.entry().is_some() { Cow::Owned(tool.clone()) } else { Cow::Borrowed(tool) }
}
