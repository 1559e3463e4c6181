//! The providers of resources.

use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};
use std::task;

use toolkit::Context;
use toolkit::resource::{ResourceChange, Resources};

use super::Subscriptions;

/// The providers of a server, and the clients that subscribe to changes.
#[derive(Default)]
pub(crate) struct Providers {
    providers: RwLock<Vec<Arc<dyn Resources>>>,
    /// The provider of what depends on the tools of the server, which other servers of the same providers have not.
    own: OnceLock<Arc<dyn Resources>>,
    pub(crate) subscriptions: Arc<Subscriptions>,
}

impl Providers {
    /// Adds a provider. Of several providers with the same URI, the first serves it.
    pub(crate) fn add(&self, provider: Arc<dyn Resources>) {
        if let Some(changes) = provider.changes() {
            let subscriptions = Arc::downgrade(&self.subscriptions);
            changes.listen(move |change| {
                let Some(subscriptions) = subscriptions.upgrade() else {
                    return ControlFlow::Break(());
                };
                match change {
                    ResourceChange::Updated(uri) => subscriptions.updated(uri),
                    _ => subscriptions.list_changed(),
                }
                ControlFlow::Continue(())
            });
        }
        self.providers.write().unwrap_or_else(PoisonError::into_inner).push(provider);
    }

    /// Sets the provider of what depends on the tools of the server.
    #[cfg(feature = "skills")]
    pub(crate) fn set_own(&self, provider: Arc<dyn Resources>) {
        let _ = self.own.set(provider);
    }

    /// Returns true if there is one.
    pub(crate) fn has_own(&self) -> bool {
        self.own.get().is_some()
    }

    /// Returns true if the server has providers, so that it declares resources.
    pub(crate) fn is_offered(&self) -> bool {
        self.has_own() || !self.providers.read().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// Returns true if a provider has skills, so that the server declares them.
    pub(crate) fn has_skills(&self) -> bool {
        self.all().iter().any(Resources::has_skills)
    }

    /// Returns true if a provider has a resource with this URI, or cannot tell without waiting.
    pub(crate) fn may_serve(&self, uri: &str) -> bool {
        let context = Context::new();
        self.all().iter().any(|provider| {
            let mut cx = task::Context::from_waker(task::Waker::noop());
            // A provider may need a runtime, which does not exist yet.
            let polled = catch_unwind(AssertUnwindSafe(|| provider.read(uri, &context).as_mut().poll(&mut cx)));
            !matches!(polled, Ok(task::Poll::Ready(Ok(None))))
        })
    }

    /// Returns the providers in the order of precedence.
    pub(crate) fn all(&self) -> Vec<Arc<dyn Resources>> {
        let mut all = self.added();
        all.extend(self.own.get().cloned());
        all
    }

    /// Returns the providers that were added.
    pub(crate) fn added(&self) -> Vec<Arc<dyn Resources>> {
        self.providers.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
