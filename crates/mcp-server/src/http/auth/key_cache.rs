//! Fetched keys: their age, and when they are fetched again.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use toolkit_runtime::Mutex;

use super::fetch::Source;
use super::key::PublicKey;

/// The minimum time between two fetches because of unknown key ids. Anyone can send such tokens, and they must not cause
/// more requests to the issuer.
const SEARCH_INTERVAL: Duration = Duration::from_secs(30);

/// The minimum time between two fetches because of the age of the keys.
const RETRY_INTERVAL: Duration = Duration::from_secs(5);

/// The keys of an issuer.
pub(super) struct Cache {
    pub(super) source: Source,
    pub(super) max_age: Duration,
    pub(super) max_stale: Duration,
    state: Mutex<CacheState>,
    /// Held by the fetch in progress.
    turn: tokio::sync::Mutex<()>,
}

#[derive(Clone, Default)]
struct CacheState {
    pub(super) keys: Option<(Arc<[PublicKey]>, Instant)>,
    last: Option<Fetch>,
    /// The start of the last fetch because of an unknown key id.
    last_search: Option<Instant>,
}

/// A finished fetch.
#[derive(Clone, Copy)]
struct Fetch {
    started: Instant,
    ended: Instant,
    succeeded: bool,
}

/// The reason for a fetch.
#[derive(Clone, Copy)]
enum Cause {
    /// The keys are too old, or there are none.
    Age,
    /// A token, which arrived at this time, has an unknown key id.
    UnknownKey(Instant),
}

/// The error for keys that cannot be fetched.
#[derive(Debug)]
pub(super) struct Unavailable;

impl Cache {
    pub(super) fn new(source: Source, max_age: Duration, max_stale: Duration) -> Self {
        Self { source, max_age, max_stale, state: Mutex::default(), turn: tokio::sync::Mutex::default() }
    }

    /// Returns the keys. Starts to fetch them again if they are old, and waits for that if they are too old to be used.
    pub(super) async fn keys(self: &Arc<Self>) -> Result<Arc<[PublicKey]>, Unavailable> {
        if let Some(keys) = self.keys_of_age(self.max_age) {
            return Ok(keys);
        }
        if let Some(keys) = self.keys_of_age(self.max_unrefreshed()) {
            self.refresh();
            return Ok(keys);
        }
        self.fetch(Cause::Age).await;
        self.keys_or_stale()
    }

    /// Returns the age up to which keys are used without waiting for newer ones. If there was no attempt to fetch them,
    /// the issuer may have removed a key long ago.
    fn max_unrefreshed(&self) -> Duration {
        let max_stale = self.max_stale.max(self.max_age);
        match self.state().last {
            Some(Fetch { succeeded: false, .. }) => max_stale,
            _ => self.max_age.saturating_mul(2).min(max_stale),
        }
    }

    /// Fetches old keys in the background, unless a fetch is in progress or not due.
    fn refresh(self: &Arc<Self>) {
        if !self.is_due(Cause::Age) || self.turn.try_lock().is_err() {
            return;
        }
        let cache = Arc::clone(self);
        tokio::spawn(async move {
            if let Ok(_turn) = cache.turn.try_lock()
                && cache.is_due(Cause::Age)
            {
                cache.fetch_now(Cause::Age).await;
            }
        });
    }

    /// Returns the keys after an attempt to find a key that was unknown when a token arrived.
    pub(super) async fn newer_keys(self: &Arc<Self>, arrived: Instant) -> Result<Arc<[PublicKey]>, Unavailable> {
        self.fetch(Cause::UnknownKey(arrived)).await;
        // If the last attempt failed, the issuer may have a key that is unknown here.
        match self.state().last {
            Some(Fetch { succeeded: true, .. }) => self.keys_or_stale(),
            _ => Err(Unavailable),
        }
    }

    fn keys_or_stale(&self) -> Result<Arc<[PublicKey]>, Unavailable> {
        self.keys_of_age(self.max_stale.max(self.max_age)).ok_or(Unavailable)
    }

    fn keys_of_age(&self, limit: Duration) -> Option<Arc<[PublicKey]>> {
        let (keys, fetched) = self.state().keys?;
        (fetched.elapsed() < limit).then_some(keys)
    }

    /// Fetches the keys if a fetch is due. Concurrent calls wait for the same fetch.
    async fn fetch(self: &Arc<Self>, cause: Cause) {
        if !self.is_due(cause) && self.turn.try_lock().is_ok() {
            return;
        }
        let cache = Arc::clone(self);
        // A task of its own: a client that disconnects must not cancel the fetch that others wait for.
        let task = tokio::spawn(async move {
            let _turn = cache.turn.lock().await;
            if cache.is_due(cause) {
                cache.fetch_now(cause).await;
            }
        });
        let _ = task.await;
    }

    fn is_due(&self, cause: Cause) -> bool {
        let CacheState { last, last_search, .. } = self.state();
        let rests = |last: Option<Instant>, interval| last.is_some_and(|last| last.elapsed() < interval);
        match cause {
            // From the end on, so that requests that waited for a fetch that timed out do not repeat it one by one.
            Cause::Age => {
                !rests(last.map(|last| last.ended), RETRY_INTERVAL) && self.keys_of_age(self.max_age).is_none()
            }
            Cause::UnknownKey(arrived) => {
                !rests(last_search, SEARCH_INTERVAL) && last.is_none_or(|last| last.started < arrived)
            }
        }
    }

    async fn fetch_now(&self, cause: Cause) {
        let started = Instant::now();
        let fetched = self.source.fetch().await;
        let mut state = self.state.lock();
        state.last = Some(Fetch { started, ended: Instant::now(), succeeded: fetched.is_ok() });
        if let Cause::UnknownKey(_) = cause {
            state.last_search = Some(started);
        }
        match fetched {
            Ok(keys) => state.keys = Some((keys, started)),
            Err(error) => tracing::warn!(source = ?self.source, %error, "the keys of an issuer cannot be fetched"),
        }
    }

    fn state(&self) -> CacheState {
        self.state.lock().clone()
    }
}
