//! The clients that subscribe to changes of resources.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use tokio::sync::{Notify, watch};

use super::reply::{Code, RpcError};

/// The maximum length of a URI in bytes.
pub(super) const MAX_URI_LEN: usize = 8 << 10;

/// The maximum number of resources that a session or a stream subscribes to.
const MAX_URIS: usize = 1_000;

/// The maximum size of the subscriptions of all sessions. Beyond it, sessions without a stream are forgotten.
const MAX_BYTES: usize = 16 << 20;

/// The approximate memory of a session or a subscription, apart from its text.
const ENTRY_BYTES: usize = 128;

/// The subscriptions of all clients.
#[derive(Debug)]
pub(super) struct Subscriptions {
    inboxes: Mutex<Inboxes>,
    /// The number of times that the list of resources has changed.
    list: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct Inboxes {
    /// The inboxes of clients with sessions, which outlive their streams.
    sessions: HashMap<Arc<str>, Arc<Inbox>>,
    /// The same sessions, in the order of their first subscription.
    order: VecDeque<Arc<str>>,
    /// The inboxes of `subscriptions/listen`, which are owned by their streams.
    streams: Vec<Weak<Inbox>>,
    n_bytes: usize,
}

/// The updates that a client has not received. Each resource occurs once, so the subscriptions bound its size.
#[derive(Debug, Default)]
pub(super) struct Inbox {
    uris: Mutex<Uris>,
    added: Notify,
}

#[derive(Debug, Default)]
struct Uris {
    /// The subscriptions, and true for those with an update that the client has not received.
    subscribed: HashMap<Box<str>, bool>,
    /// The updates in the order of their arrival.
    updated: VecDeque<Box<str>>,
}

impl Default for Subscriptions {
    fn default() -> Self {
        Self { inboxes: Mutex::default(), list: watch::Sender::new(0) }
    }
}

impl Subscriptions {
    /// Subscribes a session to a resource.
    pub(super) fn subscribe(&self, session: &str, uri: &str) -> Result<(), RpcError> {
        let mut inboxes = self.inboxes();
        let inbox = inboxes.session(session);
        let mut uris = inbox.uris();
        if uris.subscribed.contains_key(uri) {
            return Ok(());
        }
        if uris.subscribed.len() >= MAX_URIS {
            return Err(too_many());
        }
        uris.subscribed.insert(uri.into(), false);
        drop(uris);
        inboxes.n_bytes += uri.len() + ENTRY_BYTES;
        inboxes.forget_idle(session);
        if inboxes.n_bytes > MAX_BYTES {
            inboxes.unsubscribe(&inbox, uri);
            return Err(RpcError::new(Code::Internal, "the limit of subscriptions is reached; try again later"));
        }
        Ok(())
    }

    pub(super) fn unsubscribe(&self, session: &str, uri: &str) {
        let mut inboxes = self.inboxes();
        if let Some(inbox) = inboxes.sessions.get(session).cloned() {
            inboxes.unsubscribe(&inbox, uri);
        }
    }

    /// Returns the inbox of a session, for one of its streams.
    pub(super) fn of_session(&self, session: &str) -> Arc<Inbox> {
        let mut inboxes = self.inboxes();
        let inbox = inboxes.session(session);
        inboxes.forget_idle(session);
        inbox
    }

    /// Creates the inbox of a stream with these subscriptions.
    pub(super) fn of_stream(&self, uris: &[String]) -> Arc<Inbox> {
        let subscribed = uris.iter().map(|uri| (uri.as_str().into(), false)).collect();
        let inbox = Inbox { uris: Mutex::new(Uris { subscribed, updated: VecDeque::new() }), added: Notify::new() };
        let inbox = Arc::new(inbox);
        let mut inboxes = self.inboxes();
        inboxes.streams.retain(|stream| stream.strong_count() > 0);
        inboxes.streams.push(Arc::downgrade(&inbox));
        inbox
    }

    /// Forgets a session that has ended.
    pub(super) fn end(&self, session: &str) {
        self.inboxes().remove(session);
    }

