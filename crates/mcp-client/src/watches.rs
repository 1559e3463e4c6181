//! The resources of a server that clients of this program are subscribed to.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::stream::{self, StreamExt};
use serde_json::json;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};
use toolkit::resource::ResourceChanges;

use super::failure::Failure;
use super::peer::Peer;
use super::remote::{Backoff, STABLE_AFTER};
use super::request::Request;
use super::subscription::Subscription;
use super::texts::shortened;

/// The maximum number of resources of a server that are watched at the same time.
pub(super) const MAX_WATCHED: usize = 1_000;

/// The watched resources of a server. They outlive its connections, each of which subscribes to them.
pub(super) struct Watches {
    resources: Mutex<HashMap<Arc<str>, Watched>>,
    /// Incremented whenever the connection may have to subscribe or unsubscribe.
    changes: watch::Sender<u64>,
    /// Reports the updates that the client may have missed.
    updates: ResourceChanges,
}

/// A watched resource.
struct Watched {
    n_watches: usize,
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
        Self { resources: Mutex::default(), changes: watch::Sender::new(0), updates }
    }

    /// Watches a resource. Returns `None` if too many resources are watched.
    pub(super) fn add(self: &Arc<Self>, uri: &str) -> Option<Watch> {
        let mut resources = self.resources();
        if !resources.contains_key(uri) {
            if resources.len() >= MAX_WATCHED {
                return None;
            }
            let status = watch::Sender::new(Status::Pending);
            resources.insert(uri.into(), Watched { n_watches: 0, was_subscribed: false, status });
        }
        let (uri, watched) = resources.get_key_value(uri)?;
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
        Some(Watch { watches: Arc::clone(self), uri, status })
    }

    /// Returns the resources to be subscribed to.
    pub(super) fn wanted(&self) -> Wanted {
        let mut wanted = Wanted::default();
        for (uri, watched) in &*self.resources() {
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
        let mut resources = self.resources();
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
        for watched in self.resources().values() {
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

    fn resources(&self) -> MutexGuard<'_, HashMap<Arc<str>, Watched>> {
        self.resources.lock().unwrap_or_else(PoisonError::into_inner)
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
        let mut resources = self.watches.resources();
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

// URIs that servers send.

/// The maximum length of a URI in bytes.
pub(super) const MAX_URI_LEN: usize = 8 << 10;

/// Returns true for a text that may be a URI: it starts with a scheme and has no control characters.
pub(super) fn is_uri(uri: &str) -> bool {
    uri.len() <= MAX_URI_LEN && uri.contains(':') && !uri.contains(char::is_control)
}

// The subscriptions of a connection to the watched resources of its server.

/// The number of concurrent requests of a connection to subscribe or unsubscribe.
const MAX_CONCURRENT: usize = 8;

/// The time within which several changes lead to one stream.
const BURST: Duration = Duration::from_millis(20);

/// The upper bound of the pause before another stream. The pause is as long as the last one took to start.
const MAX_REST: Duration = Duration::from_secs(5);

/// Keeps the subscriptions of a connection equal to the watched resources. Ends when it is aborted.
pub(super) async fn subscribe(peer: Arc<Peer>, watches: Arc<Watches>, request_timeout: Duration) {
    // The subscriptions of the last connection ended with it.
    watches.lose();
    let is_legacy = peer.is_legacy();
    let subscriber = Subscriber { peer, watches, request_timeout };
    match is_legacy {
        true => subscriber.subscribe_to_each().await,
        false => subscriber.listen_to_all().await,
    }
}

struct Subscriber {
    peer: Arc<Peer>,
    watches: Arc<Watches>,
    request_timeout: Duration,
}

/// The connection may be lost. The next one has a subscriber of its own.
struct Unreachable;

impl Subscriber {
    /// Subscribes with one request per resource, up to revision 2025-11-25.
    async fn subscribe_to_each(&self) {
        let mut changes = self.watches.changes();
        let mut subscribed = HashSet::new();
        let mut pause = Backoff::default();
        loop {
            changes.mark_unchanged();
            let wanted = self.watches.wanted();
            let ended: Vec<Arc<str>> = subscribed.extract_if(|uri| !wanted.uris.contains(uri)).collect();
            let ending = stream::iter(ended).map(|uri| self.unsubscribe(uri));
            ending.buffer_unordered(MAX_CONCURRENT).collect::<()>().await;
            let starting = stream::iter(wanted.pending).map(|uri| self.subscribe_to(uri));
            let started: Vec<_> = starting.buffer_unordered(MAX_CONCURRENT).collect().await;
            let is_complete = started.iter().all(Result::is_ok);
            subscribed.extend(started.into_iter().filter_map(|started| started.ok().flatten()));
            if is_complete {
                pause.reset();
                // The sender lives as long as `self`.
                let _ = changes.changed().await;
            } else {
                rest(&mut pause).await;
            }
        }
    }

    /// Subscribes to a resource. Returns `None` if the server refuses.
    async fn subscribe_to(&self, uri: Arc<str>) -> Result<Option<Arc<str>>, Unreachable> {
        let outcome = match self.request(Request::about("resources/subscribe", "uri", &uri)).await {
            Ok(()) => Ok(()),
            Err(Some(reason)) => Err(reason),
            Err(None) => return Err(Unreachable),
        };
        let is_subscribed = outcome.is_ok();
        self.watches.settle(&uri, outcome);
        Ok(is_subscribed.then_some(uri))
    }

    async fn unsubscribe(&self, uri: Arc<str>) {
        // Updates of a resource that is not watched reach no client.
        let _ = self.request(Request::about("resources/unsubscribe", "uri", &uri)).await;
    }

    /// Sends a request.
    ///
    /// # Errors
    ///
    /// Returns the reason if the server refuses or does not respond, and `None` if the connection may be lost.
    async fn request(&self, request: Request) -> Result<(), Option<Arc<str>>> {
        match timeout(self.request_timeout, self.peer.ask(&request)).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(failure)) => Err(reason(&failure)),
            Err(_) => Err(Some(self.too_late())),
        }
    }

    /// Subscribes to all resources with one stream, since revision 2026-07-28. A change of the resources replaces the
    /// stream.
    async fn listen_to_all(&self) {
        let mut changes = self.watches.changes();
        let mut stream: Option<Subscription> = None;
        let mut acknowledged = BTreeSet::new();
        let mut pause = Backoff::default();
        let mut begun = Instant::now();
        loop {
            changes.mark_unchanged();
            let wanted = self.watches.wanted();
            let has_all = wanted.uris == acknowledged;
            let started_at = Instant::now();
            if has_all {
                // A resource may have been unsubscribed and subscribed again.
                wanted.pending.iter().for_each(|uri| self.watches.settle(uri, Ok(())));
            } else if wanted.uris.is_empty() {
                stream = None;
                acknowledged.clear();
            } else {
                let uris: Vec<&str> = wanted.uris.iter().map(|uri| &**uri).collect();
                let filter = json!({ "resourceSubscriptions": uris });
                match timeout(self.request_timeout, Subscription::start(&self.peer, &filter)).await {
                    Ok(Ok(started)) => {
                        let honored = started.honored["resourceSubscriptions"].as_array();
                        let honored: HashSet<&str> =
                            honored.into_iter().flatten().filter_map(|it| it.as_str()).collect();
                        acknowledged.clear();
                        for uri in wanted.uris {
                            let is_honored = honored.contains(&*uri);
                            self.watches.settle(&uri, is_honored.then_some(()).ok_or("it was not acknowledged".into()));
                            if is_honored {
                                acknowledged.insert(uri);
                            }
                        }
                        // The new stream has started before the last one ends, so that no update is missed.
                        stream = Some(started);
                        begun = Instant::now();
                    }
                    Ok(Err(error)) => match reason(&error) {
                        Some(reason) => self.refuse(&wanted.pending, &reason),
                        None => {
                            rest(&mut pause).await;
                            continue;
                        }
                    },
                    Err(_) => self.refuse(&wanted.pending, &self.too_late()),
                }
            }
            sleep(started_at.elapsed().min(MAX_REST)).await;
            let is_over = async {
                match &mut stream {
                    Some(stream) => stream.ended().await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                _ = changes.changed() => sleep(BURST).await,
                () = is_over => {
                    // A stream may end while the server goes on.
                    stream = None;
                    acknowledged.clear();
                    self.watches.lose();
                    if begun.elapsed() > STABLE_AFTER {
                        pause.reset();
                    }
                    rest(&mut pause).await;
                }
            }
        }
    }

    fn refuse(&self, uris: &[Arc<str>], reason: &Arc<str>) {
        uris.iter().for_each(|uri| self.watches.settle(uri, Err(Arc::clone(reason))));
    }

    fn too_late(&self) -> Arc<str> {
        format!("it did not respond within {:?}", self.request_timeout).into()
    }
}

/// Waits longer each time.
async fn rest(pause: &mut Backoff) {
    pause.record_failure();
    sleep(pause.left().unwrap_or_default()).await;
}

/// Returns the reason for which a server refuses, or `None` for a failure of the connection.
fn reason(failure: &Failure) -> Option<Arc<str>> {
    match failure {
        Failure::Rpc(error) => Some(shortened(&error.message).into()),
        Failure::Invalid(_) => Some("it responded with an invalid message".into()),
        _ => None,
    }
}
