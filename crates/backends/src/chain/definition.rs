//! Definitions of chains: the steps and their order.

use super::step::Step;

/// A sequence or graph of tool calls.
///
/// ```
/// use toolkit_backends::chain::{Chain, Step};
///
/// let chain = Chain::new()
///     .then(Step::new("geo:find").named("geo").arg("name", "Lima"))
///     .then(Step::new("weather:forecast").take("city", "geo", "/name"));
/// assert_eq!(chain, Chain::from_json(serde_json::to_string(&chain)?)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chain {
    pub(super) steps: Vec<Step>,
    pub(super) order: Order,
}

/// The order in which steps run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Order {
    /// The order of the list.
    #[default]
    Sequential,
    /// The order given by references.
    Parallel,
}

impl Order {
    /// Returns the JSON Pointer to the steps of the chain.
    pub(super) fn pointer(self) -> &'static str {
        match self {
            Order::Sequential => "",
            Order::Parallel => "/steps",
        }
    }
}

impl Chain {
    /// Creates an empty chain whose steps run one after another.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates an empty chain whose steps run as soon as the steps that they refer to have succeeded.
    ///
    /// The steps share one task: asynchronous and `blocking` tools run concurrently, other synchronous tools one at a
    /// time.
    ///
    /// # Examples
    ///
    /// The greeting waits for both names, which are independent of each other:
    ///
    /// ```
    /// use toolkit::{Context, Dispatcher, catalog, tool};
    /// use toolkit_backends::chain::{Chain, Step};
    ///
    /// /// Returns the name of a user.
    /// #[tool]
    /// async fn name(id: u32) -> String {
    ///     format!("user {id}")
    /// }
    ///
    /// /// Introduces two people.
    /// #[tool]
    /// async fn introduce(one: String, other: String) -> String {
    ///     format!("{one}, this is {other}.")
    /// }
    ///
    /// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
    /// let chain = Chain::parallel()
    ///     .then(Step::new("name").named("one").arg("id", 1))
    ///     .then(Step::new("name").named("other").arg("id", 2))
    ///     .then(Step::new("introduce").take("one", "one", "").take("other", "other", ""));
    /// let outcome = chain.run(&Dispatcher::new(catalog![name, introduce]?)?, &Context::new()).await?;
    /// assert_eq!(outcome.result().unwrap().value(), "user 1, this is user 2.");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn parallel() -> Self {
        Self { steps: Vec::new(), order: Order::Parallel }
    }

    /// Adds a step.
    #[must_use]
    pub fn then(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }

    /// Returns the steps in the order in which they were added.
    #[must_use]
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Returns true if the steps run as soon as their references allow.
    #[must_use]
    pub fn is_parallel(&self) -> bool {
        self.order == Order::Parallel
    }
}

impl FromIterator<Step> for Chain {
    fn from_iter<I: IntoIterator<Item = Step>>(steps: I) -> Self {
        Self { steps: Vec::from_iter(steps), order: Order::Sequential }
    }
}
