//! The identity of a step of a durable run.

use std::fmt;
use std::sync::Arc;

use super::context::Context;

/// The identity of a step of a durable run: the same in every attempt to run it.
///
/// The host of a durable run attaches it to the [`Context`] of each call. A tool with effects passes [`key`](Self::key) to
/// the system that it changes as an idempotency key, which then recognizes a repetition.
///
/// # Examples
///
/// ```standalone_crate
/// use toolkit::call::StepId;
/// use toolkit::{Context, Dispatcher, catalog, tool};
///
/// /// Pays an invoice.
/// #[tool(idempotent)]
/// fn pay(invoice: u64, ctx: &Context) -> String {
///     match ctx.step() {
///         Some(step) => format!("invoice {invoice} with the key {}", step.key()),
///         None => format!("invoice {invoice} without a key"),
///     }
/// }
///
/// let dispatcher = Dispatcher::new(catalog![pay]?)?;
/// let context = Context::new().with(StepId::new("order-42", 3, 1));
/// let result = dispatcher.call_sync_with(&context, "pay", r#"{"invoice": 7}"#)?;
/// assert_eq!(result.value(), "invoice 7 with the key order-42/3");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StepId {
    run: Arc<str>,
    step: usize,
    attempt: u32,
}

impl StepId {
    /// Creates the identity of a step by the id of its run, its index, and the number of the attempt, from 1.
    #[must_use]
    pub fn new(run: impl Into<Arc<str>>, step: usize, attempt: u32) -> Self {
        Self { run: run.into(), step, attempt }
    }

    /// Returns the id of the run.
    #[must_use]
    pub fn run(&self) -> &str {
        &self.run
    }

    /// Returns the index of the step in its chain.
    #[must_use]
    pub fn step(&self) -> usize {
        self.step
    }

    /// Returns the number of the attempt, from 1. It grows when a person decides to repeat the step, not when a process
    /// continues the run of another one.
    #[must_use]
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    /// Returns `RUN/STEP`, which identifies the step in all attempts.
    #[must_use]
    pub fn key(&self) -> String {
        format!("{}/{}", self.run, self.step)
    }
}

impl fmt::Display for StepId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{} (attempt {})", self.run, self.step, self.attempt)
    }
}

impl Context {
    /// Returns the step of the durable run that the call belongs to, or `None` for other calls.
    #[must_use]
    pub fn step(&self) -> Option<&StepId> {
        self.get()
    }
}
