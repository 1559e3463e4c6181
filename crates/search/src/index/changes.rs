//! Changes of an index that are applied as one version.

use std::collections::BTreeMap;
use std::sync::Arc;

use toolkit::tool::{Tool, ToolBackend};

use super::index_error::IndexError;
use crate::events::{Change, ChangeKind};
use crate::query::Query;
use crate::record::Record;
use crate::search::search;
use crate::snapshot::Snapshot;
use crate::state::State;

/// Changes that are applied as one version.
pub(super) struct Changes {
    pub(super) base: Arc<Snapshot>,
    /// The replacement of the tool with each id; `None` removes it.
    edits: BTreeMap<String, Option<Arc<Record>>>,
    pub(super) list: Vec<Change>,
    /// The backends of the last registered tool, which the tools of one server share.
    last_backends: Arc<[ToolBackend]>,
}

impl Changes {
    pub(super) fn new(base: Arc<Snapshot>) -> Self {
        Self { base, edits: BTreeMap::new(), list: Vec::new(), last_backends: Arc::default() }
    }

    pub(super) fn get(&self, id: &str) -> Option<&Arc<Record>> {
        match self.edits.get(id) {
            Some(edit) => edit.as_ref(),
            None => self.base.state.record(id),
        }
    }

    pub(super) fn known(&self, id: &str) -> Result<&Arc<Record>, IndexError> {
        self.get(id).ok_or_else(|| IndexError::unknown_tool(id))
    }

    pub(super) fn put(&mut self, kind: ChangeKind, backend: Option<ToolBackend>, record: Record) {
        let id = record.id().into_owned();
        self.list.push(Change { kind, tool: Some(id.clone()), backend, version: 0 });
        self.edits.insert(id, Some(Arc::new(record)));
    }

    pub(super) fn remove(&mut self, id: &str, backend: Option<ToolBackend>) {
        self.list.push(Change { kind: ChangeKind::ToolRemoved, tool: Some(id.to_owned()), backend, version: 0 });
        self.edits.insert(id.to_owned(), None);
    }

    pub(super) fn register(&mut self, tool: Tool, backend: ToolBackend) -> Result<(), IndexError> {
        let id = tool.id().to_string();
        let Some(known) = self.get(&id) else {
            if *self.last_backends != [backend.clone()] {
                self.last_backends = [backend.clone()].into();
            }
            let record = Record::new(tool, Arc::clone(&self.last_backends));
            self.put(ChangeKind::Registered, Some(backend), record);
            return Ok(());
        };
        if known.tool().to_mcp_json() != tool.to_mcp_json() {
            return Err(IndexError::OtherDefinition { id });
        }
        let mut backends = known.backends().to_vec();
        if !backends.contains(&backend) {
            backends.push(backend.clone());
        }
        self.put(ChangeKind::Updated, Some(backend), Record::new(tool, backends.into()));
        Ok(())
    }

    pub(super) fn unregister(&mut self, id: &str, backend: &ToolBackend) -> Result<(), IndexError> {
        let known = self.known(id)?;
        let rest: Vec<ToolBackend> = known.backends().iter().filter(|known| *known != backend).cloned().collect();
        if rest.len() == known.backends().len() {
            return Err(IndexError::UnknownBackend { id: id.to_owned() });
        }
        // An invalid tool of a forged file is removed, whatever its backends.
        match known.valid_tool().filter(|_| !rest.is_empty()).cloned() {
            Some(tool) => self.put(ChangeKind::BackendRemoved, Some(backend.clone()), Record::new(tool, rest.into())),
            None => self.remove(id, Some(backend.clone())),
        }
        Ok(())
    }

    /// Returns the ids of the tools in the base snapshot that match a query.
    pub(super) fn ids(&self, query: &Query<'_>) -> Vec<String> {
        search(&self.base.state, query, usize::MAX).iter().map(|found| found.record.id().into_owned()).collect()
    }

    /// Adds a change that does not concern a tool.
    pub(super) fn refresh(&mut self) {
        self.list.push(Change { kind: ChangeKind::Refreshed, tool: None, backend: None, version: 0 });
    }

    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns the next version and the changes for the listeners.
    pub(super) fn finish(mut self) -> (State, Vec<Change>) {
        let removed: Vec<&str> = self.edits.keys().map(String::as_str).collect();
        let added = self.edits.values().flatten().cloned().collect();
        let next = self.base.state.with(&removed, added);
        self.list.iter_mut().for_each(|change| change.version = next.version);
        (next, self.list)
    }
}
