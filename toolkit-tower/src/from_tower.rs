//! Layers of tower itself, with errors that a model can read.

use toolkit::ToolError;
use toolkit::call::ErrorKind;
use tower::Layer;
use tower::load_shed::error::Overloaded;
use tower::timeout::error::Elapsed;
use tower::util::MapErr;

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// One of tower's own layers, or several: what they say in errors of their own is said in a [`ToolError`].
///
/// A time that is over is [`ErrorKind::TimedOut`], a call that was shed is [`ErrorKind::Overloaded`]; what is unknown
/// here is masked, like every error that nobody expected. A time limit of tower's needs a tokio runtime with timers.
///
/// ```
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
    /// Wraps a layer, or a [`ServiceBuilder`](tower::ServiceBuilder) of several.
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
        MapErr::new(self.0.layer(inner), in_words)
    }
}

fn in_words(error: impl Into<BoxError>) -> ToolError {
    let error = error.into();
    if error.is::<Elapsed>() {
        return ToolError::new(ErrorKind::TimedOut, "the call took longer than it may");
    }
    if error.is::<Overloaded>() {
        return ToolError::new(ErrorKind::Overloaded, "as many calls run as may; try again later");
    }
    ToolError::internal(error)
}
