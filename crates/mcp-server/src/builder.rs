//! The settings of a server, with their defaults: limits, times, sizes of pages.

mod tasks;

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock, RwLock};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::watch;
use toolkit::call::Credentials;
use toolkit::catalog::Naming;
use toolkit::mcp::LIST_TTL_MS;
use toolkit::resource::Resources;
use toolkit::{CancelToken, Dispatcher, Tool};
use toolkit_mcp::meta_fields;
use toolkit_runtime::{CallLimiter, Mutex};

use super::ask::{Keys, OpenRequests, Sealing, StateKey, UsedInMemory, UsedRecord, WaitingCalls};
use super::filter::Filter;
#[cfg(feature = "http")]
use super::http::Http;
use super::listed_names::Claims;
use super::logging::LogLevels;
use super::metrics::Metrics;
use super::observe::AuditLog;
use super::peer::RunningRequests;
use super::served::{ServeError, ServedTools};
use super::server::Server;
use super::state::{CredentialsFn, Search, ServerState};
use super::subscriptions::Providers;
use super::tasks::{TaskLimits, TaskStore, Tasks, is_replica};

/// The default of `list_at_most`: OpenAI and VS Code accept no more tools in a request.
const LIST_AT_MOST: usize = 128;

/// The default of `page_size`. It fits nearly all catalogs on one page, since some clients do not request a second one.
const PAGE_SIZE: usize = 1000;

const CALL_TIMEOUT: Duration = Duration::from_secs(300);

const ASK_TIMEOUT: Duration = Duration::from_secs(600);

/// The default of `max_waiting_calls`.
const WAITING_PER_CALLER: usize = 64;
const WAITING_IN_TOTAL: usize = 1024;

const CONCURRENCY: usize = 256;

const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(30);

/// The default of `max_result_bytes`: more than a model reads, and a size of which a server can hold several.
const MAX_RESULT_BYTES: usize = 16 << 20;

const TASK_LIMITS: TaskLimits = TaskLimits {
    after: Duration::from_secs(5),
    ttl: Duration::from_secs(3600),
    max: 1000,
    max_per_caller: 100,
    max_live: 1,
};

/// A builder for a [`Server`].
///
/// # Examples
///
/// ```standalone_crate
/// use std::time::Duration;
///
/// use toolkit::{Catalog, Dispatcher};
/// use toolkit_mcp_server::{Filter, Server};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let server = Server::builder(Dispatcher::new(Catalog::linked()?)?)
///     .named("files", "1.2.0")
///     .instructions("Paths are relative to the root of the repository.")
///     .filter(Filter::all().read_only())
///     .list_at_most(40)
///     .list_ttl(Duration::from_secs(60))
///     .call_timeout(Duration::from_secs(30))
///     .concurrency(64)
///     .max_result_bytes(1 << 20)
///     .shutdown_timeout(Duration::from_secs(10))
///     .build()?;
/// # Ok(())
/// # }
/// ```
#[must_use]
pub struct ServerBuilder {
    dispatcher: Dispatcher,
    naming: Naming,
    filter: Filter,
    direct: Filter,
    info: Value,
    instructions: Option<String>,
    list_at_most: usize,
    page_size: usize,
    list_ttl: Duration,
    has_empty_prompts_and_resources: bool,
    call_timeout: Option<Duration>,
    concurrency: usize,
    max_result_bytes: usize,
    shutdown_timeout: Duration,
    search: Option<Arc<Search>>,
    credentials: Option<Arc<CredentialsFn>>,
    ask_timeout: Duration,
    waiting: WaitingCalls,
    audit: AuditLog,
    state_keys: Vec<StateKey>,
    state_ttl: Duration,
    used_states: UsedRecord,
    resources: Providers,
    #[cfg(feature = "skills")]
    has_tool_skills: bool,
    task_store: Option<Box<dyn TaskStore>>,
    replica: Option<String>,
    task_limits: TaskLimits,
}

