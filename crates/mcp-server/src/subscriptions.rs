//! The clients that subscribe to changes of resources.

mod providers;

#[cfg(test)]
mod tests;

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Weak};

use tokio::sync::{Notify, watch};
use toolkit::resource::ResourceWatch;
use toolkit_mcp::{Code, RpcError};
use toolkit_runtime::{BudgetExceeded, BudgetShare, Mutex, SharedBudget};

pub(super) use self::providers::Providers;
use super::proxy_uri::decode;

/// The maximum length of a URI in bytes.
pub(super) const MAX_URI_LEN: usize = 8 << 10;

/// The maximum number of resources that a session or a stream subscribes to.
const MAX_URIS: usize = 1_000;

/// The maximum size of the subscriptions of all clients, of which each caller has a share. Beyond that, sessions without a
/// stream are forgotten.
const MAX_BYTES: usize = 16 << 20;

/// The approximate memory of a session or a subscription, apart from its text.
const ENTRY_BYTES: usize = 128;

/// The subscriptions of all clients.
#[derive(Debug)]
pub(super) struct Subscriptions {
    inboxes: Mutex<Inboxes>,
    bytes: SharedBudget<Arc<str>>,
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
}

/// The updates that a client has not received. Each resource occurs once, so the subscriptions bound its size.
#[derive(Debug)]
pub(super) struct Inbox {
    caller: Arc<str>,
    uris: Mutex<Uris>,
    added: Notify,
}

#[derive(Debug)]
struct Uris {
    /// The memory of the subscriptions.
    share: BudgetShare<Arc<str>>,
    subscribed: HashMap<Box<str>, Subscribed>,
    /// The updates in the order of their arrival.
    updated: VecDeque<Box<str>>,
}

/// A subscription to a resource.
#[derive(Debug)]
struct Subscribed {
    /// True if there is an update that the client has not received.
    is_updated: bool,
    /// Ends with the subscription. It is not dropped under a lock, since it contains code of the provider.
    _watch: ResourceWatch,
}

impl Default for Subscriptions {
    fn default() -> Self {
        Self { inboxes: Mutex::default(), bytes: SharedBudget::new(MAX_BYTES as u64), list: watch::Sender::new(0) }
    }
}

impl Subscriptions {
    /// Returns true if a session is subscribed to a resource.
    ///
    /// # Errors
    ///
    /// Returns an error if it is not, and has reached the limit of subscriptions.
    pub(super) fn is_subscribed(&self, session: &str, uri: &str) -> Result<bool, RpcError> {
        let inbox = self.inboxes.lock().sessions.get(session).cloned();
        inbox.map_or(Ok(false), |inbox| inbox.uris.lock().contains(uri))
    }

    /// Subscribes a session of a caller to a resource that a provider watches.
    ///
    /// # Errors
    ///
    /// Returns an error if the session or the caller has reached its limit.
    pub(super) fn subscribe(
        &self,
        session: &str,
        caller: &str,
        uri: &str,
        watch: ResourceWatch,
    ) -> Result<(), RpcError> {
        let mut inboxes = self.inboxes.lock();
        let inbox = inboxes.session(&self.bytes, session, caller);
        let is_subscribed = inbox.uris.lock().contains(uri);
        if !matches!(is_subscribed, Ok(false)) {
            drop(inboxes);
            return is_subscribed.map(drop);
        }
        let mut forgotten = Vec::new();
        let subscribed = loop {
            let grown = inbox.uris.lock().share.grow(n_bytes(uri));
            let Err(exceeded) = grown else { break Ok(()) };
            match inboxes.forget_idle(&self.bytes, session, &inbox.caller, &|_| true) {
                Some(idle) => forgotten.push(idle),
                None => break Err(exceeded),
            }
        };
        if subscribed.is_ok() {
            inbox.uris.lock().subscribed.insert(uri.into(), Subscribed { is_updated: false, _watch: watch });
        }
        drop(inboxes);
        drop(forgotten);
        subscribed.map_err(|BudgetExceeded { held, max, .. }| {
            let message = format!(
                "the subscriptions of this client take {held} of the {max} bytes of all clients, its share; try again later"
            );
            RpcError::new(Code::Internal, message)
        })
    }

