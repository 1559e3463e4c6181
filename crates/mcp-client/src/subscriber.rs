//! The subscriptions of a connection to the watched resources of its server.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::{self, StreamExt};
use serde_json::json;
use tokio::time::{Instant, sleep, timeout};

use super::backoff::{Backoff, STABLE_AFTER};
use super::failure::Failure;
use super::outgoing::Request;
use super::peer::Peer;
use super::subscription::Subscription;
use super::texts::shortened;
use super::watches::Watches;

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