impl Server {
    /// Creates a server for all tools of a dispatcher, with default settings. See [`Server::builder`] for the settings.
    ///
    /// # Errors
    ///
    /// Returns an error if the tools cannot be listed, such as two tools with the same name on the wire.
    pub fn new(dispatcher: Dispatcher) -> Result<Self, ServeError> {
        Self::builder(dispatcher).build()
    }

    /// Creates a builder for a server.
    pub fn builder(dispatcher: Dispatcher) -> ServerBuilder {
        ServerBuilder::new(dispatcher)
    }

    /// Creates an HTTP server with default settings.
    #[cfg(feature = "http")]
    pub fn http(&self) -> Http {
        Http::new(self.clone())
    }
}

impl ServerBuilder {
    fn new(dispatcher: Dispatcher) -> Self {
        Self {
            dispatcher,
            naming: Naming::default(),
            filter: Filter::all(),
            direct: Filter::all(),
            info: json!({ "name": "toolkit", "version": env!("CARGO_PKG_VERSION") }),
            instructions: None,
            list_at_most: LIST_AT_MOST,
            page_size: PAGE_SIZE,
            list_ttl: Duration::from_millis(LIST_TTL_MS),
            has_empty_prompts_and_resources: false,
            call_timeout: Some(CALL_TIMEOUT),
            concurrency: CONCURRENCY,
            max_result_bytes: MAX_RESULT_BYTES,
            shutdown_timeout: SHUTDOWN_TIMEOUT,
            search: None,
            credentials: None,
            ask_timeout: ASK_TIMEOUT,
            waiting: WaitingCalls::new(WAITING_PER_CALLER, WAITING_IN_TOTAL),
            audit: AuditLog::default(),
            state_keys: Vec::new(),
            state_ttl: ASK_TIMEOUT,
            used_states: UsedRecord::InMemory(UsedInMemory::default()),
            resources: Providers::default(),
            #[cfg(feature = "skills")]
            has_tool_skills: false,
            task_store: None,
            replica: None,
            task_limits: TASK_LIMITS,
        }
    }

    /// Sets the name and version of the server (`Implementation`). Default: `toolkit` and the version of this crate.
    pub fn named(mut self, name: impl Into<String>, version: impl Into<String>) -> Self {
        self.info = json!({ "name": name.into(), "version": version.into() });
        self
    }

    /// Sets the instructions for the model on how to use the tools together.
    pub fn instructions(mut self, text: impl Into<String>) -> Self {
        self.instructions = Some(text.into());
        self
    }

    /// Sets how the names of tools are formed. Default: `namespace_name`, or the bare name for a tool without a
    /// namespace.
    pub fn naming(mut self, naming: Naming) -> Self {
        self.naming = naming;
        self
    }

    /// Sets the filter of tools. Default: all tools.
    pub fn filter(mut self, filter: Filter) -> Self {
        self.filter = filter;
        self
    }

    /// Sets which tools clients list and call themselves, of those that pass the [filter](Self::filter). The others are
    /// called only by [tools that call tools](Dispatcher::calls_tools), such as one that runs programs. Default: all.
    pub fn direct(mut self, filter: Filter) -> Self {
        self.direct = filter;
        self
    }

    /// Sets the number of tools above which the server lists `search_tools`, `describe_tool` and `call_tool` instead of
    /// all tools. Clients can still call all tools by name. Default: 128, the limit of the strictest clients.
    #[cfg(feature = "search")]
    pub fn list_at_most(mut self, n_tools: usize) -> Self {
        self.list_at_most = n_tools;
        self
    }

    /// Sets the number of tools on a page of the list. Default: 1000, since some clients read only the first page.
    pub fn page_size(mut self, n_tools: usize) -> Self {
        self.page_size = n_tools;
        self
    }

    /// Sets the time for which clients may cache the list (`ttlMs`). Default: one hour. Choose a shorter time if the
    /// tools are [replaced](Server::replace), since not all clients subscribe to changes.
    pub fn list_ttl(mut self, time: Duration) -> Self {
        self.list_ttl = time;
        self
    }