    pub(super) fn unsubscribe(&self, session: &str, uri: &str) {
        let mut inboxes = self.inboxes.lock();
        let inbox = inboxes.sessions.get(session).cloned();
        let ended = inbox.and_then(|inbox| inboxes.unsubscribe(&inbox, uri));
        drop(inboxes);
        drop(ended);
    }

    /// Returns the inbox of a session of a caller, for one of its streams.
    pub(super) fn of_session(&self, session: &str, caller: &str) -> Arc<Inbox> {
        self.inboxes.lock().session(&self.bytes, session, caller)
    }

    /// Forgets the oldest session without a stream that is subscribed to a resource of `backend`, of this caller or of one that
    /// holds more. Returns false if there is none apart from `except`.
    pub(super) fn forget_idle_subscriber(&self, backend: &str, except: &str, caller: &str) -> bool {
        let is_of_backend = |uri: &str| decode(uri).is_some_and(|(other, _)| other == backend);
        let is_subscriber = |inbox: &Inbox| inbox.uris.lock().subscribed.keys().any(|uri| is_of_backend(uri));
        let forgotten = self.inboxes.lock().forget_idle(&self.bytes, except, &caller.into(), &is_subscriber);
        forgotten.is_some()
    }

    /// Creates the inbox of a stream of a caller that is subscribed to resources that providers watch, as far as the share of
    /// the caller suffices.
    pub(super) fn of_stream(&self, caller: &str, watched: Vec<(String, ResourceWatch)>) -> Arc<Inbox> {
        let inbox = Arc::new(Inbox::new(&self.bytes, caller));
        let mut uris = inbox.uris.lock();
        for (uri, watch) in watched {
            if uris.share.grow(n_bytes(&uri)).is_ok() {
                uris.subscribed.insert(uri.into(), Subscribed { is_updated: false, _watch: watch });
            }
        }
        drop(uris);
        let mut inboxes = self.inboxes.lock();
        inboxes.streams.retain(|stream| stream.strong_count() > 0);
        inboxes.streams.push(Arc::downgrade(&inbox));
        inbox
    }

    /// Forgets a session that has ended.
    pub(super) fn end(&self, session: &str) {
        let forgotten = self.inboxes.lock().remove(session);
        drop(forgotten);
    }

    pub(super) fn updated(&self, uri: &str) {
        let mut inboxes = self.inboxes.lock();
        inboxes.streams.retain(|stream| stream.strong_count() > 0);
        // A stream may end meanwhile, and its inbox is not dropped under the lock.
        let streams: Vec<Arc<Inbox>> = inboxes.streams.iter().filter_map(Weak::upgrade).collect();
        streams.iter().chain(inboxes.sessions.values()).for_each(|inbox| inbox.add(uri));
        drop(inboxes);
    }

    pub(super) fn list_changed(&self) {
        self.list.send_modify(|n_changes| *n_changes = n_changes.wrapping_add(1));
    }

    /// Returns a receiver of changes of the list.
    pub(super) fn list_changes(&self) -> watch::Receiver<u64> {
        self.list.subscribe()
    }
}

impl Inboxes {
    fn session(&mut self, bytes: &SharedBudget<Arc<str>>, name: &str, caller: &str) -> Arc<Inbox> {
        if let Some(inbox) = self.sessions.get(name) {
            return Arc::clone(inbox);
        }
        let inbox = Arc::new(Inbox::new(bytes, caller));
        inbox.uris.lock().share.grow_beyond(n_bytes(name));
        let name: Arc<str> = name.into();
        self.sessions.insert(Arc::clone(&name), Arc::clone(&inbox));
        self.order.push_back(name);
        inbox
    }

