//! Descriptions of sandboxes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A description of a sandbox for operators.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SandboxInfo {
    /// The kind, such as `process`, `inline` or `docker`.
    pub kind: String,
    /// The level of testing.
    pub readiness: Readiness,
    /// Details, such as the version of the kernel interface, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub details: BTreeMap<String, String>,
}

/// The level of testing of a sandbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Readiness {
    /// Tested against hostile programs.
    Prod,
    /// Tested for what works, or not on each platform.
    Beta,
}
