//! The backends of a program, by name.

use std::fmt;
use std::future::pending;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::{Duration, Instant};

use super::ask::{ask, ask_all, changed, first_of};
use super::changes::Changes;
use super::collect::{Asked, Collected, Failure};
use super::deadline::within;
use super::pending::PendingLists;
use super::review::{Review, is_host_code};
use super::{Backend, Offers};
use crate::call::BoxFuture;
use crate::call::{ErrorKind, ToolError};
use crate::catalog::Catalog;
use crate::lock::Lock;
use crate::tool::{BackendKind, InvalidName, Namespace};

/// The backends of a program, by name.
///
/// Each is enabled when it is registered. One that is disabled starts nothing, offers no tools, and runs none, not even
/// for a dispatcher that was built before. Everything here may be used from several tasks at once.
#[derive(Debug)]
pub struct Backends {
    registered: RwLock<Vec<Arc<Registered>>>,
    /// Of which there are, and of which are enabled.
    changes: Changes,
    pending: PendingLists,
    patience: Duration,
    grace: Duration,
    lock: Option<Lock>,
}

/// A backend among others.
pub(crate) struct Registered {
    backend: Box<dyn Backend>,
    name: Namespace,
    is_enabled: AtomicBool,
    is_trusted: AtomicBool,
    last: Mutex<Option<LastOffers>>,
}

/// The tools that a backend offered last.
struct LastOffers {
    offers: Offers,
    /// When the backend could not be asked for the first time since then.
    lost_at: Option<Instant>,
}

/// How long a backend may take to start, to stop, to say how it is and to list its tools: longer than one that gives up
/// after half a minute, since it knows better what went wrong.
const PATIENCE: Duration = Duration::from_secs(40);

/// The time that the tools of an unreachable backend stay: enough to restart a server.
const GRACE: Duration = Duration::from_secs(60);

impl Backends {
    /// None yet.
    #[must_use]
    pub fn new() -> Self {
        Self {
            registered: RwLock::default(),
            changes: Changes::default(),
            pending: PendingLists::default(),
            patience: PATIENCE,
            grace: GRACE,
            lock: None,
        }
    }

    /// Sets how long the tools of a backend stay in the catalog while it cannot be reached, such as a server that is
    /// being restarted: 60 s by default. Calls of them fail with a retryable error meanwhile. After that they are gone
    /// until the backend answers again. They go at once if the backend lists its tools without them, is disabled, stopped
    /// or taken out, or fails with an error that is not [retryable](ToolError::is_retryable).
    #[must_use]
    pub fn with_grace(self, grace: Duration) -> Self {
        Self { grace, ..self }
    }

    /// Collects of the tools of others only those that this lock holds, with exactly the contract that it holds
    /// ([`Tool::contract_hash`](crate::Tool::contract_hash)), and with the record that it holds. Their hints are believed,
    /// since a person has reviewed them. Each difference is a problem of [`Collected`] that names the tool and the places.
    ///
    /// A lock is written from [`Collected::offered`]. Tools of the host itself ([`BackendKind::Local`]) need no lock.
    #[must_use]
    pub fn with_lock(self, lock: Lock) -> Self {
        Self { lock: Some(lock), ..self }
    }