    pub(super) fn updated(&self, uri: &str) {
        let mut inboxes = self.inboxes();
        inboxes.streams.retain(|stream| stream.strong_count() > 0);
        inboxes.streams.iter().filter_map(Weak::upgrade).for_each(|inbox| inbox.add(uri));
        inboxes.sessions.values().for_each(|inbox| inbox.add(uri));
    }

    pub(super) fn list_changed(&self) {
        self.list.send_modify(|n_changes| *n_changes = n_changes.wrapping_add(1));
    }

    /// Returns a receiver of changes of the list.
    pub(super) fn list_changes(&self) -> watch::Receiver<u64> {
        self.list.subscribe()
    }

    fn inboxes(&self) -> MutexGuard<'_, Inboxes> {
        self.inboxes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inboxes {
    fn session(&mut self, name: &str) -> Arc<Inbox> {
        if let Some(inbox) = self.sessions.get(name) {
            return Arc::clone(inbox);
        }
        let name: Arc<str> = name.into();
        let inbox = Arc::<Inbox>::default();
        self.n_bytes += name.len() + ENTRY_BYTES;
        self.sessions.insert(Arc::clone(&name), Arc::clone(&inbox));
        self.order.push_back(name);
        inbox
    }

    fn unsubscribe(&mut self, inbox: &Inbox, uri: &str) {
        let mut uris = inbox.uris();
        uris.updated.retain(|other| **other != *uri);
        if uris.subscribed.remove(uri).is_some() {
            self.n_bytes -= uri.len() + ENTRY_BYTES;
        }
    }

    /// Forgets the oldest sessions without a stream while there are too many subscriptions. Sessions have no other
    /// state on the server, so clients may leave them without notice.
    fn forget_idle(&mut self, except: &str) {
        let mut idx = 0;
        while self.n_bytes > MAX_BYTES
            && let Some(name) = self.order.get(idx).cloned()
        {
            let is_idle = self.sessions.get(&name).is_none_or(|inbox| Arc::strong_count(inbox) == 1);
            match is_idle && &*name != except {
                true => self.remove(&name),
                false => idx += 1,
            }
        }
    }

    fn remove(&mut self, name: &str) {
        let Some(inbox) = self.sessions.remove(name) else {
            return;
        };
        self.order.retain(|other| **other != *name);
        let uris = inbox.uris();
        let n_bytes: usize = uris.subscribed.keys().map(|uri| uri.len() + ENTRY_BYTES).sum();
        self.n_bytes -= n_bytes + name.len() + ENTRY_BYTES;
    }
}

impl Inbox {
    /// Waits for the next update and returns its URI. Dropping the future loses no update.
    pub(super) async fn next(&self) -> Box<str> {
        loop {
            let added = self.added.notified();
            if let Some(uri) = self.uris().pop() {
                return uri;
            }
            added.await;
        }
    }

    /// Adds an update if the client has subscribed to the resource.
    fn add(&self, uri: &str) {
        let mut uris = self.uris();
        if let Some(is_updated) = uris.subscribed.get_mut(uri).filter(|is_updated| !**is_updated) {
            *is_updated = true;
            uris.updated.push_back(uri.into());
            self.added.notify_one();
        }
    }

    fn uris(&self) -> MutexGuard<'_, Uris> {
        self.uris.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Uris {
    /// Removes the oldest update, so that a resource that changes often does not delay the others.
    fn pop(&mut self) -> Option<Box<str>> {
        let uri = self.updated.pop_front()?;
        if let Some(is_updated) = self.subscribed.get_mut(&uri) {
            *is_updated = false;
        }
        Some(uri)
    }
}

/// Checks the limits of the subscriptions of a stream.
pub(super) fn check(uris: &[String]) -> Result<(), RpcError> {
    match uris.len() > MAX_URIS || uris.iter().any(|uri| uri.len() > MAX_URI_LEN) {
        true => Err(too_many()),
        false => Ok(()),
    }
}

fn too_many() -> RpcError {
    RpcError::new(Code::InvalidParams, format!("a client can subscribe to at most {MAX_URIS} resources"))
}
