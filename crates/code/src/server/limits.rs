//! Limits of a server.

use std::time::Duration;

use super::super::limits::Limits;
use super::super::wire;

/// The limits of a [`Server`](super::Server).
///
/// # Examples
///
/// ```
/// use toolkit_code::Limits;
/// use toolkit_code::server::ServerLimits;
///
/// let mut limits = ServerLimits::default();
/// limits.max_sessions = 16;
/// limits.program = Limits::default().memory_bytes(256 << 20);
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ServerLimits {
    /// The number of programs that run at the same time; further ones are rejected. Default: 64.
    pub max_sessions: usize,
    /// The highest limits that a program may have; with a higher one it is rejected. A session ends when it is older than
    /// [`Limits::time`]. The limits of calls are those of the host, and are not compared. Default: [`Limits::default`].
    pub program: Limits,
    /// The number of open connections. Default: 256.
    pub max_connections: usize,
    /// The time that a client may take to send a message, or to read one. Default: 30 s.
    pub read_timeout: Duration,
    /// The time that programs may take to end after shutdown was requested. Default: 30 s.
    pub shutdown_timeout: Duration,
}

impl Default for ServerLimits {
    fn default() -> Self {
        Self {
            max_sessions: 64,
            program: Limits::default(),
            max_connections: 256,
            read_timeout: Duration::from_secs(30),
            shutdown_timeout: Duration::from_secs(30),
        }
    }
}

impl ServerLimits {
    /// Returns the limits of the HTTP server.
    pub(super) fn http(&self) -> toolkit_runtime::Limits {
        let mut limits = toolkit_runtime::Limits::default();
        limits.max_connections = self.max_connections;
        limits.max_connections_per_address = self.max_connections;
        limits.max_body_bytes = wire::max_line(&self.program);
        limits.max_pending_bytes = limits.max_body_bytes.saturating_mul(4);
        limits.io_timeout = self.read_timeout;
        limits.shutdown_timeout = Duration::ZERO;
        limits
    }

    /// Checks that no limit of a program is higher than permitted.
    pub(super) fn check(&self, limits: &Limits) -> Result<(), String> {
        let max = &self.program;
        let ms = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let all = [
            ("run_time", ms(limits.run_time), ms(max.run_time), " ms"),
            ("time", ms(limits.time), ms(max.time), " ms"),
            ("steps", limits.steps, max.steps, ""),
            ("memory_bytes", limits.memory_bytes, max.memory_bytes, ""),
            ("code_bytes", limits.code_bytes, max.code_bytes, ""),
            ("output_bytes", limits.output_bytes, max.output_bytes, ""),
            ("value_bytes", limits.value_bytes, max.value_bytes, ""),
            ("message_bytes", limits.message_bytes, max.message_bytes, ""),
        ];
        match all.into_iter().find(|(_, limit, max, _)| limit > max) {
            Some((name, limit, max, unit)) => {
                Err(format!("the limit `{name}` of {limit}{unit} exceeds the {max}{unit} that the server permits"))
            }
            None => Ok(()),
        }
    }
}