    /// Ends a subscription and returns it.
    fn unsubscribe(&mut self, inbox: &Inbox, uri: &str) -> Option<Subscribed> {
        let mut uris = inbox.uris.lock();
        uris.updated.retain(|other| **other != *uri);
        let ended = uris.subscribed.remove(uri)?;
        uris.share.shrink(n_bytes(uri));
        Some(ended)
    }

    fn is_idle(&self, session: &str) -> bool {
        self.sessions.get(session).is_none_or(|inbox| Arc::strong_count(inbox) == 1)
    }

    /// Forgets the oldest of these sessions without a stream, of this caller or of one that holds more. Sessions have no other
    /// state on the server, so clients may leave them without notice. Returns its inbox.
    fn forget_idle(
        &mut self,
        bytes: &SharedBudget<Arc<str>>,
        except: &str,
        caller: &Arc<str>,
        accepts: &dyn Fn(&Inbox) -> bool,
    ) -> Option<Arc<Inbox>> {
        let n_own = bytes.held_by(caller);
        let makes_room = |name: &&Arc<str>| {
            let inbox = self.sessions.get(*name);
            let is_more = |inbox: &Arc<Inbox>| inbox.caller == *caller || bytes.held_by(&inbox.caller) > n_own;
            let is_candidate = inbox.is_some_and(|inbox| is_more(inbox) && accepts(inbox));
            ***name != *except && self.is_idle(name) && is_candidate
        };
        let oldest = self.order.iter().find(makes_room).cloned();
        oldest.and_then(|name| self.remove(&name))
    }

    /// Removes a session and returns its inbox, whose memory counts no longer.
    fn remove(&mut self, name: &str) -> Option<Arc<Inbox>> {
        let inbox = self.sessions.remove(name)?;
        self.order.retain(|other| **other != *name);
        inbox.uris.lock().share.shrink(u64::MAX);
        Some(inbox)
    }
}

impl Inbox {
    fn new(bytes: &SharedBudget<Arc<str>>, caller: &str) -> Self {
        let caller: Arc<str> = caller.into();
        let share = bytes.share(Some(Arc::clone(&caller)));
        let uris = Uris { share, subscribed: HashMap::new(), updated: VecDeque::new() };
        Self { caller, uris: Mutex::new(uris), added: Notify::new() }
    }

    /// Returns true if there is a subscription to a resource.
    pub(super) fn has(&self, uri: &str) -> bool {
        self.uris.lock().subscribed.contains_key(uri)
    }

    /// Waits for the next update and returns its URI. Dropping the future loses no update.
    pub(super) async fn next(&self) -> Box<str> {
        loop {
            let added = self.added.notified();
            if let Some(uri) = self.uris.lock().pop() {
                return uri;
            }
            added.await;
        }
    }

    /// Adds an update if the client has subscribed to the resource.
    fn add(&self, uri: &str) {
        let mut uris = self.uris.lock();
        if let Some(subscribed) = uris.subscribed.get_mut(uri).filter(|subscribed| !subscribed.is_updated) {
            subscribed.is_updated = true;
            uris.updated.push_back(uri.into());
            self.added.notify_one();
        }
    }
}

impl Uris {
    /// Returns true if there is a subscription, and an error if there is none and the limit is reached.
    fn contains(&self, uri: &str) -> Result<bool, RpcError> {
        match self.subscribed.contains_key(uri) {
            false if self.subscribed.len() >= MAX_URIS => Err(too_many()),
            is_subscribed => Ok(is_subscribed),
        }
    }

    /// Removes the oldest update, so that a resource that changes often does not delay the others.
    fn pop(&mut self) -> Option<Box<str>> {
        let uri = self.updated.pop_front()?;
        if let Some(subscribed) = self.subscribed.get_mut(&uri) {
            subscribed.is_updated = false;
        }
        Some(uri)
    }
}

/// Returns the approximate memory of a session or a subscription with this text.
fn n_bytes(text: &str) -> u64 {
    (text.len() + ENTRY_BYTES) as u64
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