    /// Declares prompts and resources and answers requests for them with empty lists. Some clients send these requests
    /// to every server and treat an error as fatal. Default: false.
    pub fn empty_prompts_and_resources(mut self, on: bool) -> Self {
        self.has_empty_prompts_and_resources = on;
        self
    }

    /// Sets the timeout of a call, including the wait for a permit. The timeout of the tool applies too. Default: 5
    /// minutes. `None` disables it.
    pub fn call_timeout(mut self, limit: impl Into<Option<Duration>>) -> Self {
        self.call_timeout = limit.into();
        self
    }

    /// Sets the number of calls that run at the same time. As many more calls, at least 256, wait for a permit; beyond
    /// that, calls are rejected. Calls of one tool take at most three quarters of the permits, and so do those of one caller, so
    /// that a slow tool or a busy caller leaves room for the others; see [`CallLimiter`](toolkit_runtime::CallLimiter).
    /// Default: 256.
    ///
    /// A synchronous tool occupies a thread while it runs, so this bounds the number of threads too.
    pub fn concurrency(mut self, n_calls: usize) -> Self {
        self.concurrency = n_calls.max(1);
        self
    }

    /// Sets the maximum size of a result, in bytes of JSON. A larger result becomes an error that states the limit.
    /// Default: 16 MiB.
    pub fn max_result_bytes(mut self, n_bytes: usize) -> Self {
        self.max_result_bytes = n_bytes;
        self
    }

    /// Sets the time that running calls may take after stdin has ended or shutdown was requested. Default: 30 s. For
    /// HTTP, see [`Http::shutdown_timeout`](super::Http::shutdown_timeout).
    pub fn shutdown_timeout(mut self, time: Duration) -> Self {
        self.shutdown_timeout = time;
        self
    }

    /// Sets the search behind `search_tools`: a function from the catalog, the query and the maximum number of hits to
    /// the ids of the tools that match, best first. Default: an [`Index`](toolkit_search::Index) of the served
    /// tools.
    ///
    /// The function runs on a thread for tools, so it may block, for example to call a model.
    ///
    /// # Examples
    ///
    /// ```
    /// use toolkit_search::{Fusion, Embedder, Index, Semantic};
    /// use toolkit::{Catalog, Dispatcher};
    /// use toolkit_mcp_server::Server;
    ///
    /// fn server(catalog: Catalog, model: impl Embedder + 'static) -> Result<Server, Box<dyn std::error::Error>> {
    ///     let tools = Index::from_tools(catalog.latest()).snapshot();
    ///     let semantic = Semantic::new(model);
    ///     semantic.update(&tools)?;
    ///     let search = move |_: &Catalog, query: &str, limit: usize| {
    ///         let hits = semantic.search(&tools, query, Fusion::default(), limit);
    ///         // Falls back to lexical search if the model is not available.
    ///         let hits = hits.unwrap_or_else(|_| tools.search(query, limit));
    ///         hits.into_iter().map(|hit| hit.summary.id.clone()).collect()
    ///     };
    ///     Ok(Server::builder(Dispatcher::new(catalog)?).search(search).build()?)
    /// }
    /// ```
    #[cfg(feature = "search")]
    pub fn search(
        mut self,
        search: impl Fn(&toolkit::Catalog, &str, usize) -> Vec<String> + Send + Sync + 'static,
    ) -> Self {
        self.search = Some(Arc::new(search));
        self
    }

