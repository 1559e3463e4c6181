//! Collection of the tools that the backends list at the moment, and of their resources.

use std::future::pending;
use std::sync::Arc;
use std::time::{Duration, Instant};

use toolkit::call::{BoxFuture, Context, Credentials, ErrorKind, ToolError};
use toolkit::catalog::Catalog;
use toolkit::prompt::{Completion, CompletionRequest};
use toolkit::resource::{
    Resource, ResourceChanges, ResourceContents, ResourceTemplate, ResourceWatch, Resources, Skill,
};

use crate::ask::{changed, join_all, next_of, within};
use crate::merge::{Collected, Listed};
use crate::registered::Registered;
use crate::registry::Backends;
use crate::review::{Review, is_host_code};

impl Backends {
    /// Combines the tools of `base` with those of every enabled backend.
    ///
    /// A tool without a namespace is put into the namespace named after its backend. If several backends offer a tool
    /// with the same id and the same schemas, it is one tool with several backends. If the schemas differ, the first
    /// tool wins: `base` comes before the backends, which are ordered by [`BackendKind`](toolkit::tool::BackendKind). The
    /// other tool is reported as a diagnostic. A new version of a tool is also left out and reported if the tool
    /// belongs to another backend. If a backend cannot list its tools, it is reported as a failure, and the others are
    /// not affected.
    ///
    /// The following rules apply to tools of all kinds except [`BackendKind::Local`](toolkit::tool::BackendKind::Local):
    ///
    /// - They cannot be in a namespace of `base`. A backend with the name of such a namespace is reported as a
    ///   failure, and its tools are not listed.
    /// - Texts are cut to [`MAX_DESCRIPTION_BYTES`](crate::MAX_DESCRIPTION_BYTES) and the related constants, and
    ///   tools with records larger than [`MAX_RECORD_BYTES`](crate::MAX_RECORD_BYTES) are left out and reported.
    /// - Hints about effects, tags and timeouts are dropped, unless the host [trusts](toolkit::backend::Backend::is_trusted) the
    ///   backend or a [lock](Backends::with_lock) contains exactly that contract.
    pub async fn collect(&self, base: Catalog) -> Collected {
        self.collect_within(base, self.timeout).await
    }

    /// Behaves like [`Backends::collect`], with a limit on the wait for each backend. A backend that exceeds it is
    /// reported as a failure of kind [`TimedOut`](toolkit::call::ErrorKind::TimedOut). Its request continues:
    /// [`Backends::changed`] completes when it is answered, and the next collection uses the answer.
    pub async fn collect_within(&self, base: Catalog, timeout: Duration) -> Collected {
        self.changes.mark_seen();
        let backends = self.enabled();
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
        let responses = std::iter::zip(backends, answers).map(|(backend, (answer, is_pending))| {
            let (remembered, error) = backend.remember(answer, self.grace);
            Listed { backend, remembered, error, is_pending }
        });
        Collected::new(base, responses.collect(), self.lock.as_deref())
    }

    /// Completes when [`Backends::collect`] may return other tools than last time: an enabled backend
    /// [changed](toolkit::backend::Backend::changed) or answered a pending request; a backend was registered, unregistered,
    /// enabled or disabled; or the [grace period](Backends::with_grace) of an unreachable backend is over.
    ///
    /// A change is reported until the next collection, and not after it. If several tasks wait and one of them
    /// collects, the others may miss the change, so a single task should wait and collect.
    ///
    /// # Examples
    ///
    /// ```
    /// use serde_json::{Value, json};
    /// use toolkit::{Catalog, Context, Tool};
    /// use toolkit_backends::{Backends, LocalBackend};
    ///
    /// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
    /// let plugins = LocalBackend::new("plugins");
    /// let backends = Backends::new();
    /// backends.register(plugins.clone())?;
    /// assert!(backends.collect(Catalog::new([])?).await.catalog.is_empty());
    ///
    /// plugins.add(Tool::builder("ping").build()?, |_: Value, _: Context| async { Ok(json!("pong")) });
    /// backends.changed().await;
    /// assert_eq!(backends.collect(Catalog::new([])?).await.catalog.len(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub async fn changed(&self) {
        let backends = self.enabled();
        let notified: BoxFuture<'_, ()> = Box::pin(self.changes.changed());
        let expired: BoxFuture<'_, ()> = Box::pin(expired(&backends, self.grace));
        let each = backends.iter().map(|backend| -> BoxFuture<'_, ()> {
            match self.pending.has(backend) {
                true => Box::pin(self.pending.answered(backend)),
                false => changed(backend.backend()),
            }
        });
        next_of(&mut each.chain([notified, expired]).collect()).await;
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

