//! Notification of listeners about changes.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use serde::Serialize;

use toolkit::tool::ToolBackend;

/// A change of an index.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Change {
    /// The kind of change.
    #[serde(rename = "type")]
    pub kind: ChangeKind,
    /// The id of the changed tool, if a single tool changed.
    #[serde(rename = "toolId", skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The added or removed backend.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backend: Option<ToolBackend>,
    /// The version of the index after the change.
    pub version: u64,
}

/// The kind of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ChangeKind {
    /// A tool was added.
    Registered,
    /// A tool was registered again or replaced.
    Updated,
    /// A backend of the tool was removed; others are left.
    BackendRemoved,
    /// The tool was removed.
    ToolRemoved,
    /// The host called [`Index::refresh`](super::Index::refresh).
    Refreshed,
}

type Listener = Arc<dyn Fn(&Change) + Send + Sync>;

/// The listeners, in the order of their subscription.
#[derive(Default)]
pub(super) struct Listeners {
    list: Arc<Mutex<Vec<(u64, Listener)>>>,
}

impl Listeners {
    pub(super) fn add(&self, listener: Listener) -> Subscription {
        let mut list = self.list.lock().unwrap_or_else(PoisonError::into_inner);
        let number = list.last().map_or(0, |(last, _)| last + 1);
        list.push((number, listener));
        Subscription { list: Arc::downgrade(&self.list), number }
    }

    pub(super) fn notify(&self, changes: &[Change]) {
        // Cloned, so that a listener may subscribe or drop its own subscription.
        let list = self.list.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for change in changes {
            list.iter().for_each(|(_, listener)| listener(change));
        }
    }
}

/// A subscription to the changes of an index, which ends when it is dropped.
#[must_use = "the subscription ends when it is dropped"]
pub struct Subscription {
    list: Weak<Mutex<Vec<(u64, Listener)>>>,
    number: u64,
}

impl Drop for Subscription {
    fn drop(&mut self) {
        if let Some(list) = self.list.upgrade() {
            list.lock().unwrap_or_else(PoisonError::into_inner).retain(|(number, _)| *number != self.number);
        }
    }
}

impl fmt::Debug for Subscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscription").finish_non_exhaustive()
    }
}
