//! The status of a server, as read from its JSON.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

/// The status of a server.
#[derive(Debug, Deserialize)]
pub(super) struct Report {
    pub(super) tools: u64,
    pub(super) calls_running: u64,
    #[serde(default)]
    pub(super) configuration_errors: Vec<String>,
    pub(super) backends: Vec<Backend>,
}

/// The status of a server behind the proxy.
#[derive(Debug, Deserialize)]
pub(super) struct Backend {
    pub(super) name: String,
    pub(super) state: String,
    /// Seconds since 1970.
    pub(super) since: Option<f64>,
    pub(super) next_attempt: Option<f64>,
    pub(super) last_error: Option<String>,
    pub(super) restarts: u64,
    pub(super) tools: u64,
    pub(super) left_out: u64,
    #[serde(default)]
    pub(super) left_out_reasons: Vec<String>,
    pub(super) calls: Calls,
}

/// The counts of calls.
#[derive(Debug, Deserialize)]
pub(super) struct Calls {
    pub(super) running: u64,
    pub(super) ended: u64,
    pub(super) errors: BTreeMap<String, u64>,
}

impl Report {
    pub(super) fn from_json(json: &Value) -> serde_json::Result<Self> {
        Self::deserialize(json)
    }

    /// Returns true if all servers are ready and their configuration is valid.
    pub(super) fn is_ready(&self) -> bool {
        self.configuration_errors.is_empty() && self.backends.iter().all(Backend::is_ready)
    }
}

impl Backend {
    pub(super) fn is_ready(&self) -> bool {
        self.state == "ready"
    }
}

impl Calls {
    pub(super) fn n_errors(&self) -> u64 {
        self.errors.values().fold(0, |sum, n| sum.saturating_add(*n))
    }
}
