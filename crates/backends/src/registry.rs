//! The backends of a program, by name, and their settings: the time of a request, and how long the tools of a lost one stay.

use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, Weak};
use std::time::Duration;

use toolkit::backend::Backend;
use toolkit::call::ToolError;
use toolkit::internals::Changes;
use toolkit::tool::{BackendKind, Tool};

use crate::ask::{Question, join_all, request};
use crate::error::{BackendError, RegisterError};
use crate::pending::PendingLists;
use crate::registered::{BackendReport, Registered, RetiredBackend};
use crate::review::sorted;

/// A set of backends, each with a unique name.
///
/// A backend is enabled when it is registered. A disabled backend is not started, offers no tools and runs no calls,
/// even for a dispatcher that was built before it was disabled. All methods may be used from several tasks
/// concurrently.
///
/// # Examples
///
/// ```standalone_crate
/// use serde_json::{Value, json};
/// use toolkit::call::ErrorKind;
/// use toolkit::{Catalog, Context, Dispatcher, Tool};
/// use toolkit_backends::{Backends, LocalBackend};
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let plugins = LocalBackend::new("plugins");
/// plugins.add(Tool::builder("ping").build()?, |_: Value, _: Context| async { Ok(json!("pong")) });
/// let backends = Backends::new();
/// backends.register(plugins)?;
///
/// let collected = backends.collect(Catalog::linked()?).await;
/// let dispatcher = Dispatcher::builder(collected.catalog).routes(collected.routes).build()?;
/// assert_eq!(dispatcher.call("plugins:ping", "{}").await?.value(), "pong");
///
/// backends.disable("plugins");
/// let error = dispatcher.call("plugins:ping", "{}").await.unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::Unavailable);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[must_use]
pub struct Backends {
    registered: RwLock<Vec<Arc<Registered>>>,
    /// The backends that are no longer registered and may still run calls.
    retired: Mutex<Vec<Weak<Registered>>>,
    /// Notifies of changes in the set of registered or enabled backends.
    pub(crate) changes: Changes,
    pub(crate) pending: PendingLists,
    pub(crate) timeout: Duration,
    pub(crate) grace: Duration,
    pub(crate) lock: Option<Vec<Tool>>,
}

/// The default timeout of a request to a backend. It exceeds the timeout of 30 s that backends typically apply
/// themselves, because their error is more precise.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(40);

/// The default time for which the tools of an unreachable backend are kept, sufficient to restart a server.
const GRACE: Duration = Duration::from_secs(60);

