//! The resources of a server that clients of this program are subscribed to.

#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use tokio::sync::watch;
use toolkit::resource::ResourceChanges;
use toolkit_runtime::{BudgetExceeded, BudgetShare, Mutex, SharedBudget};

/// The maximum number of resources of a server that are watched at the same time. Half of them are the share of one caller.
pub(super) const MAX_WATCHED: usize = 1_000;

/// The watched resources of a server. They outlive its connections, each of which subscribes to them.
pub(super) struct Watches {
    resources: Mutex<HashMap<Arc<str>, Watched>>,
    numbers: SharedBudget<Box<str>>,
    /// Incremented whenever the connection may have to subscribe or unsubscribe.
    changes: watch::Sender<u64>,
    /// Reports the updates that the client may have missed.
    updates: ResourceChanges,
}

/// A watched resource.
struct Watched {
    n_watches: usize,
    /// Counts the resource for the caller of the first watch.
    _counted: BudgetShare<Box<str>>,
    /// True if there was a subscription, so that updates may be missed without one.
    was_subscribed: bool,
    status: watch::Sender<Status>,
}

/// The state of a subscription.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Status {
    Pending,
    Subscribed,
    /// Refused by the server, for this reason.
    Refused(Arc<str>),
}

/// The resources to be subscribed to.
#[derive(Default)]
pub(super) struct Wanted {
    /// All of them, except for those that the server has refused.
    pub(super) uris: BTreeSet<Arc<str>>,
    /// Those without a subscription on the current connection.
    pub(super) pending: Vec<Arc<str>>,
}

/// A watch of a resource. Dropping the last one of a resource ends its subscription.
pub(super) struct Watch {
    watches: Arc<Watches>,
    uri: Arc<str>,
    status: watch::Receiver<Status>,
}

impl Watches {
    pub(super) fn new(updates: ResourceChanges) -> Self {
        let numbers = SharedBudget::new(MAX_WATCHED as u64);
        Self { resources: Mutex::default(), numbers, changes: watch::Sender::new(0), updates }
    }

    /// Watches a resource for a caller, or for the only client if it is `None`.
    ///
    /// # Errors
    ///
    /// Returns an error if too many resources are watched, by this caller or by all.
    pub(super) fn add(self: &Arc<Self>, uri: &str, caller: Option<&str>) -> Result<Watch, BudgetExceeded> {
        let mut resources = self.resources.lock();
        if !resources.contains_key(uri) {
            let mut counted = self.numbers.share(caller.map(Box::from));
            counted.grow(1)?;
            let status = watch::Sender::new(Status::Pending);
            resources.insert(uri.into(), Watched { n_watches: 0, _counted: counted, was_subscribed: false, status });
        }
        let (uri, watched) = resources.get_key_value(uri).expect("the resource is watched");
        // A server that has refused once may have changed its mind.
        watched.status.send_if_modified(|status| {
            let is_refused = matches!(status, Status::Refused(_));
            if is_refused {
                *status = Status::Pending;
            }
            is_refused
        });
        let (uri, status) = (Arc::clone(uri), watched.status.subscribe());
        resources.entry(Arc::clone(&uri)).and_modify(|watched| watched.n_watches += 1);
        drop(resources);
        self.notify();
        Ok(Watch { watches: Arc::clone(self), uri, status })
    }

    /// Returns true if no resource is watched.
    pub(super) fn is_empty(&self) -> bool {
        self.resources.lock().is_empty()
    }

    /// Returns the resources to be subscribed to.
    pub(super) fn wanted(&self) -> Wanted {
        let mut wanted = Wanted::default();
        for (uri, watched) in &*self.resources.lock() {
            match &*watched.status.borrow() {
                Status::Refused(_) => continue,
                Status::Pending => wanted.pending.push(Arc::clone(uri)),
                Status::Subscribed => {}
            }
            wanted.uris.insert(Arc::clone(uri));
        }
        wanted
    }

    /// Records the response of the server. A resource that was subscribed to before may have changed meanwhile.
    pub(super) fn settle(&self, uri: &str, outcome: Result<(), Arc<str>>) {
        let mut resources = self.resources.lock();
        let Some(watched) = resources.get_mut(uri) else {
            return;
        };
        let is_subscribed = outcome.is_ok();
        let before = watched.status.send_replace(match outcome {
            Ok(()) => Status::Subscribed,
            Err(reason) => Status::Refused(reason),
        });
        if !is_subscribed && watched.was_subscribed {
            tracing::warn!(uri = %uri.escape_debug(), "a server does not renew a subscription to a resource");
        }
        let may_have_changed = is_subscribed && watched.was_subscribed && before == Status::Pending;
        watched.was_subscribed |= is_subscribed;
        drop(resources);
        if may_have_changed {
            self.updates.updated(uri);
        }
    }

    /// Records that the subscriptions are lost.
    pub(super) fn lose(&self) {
        for watched in self.resources.lock().values() {
            watched.status.send_replace(Status::Pending);
        }
        self.notify();
    }

    /// Returns a receiver of changes of the watched resources.
    pub(super) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    fn notify(&self) {
        self.changes.send_modify(|n| *n = n.wrapping_add(1));
    }
}

impl Watch {
    /// Waits until the server has responded.
    ///
    /// # Errors
    ///
    /// Returns the reason for which the server has refused.
    pub(super) async fn subscribed(&mut self) -> Result<(), Arc<str>> {
        match self.status.wait_for(|status| *status != Status::Pending).await.as_deref() {
            Ok(Status::Refused(reason)) => Err(Arc::clone(reason)),
            // The sender lives as long as this watch.
            _ => Ok(()),
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let mut resources = self.watches.resources.lock();
        let Some(watched) = resources.get_mut(&self.uri) else {
            return;
        };
        watched.n_watches -= 1;
        if watched.n_watches == 0 {
            resources.remove(&self.uri);
        }
        drop(resources);
        self.watches.notify();
    }
}

/// The maximum length of a URI in bytes.
pub(super) const MAX_URI_LEN: usize = 8 << 10;

/// Returns true for a text that may be a URI: it starts with a scheme and has no control characters.
pub(super) fn is_uri(uri: &str) -> bool {
    uri.len() <= MAX_URI_LEN && uri.contains(':') && !uri.contains(char::is_control)
}
