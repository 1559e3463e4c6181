//! A backend as dispatchers call it.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

use super::counters::Counters;
use super::interface::Backend;
use super::status::BackendCalls;
use crate::tool::{NameError, Namespace};

/// A backend in a table of [`Routes`](super::Routes), which can be disabled and counts its calls.
///
/// Dispatchers that were built from the table share it: when it is disabled, none of them calls the backend.
#[doc(hidden)]
pub struct RoutedBackend {
    backend: Box<dyn Backend>,
    /// The name at the time of registration, in case [`Backend::name`] changes.
    name: Namespace,
    is_enabled: AtomicBool,
    calls: Counters,
}

impl RoutedBackend {
    /// Creates an enabled backend without calls.
    ///
    /// # Errors
    ///
    /// Returns an error if the name of the backend is not a valid namespace.
    pub fn new(backend: impl Backend) -> Result<Self, NameError> {
        Ok(Self {
            name: Namespace::new(backend.name().to_owned())?,
            is_enabled: AtomicBool::new(true),
            calls: Counters::default(),
            backend: Box::new(backend),
        })
    }

    /// Returns the name of the backend, which is also the namespace of its tools that have none.
    #[must_use]
    pub fn name(&self) -> &Namespace {
        &self.name
    }

    /// Returns the backend.
    #[must_use]
    pub fn backend(&self) -> &dyn Backend {
        &*self.backend
    }

    /// Returns true if dispatchers call the backend.
    #[must_use]
    pub fn is_enabled(&self) -> bool {
        self.is_enabled.load(Ordering::Acquire)
    }

    /// Enables or disables the backend, and returns true if that is a change. Running calls continue.
    pub fn set_enabled(&self, on: bool) -> bool {
        self.is_enabled.swap(on, Ordering::AcqRel) != on
    }

    /// Returns the counts of the calls.
    #[must_use]
    pub fn calls(&self) -> BackendCalls {
        self.calls.snapshot()
    }

    /// Keeps the backend from being [idle](Self::idle) until the guard is dropped, such as for a request that is not a
    /// call.
    #[must_use = "the backend may be idle when the guard is dropped"]
    pub fn hold(&self) -> impl Send + Sync + '_ {
        self.calls.hold()
    }

    /// Waits until no call is running and nothing else holds the backend.
    pub async fn idle(&self) {
        self.calls.idle().await;
    }

    pub(crate) fn counters(&self) -> &Counters {
        &self.calls
    }
}

impl fmt::Debug for RoutedBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Backend")
            .field("name", &&*self.name)
            .field("kind", &self.backend.kind())
            .field("enabled", &self.is_enabled())
            .finish()
    }
}