    /// Sets the credentials of callers that the server has not authenticated, such as the client of [`Server::stdio`].
    /// The function runs for each call of a tool with requirements.
    ///
    /// # Examples
    ///
    /// ```standalone_crate
    /// use toolkit::call::Credentials;
    /// use toolkit::{Catalog, Dispatcher};
    /// use toolkit_mcp_server::Server;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let server = Server::builder(Dispatcher::new(Catalog::linked()?)?)
    ///     .credentials(|_tool| Credentials::new().with_user_id("local"))
    ///     .build()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn credentials(mut self, held: impl Fn(&Tool) -> Credentials + Send + Sync + 'static) -> Self {
        self.credentials = Some(Arc::new(held));
        self
    }

    /// Logs one line for each call, with the target `audit` and the level INFO: the caller, session, tool, outcome and
    /// duration, without arguments and results. Default: none.
    ///
    /// # Examples
    ///
    /// ```
    /// # use toolkit::{Catalog, Dispatcher};
    /// # use toolkit_mcp_server::Server;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let server = Server::builder(Dispatcher::new(Catalog::new([])?)?).audit().build()?;
    /// # drop(server);
    /// # Ok(())
    /// # }
    /// ```
    pub fn audit(mut self) -> Self {
        self.audit = AuditLog::On;
        self
    }

    /// Sets the time within which the user has to answer a question of a tool, for clients before revision 2026-07-28.
    /// The call waits meanwhile. Default: 10 minutes.
    pub fn ask_timeout(mut self, limit: Duration) -> Self {
        self.ask_timeout = limit;
        self
    }

    /// Sets the number of calls that wait for an answer of their user at the same time, per caller and in total, for
    /// clients before revision 2026-07-28. Beyond that, a question fails with
    /// [`ErrorKind::Overloaded`](toolkit::call::ErrorKind::Overloaded). Callers are identified by the subject of their
    /// token, or else by their address; a client of [`Server::stdio`], or of a service that the host mounts, by its
    /// session. Default: 64 and 1024.
    ///
    /// # Examples
    ///
    /// ```
    /// # use toolkit::{Catalog, Dispatcher};
    /// # use toolkit_mcp_server::Server;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let server = Server::builder(Dispatcher::new(Catalog::new([])?)?).max_waiting_calls(8, 200).build()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn max_waiting_calls(mut self, per_caller: usize, in_total: usize) -> Self {
        self.waiting = WaitingCalls::new(per_caller, in_total);
        self
    }

    /// Sets the keys that seal `requestState`, which clients of revision 2026-07-28 keep while their users answer a
    /// question of a tool. The first key seals, and all of them open: add a new key at the front and remove the old one
    /// once its states have expired. Default: a random key, so that only this server continues its calls.
    ///
    /// Servers with the same keys and the same name continue each other's calls. They should also share their
    /// [`used_states`](Self::used_states).
    ///
    /// # Examples
    ///
    /// ```no_run,standalone_crate
    /// use toolkit::{Catalog, Dispatcher};
    /// use toolkit_mcp_server::{Server, StateKey};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let key = StateKey::from_secret(std::env::var("STATE_KEY")?)?;
    /// let server = Server::builder(Dispatcher::new(Catalog::linked()?)?).state_keys([key]).build()?;
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(feature = "ask")]
    pub fn state_keys(mut self, keys: impl IntoIterator<Item = StateKey>) -> Self {
        self.state_keys = keys.into_iter().collect();
        self
    }

    /// Sets the time for which a client may continue a call with the answers of its user, for clients of revision
    /// 2026-07-28. Default: 10 minutes.
    #[cfg(feature = "ask")]
    pub fn state_ttl(mut self, ttl: Duration) -> Self {
        self.state_ttl = ttl;
        self
    }

    /// Sets the record of states that were used. Default: the memory of this server.
    #[cfg(feature = "ask")]
    pub fn used_states(mut self, used: impl super::UsedStates) -> Self {
        self.used_states = UsedRecord::OfHost(Box::new(used));
        self
    }

    /// Adds a provider of resources, such as those that the results of the tools link to. If several providers have a
    /// resource with the same URI, the first one serves it.
    ///
    /// Providers run on the threads for tools, within the limits of calls: the timeout, the number of permits and the
    /// maximum size of a result, in which bytes count as base64.
    ///
    /// # Examples
    ///
    /// ```
    /// use toolkit::resource::Resource;
    /// use toolkit::{Catalog, Dispatcher};
    /// use toolkit_mcp_server::{DirectoryResources, ResourceSet, Server};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let units = Resource::new("help://units", "units").mime_type("text/markdown");
    /// let server = Server::builder(Dispatcher::new(Catalog::new([])?)?)
    ///     .resources(ResourceSet::new().with(units, "All lengths are in millimeters."))
    ///     .resources(DirectoryResources::new("src", env!("CARGO_MANIFEST_DIR"))?)
    ///     .build()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn resources(self, provider: impl Resources) -> Self {
        self.resources.add(Arc::new(provider));
        self
    }

    /// Serves the documentation of the functions as skills, one for each namespace: the descriptions of its tools, with
    /// examples of their arguments. Tools of other programs have none.
    ///
    /// # Examples
    ///
    /// ```
    /// use toolkit::{Dispatcher, catalog, tool};
    /// use toolkit_mcp_server::Server;
    ///
    /// /// Adds two integers.
    /// #[tool(namespace = "math")]
    /// fn add(a: i32, b: i32) -> i32 {
    ///     a + b
    /// }
    ///
    /// // Hosts find `skill://math/SKILL.md`.
    /// let server = Server::builder(Dispatcher::new(catalog![add]?)?).tool_skills().build()?;
    /// # drop(server);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg(feature = "skills")]
    pub fn tool_skills(self) -> Self {
        Self { has_tool_skills: true, ..self }
    }

    /// Builds the server.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Server::new`], and an error if a tool has a user interface that no provider serves, or the
    /// stored tasks cannot be loaded.
    pub fn build(self) -> Result<Server, ServeError> {
        let metrics = Metrics::default();
        let filters = [&self.filter, &self.direct];
        let served = ServedTools::new(self.dispatcher, self.naming, filters, &metrics, &Claims::default())?;
        served.check_apps(|uri| self.resources.may_serve(uri))?;
        let meta = meta_fields(&json!({ "_meta": { "io.modelcontextprotocol/serverInfo": self.info } }));
        let sealing = Sealing {
            keys: Keys::new(self.state_keys),
            ttl: self.state_ttl,
            used: self.used_states,
            name: self.info["name"].as_str().unwrap_or_default().to_owned(),
        };
        let replica = self.replica;
        if replica.as_deref().is_some_and(|name| !is_replica(name)) {
            return Err(ServeError::Replica);
        }
        let limits = TaskLimits { max_live: (self.concurrency / 2).max(1), ..self.task_limits };
        let tasks = Tasks::open(limits, self.task_store, replica).map_err(ServeError::Tasks)?;
        let shared = ServerState {
            served: RwLock::new(Arc::new(served)),
            replacing: Mutex::default(),
            changes: watch::Sender::new(0),
            prompt_changes: watch::Sender::new(0),
            naming: self.naming,
            filter: self.filter,
            disabled: Arc::default(),
            direct: self.direct,
            info: self.info,
            instructions: self.instructions,
            meta,
            list_at_most: self.list_at_most,
            page_size: self.page_size,
            list_ttl: self.list_ttl.as_millis().try_into().unwrap_or(LIST_TTL_MS),
            is_incomplete: AtomicBool::new(false),
            has_empty_prompts_and_resources: self.has_empty_prompts_and_resources,
            call_timeout: self.call_timeout,
            calls: CallLimiter::new(self.concurrency),
            max_result_bytes: self.max_result_bytes,
            shutdown_timeout: self.shutdown_timeout,
            search: self.search,
            credentials: self.credentials,
            running: RunningRequests::default(),
            requests: OpenRequests::default(),
            log_levels: LogLevels::default(),
            ask_timeout: self.ask_timeout,
            waiting: self.waiting,
            audit: self.audit,
            sealing: Arc::new(sealing),
            resources: self.resources,
            tasks: Arc::new(tasks),
            metrics: Arc::new(metrics),
            proxied: RwLock::default(),
            views: OnceLock::new(),
            is_view: false,
            regrouped: watch::Sender::new(()),
            draining: CancelToken::new(),
            shutdown: CancelToken::new(),
        };
        shared.warn_of_search_tools(&shared.served());
        let shared = Arc::new(shared);
        #[cfg(feature = "skills")]
        if self.has_tool_skills {
            super::tool_skills::ToolSkills::add_to(&shared);
        }
        Ok(Server { shared })
    }
}

toolkit::debug_fields!(ServerBuilder { info, filter });
