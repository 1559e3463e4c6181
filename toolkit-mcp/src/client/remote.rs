//! The name, the address and the limits of a server.

use std::fmt;
use std::sync::Arc;

use toolkit::resource::ResourceChanges;

use super::endpoint::Endpoint;
use super::handler::Handler;
use super::limits::Limits;
use super::program::Program;
use super::running_calls::RunningCalls;

/// A server to which this client connects.
#[derive(Clone)]
pub(super) struct Remote {
    pub(super) name: Arc<str>,
    pub(super) target: Arc<Target>,
    pub(super) limits: Limits,
    /// True if the server may ask the users of calls.
    pub(super) may_ask: bool,
    /// Reports the changes of the server's resources.
    pub(super) resources: ResourceChanges,
}

impl Remote {
    /// Returns a handler for a new connection.
    pub(super) fn handler(&self) -> Handler {
        Handler { server: Arc::clone(&self.name), calls: self.may_ask.then(RunningCalls::default) }
    }
}

/// The way to reach a server.
pub(super) enum Target {
    Stdio(Program),
    Http(Endpoint),
}

impl Target {
    /// Returns true if both are started or reached in the same way.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Target::Stdio(ours), Target::Stdio(theirs)) => ours == theirs,
            (Target::Http(ours), Target::Http(theirs)) => ours.is_same(theirs),
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
