//! An instance of a toolset.

use super::part::Namespace;
use crate::state::States;

/// The state of the tools in one namespace.
#[derive(Debug)]
pub(crate) struct Instance {
    pub(crate) namespace: Namespace,
    pub(crate) states: States,
}
