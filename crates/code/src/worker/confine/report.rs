//! The result of the confinement.

use super::super::super::guarantee::{Enforced, Guarantee};
use super::super::super::wire::Ready;

/// The guarantees so far, and those that could not be given.
pub(in super::super) struct Report {
    ready: Ready,
}

impl Report {
    pub(super) fn new(guarantees: impl IntoIterator<Item = Guarantee>) -> Self {
        Self { ready: Ready::new(guarantees.into_iter().collect()) }
    }

    /// Records what the kernel has accepted.
    pub(super) fn add(&mut self, guarantees: impl IntoIterator<Item = Guarantee>) {
        let enforced = std::mem::take(&mut self.ready.enforced);
        self.ready.enforced = guarantees.into_iter().fold(enforced, Enforced::with);
    }

    /// Records what could not be enforced. The reason begins with the name of the mechanism.
    pub(super) fn lack(&mut self, reason: String) {
        self.ready.missing.push(reason);
    }

    /// Records a mechanism and its version.
    #[cfg(target_os = "linux")]
    pub(super) fn detail(&mut self, name: &str, value: impl Into<String>) {
        self.ready.details.insert(name.to_owned(), value.into());
    }

    pub(super) fn into_ready(self) -> Ready {
        self.ready
    }
}
