//! The resources of backends.

use std::sync::Arc;

use toolkit::call::{BoxFuture, Context, Credentials, ErrorKind, ToolError};
use toolkit::prompt::{Completion, CompletionRequest};
use toolkit::resource::{Resource, ResourceChanges, ResourceContents, ResourceTemplate, ResourceWatch, Resources};

use crate::registered::Registered;
use crate::registry::Backends;

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
        let found = self.read().iter().find(|other| other.name() == backend && other.is_enabled()).cloned();
        match found {
            Some(backend) => backend.routed().complete(request, context).await,
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
        Some((resources, self.0.routed().hold()))
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
