//! The common implementation of the layers: a function around a call, a wait that ends with the cancellation of the call, and
//! a value for each tool.

use std::collections::HashMap;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::{Arc, PoisonError, RwLock};
use std::task::{Context, Poll};

use toolkit::call::BoxError;
use toolkit::dispatch::Call;
use toolkit::tool::ToolId;
use toolkit::{RunResult, Tool, ToolError};
use tower::{Service, ServiceExt};

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

/// Returns the output of `work`, or an error if the call is cancelled first.
pub(crate) async fn unless_cancelled<T>(
    context: &toolkit::Context,
    work: impl Future<Output = T>,
) -> Result<T, ToolError> {
    let (mut work, mut cancelled) = (pin!(work), pin!(context.cancelled()));
    poll_fn(|cx| {
        if let Poll::Ready(done) = work.as_mut().poll(cx) {
            return Poll::Ready(Ok(done));
        }
        cancelled.as_mut().poll(cx).map(|()| Err(ToolError::cancelled()))
    })
    .await
}

/// A value for each tool, created at the first call of the tool. The number of values is bounded by that of the tools.
pub(crate) struct PerTool<T> {
    make: Box<dyn Fn(&Tool) -> T + Send + Sync>,
    made: RwLock<HashMap<ToolId, Arc<T>>>,
}

impl<T> PerTool<T> {
    pub(crate) fn new(make: impl Fn(&Tool) -> T + Send + Sync + 'static) -> Self {
        Self { make: Box::new(make), made: RwLock::default() }
    }

    pub(crate) fn get(&self, tool: &Tool) -> Arc<T> {
        let made = self.made.read().unwrap_or_else(PoisonError::into_inner).get(tool.id()).cloned();
        made.unwrap_or_else(|| {
            // Created before the lock is acquired, since `make` may call a function of the host.
            let new = Arc::new((self.make)(tool));
            let mut made = self.made.write().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(made.entry(tool.id().clone()).or_insert(new))
        })
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