impl Backends {
    /// Creates an empty set of backends.
    pub fn new() -> Self {
        Self {
            registered: RwLock::default(),
            retired: Mutex::default(),
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
    pub fn with_grace(self, grace: Duration) -> Self {
        Self { grace, ..self }
    }

    /// Restricts the tools of other programs to those in this lock whose contract is unchanged
    /// ([`Tool::contract_hash`]), with the record that the lock contains. Their hints are trusted, because a person has
    /// reviewed them. Each difference is a diagnostic of [`Collected`](crate::Collected) with the tool and the
    /// locations.
    ///
    /// The lock is a list of tools that were [offered](crate::Collected::offered) before, such as a `Lock` of
    /// `toolkit-contract`, which is stored in a file. Of several tools with the same id, the first one counts. Tools of
    /// the host itself ([`BackendKind::Local`]) need no lock.
    ///
    /// # Examples
    ///
    /// The tools of a provider are reviewed once. Later collections contain the reviewed tools with their hints, and nothing
    /// else:
    ///
    /// ```
    /// use toolkit::backend::{Backend, BackendCall, BackendResponse, OfferedTools};
    /// use toolkit::call::BoxFuture;
    /// use toolkit::tool::{BackendKind, ToolBackend};
    /// use toolkit::{Catalog, Tool, ToolError};
    /// use toolkit_backends::Backends;
    ///
    /// struct Provider(Vec<&'static str>);
    ///
    /// impl Backend for Provider {
    ///     fn name(&self) -> &str {
    ///         "files"
    ///     }
    ///
    ///     fn kind(&self) -> BackendKind {
    ///         BackendKind::Provider
    ///     }
    ///
    ///     fn tools(&self) -> BoxFuture<'_, Result<OfferedTools, ToolError>> {
    ///         Box::pin(async {
    ///             let tool = |name: &&'static str| {
    ///                 let tool = Tool::builder(*name).read_only(true).build().map_err(ToolError::internal)?;
    ///                 Ok((tool, ToolBackend::provider("files", *name).map_err(ToolError::internal)?))
    ///             };
    ///             Ok(OfferedTools::new(self.0.iter().map(tool).collect::<Result<Vec<_>, ToolError>>()?))
    ///         })
    ///     }
    ///
    ///     fn call<'a>(&'a self, _: BackendCall<'a>) -> BoxFuture<'a, Result<BackendResponse, ToolError>> {
    ///         Box::pin(async { Ok(BackendResponse::Nothing) })
    ///     }
    /// }
    ///
    /// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
    /// let backends = Backends::new();
    /// backends.register(Provider(vec!["read"]))?;
    /// let unreviewed = backends.collect(Catalog::new([])?).await;
    /// assert_eq!(unreviewed.catalog.resolve("files:read")?.annotations().read_only, None);
    ///
    /// let backends = Backends::new().with_lock(unreviewed.offered);
    /// backends.register(Provider(vec!["read", "delete"]))?;
    /// let reviewed = backends.collect(Catalog::new([])?).await;
    /// assert_eq!(reviewed.catalog.resolve("files:read")?.annotations().read_only, Some(true));
    /// assert!(reviewed.catalog.get("files:delete").is_none());
    /// assert_eq!(reviewed.diagnostics.len(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_lock(self, lock: impl IntoIterator<Item = Tool>) -> Self {
        Self { lock: Some(sorted(lock)), ..self }
    }

    /// Sets the timeout of each request to a backend: to start, to stop, to check its health and to list its tools.
    /// The default is 40 s. Without the feature `async`, requests have no timeout.
    pub fn with_request_timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    /// Registers a backend without starting it.
    ///
    /// # Errors
    ///
    /// Returns an error if the name of the backend is not a valid namespace, or is taken.
    pub fn register(&self, backend: impl Backend) -> Result<(), RegisterError> {
        let backend = Registered::new(backend).map_err(RegisterError::Name)?;
        let mut registered = self.write();
        if registered.iter().any(|other| other.name() == backend.name()) {
            return Err(RegisterError::Taken(backend.name().to_owned()));
        }
        registered.push(Arc::new(backend));
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
    ///
    /// # Examples
    ///
    /// ```
    /// use toolkit_backends::{Backends, LocalBackend};
    ///
    /// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
    /// let backends = Backends::new();
    /// backends.register(LocalBackend::new("plugins"))?;
    /// assert!(backends.unregister("plugins").await?);
    /// assert!(!backends.unregister("plugins").await?, "it was unregistered before");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub async fn unregister(&self, name: &str) -> Result<bool, ToolError> {
        let Some(taken) = self.take(name) else { return Ok(false) };
        self.pending.retain(self.read().iter());
        self.changes.notify();
        request(taken.backend(), <dyn Backend>::stop, self.timeout).await.map(|()| true)
    }

    /// Unregisters a backend without stopping it, so that its running calls can end. New calls fail. Returns `None` if
    /// no backend has this name.
    pub fn retire(&self, name: &str) -> Option<RetiredBackend> {
        self.take(name).map(|taken| self.retired(taken))
    }

    /// Removes and disables a backend.
    fn take(&self, name: &str) -> Option<Arc<Registered>> {
        let mut registered = self.write();
        let place = registered.iter().position(|backend| backend.name() == name)?;
        let taken = registered.remove(place);
        drop(registered);
        taken.set_enabled(false);
        Some(taken)
    }

    /// Registers a backend in the place of the one with the same name, if there is one, and returns that.
    ///
    /// The tools of the old backend stay in the catalog until the new one has answered, at most for the
    /// [grace period](Backends::with_grace), and their hints are trusted only if both backends are. Dispatchers that were built before continue to call the old backend, so
    /// stop it after the tools have been collected again.
    ///
    /// # Errors
    ///
    /// Returns an error if the name of the backend is not a valid namespace.
    ///
    /// # Examples
    ///
    /// ```
    /// use toolkit::Catalog;
    /// use toolkit_backends::{Backends, LocalBackend};
    ///
    /// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
    /// let backends = Backends::new();
    /// backends.register(LocalBackend::new("plugins"))?;
    /// let old = backends.replace(LocalBackend::new("plugins"))?;
    /// let collected = backends.collect(Catalog::new([])?).await;
    /// // Serve `collected`, and then:
    /// old.unwrap().stop_when_idle().await?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn replace(&self, backend: impl Backend) -> Result<Option<RetiredBackend>, RegisterError> {
        let backend = Arc::new(Registered::new(backend).map_err(RegisterError::Name)?);
        let old = {
            let mut registered = self.write();
            match registered.iter_mut().find(|other| other.name() == backend.name()) {
                Some(place) => {
                    backend.inherit(place);
                    Some(std::mem::replace(place, backend))
                }
                None => {
                    registered.push(backend);
                    None
                }
            }
        };
        match old {
            Some(old) => Ok(Some(self.retired(old))),
            None => {
                self.changes.notify();
                Ok(None)
            }
        }
    }

