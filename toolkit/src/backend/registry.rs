//! The backends of a program, by name.

use std::fmt;
use std::future::pending;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::{Duration, Instant};

use super::ask::{changed, first_of, join_all, request};
use super::changes::Changes;
use super::collect::{Asked, BackendError, Collected};
use super::deadline::within;
use super::pending::PendingLists;
use super::review::{Review, is_host_code};
use super::{Backend, OfferedTools};
use crate::call::BoxFuture;
use crate::call::{ErrorKind, ToolError};
use crate::catalog::Catalog;
use crate::lock::Lock;
use crate::tool::{BackendKind, NameError, Namespace};

/// A set of backends, each with a unique name.
///
/// A backend is enabled when it is registered. A disabled backend is not started, offers no tools and runs no calls,
/// even for a dispatcher that was built before it was disabled. All methods may be used from several tasks
/// concurrently.
///
/// See the [module documentation](super) for an example.
#[derive(Debug)]
pub struct Backends {
    registered: RwLock<Vec<Arc<Registered>>>,
    /// Notifies of changes in the set of registered or enabled backends.
    changes: Changes,
    pending: PendingLists,
    timeout: Duration,
    grace: Duration,
    lock: Option<Lock>,
}

/// A registered backend.
pub(crate) struct Registered {
    backend: Box<dyn Backend>,
    name: Namespace,
    is_enabled: AtomicBool,
    is_trusted: AtomicBool,
    last: Mutex<Option<LastOffers>>,
}

/// The tools that a backend offered last.
struct LastOffers {
    offers: OfferedTools,
    /// The time of the first failed request since then.
    lost_at: Option<Instant>,
}

/// The default timeout of a request to a backend. It exceeds the timeout of 30 s that backends typically apply
/// themselves, because their error is more precise.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(40);

/// The default time for which the tools of an unreachable backend are kept, sufficient to restart a server.
const GRACE: Duration = Duration::from_secs(60);

impl Backends {
    /// Creates an empty set of backends.
    #[must_use]
    pub fn new() -> Self {
        Self {
            registered: RwLock::default(),
            changes: Changes::default(),
            pending: PendingLists::default(),
            timeout: REQUEST_TIMEOUT,
            grace: GRACE,
            lock: None,
        }
    }

    /// Sets the time for which the tools of a backend stay in the catalog while it is unreachable, such as a server
    /// that is being restarted. The default is 60 s. Calls of these tools fail with a retryable error meanwhile. When
    /// the time is over, the tools are removed until the backend answers again. They are removed immediately if the
    /// backend lists its tools without them, is disabled, stopped or unregistered, or fails with an error that is not
    /// [retryable](ToolError::is_retryable).
    #[must_use]
    pub fn with_grace(self, grace: Duration) -> Self {
        Self { grace, ..self }
    }

    /// Restricts the tools of other programs to those in this lock whose contract is unchanged
    /// ([`Tool::contract_hash`](crate::Tool::contract_hash)), with the record that the lock contains. Their hints are
    /// trusted, because a person has reviewed them. Each difference is a diagnostic of [`Collected`] with the tool and
    /// the locations.
    ///
    /// Write a lock from [`Collected::offered`]. Tools of the host itself ([`BackendKind::Local`]) need no lock.
    #[must_use]
    pub fn with_lock(self, lock: Lock) -> Self {
        Self { lock: Some(lock), ..self }
    }

