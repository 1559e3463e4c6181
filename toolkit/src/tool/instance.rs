//! One of several instances of a toolset.

use super::part::Namespace;
use crate::state::States;

/// State that serves the tools of one namespace.
#[derive(Debug)]
pub(crate) struct Instance {
    pub(crate) namespace: Namespace,
    pub(crate) states: States,
}
