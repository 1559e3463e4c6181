//! The limits of a server.

use std::time::Duration;

use toolkit_runtime::TrustedProxies;

/// The time that canceled calls have to return.
pub(super) const CANCEL_TIMEOUT: Duration = Duration::from_secs(1);

/// The limits of a [`Server`](super::Server).
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use toolkit_otc::Limits;
///
/// let mut limits = Limits::default();
/// limits.max_calls = 64;
/// limits.call_timeout = Duration::from_secs(30);
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Limits {
    /// The size of a request or a response in bytes. Default: 16 MiB.
    pub max_body_bytes: usize,
    /// The total size in bytes of the requests in memory, at least twice the size of a request. Default: 64 MiB.
    pub max_pending_bytes: usize,
    /// The number of calls that run at the same time. Further calls are rejected. Calls of one tool take at most three
    /// quarters of the permits, so that a slow tool leaves room for the others. Default: 256.
    pub max_calls: usize,
    /// The number of open connections. A single address may have half of them. Beyond it, idle connections are closed
    /// for new ones; see [`toolkit_runtime::Limits`]. Default: 1024.
    pub max_connections: usize,
    /// The timeout of a call. A synchronous tool that does not observe its context cannot be stopped: it keeps its
    /// thread and its permit until it returns. Default: 5 minutes.
    pub call_timeout: Duration,
    /// The time that a client may take to send a request, or to read a response. Default: 30 s.
    pub read_timeout: Duration,
    /// The time that running calls may take after shutdown was requested. Then they are canceled. Default: 30 s.
    pub shutdown_timeout: Duration,
    /// The time between the request to shut down and the moment from which no connections are accepted. `GET /health`
    /// responds with 503 meanwhile, and responses close their connections, so that a load balancer sends further calls
    /// elsewhere before one of them is refused. Default: none.
    pub drain_delay: Duration,
    /// The proxies in front of the server. The limit of connections per address does not apply to them. Default: none.
    pub trusted_proxies: TrustedProxies,
    /// The number of cached responses for repeated calls. Default: 1024.
    pub max_cached_responses: usize,
    /// The total size in bytes of the cached responses. Default: 16 MiB.
    pub max_cached_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_body_bytes: 16 << 20,
            max_pending_bytes: 64 << 20,
            max_calls: 256,
            max_connections: 1024,
            call_timeout: Duration::from_secs(300),
            read_timeout: Duration::from_secs(30),
            shutdown_timeout: Duration::from_secs(30),
            drain_delay: Duration::ZERO,
            trusted_proxies: TrustedProxies::default(),
            max_cached_responses: 1024,
            max_cached_bytes: 16 << 20,
        }
    }
}

impl Limits {
    /// Returns the limits of the HTTP server.
    pub(super) fn http(&self) -> toolkit_runtime::Limits {
        let mut limits = toolkit_runtime::Limits::default();
        limits.max_connections = self.max_connections;
        limits.max_connections_per_address = self.max_connections.div_ceil(2);
        limits.max_body_bytes = self.max_body_bytes;
        limits.max_pending_bytes = self.max_pending_bytes;
        limits.io_timeout = self.read_timeout;
        limits.shutdown_timeout = self.shutdown_timeout;
        limits.trusted_proxies = self.trusted_proxies.clone();
        limits
    }
}
