//! The state that a dispatcher injects into its tools.

use std::panic::Location;
use std::sync::Arc;

use super::DispatcherBuilder;

impl DispatcherBuilder {
    /// Adds state for tools with a parameter `&T`, including the `self` of a `#[toolset]`.
    ///
    /// Two values of one type are an error of [`DispatcherBuilder::build`]. Use [`DispatcherBuilder::instance`] for
    /// several instances of a toolset, and [`DispatcherBuilder::shared_state`] for an `Arc<T>`.
    #[track_caller]
    pub fn state<T: Send + Sync + 'static>(self, state: T) -> Self {
        self.shared_state(Arc::new(state))
    }

    /// Adds shared state, such as an `Arc<dyn Trait>`, for tools with a parameter `&T`.
    ///
    /// ```standalone_crate
    /// use std::sync::Arc;
    /// use toolkit::{Catalog, Dispatcher, tool};
    ///
    /// trait Clock: Send + Sync {
    ///     fn now(&self) -> u64;
    /// }
    ///
    /// struct Stopped;
    /// impl Clock for Stopped {
    ///     fn now(&self) -> u64 {
    ///         7
    ///     }
    /// }
    ///
    /// /// Returns the time.
    /// #[tool]
    /// fn time(clock: &dyn Clock) -> u64 {
    ///     clock.now()
    /// }
    ///
    /// let clock: Arc<dyn Clock> = Arc::new(Stopped);
    /// let dispatcher = Dispatcher::builder(Catalog::linked()?).shared_state(clock).build()?;
    /// assert_eq!(dispatcher.call_sync("time", "{}")?.value(), 7);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn shared_state<T: ?Sized + Send + Sync + 'static>(mut self, state: Arc<T>) -> Self {
        self.states.insert(state, Location::caller());
        self
    }

    /// Adds an instance of a toolset: its tools are also available in `namespace`, where they borrow `state`.
    ///
    /// If there are only instances, the tools are no longer available in the namespace of the toolset; with
    /// [`DispatcherBuilder::state`] for the same type, they are. [`Dispatcher::catalog`](crate::Dispatcher::catalog)
    /// lists the tools under their new ids. [`Instances`](crate::catalog::Instances) does the same for a catalog
    /// without a dispatcher.
    ///
    /// ```standalone_crate
    /// use toolkit::{Catalog, Dispatcher, toolset};
    ///
    /// struct Tracker { site: &'static str }
    ///
    /// #[toolset(namespace = "tracker")]
    /// impl Tracker {
    ///     /// Returns the address of an issue.
    ///     #[tool(read_only)]
    ///     fn address(&self, issue: u32) -> String {
    ///         format!("{}/issues/{issue}", self.site)
    ///     }
    /// }
    ///
    /// let dispatcher = Dispatcher::builder(Catalog::linked()?)
    ///     .instance("tracker_eu", Tracker { site: "https://eu.example.com" })
    ///     .instance("tracker_us", Tracker { site: "https://us.example.com" })
    ///     .build()?;
    /// let result = dispatcher.call_sync("tracker_eu:address", r#"{"issue": 7}"#)?;
    /// assert_eq!(result.value(), "https://eu.example.com/issues/7");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn instance<T: Send + Sync + 'static>(self, namespace: impl Into<String>, state: T) -> Self {
        self.shared_instance(namespace, Arc::new(state))
    }

    /// Adds a shared instance, such as an `Arc<dyn Trait>`; see [`DispatcherBuilder::instance`].
    #[track_caller]
    pub fn shared_instance<T: ?Sized + Send + Sync + 'static>(
        mut self,
        namespace: impl Into<String>,
        state: Arc<T>,
    ) -> Self {
        self.instances = self.instances.with_shared(namespace, state);
        self
    }
}