    /// How long a backend may take to start, to stop, to say how it is or to list its tools: 40 s by default. It holds
    /// on a tokio runtime with timers.
    #[must_use]
    pub fn with_patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// Adds a backend, which is not started by this.
    ///
    /// # Errors
    ///
    /// Its name cannot be a namespace, or another has it.
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
        self.changes.tell();
        Ok(())
    }

    /// Takes a backend out and stops it. What runs comes to its end, and nothing new is begun.
    ///
    /// # Errors
    ///
    /// It did not stop as it should. `Ok(false)` says that no backend has this name.
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
        self.changes.tell();
        ask(&*taken.backend, <dyn Backend>::stop, self.patience).await.map(|()| true)
    }

    /// The names, in the order in which they were registered.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.read().iter().map(|backend| backend.name().to_owned()).collect()
    }

    /// The names of those of one kind.
    #[must_use]
    pub fn of_kind(&self, kind: BackendKind) -> Vec<String> {
        let registered = self.read();
        let of_kind = registered.iter().filter(|backend| backend.backend.kind() == kind);
        of_kind.map(|backend| backend.name().to_owned()).collect()
    }

    /// Whether a backend of this name is there and enabled.
    #[must_use]
    pub fn is_enabled(&self, name: &str) -> bool {
        self.read().iter().any(|backend| backend.name() == name && backend.is_enabled())
    }

    /// Trusts the hints of a backend's tools; see [`Backend::is_trusted`]. Returns `false` if there
    /// is no backend of this name.
    pub fn trust(&self, name: &str) -> bool {
        let registered = self.read();
        let Some(backend) = registered.iter().find(|backend| backend.name() == name) else {
            return false;
        };
        backend.is_trusted.store(true, Ordering::Release);
        drop(registered);
        self.changes.tell();
        true
    }

    /// Switches a backend on; `false` if there is none of this name.
    pub fn enable(&self, name: &str) -> bool {
        self.switch(name, true)
    }

    /// Switches a backend off; `false` if there is none of this name.
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
            self.changes.tell();
        }
        switched.is_some()
    }

    /// Starts all that are enabled, at once, and gives those that did not start.
    pub async fn start(&self) -> Vec<Failure> {
        failures(self.ask(<dyn Backend>::start, Registered::is_enabled).await)
    }

    /// Stops all, at once, and gives those that did not stop.
    pub async fn stop(&self) -> Vec<Failure> {
        self.read().iter().for_each(|backend| backend.forget());
        failures(self.ask(<dyn Backend>::stop, |_| true).await)
    }

    /// Asks all that are enabled, at once, and gives those that could not run a tool now.
    pub async fn health(&self) -> Vec<Failure> {
        failures(self.ask(<dyn Backend>::health, Registered::is_enabled).await)
    }

    /// The tools of `base`, and with them those of every backend that is enabled.
    ///
    /// A tool without a namespace is put into one that is called like its backend. Where several have a tool of one id,
    /// it is one tool with several backends if it takes and gives the same; otherwise the first stays, `base` before the
    /// backends and those in the order of [`BackendKind`], and the other is a problem. So is a version that nobody has, of
    /// a tool that is somebody else's. A backend that cannot be asked is a failure, and hides no other.
    ///
    /// For tools of all kinds but [`BackendKind::Local`]:
    ///
    /// - None stands in a namespace of `base`. A backend that is called like one is a failure, and is not asked.
    /// - Texts are cut to [`MAX_DESCRIPTION_BYTES`](crate::tool::MAX_DESCRIPTION_BYTES) and its siblings, and tools with
    ///   larger schemas than [`MAX_SCHEMA_BYTES`](crate::tool::MAX_SCHEMA_BYTES) are problems.
    /// - Hints about effects, tags and timeouts are dropped, unless the host [trusts](Backend::is_trusted) the backend or
    ///   a [lock](Backends::with_lock) holds exactly that contract.
    pub async fn collect(&self, base: Catalog) -> Collected {
        self.collect_within(base, self.patience).await
    }

    /// As [`Backends::collect`], waiting for no backend longer than this. One that is not done by then is a failure of
    /// the kind [`TimedOut`](crate::call::ErrorKind::TimedOut). It goes on: when it is done, [`Backends::changed`] tells,
    /// and the next collection has its answer.
    pub async fn collect_within(&self, base: Catalog, patience: Duration) -> Collected {
        self.changes.look();
        let mut backends = self.read().clone();
        backends.retain(|backend| backend.is_enabled());
        self.pending.retain(backends.iter());
        let review = Review::new(&base, None);
        let is_taken = |backend: &Registered| !is_host_code(backend) && review.is_taken(backend.name());
        let answers = ask_all(backends.iter().map(|backend| async {
            if is_taken(backend) {
                return (Err(name_taken(backend.name())), false);
            }
            let answer = within(patience, self.pending.list(backend, self.patience)).await;
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

    /// Waits until [`Backends::collect`] may give other tools than it gave last: a backend that is enabled has
    /// [changed](Backend::changed) or has answered at last, one was registered, taken out, or switched, or one that cannot
    /// be reached has used up its [grace](Backends::with_grace).
    ///
    /// There is one answer for all who wait: once anybody has collected, nobody is told of that change any more. So one
    /// task follows the changes, and collects.
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

    /// What each of the backends that are `wanted` says to a question, all asked at once.
    async fn ask<T>(
        &self,
        question: for<'b> fn(&'b dyn Backend) -> BoxFuture<'b, Result<T, ToolError>>,
        wanted: fn(&Registered) -> bool,
    ) -> Vec<(Arc<Registered>, Result<T, ToolError>)> {
        let mut backends = self.read().clone();
        backends.retain(|backend| wanted(backend));
        let answers = ask_all(backends.iter().map(|backend| ask(&*backend.backend, question, self.patience))).await;
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

    /// Keeps what a backend offers. One that cannot be asked for a while offers what it offered last.
    fn remember(&self, answer: Result<Offers, ToolError>, grace: Duration) -> (Option<Offers>, Option<ToolError>) {
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

    /// Forgets what it offered last.
    fn forget(&self) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// When the tools of a backend go that cannot be asked.
    fn expires_at(&self, grace: Duration) -> Option<Instant> {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.as_ref()?.lost_at?.checked_add(grace)
    }
}

/// Waits until the tools of a backend go that cannot be asked.
async fn expired(backends: &[Arc<Registered>], grace: Duration) {
    let next = backends.iter().filter_map(|backend| backend.expires_at(grace)).min();
    let Some(next) = next else {
        return pending().await;
    };
    // Where nothing measures time, it waits for good, as `within` does.
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

fn failures(answers: Vec<(Arc<Registered>, Result<(), ToolError>)>) -> Vec<Failure> {
    let failures = answers.into_iter().filter_map(|(backend, answer)| {
        let error = answer.err()?;
        Some(Failure { backend: backend.name().to_owned(), error, is_pending: false })
    });
    failures.collect()
}

/// Why a backend was not added.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RegisterError {
    /// Its name cannot be the namespace of its tools.
    Name(InvalidName),
    /// Another backend has its name.
    Taken(String),
}

impl fmt::Display for RegisterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RegisterError::Name(invalid) => write!(f, "the name of a backend is a namespace: {invalid}"),
            RegisterError::Taken(name) => write!(f, "another backend is called `{name}`"),
        }
    }
}

impl std::error::Error for RegisterError {}
