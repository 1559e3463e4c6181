//! The state of one connection, by which the table of connections selects one to evict.

use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

/// The state of a connection.
#[derive(Debug)]
pub(super) struct ConnectionState {
    pub(super) id: u64,
    pub(super) address: IpAddr,
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

impl ConnectionState {
    pub(super) fn new(id: u64, address: IpAddr, is_reserved: bool) -> Self {
        Self {
            id,
            address,
            is_reserved: AtomicBool::new(is_reserved),
            phase: AtomicU8::new(IDLE),
            is_blocked: AtomicBool::new(false),
            opened: Instant::now(),
            since: AtomicU64::new(0),
            evicted: Notify::new(),
        }
    }

    pub(super) fn is_in_reserve(&self) -> bool {
        self.is_reserved.load(Ordering::Relaxed)
    }

    /// Removes the connection from the reserve. Returns true if it was in there.
    pub(super) fn leave_reserve(&self) -> bool {
        self.is_reserved.swap(false, Ordering::Relaxed)
    }

    pub(super) fn phase(&self) -> Phase {
        match self.phase.load(Ordering::Relaxed) {
            _ if self.is_blocked.load(Ordering::Relaxed) => Phase::Blocked,
            IDLE => Phase::Idle,
            RECEIVING => Phase::Receiving,
            _ => Phase::Running,
        }
    }

    /// Returns the start of the phase.
    pub(super) fn since(&self) -> Instant {
        self.opened + Duration::from_millis(self.since.load(Ordering::Relaxed))
    }

    pub(super) fn idle(&self) {
        self.enter(IDLE);
    }

    pub(super) fn receiving(&self) {
        self.enter(RECEIVING);
    }

    pub(super) fn running(&self) {
        self.enter(RUNNING);
    }

    pub(super) fn set_blocked(&self, is_blocked: bool) {
        if self.is_blocked.swap(is_blocked, Ordering::Relaxed) != is_blocked && is_blocked {
            self.touch();
        }
    }

    fn enter(&self, phase: u8) {
        self.phase.store(phase, Ordering::Relaxed);
        self.touch();
    }

    fn touch(&self) {
        let since = u64::try_from(self.opened.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.since.store(since, Ordering::Relaxed);
    }

    pub(super) fn evict(&self) {
        self.evicted.notify_one();
    }

    pub(super) async fn evicted(&self) {
        self.evicted.notified().await;
    }
}
