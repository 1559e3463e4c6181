//! An adapter for layers with errors other than `ToolError`.

use toolkit::ToolError;
use toolkit::call::{BoxError, ErrorKind};
use tower::Layer;
use tower::load_shed::error::Overloaded;
use tower::timeout::error::Elapsed;
use tower::util::MapErr;

/// A layer that converts the errors of another layer to [`ToolError`].
///
/// [`Elapsed`] becomes [`ErrorKind::TimedOut`], and [`Overloaded`](tower::load_shed::error::Overloaded) becomes
/// [`ErrorKind::Overloaded`]. Any other error becomes an [internal](ToolError::internal) error, whose text a model does not
/// read. The timeout of tower requires a tokio runtime with timers.
///
/// # Examples
///
/// ```standalone_crate
/// use std::time::Duration;
/// use toolkit::{Catalog, Dispatcher};
/// use toolkit_tower::FromTower;
/// use tower::ServiceBuilder;
///
/// let bounds = ServiceBuilder::new().load_shed().concurrency_limit(64).timeout(Duration::from_secs(30));
/// let dispatcher = Dispatcher::builder(Catalog::linked()?).layer(FromTower::new(bounds)).build()?;
/// # Ok::<(), toolkit::catalog::Diagnostics>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct FromTower<L>(L);

impl<L> FromTower<L> {
    /// Wraps a layer, or a [`ServiceBuilder`](tower::ServiceBuilder) with several layers.
    #[must_use]
    pub const fn new(layer: L) -> Self {
        Self(layer)
    }
}

impl<S, L, E> Layer<S> for FromTower<L>
where
    L: Layer<S>,
    L::Service: tower::Service<toolkit::dispatch::Call, Error = E>,
    E: Into<BoxError>,
{
    type Service = MapErr<L::Service, fn(E) -> ToolError>;

    fn layer(&self, inner: S) -> Self::Service {
        MapErr::new(self.0.layer(inner), to_tool_error)
    }
}

fn to_tool_error(error: impl Into<BoxError>) -> ToolError {
    let error = error.into();
    if error.is::<Elapsed>() {
        return ToolError::new(ErrorKind::TimedOut, "the call reached its timeout");
    }
    if error.is::<Overloaded>() {
        return ToolError::new(ErrorKind::Overloaded, "concurrency limit reached; try again later");
    }
    ToolError::internal(error)
}
