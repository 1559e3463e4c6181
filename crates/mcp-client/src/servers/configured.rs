//! Applying a configuration to registered servers.

use std::collections::HashSet;
use std::sync::Arc;

use futures_util::future::join_all;
use toolkit::backend::Backend as _;
use toolkit_backends::{Backends, RetiredBackend};

use super::{McpServers, RejectedServer, namespace_of};
use crate::backend::McpBackend;

/// The servers of a configuration that are registered with [`Backends`], so that a changed configuration can be applied.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
///
/// use toolkit_backends::Backends;
/// use toolkit_mcp_client::{ConfiguredServers, McpServers};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), toolkit_mcp_client::ConfigError> {
/// let backends = Arc::new(Backends::new());
/// let mut configured = ConfiguredServers::new(Arc::clone(&backends));
/// let time = r#""time": {"command": "uvx", "args": ["mcp-server-time"]}"#;
/// configured.apply(McpServers::from_json(&format!(r#"{{"mcpServers": {{{time}, "git": {{"command": "uvx"}}}}}}"#))?);
/// assert_eq!(backends.names(), ["time", "git"]);
///
/// let changes = configured.apply(McpServers::from_json(&format!(r#"{{"mcpServers": {{{time}}}}}"#))?);
/// assert_eq!((changes.added.len(), &*changes.removed), (0, &["git".to_owned()][..]));
/// assert_eq!(backends.names(), ["time"]);
/// // Collect and serve the tools, and then:
/// changes.stop_retired().await;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct ConfiguredServers {
    backends: Arc<Backends>,
    current: Vec<McpBackend>,
}

/// The servers that [`ConfiguredServers::apply`] has added, replaced and removed.
#[derive(Debug, Default)]
#[non_exhaustive]
#[must_use = "the servers that were replaced or removed run until they are stopped"]
pub struct ServerChanges {
    /// The names of new servers.
    pub added: Vec<String>,
    /// The names of servers with another configuration than before. They are started again.
    pub changed: Vec<String>,
    /// The names of servers that are no longer configured.
    pub removed: Vec<String>,
    /// The servers that could not be registered, since other backends have their names.
    pub rejected: Vec<RejectedServer>,
    retired: Vec<RetiredBackend>,
}

impl ConfiguredServers {
    /// Creates an empty set of servers, for the backends of a host.
    pub fn new(backends: impl Into<Arc<Backends>>) -> Self {
        Self { backends: backends.into(), current: Vec::new() }
    }

    /// Returns the names of the servers that are registered.
    #[must_use]
    pub fn names(&self) -> Vec<&str> {
        self.current.iter().map(|server| server.name()).collect()
    }

    /// Registers and unregisters backends so that they are the servers of this configuration.
    ///
    /// A server with the same configuration as before is not touched. One that was registered and is invalid now
    /// ([rejected](McpServers::rejected)) stays as it was. Backends that the host has registered itself stay too.
    pub fn apply(&mut self, servers: McpServers) -> ServerChanges {
        let McpServers { backends: wanted, rejected, .. } = servers;
        let invalid: HashSet<String> = rejected.iter().map(|rejected| namespace_of(&rejected.name)).collect();
        let mut before = std::mem::take(&mut self.current);
        let mut changes = ServerChanges::default();
        for server in wanted {
            let name = server.name().to_owned();
            let same_name = before.iter().position(|other| other.name() == name).map(|idx| before.swap_remove(idx));
            let registered = match same_name {
                Some(same) if same.is_configured_like(&server) => {
                    self.current.push(same);
                    continue;
                }
                Some(_) => self.backends.replace(server.clone()).map(|old| {
                    changes.retired.extend(old);
                    &mut changes.changed
                }),
                None => self.backends.register(server.clone()).map(|()| &mut changes.added),
            };
            match registered {
                Ok(changed) => {
                    changed.push(name);
                    self.current.push(server);
                }
                Err(error) => changes.rejected.push(RejectedServer { name, reasons: vec![error.to_string()] }),
            }
        }
        for server in before {
            if invalid.contains(server.name()) {
                self.current.push(server);
                continue;
            }
            changes.retired.extend(self.backends.retire(server.name()));
            changes.removed.push(server.name().to_owned());
        }
        changes
    }
}

impl ServerChanges {
    /// Returns true if no server was added, replaced or removed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        [&self.added, &self.changed, &self.removed].iter().all(|names| names.is_empty())
    }

    /// Stops the servers that were replaced or removed, each when its running calls have ended. Call it after the tools
    /// have been collected again, since earlier dispatchers call the old servers.
    pub async fn stop_retired(self) {
        let stopped = join_all(self.retired.into_iter().map(RetiredBackend::stop_when_idle)).await;
        for error in stopped.into_iter().filter_map(Result::err) {
            tracing::warn!(target: "toolkit_mcp_client", "{error}");
        }
    }
}
