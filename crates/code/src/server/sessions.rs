//! The sessions of a server.

use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use data_encoding::HEXLOWER;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::super::limits::Limits;
use super::super::sandbox::Session;

/// The sessions that wait for a message. One whose message is answered is not among them: if the client disconnects, it
/// is dropped with the request.
pub(super) struct Sessions {
    waiting: Mutex<HashMap<String, Open>>,
    permits: Arc<Semaphore>,
    max: u32,
}

/// A session.
pub(super) struct Open {
    pub(super) session: Box<dyn Session>,
    pub(super) limits: Limits,
    pub(super) is_started: bool,
    /// The time at which it ends.
    pub(super) deadline: Instant,
    _permit: Permit,
}

/// The permission to open a session.
pub(super) struct Permit {
    _permit: OwnedSemaphorePermit,
}

/// The time between two searches for sessions that are too old.
const PERIOD: Duration = Duration::from_secs(1);

impl Sessions {
    pub(super) fn new(max: usize) -> Self {
        let max = u32::try_from(max.min(Semaphore::MAX_PERMITS)).unwrap_or(u32::MAX);
        Self { waiting: Mutex::default(), permits: Arc::new(Semaphore::new(max as usize)), max }
    }

    /// Returns `None` if there are too many sessions, or the server shuts down.
    pub(super) fn permit(&self) -> Option<Permit> {
        Arc::clone(&self.permits).try_acquire_owned().ok().map(|permit| Permit { _permit: permit })
    }

    /// Adds a session, and returns its unguessable id.
    pub(super) fn add(
        &self,
        session: Box<dyn Session>,
        limits: Limits,
        permit: Permit,
    ) -> Result<String, getrandom::Error> {
        let mut id = [0; 16];
        getrandom::fill(&mut id)?;
        let id = HEXLOWER.encode(&id);
        // A time that no clock can express has no end.
        let deadline = Instant::now() + limits.time.min(Duration::from_secs(365 * 24 * 3600));
        self.put(id.clone(), Open { session, limits, is_started: false, deadline, _permit: permit });
        Ok(id)
    }

    pub(super) fn put(&self, id: String, open: Open) {
        self.waiting().insert(id, open);
    }

    pub(super) fn take(&self, id: &str) -> Option<Open> {
        self.waiting().remove(id).filter(|open| open.deadline > Instant::now())
    }

    /// Ends sessions that are too old, without end.
    pub(super) async fn end_overdue(&self) {
        loop {
            tokio::time::sleep(PERIOD).await;
            let now = Instant::now();
            // They are dropped after the lock.
            let _overdue: Vec<_> = self.waiting().extract_if(|_, open| open.deadline <= now).collect();
        }
    }

    /// Opens no more sessions, and returns when all have ended.
    pub(super) fn close(&self) -> impl Future<Output = ()> {
        let all = Arc::clone(&self.permits).acquire_many_owned(self.max);
        async {
            // The waiter is first in line, so that no session is opened before.
            if let Ok(all) = all.await {
                all.forget();
            }
        }
    }

    fn waiting(&self) -> MutexGuard<'_, HashMap<String, Open>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
