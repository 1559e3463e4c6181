//! The status of a server and its backends, for operators.

#[cfg(test)]
pub(super) mod tests;

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Serialize, Serializer};
use toolkit::backend::{BackendCalls, BackendState};
use toolkit::tool::BackendKind;

/// The status of a server and its backends; see [`Server::status`](super::Server::status).
///
/// It serializes to the JSON of `GET /status`. It contains names of servers and tools, and messages that are written for
/// models, but no addresses, arguments, tokens or environment variables.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
///
/// use toolkit::backend::BackendState;
/// use toolkit::{Catalog, Dispatcher};
/// use toolkit_backends::{Backends, LocalBackend};
/// use toolkit_mcp_server::{Proxy, Server};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let backends = Backends::new();
/// backends.register(LocalBackend::new("plugins"))?;
/// let proxy = Proxy::new(Server::new(Dispatcher::new(Catalog::new([])?)?)?, backends);
/// proxy.collect().await;
///
/// let status = proxy.status();
/// assert_eq!(status.backends[0].state, BackendState::Ready);
/// assert!(status.is_ready());
/// assert_eq!(serde_json::to_value(&status)?["backends"][0]["state"], "ready");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Status {
    /// The number of served tools.
    #[serde(rename = "tools")]
    pub n_tools: usize,
    /// The number of tools above which clients see `search_tools`, `describe_tool` and `call_tool` in place of all tools.
    pub list_at_most: usize,
    /// True if clients see these three.
    pub lists_search_tools: bool,
    /// The number of running calls of clients.
    #[serde(rename = "calls_running")]
    pub n_running: u64,
    /// The number of tasks of clients, including those that have ended and are kept.
    #[serde(rename = "tasks")]
    pub n_tasks: usize,
    /// The errors in the configuration of the backends, as the host has set them with
    /// [`Proxy::set_configuration_errors`](super::Proxy::set_configuration_errors).
    pub configuration_errors: Vec<String>,
    /// The backends of the server's proxy, in the order of registration.
    pub backends: Vec<ServedBackend>,
}

/// A backend of a proxy, in a [`Status`].
///
/// # Examples
///
/// ```
/// use toolkit_mcp_server::ServedBackend;
///
/// fn line(backend: &ServedBackend) -> String {
///     let error = backend.last_error.as_deref().unwrap_or("no error");
///     format!("{} is {}, {} tools, {error}", backend.name, backend.state, backend.n_tools)
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ServedBackend {
    /// The name of the backend.
    pub name: String,
    /// The kind of the backend.
    #[serde(serialize_with = "kind")]
    pub kind: BackendKind,
    /// The state of its connection.
    #[serde(serialize_with = "state")]
    pub state: BackendState,
    /// The time at which the backend became ready, or ceased to be; in JSON, seconds since 1970.
    #[serde(serialize_with = "unix_time")]
    pub since: Option<SystemTime>,
    /// The earliest time of the next attempt to connect; in JSON, seconds since 1970.
    #[serde(serialize_with = "unix_time")]
    pub next_attempt: Option<SystemTime>,
    /// The last error, also after a later success.
    pub last_error: Option<String>,
    /// The number of connections after the first one.
    #[serde(rename = "restarts")]
    pub n_restarts: u64,
    /// The number of running calls that it runs as tasks.
    #[serde(rename = "tasks")]
    pub n_tasks: u64,
    /// The number of its tools that are served.
    #[serde(rename = "tools")]
    pub n_tools: usize,
    /// The number of diagnostics: of tools that are not served, of rules without effect, and of differences from the lock.
    #[serde(rename = "left_out")]
    pub n_left_out: usize,
    /// The first [`ServedBackend::MAX_REASONS`] of these diagnostics.
    #[serde(rename = "left_out_reasons")]
    pub reasons: Vec<String>,
    /// The counts of its calls.
    #[serde(serialize_with = "calls")]
    pub calls: BackendCalls,
}

impl ServedBackend {
    /// The maximum length of [`reasons`](ServedBackend::reasons).
    pub const MAX_REASONS: usize = 100;
}

impl Status {
    /// Returns true if all backends are ready and their configuration is valid.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.configuration_errors.is_empty() && self.backends.iter().all(|backend| backend.state.is_ready())
    }
}

fn kind<S: Serializer>(kind: &BackendKind, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(kind.as_str())
}

fn state<S: Serializer>(state: &BackendState, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(state.name())
}

fn unix_time<S: Serializer>(time: &Option<SystemTime>, serializer: S) -> Result<S::Ok, S::Error> {
    let seconds = time.map(|time| time.duration_since(UNIX_EPOCH).unwrap_or_default());
    seconds.map(milliseconds).serialize(serializer)
}

fn calls<S: Serializer>(calls: &BackendCalls, serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct CallCounts {
        running: u64,
        ended: u64,
        errors: BTreeMap<&'static str, u64>,
        seconds: f64,
    }
    let errors = calls.errors.iter().map(|(kind, n)| (kind.name(), *n)).collect();
    CallCounts { running: calls.n_running, ended: calls.n_ended, errors, seconds: milliseconds(calls.duration) }
        .serialize(serializer)
}

/// Returns a duration in seconds, rounded to milliseconds.
fn milliseconds(duration: Duration) -> f64 {
    (duration.as_secs_f64() * 1000.0).round() / 1000.0
}
