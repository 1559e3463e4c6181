//! What clients can make a server hold.

use std::net::IpAddr;
use std::time::Duration;

/// What clients can make a server hold.
///
/// By default the limits per address do not apply to loopback addresses: behind a reverse proxy every client has one, and
/// so have all programs of the machine.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Limits {
    /// The number of open connections: 1024. Beyond it, a connection on which the server waits for the client is evicted
    /// for a new one: first idle ones, of the address with the most connections.
    pub max_connections: usize,
    /// The number of connections of one address: 512.
    pub max_connections_per_address: usize,
    /// The number of connections beyond the limits above on which health checks and authenticated clients are answered
    /// while no connection can be evicted: 64.
    pub reserved_connections: usize,
    /// The number of event streams that last until their client leaves: 256.
    pub max_event_streams: usize,
    /// The number of those event streams of one address: 128.
    pub max_event_streams_per_address: usize,
    /// The size of one request body: 4 MiB.
    pub max_body_bytes: usize,
    /// The number of bytes of request bodies in memory, over all requests: 64 MiB. Counts what has arrived, until the
    /// request is answered.
    pub max_pending_bytes: usize,
    /// Applies the limits per address to loopback addresses too: false. Set it where no reverse proxy connects from them.
    pub limits_loopback: bool,
    /// The number of bytes of responses that clients have not read yet: 64 MiB, or a single response. Beyond it,
    /// connections whose clients do not read are closed, and a response that finds no room is `503`.
    pub max_response_bytes: usize,
    /// The time a client may take to send the head of a request, to send its body, and to read what it is sent: 30 s.
    pub io_timeout: Duration,
    /// The time for which running calls may go on after shutdown was requested: 30 s.
    pub shutdown_timeout: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_connections: 1024,
            max_connections_per_address: 512,
            reserved_connections: 64,
            max_event_streams: 256,
            max_event_streams_per_address: 128,
            max_body_bytes: 4 << 20,
            max_pending_bytes: 64 << 20,
            limits_loopback: false,
            max_response_bytes: 64 << 20,
            io_timeout: Duration::from_secs(30),
            shutdown_timeout: Duration::from_secs(30),
        }
    }
}

impl Limits {
    /// Returns true if the limits per address apply to an address.
    pub(super) fn limits_address(&self, address: IpAddr) -> bool {
        self.limits_loopback || !address.is_loopback()
    }
}