    fn retired(&self, backend: Arc<Registered>) -> RetiredBackend {
        {
            let mut retired = self.retired.lock().unwrap_or_else(PoisonError::into_inner);
            retired.retain(|backend| backend.strong_count() > 0);
            retired.push(Arc::downgrade(&backend));
        }
        self.pending.retain(self.read().iter());
        self.changes.notify();
        RetiredBackend::new(backend, self.timeout)
    }

    /// Returns the names of the backends in the order of their registration.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.read().iter().map(|backend| backend.name().to_owned()).collect()
    }

    /// Returns the names of the backends whose tools are listed without the name of the backend; see [`Backend::has_prefix`].
    #[must_use]
    pub fn names_without_prefix(&self) -> Vec<String> {
        let registered = self.read();
        let without = registered.iter().filter(|backend| !backend.backend().has_prefix());
        without.map(|backend| backend.name().to_owned()).collect()
    }

    /// Returns true if an enabled backend, of those whose name `is_asked`, holds something for each session of a client; see
    /// [`Backend::holds_sessions`].
    #[must_use]
    pub fn holds_sessions(&self, is_asked: impl Fn(&str) -> bool) -> bool {
        let holds = |backend: &Registered| backend.is_enabled() && backend.backend().holds_sessions();
        self.read().iter().any(|backend| holds(backend) && is_asked(backend.name()))
    }

    /// Ends what the backends hold for a session of a client; see [`Backend::end_session`].
    pub fn end_session(&self, session: &str) {
        self.read().iter().for_each(|backend| backend.backend().end_session(session));
    }

    /// Returns the names of the backends of one kind.
    #[must_use]
    pub fn names_of_kind(&self, kind: BackendKind) -> Vec<String> {
        let registered = self.read();
        let of_kind = registered.iter().filter(|backend| backend.backend().kind() == kind);
        of_kind.map(|backend| backend.name().to_owned()).collect()
    }

    /// Returns true if a backend of this name is registered and enabled.
    #[must_use]
    pub fn is_enabled(&self, name: &str) -> bool {
        self.named(name).is_some_and(|backend| backend.is_enabled())
    }

    /// Trusts the hints of a backend's tools; see [`Backend::is_trusted`]. Returns `false` if no backend has this
    /// name.
    pub fn trust(&self, name: &str) -> bool {
        let Some(backend) = self.named(name) else { return false };
        backend.trust();
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
        let switched = self.named(name).map(|backend| backend.set_enabled(on));
        if switched == Some(true) {
            self.changes.notify();
        }
        switched.is_some()
    }

    /// Returns the state of each backend and the counts of its calls, in the order of registration, without I/O. To
    /// send a request to each backend, use [`Backends::health`].
    #[must_use]
    pub fn report(&self) -> Vec<BackendReport> {
        self.read().iter().map(|backend| backend.report()).collect()
    }

    /// Starts all enabled backends concurrently and returns the failures.
    pub async fn start(&self) -> Vec<BackendError> {
        self.ask(self.enabled(), <dyn Backend>::start).await
    }

    /// Stops all backends concurrently, including [retired](Backends::retire) ones, and returns the failures.
    pub async fn stop(&self) -> Vec<BackendError> {
        let mut backends = self.read().clone();
        backends.iter().for_each(|backend| backend.forget());
        let retired = self.retired.lock().unwrap_or_else(PoisonError::into_inner).clone();
        backends.extend(retired.iter().filter_map(Weak::upgrade));
        self.ask(backends, <dyn Backend>::stop).await
    }

    /// Checks the health of all enabled backends concurrently and returns the failures.
    pub async fn health(&self) -> Vec<BackendError> {
        self.ask(self.enabled(), <dyn Backend>::health).await
    }

    /// Sends a question to the backends concurrently, and returns the failures.
    async fn ask(&self, backends: Vec<Arc<Registered>>, question: Question) -> Vec<BackendError> {
        let answers = join_all(backends.iter().map(|backend| request(backend.backend(), question, self.timeout))).await;
        let failures = std::iter::zip(&backends, answers).filter_map(|(backend, answer)| {
            let error = answer.err()?;
            Some(BackendError { backend: backend.name().to_owned(), error, is_pending: false })
        });
        failures.collect()
    }

    pub(crate) fn named(&self, name: &str) -> Option<Arc<Registered>> {
        self.read().iter().find(|backend| backend.name() == name).cloned()
    }

    pub(crate) fn enabled(&self) -> Vec<Arc<Registered>> {
        self.read().iter().filter(|backend| backend.is_enabled()).cloned().collect()
    }

    pub(crate) fn read(&self) -> RwLockReadGuard<'_, Vec<Arc<Registered>>> {
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
