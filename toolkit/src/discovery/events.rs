//! Telling others what changed.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use serde::Serialize;

use crate::tool::ToolBackend;

/// What changed in an index.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Change {
    /// How it changed.
    #[serde(rename = "type")]
    pub kind: ChangeKind,
    /// The id of the tool that changed, where it was one.
    #[serde(rename = "toolId", skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The backend that came or went.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backend: Option<ToolBackend>,
    /// Of the index, with the change.
    pub version: u64,
}

/// How an index changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ChangeKind {
    /// A tool came.
    Registered,
    /// A tool that was there was registered again or replaced.
    Updated,
    /// Something does not run the tool any more; something else does.
    BackendRemoved,
    /// The tool went.
    ToolRemoved,
    /// Nothing that is known of.
    Refreshed,
}

type Listener = Arc<dyn Fn(&Change) + Send + Sync>;

/// Who wants to know, in the order in which they said so.
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

    pub(super) fn tell(&self, changes: &[Change]) {
        // Copied, so that a listener may subscribe, or end its own subscription.
        let list = self.list.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for change in changes {
            list.iter().for_each(|(_, listener)| listener(change));
        }
    }
}

/// As long as it is kept, changes are told.
#[must_use = "dropping it ends it"]
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
