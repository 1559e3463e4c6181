//! The state of one connection.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::time::Instant;

use tokio::sync::Notify;

use super::connections::Connections;
use super::response_budget::ResponsePermit;

/// The connection of a request, from the extensions of the request. Clones share the connection.
#[derive(Clone, Debug)]
pub struct Connection(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    connections: Connections,
    id: u64,
    address: IpAddr,
    is_reserved: AtomicBool,
    phase: AtomicU8,
    /// True while a write waits for the client to read.
    is_blocked: AtomicBool,
    opened: Instant,
    /// The start of the phase, in milliseconds after `opened`.
    since: AtomicU64,
    evicted: Notify,
}

/// The party and the event that a connection waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Waits for a request.
    Idle,
    /// Waits for the body of a request.
    Receiving,
    /// Waits for the server.
    Running,
    /// Waits for the client to read.
    Blocked,
}

const IDLE: u8 = 0;
const RECEIVING: u8 = 1;
const RUNNING: u8 = 2;

impl Connection {
    pub(super) fn new(connections: Connections, id: u64, address: IpAddr, is_reserved: bool) -> Self {
        Self(Arc::new(Inner {
            connections,
            id,
            address,
            is_reserved: AtomicBool::new(is_reserved),
            phase: AtomicU8::new(IDLE),
            is_blocked: AtomicBool::new(false),
            opened: Instant::now(),
            since: AtomicU64::new(0),
            evicted: Notify::new(),
        }))
    }

    /// Returns the address of the client.
    #[must_use]
    pub fn address(&self) -> IpAddr {
        self.0.address
    }

    /// Returns true if the connection was accepted from the reserve and there is still no room outside of it. On such a
    /// connection, answer only health checks and authenticated clients.
    #[must_use]
    pub fn is_reserved(&self) -> bool {
        self.is_in_reserve() && !self.0.connections.promote(self)
    }

    /// Returns a permit for an event stream on this connection, or `None` if the limit of event streams is reached, in
    /// total or for this address.
    #[must_use]
    pub fn event_stream(&self) -> Option<EventStreamPermit> {
        let is_admitted = self.0.connections.begin_event_stream(self.address());
        is_admitted.then(|| EventStreamPermit(self.clone()))
    }

    pub(super) async fn response(&self, n_bytes: usize) -> Option<ResponsePermit> {
        self.0.connections.response(n_bytes).await
    }

    pub(super) fn id(&self) -> u64 {
        self.0.id
    }

    pub(super) fn is_in_reserve(&self) -> bool {
        self.0.is_reserved.load(Ordering::Relaxed)
    }

    /// Removes the connection from the reserve. Returns true if it was in there.
    pub(super) fn leave_reserve(&self) -> bool {
        self.0.is_reserved.swap(false, Ordering::Relaxed)
    }

    pub(super) fn phase(&self) -> Phase {
        match self.0.phase.load(Ordering::Relaxed) {
            _ if self.0.is_blocked.load(Ordering::Relaxed) => Phase::Blocked,
            IDLE => Phase::Idle,
            RECEIVING => Phase::Receiving,
            _ => Phase::Running,
        }
    }

    /// Returns the start of the phase.
    pub(super) fn since(&self) -> Instant {
        self.0.opened + std::time::Duration::from_millis(self.0.since.load(Ordering::Relaxed))
    }

    pub(super) fn idle(&self) {
        self.enter(IDLE);
    }

    pub(super) fn running(&self) {
        self.enter(RUNNING);
    }

    /// Enters the phase `Receiving`, until the guard is dropped.
    pub(super) fn receiving(&self) -> Receiving {
        self.enter(RECEIVING);
        Receiving(self.clone())
    }

    pub(super) fn set_blocked(&self, is_blocked: bool) {
        if self.0.is_blocked.swap(is_blocked, Ordering::Relaxed) != is_blocked && is_blocked {
            self.touch();
        }
    }

    fn enter(&self, phase: u8) {
        self.0.phase.store(phase, Ordering::Relaxed);
        self.touch();
    }

    fn touch(&self) {
        let since = u64::try_from(self.0.opened.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.0.since.store(since, Ordering::Relaxed);
    }

    pub(super) fn evict(&self) {
        self.0.evicted.notify_one();
    }

    pub(super) async fn evicted(&self) {
        self.0.evicted.notified().await;
    }

    pub(super) fn forget(&self) {
        self.0.connections.forget(self);
    }
}

/// A guard for the phase `Receiving`.
#[derive(Debug)]
pub(super) struct Receiving(Connection);

impl Drop for Receiving {
    fn drop(&mut self) {
        self.0.running();
    }
}

/// A permit for an event stream. Dropping it returns it.
#[derive(Debug)]
pub struct EventStreamPermit(Connection);

impl Drop for EventStreamPermit {
    fn drop(&mut self) {
        self.0.0.connections.end_event_stream(self.0.address());
    }
}
