//! Definitions of chains: the steps and their order.

use super::step::Step;

/// A sequence or graph of tool calls.
///
/// ```
/// use toolkit::chain::{Chain, Step};
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
