//! The memory budget of request bodies.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

/// The time that a body waits for room before an unfinished body is revoked.
const YIELD_AFTER: Duration = Duration::from_secs(1);

/// Counts the bytes of bodies that have arrived and are still in use.
///
/// A client may hold as many bytes as are free, so that there is always room for a small body. When a body has waited
/// for room for [`YIELD_AFTER`], the largest unfinished body is revoked.
#[derive(Clone, Debug)]
pub(super) struct Budget(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    released: Notify,
}

#[derive(Debug)]
struct State {
    n_free: usize,
    by_address: HashMap<IpAddr, usize>,
    unfinished: HashMap<u64, Unfinished>,
    next_id: u64,
}

#[derive(Debug)]
struct Unfinished {
    n_bytes: usize,
    since: Instant,
    revoked: Arc<Notify>,
}

/// The share of one body in the budget. Dropping it returns the bytes.
#[derive(Debug)]
pub(super) struct Charge {
    budget: Budget,
    /// The address of the client; `None` where an address does not identify a client.
    address: Option<IpAddr>,
    n_bytes: usize,
    /// The key in [`State::unfinished`], for a body that can be revoked.
    id: Option<u64>,
    revoked: Option<Arc<Notify>>,
}

/// The size above which an unfinished body can be revoked. Smaller bodies are not worth an entry.
const SMALL: usize = 32 << 10;

impl Budget {
    pub(super) fn new(n_bytes: usize) -> Self {
        let state = State { n_free: n_bytes, by_address: HashMap::new(), unfinished: HashMap::new(), next_id: 0 };
        Self(Arc::new(Shared { state: Mutex::new(state), released: Notify::new() }))
    }

    /// Creates an empty charge for a client: the address, or this body alone if it is `None`.
    pub(super) fn charge(&self, address: Option<IpAddr>) -> Charge {
        Charge { budget: self.clone(), address, n_bytes: 0, id: None, revoked: None }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Revokes the largest unfinished body that is older than [`YIELD_AFTER`].
    fn revoke_largest(&self) {
        let state = self.state();
        let candidates = state.unfinished.values().filter(|body| body.since.elapsed() >= YIELD_AFTER);
        if let Some(largest) = candidates.max_by_key(|body| body.n_bytes) {
            largest.revoked.notify_one();
        }
    }
}

impl Charge {
    /// Waits for room, then charges `n_more` bytes.
    pub(super) async fn grow(&mut self, n_more: usize) {
        if self.try_grow(n_more) {
            return;
        }
        // Not from the last release, since small bodies that come and go release all the time.
        let mut yields_at = tokio::time::Instant::now() + YIELD_AFTER;
        loop {
            let budget = self.budget.clone();
            let mut released = std::pin::pin!(budget.0.released.notified());
            released.as_mut().enable();
            if self.try_grow(n_more) {
                return;
            }
            if tokio::time::timeout_at(yields_at, released).await.is_err() {
                self.budget.revoke_largest();
                yields_at += YIELD_AFTER;
            }
        }
    }

    fn try_grow(&mut self, n_more: usize) -> bool {
        let mut state = self.budget.state();
        let n_held = match self.address {
            Some(address) => state.by_address.get(&address).copied().unwrap_or(0),
            None => self.n_bytes,
        };
        if n_held + n_more > state.n_free {
            return false;
        }
        state.n_free -= n_more;
        self.n_bytes += n_more;
        if let Some(address) = self.address {
            *state.by_address.entry(address).or_default() += n_more;
        }
        if self.n_bytes > SMALL {
            let n_bytes = self.n_bytes;
            match self.id {
                Some(id) => {
                    if let Some(body) = state.unfinished.get_mut(&id) {
                        body.n_bytes = n_bytes;
                    }
                }
                None => {
                    let (id, revoked) = (state.next_id, Arc::new(Notify::new()));
                    state.next_id += 1;
                    let body = Unfinished { n_bytes, since: Instant::now(), revoked: Arc::clone(&revoked) };
                    state.unfinished.insert(id, body);
                    (self.id, self.revoked) = (Some(id), Some(revoked));
                }
            }
        }
        true
    }

    /// Marks the body as complete, so that it cannot be revoked. The bytes stay charged until it is dropped.
    pub(super) fn finish(&mut self) {
        if let Some(id) = self.id.take() {
            self.budget.state().unfinished.remove(&id);
        }
    }

    /// Waits until the charge is revoked, which never happens to a small body.
    pub(super) fn revoked(&self) -> impl Future<Output = ()> + use<> {
        let revoked = self.revoked.clone();
        async move {
            match revoked {
                Some(revoked) => revoked.notified().await,
                None => std::future::pending().await,
            }
        }
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.finish();
        if self.n_bytes == 0 {
            return;
        }
        let mut state = self.budget.state();
        state.n_free += self.n_bytes;
        if let Some(address) = self.address
            && let Some(held) = state.by_address.get_mut(&address)
        {
            *held = held.saturating_sub(self.n_bytes);
            if *held == 0 {
                state.by_address.remove(&address);
            }
        }
        drop(state);
        self.budget.0.released.notify_waiters();
    }
}
