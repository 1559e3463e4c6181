//! The records of an index.

mod saved_tool;

use std::borrow::Cow;
use std::cmp::Ordering;
use std::sync::{Arc, OnceLock};

pub(crate) use self::saved_tool::{FileTool, SavedTools, put_summary, take_summary};
use super::summary::Summary;
use toolkit::tool::{Annotations, Tool, ToolBackend};

/// A tool with its backends and its searchable data.
///
/// An index holds many records and returns few of them, so that a record contains nothing that can be computed from the
/// tool when it is first needed.
#[derive(Debug)]
pub(super) struct Record {
    tool: Source,
    pub(super) hints: Hints,
    /// The backends in the order of registration, at least one. By default, the function with the id of the tool.
    backends: OnceLock<Arc<[ToolBackend]>>,
    summary: OnceLock<Arc<Summary>>,
}

/// A tool, or its position in a file. Boxed, since the two differ in size.
#[derive(Debug)]
enum Source {
    Tool(Box<Tool>),
    File(Box<FileTool>),
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
    /// Creates the record of a function of this program.
    pub(super) fn local(tool: Tool) -> Self {
        let hints = Hints::new(transient(&tool).annotations());
        Self { tool: Source::Tool(Box::new(tool)), hints, backends: OnceLock::new(), summary: OnceLock::new() }
    }

    pub(super) fn new(tool: Tool, backends: Arc<[ToolBackend]>) -> Self {
        Self { backends: OnceLock::from(backends), ..Self::local(tool) }
    }

    pub(super) fn from_file(tool: FileTool, hints: Hints, backends: Vec<ToolBackend>) -> Self {
        let is_default = backends == [local(tool.id())];
        let backends = if is_default { OnceLock::new() } else { OnceLock::from(Arc::from(backends)) };
        Self { tool: Source::File(Box::new(tool)), hints, backends, summary: OnceLock::new() }
    }

    pub(super) fn id(&self) -> Cow<'_, str> {
        match self.id_parts() {
            [id, "", "", "", ""] => Cow::Borrowed(id),
            parts => Cow::Owned(parts.concat()),
        }
    }

    /// Compares the id of the tool with a text.
    pub(super) fn cmp_id(&self, id: &str) -> Ordering {
        self.id_parts().into_iter().flat_map(str::bytes).cmp(id.bytes())
    }

    /// Compares the ids of two tools.
    pub(super) fn cmp_by_id(&self, other: &Self) -> Ordering {
        let bytes = |record| Self::id_parts(record).into_iter().flat_map(str::bytes);
        bytes(self).cmp(bytes(other))
    }

    /// Returns texts whose concatenation is the id.
    fn id_parts(&self) -> [&str; 5] {
        match &self.tool {
            Source::Tool(tool) => match (tool.id().namespace(), tool.name(), tool.id().version()) {
                (None, name, _) => [name, "", "", "", ""],
                (Some(namespace), name, None) => [namespace, ":", name, "", ""],
                (Some(namespace), name, Some(version)) => [namespace, ":", name, ":", version],
            },
            Source::File(tool) => [tool.id(), "", "", "", ""],
        }
    }

    /// Returns the namespace; empty if there is none.
    pub(super) fn namespace(&self) -> &str {
        match &self.tool {
            Source::Tool(tool) => tool.id().namespace().unwrap_or_default(),
            Source::File(tool) => tool.namespace(),
        }
    }

    /// Returns the backends in the order of registration.
    pub(super) fn backends(&self) -> &[ToolBackend] {
        self.backends.get_or_init(|| [local(&self.id())].into())
    }

    /// Returns the summary of the tool.
    pub(super) fn summary(&self) -> &Arc<Summary> {
        self.summary.get_or_init(|| Arc::new(self.new_summary()))
    }

    /// Returns the summary of the tool, which is not kept.
    pub(super) fn to_summary(&self) -> Arc<Summary> {
        let kept = self.summary.get().map(Arc::clone);
        kept.unwrap_or_else(|| Arc::new(self.new_summary()))
    }

    fn new_summary(&self) -> Summary {
        match &self.tool {
            Source::Tool(tool) => Summary::new(&transient(tool)),
            Source::File(tool) => tool.summary(),
        }
    }

    /// Calls `is_it` with the tags of the tool, and returns true if it does so for any of them.
    pub(super) fn has_tag(&self, is_it: impl Fn(&str) -> bool) -> bool {
        match &self.tool {
            Source::Tool(tool) if !tool.is_linked() => tool.tags().iter().any(|tag| is_it(tag)),
            _ => self.summary().tags.iter().any(|tag| is_it(tag)),
        }
    }

    /// Returns the category of the tool.
    pub(super) fn category(&self) -> Option<&str> {
        match &self.tool {
            Source::Tool(tool) if !tool.is_linked() && tool.metadata().meta.is_none() => tool.category(),
            _ => self.summary().category.as_deref(),
        }
    }

    /// Returns the tool. An invalid tool of a forged file becomes an empty tool.
    pub(super) fn tool(&self) -> &Tool {
        match &self.tool {
            Source::Tool(tool) => tool,
            Source::File(tool) => tool.tool(),
        }
    }

    /// Returns the tool, unless the file contains an invalid or another one.
    pub(super) fn valid_tool(&self) -> Option<&Tool> {
        match &self.tool {
            Source::Tool(tool) => Some(tool),
            Source::File(tool) => Some(tool.tool()).filter(|found| tool.is_of(found)),
        }
    }

    /// Returns the tool for temporary use; the metadata of a function is generated in a clone and not kept.
    pub(super) fn read_only_tool(&self) -> Cow<'_, Tool> {
        transient(self.tool())
    }

    /// Writes the canonical JSON of the tool.
    pub(super) fn put_json(&self, out: &mut Vec<u8>) {
        match &self.tool {
            Source::File(tool) => out.extend(tool.json()),
            Source::Tool(tool) => out.extend(transient(tool).to_json().to_string().as_bytes()),
        }
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

/// Returns the backend of a function with this id.
fn local(id: &str) -> ToolBackend {
    // Only the name of a tool that is rejected everywhere else can be empty.
    let named = ToolBackend::local(id).or_else(|_| ToolBackend::local("?"));
    named.expect("the name is not empty")
}

/// Returns a clone of a function, so that its generated metadata is not kept.
fn transient(tool: &Tool) -> Cow<'_, Tool> {
    // Only functions generate metadata.
    if tool.is_linked() { Cow::Owned(tool.clone()) } else { Cow::Borrowed(tool) }
}