    /// Sets the timeout of each request to a backend: to start, to stop, to check its health and to list its tools.
    /// The default is 40 s. Without the feature `async`, requests have no timeout.
    #[must_use]
    pub fn with_request_timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    /// Registers a backend without starting it.
    ///
    /// # Errors
    ///
    /// Returns an error if the name of the backend is not a valid namespace, or is taken.
    pub fn register(&self, backend: impl Backend) -> Result<(), RegisterError> {
        let name = Namespace::new(backend.name().to_owned()).map_err(RegisterError::Name)?;
        let mut registered = self.write();
        if registered.iter().any(|other| other.name == name) {
            return Err(RegisterError::Taken(name.to_string()));
        }
        registered.push(Arc::new(Registered {
            name,
            is_enabled: AtomicBool::new(true),
            is_trusted: AtomicBool::new(backend.is_trusted()),
            last: Mutex::default(),
            backend: Box::new(backend),
        }));
        drop(registered);
        self.changes.notify();
        Ok(())
    }

    /// Unregisters and stops a backend. Running calls continue, and new calls fail. Returns `Ok(false)` if no backend
    /// has this name.
    ///
    /// # Errors
    ///
    /// Returns an error if the backend did not stop cleanly. It is unregistered nevertheless.
    pub async fn unregister(&self, name: &str) -> Result<bool, ToolError> {
        let taken = {
            let mut registered = self.write();
            let place = registered.iter().position(|backend| backend.name() == name);
            place.map(|place| registered.remove(place))
        };
        let Some(taken) = taken else {
            return Ok(false);
        };
        taken.is_enabled.store(false, Ordering::Release);
        self.pending.retain(self.read().iter());
        self.changes.notify();
        request(&*taken.backend, <dyn Backend>::stop, self.timeout).await.map(|()| true)
    }