impl Backends {
    /// Returns the resources of each enabled backend that has some, with the name of the backend, in the order of
    /// registration. Disabling a backend disables them at once.
    ///
    /// A backend receives the context of a request without the caller's credentials.
    #[must_use]
    pub fn resources(&self) -> Vec<(String, Arc<dyn Resources>)> {
        let registered = self.read();
        let offering =
            registered.iter().filter(|backend| backend.is_enabled() && backend.backend().resources().is_some());
        let resources = offering.map(|backend| -> (String, Arc<dyn Resources>) {
            (backend.name().to_owned(), Arc::new(BackendResources(Arc::clone(backend))))
        });
        resources.collect()
    }

    /// Returns values for an argument of a prompt or a resource template of a backend, under the name that it has there.
    /// There are none if the backend is disabled.
    ///
    /// # Errors
    ///
    /// Returns the error of the backend.
    pub async fn complete(
        &self,
        backend: &str,
        request: &CompletionRequest,
        context: &Context,
    ) -> Result<Completion, ToolError> {
        match self.named(backend).filter(|backend| backend.is_enabled()) {
            Some(backend) => backend.routed.complete(request, context).await,
            None => Ok(Completion::default()),
        }
    }
}

/// The resources of a backend while it is enabled.
struct BackendResources(Arc<Registered>);

impl BackendResources {
    /// Returns the resources, and a guard that keeps the backend from being stopped during a request.
    fn get(&self) -> Option<(&dyn Resources, impl Send + '_)> {
        let resources = self.0.backend().resources().filter(|_| self.0.is_enabled())?;
        Some((resources, self.0.routed.hold()))
    }
}

impl Resources for BackendResources {
    fn list<'a>(&'a self, context: &'a Context) -> BoxFuture<'a, Result<Vec<Resource>, ToolError>> {
        Box::pin(async {
            match self.get() {
                Some((resources, _held)) => resources.list(&without_credentials(context)).await,
                None => Ok(Vec::new()),
            }
        })
    }

    fn templates<'a>(&'a self, context: &'a Context) -> BoxFuture<'a, Result<Vec<ResourceTemplate>, ToolError>> {
        Box::pin(async {
            match self.get() {
                Some((resources, _held)) => resources.templates(&without_credentials(context)).await,
                None => Ok(Vec::new()),
            }
        })
    }

    fn read<'a>(
        &'a self,
        uri: &'a str,
        context: &'a Context,
    ) -> BoxFuture<'a, Result<Option<Vec<ResourceContents>>, ToolError>> {
        Box::pin(async move {
            match self.get() {
                Some((resources, _held)) => resources.read(uri, &without_credentials(context)).await,
                None => Ok(None),
            }
        })
    }

    fn has_skills(&self) -> bool {
        self.get().is_some_and(|(resources, _held)| resources.has_skills())
    }

    fn skills<'a>(&'a self, context: &'a Context) -> BoxFuture<'a, Result<Vec<Skill>, ToolError>> {
        Box::pin(async {
            match self.get() {
                Some((resources, _held)) => resources.skills(&without_credentials(context)).await,
                None => Ok(Vec::new()),
            }
        })
    }

    fn skill<'a>(&'a self, uri: &'a str, context: &'a Context) -> BoxFuture<'a, Result<Option<Skill>, ToolError>> {
        Box::pin(async move {
            match self.get() {
                Some((resources, _held)) => resources.skill(uri, &without_credentials(context)).await,
                None => Ok(None),
            }
        })
    }

    fn watch<'a>(&'a self, uri: &'a str, context: &'a Context) -> BoxFuture<'a, Result<ResourceWatch, ToolError>> {
        Box::pin(async move {
            match self.get() {
                Some((resources, _held)) => resources.watch(uri, &without_credentials(context)).await,
                None => {
                    let message = format!("the backend `{}` is disabled", self.0.name());
                    Err(ToolError::new(ErrorKind::Unavailable, message))
                }
            }
        })
    }

    fn changes(&self) -> Option<&ResourceChanges> {
        self.0.backend().resources()?.changes()
    }
}

fn without_credentials(context: &Context) -> Context {
    context.clone().with_credentials(Credentials::new())
}
