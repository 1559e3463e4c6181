//! The lists of resources of backends, which requests share.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, timeout};
use toolkit::ToolError;
use toolkit::call::{BoxFuture, ErrorKind};
use toolkit_runtime::Mutex;

/// The timeout of a request for a list of a backend.
const LIST_TIMEOUT: Duration = Duration::from_secs(10);

/// The time that a request waits for another one that lists the same backend. Proxies that serve each other list each
/// other, which ends here.
const LIST_WAIT: Duration = Duration::from_secs(2);

/// The time after which a request counts as slow.
const SLOW: Duration = Duration::from_secs(1);

/// The pause after a slow request that failed. It doubles with each further one.
const FIRST_PAUSE: Duration = Duration::from_secs(10);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// The time for which the last list of a backend is kept while requests fail.
const GRACE: Duration = Duration::from_secs(60);

/// The time for which a list is used again.
const FRESH: Duration = Duration::from_millis(500);

/// The last list of each backend.
pub(super) struct Lists<T>(Mutex<HashMap<String, Arc<LastList<T>>>>);

/// The last list of a backend. Requests at the same time share one request to the backend.
pub(super) struct LastList<T> {
    listing: tokio::sync::Mutex<Requests>,
    last: Mutex<Arc<Vec<T>>>,
    /// The time from which on a list must be requested to be used again.
    expired: Mutex<Option<Instant>>,
}

/// The outcome of the last requests for a list.
#[derive(Default)]
struct Requests {
    /// The last request, if it succeeded.
    succeeded: Option<Times>,
    failing_since: Option<Instant>,
    n_slow: u32,
    /// The end of the pause after slow requests, during which the last list is used.
    paused_until: Option<Instant>,
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
        Arc::clone(self.0.lock().entry(backend.to_owned()).or_insert_with(new))
    }

    /// Makes the next request for each list a request to its backend.
    pub(super) fn expire(&self) {
        let now = Some(Instant::now());
        self.0.lock().values().for_each(|list| *list.expired.lock() = now);
    }

    /// Forgets the list of a backend that another one has replaced.
    pub(super) fn forget(&self, backend: &str) {
        self.0.lock().remove(backend);
    }

    pub(super) fn retain(&self, is_current: impl Fn(&str) -> bool) {
        self.0.lock().retain(|name, _| is_current(name));
    }
}

impl<T> LastList<T> {
    /// Returns the list of `backend`. If it is unreachable, returns the last one.
    pub(super) async fn get<'a>(
        &self,
        backend: &str,
        list: impl FnOnce() -> BoxFuture<'a, Result<Vec<T>, ToolError>>,
    ) -> Arc<Vec<T>> {
        if let Ok(mut requests) = timeout(LIST_WAIT, self.listing.lock()).await
            && requests.is_due(*self.expired.lock())
        {
            // In case that the caller gives up.
            requests.pause();
            let started = Instant::now();
            let late = || ToolError::new(ErrorKind::TimedOut, "the list of resources takes too long");
            let listed = timeout(LIST_TIMEOUT, list()).await.unwrap_or_else(|_| Err(late()));
            match listed {
                Ok(listed) => {
                    *self.last.lock() = Arc::new(listed);
                    let succeeded = Some(Times { started, ended: Instant::now() });
                    *requests = Requests { succeeded, ..Requests::default() };
                }
                Err(error) => {
                    if requests.failing_since.is_none() {
                        // The text may come from the server.
                        let reason = error.to_string();
                        let reason = reason.escape_debug();
                        tracing::warn!(backend, %reason, "the resources of a backend cannot be listed");
                    }
                    if !requests.fail(started) || !error.is_retryable() {
                        *self.last.lock() = Arc::default();
                    }
                }
            }
        }
        Arc::clone(&self.last.lock())
    }
}

impl Requests {
    fn is_due(&self, expired: Option<Instant>) -> bool {
        self.paused_until.is_none_or(|until| until <= Instant::now())
            && self.succeeded.as_ref().is_none_or(|times| !times.is_fresh(expired))
    }

    /// Delays the next request, so that a backend that does not respond delays few lists.
    fn pause(&mut self) {
        let pause = FIRST_PAUSE.saturating_mul(1 << self.n_slow.min(8)).min(LONGEST_PAUSE);
        self.paused_until = Some(Instant::now() + pause);
    }

    /// Records a failure. Returns false if the last list is no longer used.
    fn fail(&mut self, started: Instant) -> bool {
        self.succeeded = None;
        if started.elapsed() < SLOW {
            self.paused_until = None;
        } else {
            self.pause();
            self.n_slow += 1;
        }
        self.failing_since.get_or_insert(started).elapsed() < GRACE
    }
}