    /// Returns the names of the backends in the order of their registration.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.read().iter().map(|backend| backend.name().to_owned()).collect()
    }

    /// Returns the names of the backends of one kind.
    #[must_use]
    pub fn names_of_kind(&self, kind: BackendKind) -> Vec<String> {
        let registered = self.read();
        let of_kind = registered.iter().filter(|backend| backend.backend.kind() == kind);
        of_kind.map(|backend| backend.name().to_owned()).collect()
    }

    /// Returns true if a backend of this name is registered and enabled.
    #[must_use]
    pub fn is_enabled(&self, name: &str) -> bool {
        self.read().iter().any(|backend| backend.name() == name && backend.is_enabled())
    }

    /// Trusts the hints of a backend's tools; see [`Backend::is_trusted`]. Returns `false` if no backend has this
    /// name.
    pub fn trust(&self, name: &str) -> bool {
        let registered = self.read();
        let Some(backend) = registered.iter().find(|backend| backend.name() == name) else {
            return false;
        };
        backend.is_trusted.store(true, Ordering::Release);
        drop(registered);
        self.changes.notify();
        true
    }

    /// Enables a backend. Returns `false` if no backend has this name.
    pub fn enable(&self, name: &str) -> bool {
        self.switch(name, true)
    }

    /// Disables a backend. Returns `false` if no backend has this name.
    pub fn disable(&self, name: &str) -> bool {
        self.switch(name, false)
    }

    fn switch(&self, name: &str, on: bool) -> bool {
        let switched = |backend: &Arc<Registered>| {
            backend.forget();
            backend.is_enabled.swap(on, Ordering::AcqRel) != on
        };
        let switched = self.read().iter().find(|backend| backend.name() == name).map(switched);
        if switched == Some(true) {
            self.changes.notify();
        }
        switched.is_some()
    }

    /// Starts all enabled backends concurrently and returns the failures.
    pub async fn start(&self) -> Vec<BackendError> {
        failures(self.ask(<dyn Backend>::start, Registered::is_enabled).await)
    }

    /// Stops all backends concurrently and returns the failures.
    pub async fn stop(&self) -> Vec<BackendError> {
        self.read().iter().for_each(|backend| backend.forget());
        failures(self.ask(<dyn Backend>::stop, |_| true).await)
    }

    /// Checks the health of all enabled backends concurrently and returns the failures.
    pub async fn health(&self) -> Vec<BackendError> {
        failures(self.ask(<dyn Backend>::health, Registered::is_enabled).await)
    }

    /// Combines the tools of `base` with those of every enabled backend.
    ///
    /// A tool without a namespace is put into the namespace named after its backend. If several backends offer a tool
    /// with the same id and the same schemas, it is one tool with several backends. If the schemas differ, the first
    /// tool wins: `base` comes before the backends, which are ordered by [`BackendKind`]. The other tool is reported
    /// as a diagnostic. A new version of a tool is also left out and reported if the tool belongs to another backend.
    /// If a backend cannot list its tools, it is reported as a failure, and the others are not affected.
    ///
    /// The following rules apply to tools of all kinds except [`BackendKind::Local`]:
    ///
    /// - They cannot be in a namespace of `base`. A backend with the name of such a namespace is reported as a
    ///   failure, and its tools are not listed.
    /// - Texts are cut to [`MAX_DESCRIPTION_BYTES`](crate::tool::MAX_DESCRIPTION_BYTES) and the related constants, and
    ///   tools with schemas larger than [`MAX_SCHEMA_BYTES`](crate::tool::MAX_SCHEMA_BYTES) are left out and reported.
    /// - Hints about effects, tags and timeouts are dropped, unless the host [trusts](Backend::is_trusted) the backend
    ///   or a [lock](Backends::with_lock) contains exactly that contract.
    pub async fn collect(&self, base: Catalog) -> Collected {
        self.collect_within(base, self.timeout).await
    }

    /// Behaves like [`Backends::collect`], with a limit on the wait for each backend. A backend that exceeds it is
    /// reported as a failure of kind [`TimedOut`](crate::call::ErrorKind::TimedOut). Its request continues:
    /// [`Backends::changed`] completes when it is answered, and the next collection uses the answer.
    pub async fn collect_within(&self, base: Catalog, timeout: Duration) -> Collected {
        self.changes.mark_seen();
        let mut backends = self.read().clone();
        backends.retain(|backend| backend.is_enabled());
        self.pending.retain(backends.iter());
        let review = Review::new(&base, None);
        let is_taken = |backend: &Registered| !is_host_code(backend) && review.is_taken(backend.name());
        let answers = join_all(backends.iter().map(|backend| async {
            if is_taken(backend) {
                return (Err(name_taken(backend.name())), false);
            }
            let answer = within(timeout, self.pending.list(backend, self.timeout)).await;
            let is_pending = self.pending.has(backend);
            (answer, is_pending)
        }));
        let answers = answers.await;
        drop(review);
        let asked = std::iter::zip(backends, answers).map(|(backend, (answer, is_pending))| {
            let (offers, error) = backend.remember(answer, self.grace);
            Asked { backend, offers, error, is_pending }
        });
        Collected::new(base, asked.collect(), self.lock.as_ref())
    }

    /// Completes when [`Backends::collect`] may return other tools than last time: an enabled backend
    /// [changed](Backend::changed) or answered a pending request; a backend was registered, unregistered, enabled or
    /// disabled; or the [grace period](Backends::with_grace) of an unreachable backend is over.
    ///
    /// A change is reported until the next collection, and not after it. If several tasks wait and one of them
    /// collects, the others may miss the change, so a single task should wait and collect.
    pub async fn changed(&self) {
        let mut backends = self.read().clone();
        backends.retain(|backend| backend.is_enabled());
        let told: BoxFuture<'_, ()> = Box::pin(self.changes.changed());
        let expired: BoxFuture<'_, ()> = Box::pin(expired(&backends, self.grace));
        let each = backends.iter().map(|backend| -> BoxFuture<'_, ()> {
            match self.pending.has(backend) {
                true => Box::pin(self.pending.answered(backend)),
                false => changed(backend.backend()),
            }
        });
        first_of(each.chain([told, expired])).await;
    }

    /// Sends a question to each backend that matches `wanted`, concurrently.
    async fn ask<T>(
        &self,
        question: for<'b> fn(&'b dyn Backend) -> BoxFuture<'b, Result<T, ToolError>>,
        wanted: fn(&Registered) -> bool,
    ) -> Vec<(Arc<Registered>, Result<T, ToolError>)> {
        let mut backends = self.read().clone();
        backends.retain(|backend| wanted(backend));
        let answers = join_all(backends.iter().map(|backend| request(&*backend.backend, question, self.timeout))).await;
        std::iter::zip(backends.iter().cloned(), answers).collect()
    }

    fn read(&self) -> RwLockReadGuard<'_, Vec<Arc<Registered>>> {
        self.registered.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Vec<Arc<Registered>>> {
        self.registered.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for Backends {
    fn default() -> Self {
        Self::new()
    }
}

impl Registered {
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn namespace(&self) -> &Namespace {
        &self.name
    }

    pub(crate) fn backend(&self) -> &dyn Backend {
        &*self.backend
    }

    pub(crate) fn is_enabled(&self) -> bool {
        self.is_enabled.load(Ordering::Acquire)
    }

    pub(super) fn is_trusted(&self) -> bool {
        self.is_trusted.load(Ordering::Acquire)
    }

    /// Stores the tools that a backend offers. For an unreachable backend, returns the stored tools.
    fn remember(
        &self,
        answer: Result<OfferedTools, ToolError>,
        grace: Duration,
    ) -> (Option<OfferedTools>, Option<ToolError>) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let error = match answer {
            Ok(offers) => {
                *last = Some(LastOffers { offers: offers.clone(), lost_at: None });
                return (Some(offers), None);
            }
            Err(error) => error,
        };
        let kept = last.take().filter(|_| error.is_retryable()).and_then(|mut kept| {
            let lost_at = *kept.lost_at.get_or_insert_with(Instant::now);
            (lost_at.elapsed() < grace).then_some(kept)
        });
        let offers = kept.as_ref().map(|kept| kept.offers.clone());
        *last = kept;
        (offers, Some(error))
    }

    /// Forgets the tools that the backend offered last.
    fn forget(&self) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Returns the time at which the tools of an unreachable backend are removed.
    fn expires_at(&self, grace: Duration) -> Option<Instant> {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.as_ref()?.lost_at?.checked_add(grace)
    }
}

