//! The common implementation of the layers: a function around a call.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use toolkit::dispatch::Call;
use toolkit::{RunResult, ToolError};
use tower::{Service, ServiceExt};

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// The inner service: further layers, and the dispatcher.
pub trait Inner: Clone + Send + 'static {
    /// Waits until the service is ready, and runs a call.
    fn run(self, call: Call) -> impl Future<Output = Result<RunResult, ToolError>> + Send;
}

impl<S> Inner for S
where
    S: Service<Call, Response = RunResult> + Clone + Send + 'static,
    S::Future: Send,
    S::Error: Into<BoxError>,
{
    async fn run(self, call: Call) -> Result<RunResult, ToolError> {
        self.oneshot(call).await.map_err(ToolError::internal)
    }
}

/// A function around a call.
pub trait Middleware: Send + Sync + 'static {
    /// Runs the call with the inner service, or rejects it.
    fn around(&self, call: Call, inner: impl Inner) -> impl Future<Output = Result<RunResult, ToolError>> + Send;
}

/// The service of a [`Middleware`].
#[derive(Clone, Debug)]
pub struct Around<M, S> {
    middleware: Arc<M>,
    inner: S,
}

impl<M, S> Around<M, S> {
    pub(crate) fn new(middleware: M, inner: S) -> Self {
        Self { middleware: Arc::new(middleware), inner }
    }
}

impl<M: Middleware, S: Inner> Service<Call> for Around<M, S> {
    type Response = RunResult;
    type Error = ToolError;
    type Future = Pin<Box<dyn Future<Output = Result<RunResult, ToolError>> + Send>>;

    /// Always ready: [`Inner::run`] polls the inner service when it is needed, after approval and before each attempt.
    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), ToolError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, call: Call) -> Self::Future {
        let (middleware, inner) = (Arc::clone(&self.middleware), self.inner.clone());
        Box::pin(async move { middleware.around(call, inner).await })
    }
}

/// Implements `tower::Layer` for a [`Middleware`]. The services of all clones of a layer share its state.
macro_rules! layer {
    ($layer:ty) => {
        impl<S> tower::Layer<S> for $layer {
            type Service = $crate::middleware::Around<Self, S>;

            fn layer(&self, inner: S) -> Self::Service {
                $crate::middleware::Around::new(self.clone(), inner)
            }
        }
    };
}

pub(crate) use layer;
