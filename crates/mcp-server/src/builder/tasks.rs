//! The settings of tasks.

use std::time::Duration;

use super::ServerBuilder;
use crate::tasks::TaskStore;

impl ServerBuilder {
    /// Sets the store of tasks, so that they outlive the server; see
    /// [`TaskDirectory`](crate::TaskDirectory). Default: the memory of this server.
    ///
    /// A call cannot outlive its server: a task whose call ran when the server ended has failed when it starts again.
    pub fn task_store(mut self, store: impl TaskStore) -> Self {
        self.task_store = Some(Box::new(store));
        self
    }

    /// Sets the name of this server among its replicas, with which the ids of its tasks begin, so that a load balancer sends the
    /// requests about a task to the replica that runs it: 1 to 32 lowercase letters, digits and hyphens. A replica that starts
    /// again has the same name. Default: none.
    ///
    /// # Examples
    ///
    /// ```standalone_crate
    /// use toolkit::{Catalog, Dispatcher};
    /// use toolkit_mcp_server::{Server, TaskDirectory};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let folder = std::env::temp_dir().join(format!("replica-a-{}", std::process::id()));
    /// let server = Server::builder(Dispatcher::new(Catalog::linked()?)?)
    ///     .replica("a")
    ///     .task_store(TaskDirectory::open(&folder)?)
    ///     .build()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn replica(mut self, name: impl Into<String>) -> Self {
        self.replica = Some(name.into());
        self
    }

    /// Sets the time after which a call of a tool with [task support](toolkit::Tool::task_support) becomes a task, if its
    /// client supports them. Until then, the client waits for the result, and quick calls need no task. Default: 5 s.
    ///
    /// Clients before revision 2026-07-28 decide themselves: a call that requests a task becomes one at once.
    ///
    /// # Examples
    ///
    /// ```standalone_crate
    /// use std::time::Duration;
    ///
    /// use toolkit::{Catalog, Dispatcher};
    /// use toolkit_mcp_server::Server;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let server = Server::builder(Dispatcher::new(Catalog::linked()?)?)
    ///     .task_after(Duration::from_secs(1))
    ///     .task_ttl(Duration::from_secs(24 * 3600))
    ///     .max_tasks(1000)
    ///     .build()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn task_after(mut self, time: Duration) -> Self {
        self.task_limits.after = time;
        self
    }

    /// Sets the time from the creation of a task until it is removed. A call that still runs then is cancelled. The
    /// result of a call that ends shortly before is kept for another 5 minutes, or for `ttl` if it is shorter. Default: 1
    /// hour.
    ///
    /// [`call_timeout`](Self::call_timeout) does not apply to tasks. The timeout of the tool does.
    pub fn task_ttl(mut self, ttl: Duration) -> Self {
        self.task_limits.ttl = ttl;
        self
    }

    /// Sets the maximum number of tasks, including those that have ended and are kept for their clients. If it is reached,
    /// tasks whose results were read are removed; otherwise calls do not become tasks, and their clients wait. Default:
    /// 1000.
    pub fn max_tasks(mut self, n_tasks: usize) -> Self {
        self.task_limits.max = n_tasks;
        self
    }

    /// Sets the maximum number of tasks of one caller. Callers that the server does not authenticate count as one.
    /// Default: 100.
    pub fn max_tasks_per_caller(mut self, n_tasks: usize) -> Self {
        self.task_limits.max_per_caller = n_tasks;
        self
    }
}