/// Waits until the tools of an unreachable backend are removed.
async fn expired(backends: &[Arc<Registered>], grace: Duration) {
    let next = backends.iter().filter_map(|backend| backend.expires_at(grace)).min();
    let Some(next) = next else {
        return pending().await;
    };
    // Without a timer this never completes, like `within`.
    let _ = within::<()>(next.saturating_duration_since(Instant::now()), pending()).await;
}

fn name_taken(name: &str) -> ToolError {
    let message = format!(
        "its tools are left out, because this program has a namespace `{name}` or one that looks like it; give the \
         server another name, such as `{name}-server`"
    );
    ToolError::new(ErrorKind::NoBackend, message)
}

impl fmt::Debug for Registered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Backend")
            .field("name", &self.name())
            .field("kind", &self.backend.kind())
            .field("enabled", &self.is_enabled())
            .finish()
    }
}

fn failures(answers: Vec<(Arc<Registered>, Result<(), ToolError>)>) -> Vec<BackendError> {
    let failures = answers.into_iter().filter_map(|(backend, answer)| {
        let error = answer.err()?;
        Some(BackendError { backend: backend.name().to_owned(), error, is_pending: false })
    });
    failures.collect()
}

/// The error of registering a backend.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RegisterError {
    /// The name of the backend is not a valid namespace.
    Name(NameError),
    /// Another backend has this name.
    Taken(String),
}

impl fmt::Display for RegisterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RegisterError::Name(invalid) => write!(f, "the name of a backend must be a namespace: {invalid}"),
            RegisterError::Taken(name) => write!(f, "another backend has the name `{name}`"),
        }
    }
}

impl std::error::Error for RegisterError {}
