//! The guarantees of a sandbox.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// Something that a sandbox enforces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Guarantee {
    /// The time of the run.
    Time,
    /// The number of calls.
    Calls,
    /// The number of steps of a chain.
    ChainSteps,
    /// The number of steps of the program.
    Steps,
    /// The memory of the program.
    Memory,
    /// The processor time of the sandbox, by the kernel.
    Cpu,
    /// The program starts no process and no thread.
    Processes,
    /// The program writes no file.
    Disk,
    /// The program reads no file.
    Files,
    /// The program opens no connection.
    Network,
    /// The program sees no variable of the host's environment.
    Environment,
}

/// The set of guarantees that hold for a program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Enforced(BTreeSet<Guarantee>);

impl Enforced {
    /// Returns true if a guarantee holds.
    #[must_use]
    pub fn contains(&self, guarantee: Guarantee) -> bool {
        self.0.contains(&guarantee)
    }

    /// Adds a guarantee.
    #[must_use]
    pub fn with(mut self, guarantee: Guarantee) -> Self {
        self.0.insert(guarantee);
        self
    }

    /// Returns the guarantees in order.
    pub fn iter(&self) -> impl Iterator<Item = Guarantee> + '_ {
        self.0.iter().copied()
    }
}

impl FromIterator<Guarantee> for Enforced {
    fn from_iter<T: IntoIterator<Item = Guarantee>>(guarantees: T) -> Self {
        Self(guarantees.into_iter().collect())
    }
}
