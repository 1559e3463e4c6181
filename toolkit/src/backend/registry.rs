//! The backends of a program, by name.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

use super::Backend;
use super::ask::{ask, ask_all, changed, first_of};
use super::changes::Changes;
use super::collect::{Collected, Failure};
use crate::call::ToolError;
use crate::catalog::Catalog;
use crate::dispatch::BoxFuture;
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
    patience: Duration,
}

/// A backend among others.
pub(crate) struct Registered {
    backend: Box<dyn Backend>,
    name: Namespace,
    is_enabled: AtomicBool,
}

/// How long a backend may take to start, to stop, to say how it is and to list its tools: longer than one that gives up
/// after half a minute, since it knows better what went wrong.
const PATIENCE: Duration = Duration::from_secs(40);

impl Backends {
    /// None yet.
    #[must_use]
    pub fn new() -> Self {
        Self { registered: RwLock::default(), changes: Changes::default(), patience: PATIENCE }
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
        registered.push(Arc::new(Registered { backend: Box::new(backend), name, is_enabled: AtomicBool::new(true) }));
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

    /// Switches a backend on; `false` if there is none of this name.
    pub fn enable(&self, name: &str) -> bool {
        self.switch(name, true)
    }

    /// Switches a backend off; `false` if there is none of this name.
    pub fn disable(&self, name: &str) -> bool {
        self.switch(name, false)
    }

    fn switch(&self, name: &str, on: bool) -> bool {
        let switched = |backend: &Arc<Registered>| backend.is_enabled.swap(on, Ordering::AcqRel) != on;
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
    pub async fn collect(&self, base: Catalog) -> Collected {
        self.collect_within(base, self.patience).await
    }

    /// As [`Backends::collect`], waiting for no backend longer than this. One that is not done by then is a failure of
    /// the kind [`TimedOut`](crate::call::ErrorKind::TimedOut).
    pub async fn collect_within(&self, base: Catalog, patience: Duration) -> Collected {
        self.changes.look();
        Collected::of(base, self.ask_within(patience, <dyn Backend>::tools, Registered::is_enabled).await)
    }

    /// Waits until [`Backends::collect`] may give other tools than it gave last: a backend that is enabled has
    /// [changed](Backend::changed), or one was registered, taken out, or switched.
    ///
    /// There is one answer for all who wait: once anybody has collected, nobody is told of that change any more. So one
    /// task follows the changes, and collects.
    pub async fn changed(&self) {
        let mut backends = self.read().clone();
        backends.retain(|backend| backend.is_enabled());
        let told: BoxFuture<'_, ()> = Box::pin(self.changes.changed());
        first_of(backends.iter().map(|backend| changed(backend.backend())).chain([told])).await;
    }

    /// What each of the backends that are `wanted` says to a question, all asked at once.
    async fn ask<T>(
        &self,
        question: for<'b> fn(&'b dyn Backend) -> BoxFuture<'b, Result<T, ToolError>>,
        wanted: fn(&Registered) -> bool,
    ) -> Vec<(Arc<Registered>, Result<T, ToolError>)> {
        self.ask_within(self.patience, question, wanted).await
    }

    async fn ask_within<T>(
        &self,
        patience: Duration,
        question: for<'b> fn(&'b dyn Backend) -> BoxFuture<'b, Result<T, ToolError>>,
        wanted: fn(&Registered) -> bool,
    ) -> Vec<(Arc<Registered>, Result<T, ToolError>)> {
        let mut backends = self.read().clone();
        backends.retain(|backend| wanted(backend));
        let answers = ask_all(backends.iter().map(|backend| ask(&*backend.backend, question, patience))).await;
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
        Some(Failure { backend: backend.name().to_owned(), error })
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
