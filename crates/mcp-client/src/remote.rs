//! The name, the address and the limits of a server.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::timeout;
use toolkit::call::ErrorKind;
use toolkit::resource::ResourceChanges;
use toolkit::{Coercion, ToolError};

use super::endpoint::Endpoint;
use super::message_memory::MessageLimit;
use super::process::Program;
use super::tool_rules::ToolRules;

/// A server to which this client connects.
#[derive(Clone)]
pub(super) struct Remote {
    pub(super) name: Arc<str>,
    pub(super) target: Arc<RemoteTarget>,
    pub(super) limits: Limits,
    pub(super) choices: Choices,
    /// True if the server may ask the users of calls.
    pub(super) may_ask: bool,
    /// Reports the changes of the server's resources.
    pub(super) resources: ResourceChanges,
}

/// The way to reach a server.
pub(super) enum RemoteTarget {
    Stdio(Program),
    Http(Endpoint),
}

impl RemoteTarget {
    /// Returns true if both are started or reached in the same way.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (RemoteTarget::Stdio(ours), RemoteTarget::Stdio(theirs)) => ours == theirs,
            (RemoteTarget::Http(ours), RemoteTarget::Http(theirs)) => ours.is_same(theirs),
            _ => false,
        }
    }
}

/// The name for error messages.
impl fmt::Display for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the MCP server `{}`", self.name.escape_debug())
    }
}

/// The settings of a server, besides limits.
#[derive(Clone, PartialEq)]
pub(super) struct Choices {
    /// The only protocol revision to use.
    pub(super) revision: Option<&'static str>,
    pub(super) output: OutputCheck,
    /// The changes that may be made to arguments, if they are not those of the host.
    pub(super) coercion: Option<Coercion>,
    /// True if the root of each input schema becomes a plain object.
    pub(super) has_plain_input: bool,
    /// True if the clients of the host receive the instructions of the server.
    pub(super) passes_instructions: bool,
    /// True if a proxy lists the tools with the name of the server.
    pub(super) has_prefix: bool,
    /// The maximum number of sessions of clients, if each has a connection of its own.
    pub(super) max_sessions: Option<usize>,
    pub(super) tools: ToolRules,
}

impl Default for Choices {
    fn default() -> Self {
        let tools = ToolRules::default();
        Self {
            revision: None,
            output: OutputCheck::Strict,
            coercion: None,
            has_plain_input: false,
            passes_instructions: true,
            has_prefix: true,
            max_sessions: None,
            tools,
        }
    }
}

toolkit::named! {
    /// The check of results against the output schemas of the server.
    #[derive(Clone, Copy, PartialEq, Eq)]
    pub(super) enum OutputCheck {
        /// A result that does not match is an error.
        Strict = "strict",
        /// A result that does not match is logged. The tools are listed without their output schemas.
        Warn = "warn",
        /// The output schemas are ignored.
        Off = "off",
    }
}

/// The limits of a server.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Limits {
    pub(super) call: Duration,
    /// The timeout of a call that reports progress.
    pub(super) progressing_call: Duration,
    /// The timeout of connecting, of each page of tools, and of each request about a task.
    pub(super) start: Duration,
    /// The time after which an unused process is stopped.
    pub(super) idle: Option<Duration>,
    pub(super) message_bytes: usize,
    pub(super) result_bytes: usize,
    /// The number of concurrent calls.
    pub(super) calls: usize,
    pub(super) tools: usize,
    /// The size of all pages together.
    pub(super) list_bytes: usize,
    pub(super) pages: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            call: Duration::from_secs(300),
            progressing_call: Duration::ZERO,
            start: Duration::from_secs(30),
            idle: None,
            message_bytes: 16 << 20,
            result_bytes: usize::MAX,
            calls: Semaphore::MAX_PERMITS,
            tools: 10_000,
            list_bytes: 64 << 20,
            pages: 1_000,
        }
    }
}

impl Remote {
    /// Returns true if the server is a process of this machine, which each connection starts.
    pub(super) fn is_process(&self) -> bool {
        matches!(*self.target, RemoteTarget::Stdio(_))
    }

    /// Returns the limit of the messages of the server.
    pub(super) fn message_limit(&self) -> MessageLimit {
        MessageLimit { server: Arc::clone(&self.name), max_bytes: self.limits.message_bytes }
    }
}

/// Applies a timeout to a request.
pub(super) async fn in_time<T>(
    remote: &Remote,
    limit: Duration,
    work: impl Future<Output = T>,
) -> Result<T, ToolError> {
    timeout(limit, work).await.map_err(|_| timed_out(remote, limit))
}

/// Creates the error of a server that did not respond in time.
pub(super) fn timed_out(remote: &Remote, limit: Duration) -> ToolError {
    ToolError::new(ErrorKind::TimedOut, format!("{remote} did not respond within {limit:?}"))
}
