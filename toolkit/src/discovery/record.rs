//! A tool as the index holds it.

use std::sync::Arc;

use super::summary::Summary;
use crate::tool::{Tool, ToolBackend};

/// A tool, what runs it, and what is found of it.
#[derive(Debug)]
pub(super) struct Record {
    pub(super) tool: Tool,
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
        // What a function says of itself is built for the summary and forgotten; the tool that is kept builds it again
        // when somebody asks.
        let said = tool.clone();
        let annotations = said.annotations();
        let hints = Hints {
            read_only: annotations.read_only,
            destructive: annotations.destructive,
            idempotent: annotations.idempotent,
            open_world: annotations.open_world,
        };
        Self { summary: Arc::new(Summary::of(&said)), tool, backends, hints }
    }

    pub(super) fn id(&self) -> &str {
        &self.summary.id
    }
}
