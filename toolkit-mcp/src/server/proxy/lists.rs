//! The lists of resources of backends, which requests share.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, timeout};
use toolkit::ToolError;
use toolkit::call::{BoxFuture, ErrorKind};

/// The timeout of a request for a list of a backend.
const LIST_TIMEOUT: Duration = Duration::from_secs(10);

/// The time that a request waits for another one that lists the same backend. Proxies that serve each other list each
/// other, which ends here.
const LIST_WAIT: Duration = Duration::from_secs(2);

/// The time for which a list is used again.
const FRESH: Duration = Duration::from_millis(500);

/// The last list of each backend.
pub(super) struct Lists<T>(Mutex<HashMap<String, Arc<LastList<T>>>>);

/// The last list of a backend. Requests at the same time share one request to the backend.
pub(super) struct LastList<T> {
    listing: tokio::sync::Mutex<Option<Times>>,
    last: Mutex<Arc<Vec<T>>>,
    /// The time from which on a list must be requested to be used again.
    expired: Mutex<Option<Instant>>,
}

/// The time of a request for a list.
struct Times {
    started: Instant,
    ended: Instant,
}

impl Times {
    fn is_fresh(&self, expired: Option<Instant>) -> bool {
        self.ended.elapsed() <= FRESH && expired.is_none_or(|expired| self.started >= expired)
    }
}

impl<T> Default for Lists<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> Lists<T> {
    pub(super) fn of(&self, backend: &str) -> Arc<LastList<T>> {
        let new = || {
            Arc::new(LastList {
                listing: tokio::sync::Mutex::default(),
                last: Mutex::default(),
                expired: Mutex::default(),
            })
        };
        Arc::clone(locked(&self.0).entry(backend.to_owned()).or_insert_with(new))
    }

    /// Makes the next request for each list a request to its backend.
    pub(super) fn expire(&self) {
        let now = Some(Instant::now());
        locked(&self.0).values().for_each(|list| *locked(&list.expired) = now);
    }

    pub(super) fn retain(&self, is_current: impl Fn(&str) -> bool) {
        locked(&self.0).retain(|name, _| is_current(name));
    }
}

impl<T> LastList<T> {
    pub(super) async fn get<'a>(&self, list: impl FnOnce() -> BoxFuture<'a, Result<Vec<T>, ToolError>>) -> Arc<Vec<T>> {
        if let Ok(mut times) = timeout(LIST_WAIT, self.listing.lock()).await
            && times.as_ref().is_none_or(|times| !times.is_fresh(*locked(&self.expired)))
        {
            let started = Instant::now();
            let late = || ToolError::new(ErrorKind::TimedOut, "the list of resources takes too long");
            let listed = timeout(LIST_TIMEOUT, list()).await.unwrap_or_else(|_| Err(late()));
            match listed {
                Ok(listed) => {
                    *locked(&self.last) = Arc::new(listed);
                    *times = Some(Times { started, ended: Instant::now() });
                }
                Err(error) => {
                    tracing::warn!(%error, "the resources of a backend cannot be listed");
                    *locked(&self.last) = Arc::default();
                    *times = None;
                }
            }
        }
        Arc::clone(&locked(&self.last))
    }
}

pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
