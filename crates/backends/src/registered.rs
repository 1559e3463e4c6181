//! A registered backend: its settings, the tools that it offered last, and what operators learn about it. One that was taken
//! out of the set remains as long as its calls may run.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use toolkit::ToolError;
use toolkit::backend::{Backend, BackendCalls, BackendState, BackendStatus, OfferedTools, RoutedBackend};
use toolkit::tool::{BackendKind, NameError, Namespace};

use crate::ask::request;

/// A registered backend.
pub(crate) struct Registered {
    /// What dispatchers call.
    pub(crate) routed: Arc<RoutedBackend>,
    is_trusted: AtomicBool,
    last: Mutex<Option<LastOffers>>,
}

/// The tools that a backend offered last.
struct LastOffers {
    offers: OfferedTools,
    /// False if another backend of this name offered them, which the host did not trust.
    may_be_trusted: bool,
    /// The time of the first failed request since then.
    lost_at: Option<Instant>,
}

/// The tools of a backend for a collection.
pub(crate) struct Remembered {
    pub(crate) offers: OfferedTools,
    /// True if the host trusts their hints.
    pub(crate) is_trusted: bool,
}

impl Registered {
    /// Creates the record of an enabled backend.
    ///
    /// # Errors
    ///
    /// Returns an error if the name of the backend is not a valid namespace.
    pub(crate) fn new(backend: impl Backend) -> Result<Self, NameError> {
        Ok(Self {
            is_trusted: AtomicBool::new(backend.is_trusted()),
            last: Mutex::default(),
            routed: Arc::new(RoutedBackend::new(backend)?),
        })
    }

    pub(crate) fn name(&self) -> &str {
        self.routed.name()
    }

    pub(crate) fn namespace(&self) -> &Namespace {
        self.routed.name()
    }

    pub(crate) fn backend(&self) -> &dyn Backend {
        self.routed.backend()
    }

    pub(crate) fn report(&self) -> BackendReport {
        let mut status = self.backend().status();
        if !self.is_enabled() {
            status.state = BackendState::Disabled;
        }
        let (name, kind) = (self.name().to_owned(), self.backend().kind());
        BackendReport { name, kind, status, calls: self.routed.calls() }
    }

    pub(crate) fn is_enabled(&self) -> bool {
        self.routed.is_enabled()
    }

    fn is_trusted(&self) -> bool {
        self.is_trusted.load(Ordering::Acquire)
    }

    /// Trusts the hints of the backend's tools.
    pub(crate) fn trust(&self) {
        self.is_trusted.store(true, Ordering::Release);
    }

    /// Enables or disables the backend, and forgets the tools that it offered last. Returns true if this is a change.
    pub(crate) fn set_enabled(&self, on: bool) -> bool {
        self.forget();
        self.routed.set_enabled(on)
    }

    /// Stores the tools that a backend offers. For an unreachable backend, returns the stored tools.
    pub(crate) fn remember(
        &self,
        answer: Result<OfferedTools, ToolError>,
        grace: Duration,
    ) -> (Option<Remembered>, Option<ToolError>) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let error = match answer {
            Ok(offers) => {
                *last = Some(LastOffers { offers: offers.clone(), may_be_trusted: true, lost_at: None });
                return (Some(Remembered { offers, is_trusted: self.is_trusted() }), None);
            }
            Err(error) => error,
        };
        let kept = last.take().filter(|_| error.is_retryable()).and_then(|mut kept| {
            let lost_at = *kept.lost_at.get_or_insert_with(Instant::now);
            (lost_at.elapsed() < grace).then_some(kept)
        });
        let remembered = kept.as_ref().map(|kept| Remembered {
            offers: kept.offers.clone(),
            is_trusted: kept.may_be_trusted && self.is_trusted(),
        });
        *last = kept;
        (remembered, Some(error))
    }

    /// Keeps the tools that another backend offered last, until this one answers or the grace period is over. Their
    /// hints are trusted only if both backends are.
    pub(crate) fn inherit(&self, other: &Self) {
        let mut theirs = other.last.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(theirs) = &mut theirs {
            theirs.may_be_trusted &= other.is_trusted();
        }
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = theirs;
    }

    /// Forgets the tools that the backend offered last.
    pub(crate) fn forget(&self) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Returns the time at which the tools of an unreachable backend are removed.
    pub(crate) fn expires_at(&self, grace: Duration) -> Option<Instant> {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.as_ref()?.lost_at?.checked_add(grace)
    }
}

impl fmt::Debug for Registered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.routed.fmt(f)
    }
}

/// A backend and what is known about it; see [`Backends::report`](crate::Backends::report).
///
/// # Examples
///
/// ```
/// use toolkit::backend::BackendState;
/// use toolkit_backends::{Backends, LocalBackend};
///
/// let backends = Backends::new();
/// backends.register(LocalBackend::new("plugins"))?;
/// let report = &backends.report()[0];
/// assert_eq!((&*report.name, report.status.state), ("plugins", BackendState::Ready));
/// assert_eq!(report.calls.n_ended, 0);
/// # Ok::<(), toolkit_backends::RegisterError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BackendReport {
    /// The name of the backend.
    pub name: String,
    /// The kind of the backend.
    pub kind: BackendKind,
    /// The state of its connection.
    pub status: BackendStatus,
    /// The counts of its calls.
    pub calls: BackendCalls,
}

/// A backend that is no longer registered, and whose calls may still run.
///
/// [`Backends::retire`](crate::Backends::retire) and [`Backends::replace`](crate::Backends::replace) return it.
///
/// # Examples
///
/// ```
/// use toolkit_backends::{Backends, LocalBackend};
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let backends = Backends::new();
/// backends.register(LocalBackend::new("plugins"))?;
/// let retired = backends.retire("plugins").unwrap();
/// assert_eq!(retired.name(), "plugins");
/// retired.stop_when_idle().await?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "the backend runs until it is stopped"]
pub struct RetiredBackend {
    backend: Arc<Registered>,
    timeout: Duration,
}

impl RetiredBackend {
    pub(crate) fn new(backend: Arc<Registered>, timeout: Duration) -> Self {
        Self { backend, timeout }
    }

    /// Returns the name of the backend.
    #[must_use]
    pub fn name(&self) -> &str {
        self.backend.name()
    }

    /// Waits until the running calls and the requests for resources have ended, and stops the backend. A call that waits
    /// in a layer counts as running.
    /// [`Backends::stop`](crate::Backends::stop) stops it without waiting.
    ///
    /// # Errors
    ///
    /// Returns an error if the backend did not stop cleanly.
    pub async fn stop_when_idle(self) -> Result<(), ToolError> {
        self.backend.routed.idle().await;
        request(self.backend.backend(), <dyn Backend>::stop, self.timeout).await
    }
}

impl fmt::Debug for RetiredBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RetiredBackend").field(&self.name()).finish()
    }
}
