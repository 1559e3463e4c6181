//! The server: a dispatcher that is served over stdio or HTTP.

use std::io::{self, Read, Write};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, PoisonError};

use toolkit::{Coercion, Dispatcher};

use super::filter::{Filter, Rule};
use super::request::Caller;
use super::served::{ListedTool, ServeError, ServedTools};
use super::state::ServerState;
use super::status::Status;
use super::stdio;
use super::view::ENDPOINT;

/// An MCP server. Clones share the server.
///
/// # Examples
///
/// ```no_run,standalone_crate
/// use toolkit::{Catalog, Dispatcher};
/// use toolkit_mcp_server::Server;
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let server = Server::new(Dispatcher::new(Catalog::linked()?)?)?;
/// server.stdio().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Server {
    pub(super) shared: Arc<ServerState>,
}

impl Server {
    /// Replaces the tools and the prompts. If a list changes for clients, notifies the subscribed ones. Running calls finish with the
    /// old tools.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Server::new`]. The tools then stay as they were.
    ///
    /// # Examples
    ///
    /// ```standalone_crate
    /// use toolkit::{Catalog, Dispatcher};
    /// use toolkit_mcp_server::Server;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let server = Server::new(Dispatcher::new(Catalog::linked()?)?)?;
    /// server.replace(Dispatcher::new(Catalog::new([])?)?)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn replace(&self, dispatcher: Dispatcher) -> Result<(), ServeError> {
        let _one = self.shared.replacing.lock();
        self.serve(dispatcher)
    }

    fn serve(&self, dispatcher: Dispatcher) -> Result<(), ServeError> {
        let shared = &self.shared;
        let filter = shared.filter();
        let filters = [&*filter, &shared.direct];
        let claims = shared.proxied().map(|proxied| proxied.claims()).unwrap_or_default();
        let served = Arc::new(ServedTools::new(dispatcher, shared.naming, filters, &shared.metrics, &claims)?);
        let before = {
            let mut current = shared.served.write().unwrap_or_else(PoisonError::into_inner);
            std::mem::replace(&mut *current, Arc::clone(&served))
        };
        // A view has a part of the tools.
        if !shared.is_view {
            shared.metrics.forget_all_but(served.entries.iter().map(|entry| &*entry.id));
        }
        if !shared.lists_search_tools(&before) {
            shared.warn_of_search_tools(&served);
        }
        if !served.looks_like(&before) {
            self.announce();
            if shared.resources.has_own() {
                shared.resources.subscriptions.list_changed();
            }
        }
        if !served.prompts.looks_like(&before.prompts) {
            shared.prompt_changes.send_modify(|n_changes| *n_changes = n_changes.wrapping_add(1));
        }
        Ok(())
    }

    /// Disables the tools and prompts that a rule matches, until [`Server::enable`]: they are not listed, and calling them is
    /// an error like a call of an unknown tool. Notifies the subscribed clients if a list changes (`list_changed`).
    /// Running calls finish.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Server::new`]. The tools then stay as they were.
    ///
    /// # Examples
    ///
    /// ```
    /// use toolkit::{Dispatcher, catalog, tool};
    /// use toolkit_mcp_server::Server;
    ///
    /// /// Deletes all notes.
    /// #[tool(namespace = "notes")]
    /// fn clear() {}
    ///
    /// let server = Server::new(Dispatcher::new(catalog![clear]?)?)?;
    /// server.disable("notes:clear".parse()?)?;
    /// assert_eq!(server.status().n_tools, 0);
    /// server.enable(&"notes:clear".parse()?)?;
    /// assert_eq!(server.status().n_tools, 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn disable(&self, rule: Rule) -> Result<(), ServeError> {
        self.change_disabled(|disabled| {
            if !disabled.contains(&rule) {
                disabled.push(rule);
            }
        })
    }

    /// Removes a rule of [`Server::disable`].
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Server::new`]. The tools then stay as they were.
    pub fn enable(&self, rule: &Rule) -> Result<(), ServeError> {
        self.change_disabled(|disabled| disabled.retain(|other| other != rule))
    }

    fn change_disabled(&self, change: impl FnOnce(&mut Vec<Rule>)) -> Result<(), ServeError> {
        let _one = self.shared.replacing.lock();
        let lock = || self.shared.disabled.write().unwrap_or_else(PoisonError::into_inner);
        let before = lock().clone();
        change(&mut lock());
        let dispatcher = self.shared.served().dispatcher.clone();
        self.serve(dispatcher).inspect_err(|_| *lock() = before)?;
        if let Some(views) = self.shared.views.get() {
            views.renew();
        }
        Ok(())
    }

    /// Returns the dispatcher of the tools that are served now, which [`Server::replace`] and a
    /// [`Proxy`](super::Proxy) change. Its own calls are those of a program, and are not coerced like those of clients.
    #[must_use]
    pub fn dispatcher(&self) -> Dispatcher {
        self.shared.served().dispatcher.with_default_coercion(Coercion::default())
    }

    /// Returns the tools that are served now, in the order of the catalog.
    #[must_use]
    pub fn listed(&self) -> Vec<ListedTool> {
        self.shared.served().listed_tools()
    }

    /// Returns the filter of the tools.
    pub fn filter(&self) -> &Filter {
        &self.shared.filter
    }

    /// Serves the process's stdin and stdout until stdin ends, or the process receives SIGTERM or Ctrl-C. Running calls
    /// may then finish within [`ServerBuilder::shutdown_timeout`](super::ServerBuilder::shutdown_timeout). A second
    /// signal returns at once.
    ///
    /// On Unix, the protocol gets exclusive use of both pipes: from then on, tools and their child processes read from
    /// `/dev/null` and write to stderr instead. Otherwise a tool that reads stdin would consume messages, and a tool
    /// that prints would corrupt them.
    ///
    /// The pipes of the standard library block, so each has a thread of its own. The thread of stdin ends with the
    /// process.
    ///
    /// # Errors
    ///
    /// Returns an error if stdin cannot be read or stdout cannot be written.
    ///
    /// # Panics
    ///
    /// Panics outside of a tokio runtime.
    ///
    /// # Examples
    ///
    /// ```no_run,standalone_crate
    /// use toolkit::{Catalog, Dispatcher};
    /// use toolkit_mcp_server::Server;
    ///
    /// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
    /// let server = Server::new(Dispatcher::new(Catalog::linked()?)?)?;
    /// server.stdio().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn stdio(&self) -> io::Result<()> {
        stdio::serve_process(&self.of_everyone().shared).await
    }

    /// Serves two pipes until `input` ends or [`Server::shut_down`] is called; see [`Server::stdio`].
    ///
    /// # Errors
    ///
    /// Returns an error if `input` cannot be read or `output` cannot be written.
    ///
    /// # Panics
    ///
    /// Panics outside of a tokio runtime.
    ///
    /// # Examples
    ///
    /// ```
    /// # use toolkit::{Catalog, Dispatcher};
    /// # use toolkit_mcp_server::Server;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let server = Server::new(Dispatcher::new(Catalog::new([])?)?)?;
    /// let (responses, output) = std::io::pipe()?;
    /// let input = r#"{"jsonrpc": "2.0", "id": 1, "method": "ping"}"#.as_bytes();
    /// server.pipes(input, output).await?;
    /// assert_eq!(std::io::read_to_string(responses)?.trim_end(), r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn pipes(
        &self,
        input: impl Read + Send + 'static,
        output: impl Write + Send + 'static,
    ) -> io::Result<()> {
        stdio::serve(&self.of_everyone().shared, input, output).await
    }

    /// Returns the server of what a client without a token sees.
    fn of_everyone(&self) -> Self {
        self.of_caller(ENDPOINT, None).unwrap_or_else(|| self.clone())
    }

    /// Returns the server of what a caller sees at a path, and `None` if the path is not that of an endpoint of this caller.
    /// Transports pass each request to this server only, so that whatever the caller does not see does not exist.
    pub(super) fn of_caller(&self, path: &str, caller: Option<&Caller>) -> Option<Self> {
        match self.shared.views.get() {
            Some(views) => Some(Self { shared: views.server(path, caller)? }),
            None => (path == ENDPOINT).then(|| self.clone()),
        }
    }

    /// Notifies the subscribed clients that the list of tools has changed.
    pub fn announce(&self) {
        self.shared.changes.send_modify(|n_changes| *n_changes = n_changes.wrapping_add(1));
    }

    /// Notifies the clients that have subscribed to a resource that its contents have changed. Providers that report
    /// changes themselves do not need it.
    ///
    /// # Examples
    ///
    /// ```
    /// use toolkit::resource::ResourceTemplate;
    /// use toolkit::{Catalog, Dispatcher};
    /// use toolkit_mcp_server::{Server, TemplateResources};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let notes = TemplateResources::new(ResourceTemplate::new("notes://{id}", "note"), |params, _| async move {
    ///     Ok(Some(format!("The text of note {}", &params["id"])))
    /// })?;
    /// let server = Server::builder(Dispatcher::new(Catalog::new([])?)?).resources(notes).build()?;
    /// server.resource_changed("notes://7");
    /// # Ok(())
    /// # }
    /// ```
    pub fn resource_changed(&self, uri: &str) {
        self.each_of_program(|server| server.resources.subscriptions.updated(uri));
    }

    /// Notifies the subscribed clients that the list of resources or templates has changed.
    pub fn resources_changed(&self) {
        self.each_of_program(|server| server.resources.subscriptions.list_changed());
    }

    /// Applies a function to this server and those of views that contain the resources of the program.
    fn each_of_program(&self, apply: impl Fn(&ServerState)) {
        apply(&self.shared);
        let of_views = self.shared.views.get().map(|views| views.of_program());
        of_views.iter().flatten().for_each(|server| apply(server));
    }

    /// Starts a graceful shutdown: running calls finish, and new requests are rejected.
    pub fn shut_down(&self) {
        self.shared.shut_down();
    }

    /// Returns the metrics in the Prometheus text format.
    #[must_use]
    pub fn metrics(&self) -> String {
        let backends = self.shared.proxied().map(|proxied| proxied.backends()).unwrap_or_default();
        self.shared.metrics.render(self.shared.tasks.len(), &backends)
    }

    /// Adds the number of lines that the log of the process has dropped to the metrics.
    pub fn count_dropped_log_lines(&self, n_dropped: &'static AtomicU64) {
        let _ = self.shared.metrics.dropped_log_lines.set(n_dropped);
    }

    /// Returns the status of the server and of the backends of its [`Proxy`](super::Proxy).
    #[must_use]
    pub fn status(&self) -> Status {
        let (proxied, served) = (self.shared.proxied(), self.shared.served());
        Status {
            n_tools: served.entries.len(),
            list_at_most: self.shared.list_at_most,
            lists_search_tools: self.shared.lists_search_tools(&served),
            n_running: self.shared.metrics.running.value(),
            n_tasks: self.shared.tasks.len(),
            configuration_errors: proxied.as_ref().map(|proxied| proxied.configuration_errors()).unwrap_or_default(),
            backends: proxied.map(|proxied| proxied.backends()).unwrap_or_default(),
        }
    }
}

toolkit::debug_fields!(it, Server { info: it.shared.info, tools: it.shared.served().entries.len() });
