//! Notification of listeners about changes.

use std::sync::{Arc, Weak};

use serde::Serialize;

use toolkit::tool::ToolBackend;
use toolkit_runtime::Mutex;

/// A change of an index; see [`Index::on_change`](super::Index::on_change).
///
/// A change serializes to JSON, for listeners in other processes:
///
/// ```
/// use std::sync::mpsc;
/// use serde_json::json;
/// use toolkit::Tool;
/// use toolkit_search::Index;
///
/// let index = Index::from_tools(&[Tool::builder("send").build()?]);
/// let (sender, changes) = mpsc::channel();
/// let _subscription = index.on_change(move |change| sender.send(change.clone()).unwrap());
/// index.unregister_tool("send")?;
/// assert_eq!(serde_json::to_value(changes.recv()?)?, json!({ "type": "tool_removed", "toolId": "send", "version": 2 }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
///
/// ```
/// use std::sync::mpsc;
/// use toolkit::Tool;
/// use toolkit::tool::ToolBackend;
/// use toolkit_search::{ChangeKind, Index};
///
/// let index = Index::new();
/// let (sender, changes) = mpsc::channel();
/// let _subscription = index.on_change(move |change| sender.send(change.kind).unwrap());
///
/// let send = Tool::builder("send").build()?;
/// let (mail, backup) = (ToolBackend::mcp("mail")?, ToolBackend::mcp("backup")?);
/// index.register(send.clone(), mail.clone())?;
/// index.register(send, backup.clone())?;
/// index.unregister_backend(&mail);
/// index.unregister_backend(&backup);
///
/// use ChangeKind::*;
/// assert_eq!(changes.try_iter().collect::<Vec<_>>(), [Registered, Updated, BackendRemoved, ToolRemoved]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
        let mut list = self.list.lock();
        let number = list.last().map_or(0, |(last, _)| last + 1);
        list.push((number, listener));
        Subscription { list: Arc::downgrade(&self.list), number }
    }

    pub(super) fn notify(&self, changes: &[Change]) {
        // Cloned, so that a listener may subscribe or drop its own subscription.
        let list = self.list.lock().clone();
        for change in changes {
            list.iter().for_each(|(_, listener)| listener(change));
        }
    }
}

/// A subscription to the changes of an index, which ends when it is dropped.
///
/// ```
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicUsize, Ordering};
/// use toolkit_search::Index;
///
/// let (index, count) = (Index::new(), Arc::new(AtomicUsize::new(0)));
/// let subscription = {
///     let count = Arc::clone(&count);
///     index.on_change(move |_| _ = count.fetch_add(1, Ordering::Relaxed))
/// };
/// index.refresh();
/// drop(subscription);
/// index.refresh();
/// assert_eq!(count.load(Ordering::Relaxed), 1);
/// ```
#[must_use = "the subscription ends when it is dropped"]
pub struct Subscription {
    list: Weak<Mutex<Vec<(u64, Listener)>>>,
    number: u64,
}

impl Drop for Subscription {
    fn drop(&mut self) {
        if let Some(list) = self.list.upgrade() {
            list.lock().retain(|(number, _)| *number != self.number);
        }
    }
}

toolkit::debug_fields!(Subscription {});
