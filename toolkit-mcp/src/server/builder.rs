//! What a server is told before it serves anything.

use std::fmt;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, RwLock};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::watch;
use toolkit::adapter::mcp::LIST_TTL_MS;
use toolkit::call::Credentials;
use toolkit::catalog::Naming;
use toolkit::{CancelToken, Catalog, Dispatcher, Tool};
use toolkit_http::{CallLimiter, ToolPool};

use super::filter::Filter;
use super::find::Search;
use super::metrics::Metrics;
use super::reply::json_bytes;
use super::running::Running;
use super::served::{ServeError, Served};
use super::{Held, Server, Shared};

/// How many tools a client is shown: more than that OpenAI and VS Code do not take in one request.
const LIST_AT_MOST: usize = 128;

/// Long enough for one page, since some clients ask for no second.
const PAGE_SIZE: usize = 1000;

const CALL_TIMEOUT: Duration = Duration::from_secs(300);

const CONCURRENCY: usize = 256;

const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(30);

/// More than a model reads, and little enough for a server to hold several.
const MAX_RESULT_BYTES: usize = 16 << 20;

/// Sets up a [`Server`].
#[must_use]
pub struct ServerBuilder {
    dispatcher: Dispatcher,
    naming: Naming,
    filter: Filter,
    info: Value,
    instructions: Option<String>,
    list_at_most: usize,
    page_size: usize,
    list_ttl: Duration,
    has_empty_lists: bool,
    call_timeout: Option<Duration>,
    concurrency: usize,
    max_result_bytes: usize,
    shutdown_timeout: Duration,
    search: Option<Box<Search>>,
    credentials: Option<Box<Held>>,
}

impl ServerBuilder {
    pub(super) fn new(dispatcher: Dispatcher) -> Self {
        Self {
            dispatcher,
            naming: Naming::default(),
            filter: Filter::all(),
            info: json!({ "name": "toolkit", "version": env!("CARGO_PKG_VERSION") }),
            instructions: None,
            list_at_most: LIST_AT_MOST,
            page_size: PAGE_SIZE,
            list_ttl: Duration::from_millis(LIST_TTL_MS),
            has_empty_lists: false,
            call_timeout: Some(CALL_TIMEOUT),
            concurrency: CONCURRENCY,
            max_result_bytes: MAX_RESULT_BYTES,
            shutdown_timeout: SHUTDOWN_TIMEOUT,
            search: None,
            credentials: None,
        }
    }

    /// What the server says that it is (`Implementation`).
    pub fn named(mut self, name: impl Into<String>, version: impl Into<String>) -> Self {
        self.info = json!({ "name": name.into(), "version": version.into() });
        self
    }

    /// What a model should know about the tools as a whole.
    pub fn instructions(mut self, text: impl Into<String>) -> Self {
        self.instructions = Some(text.into());
        self
    }

    /// Sets how clients see the names of tools: `namespace_name` by default, or the bare name without a namespace.
    pub fn naming(mut self, naming: Naming) -> Self {
        self.naming = naming;
        self
    }

    /// Which tools are served; all by default.
    pub fn filter(mut self, filter: Filter) -> Self {
        self.filter = filter;
        self
    }

    /// Above how many tools a client is shown `search_tools`, `describe_tool` and `call_tool` in their place: 128 by
    /// default, which is what the strictest clients take. All can still be called by their names.
    pub fn list_at_most(mut self, n_tools: usize) -> Self {
        self.list_at_most = n_tools;
        self
    }

    /// How many tools a page of the list has: 1000 by default, since some clients read the first page only.
    pub fn page_size(mut self, n_tools: usize) -> Self {
        self.page_size = n_tools;
        self
    }

    /// How long clients may keep the list without asking again (`ttlMs`); an hour by default. Less is wise where the
    /// tools are [replaced](Server::replace), since not every client listens.
    pub fn list_ttl(mut self, time: Duration) -> Self {
        self.list_ttl = time;
        self
    }

    /// Declares prompts and resources, of which there are none, for clients that ask for them whatever a server declares
    /// and take an error for a broken server. Off by default.
    pub fn empty_lists(mut self, on: bool) -> Self {
        self.has_empty_lists = on;
        self
    }

    /// How long a call may take, waiting for its turn included: five minutes by default; `None` for ever. A tool's own
    /// limit holds too.
    pub fn call_timeout(mut self, limit: impl Into<Option<Duration>>) -> Self {
        self.call_timeout = limit.into();
        self
    }

    /// Sets how many calls run at once; 256 by default. As many wait for a permit, at least 256, and more are refused. Calls of one tool
    /// take at most three quarters of the permits, so that a slow tool leaves room for the others; see
    /// [`CallLimiter`](toolkit_http::CallLimiter).
    ///
    /// A synchronous tool takes a thread while it runs, so this bounds the threads too.
    pub fn concurrency(mut self, n_calls: usize) -> Self {
        self.concurrency = n_calls.max(1);
        self
    }

    /// Sets the size of a result, in bytes of JSON; 16 MiB by default. A larger one is an error that names the limit.
    pub fn max_result_bytes(mut self, n_bytes: usize) -> Self {
        self.max_result_bytes = n_bytes;
        self
    }

    /// Sets for how long calls may go on once stdin has ended, or the process was asked to end; 30 seconds by default.
    /// For HTTP there is [`Http::grace`](super::Http::grace).
    pub fn shutdown_timeout(mut self, time: Duration) -> Self {
        self.shutdown_timeout = time;
        self
    }

    /// Finds tools for `search_tools`: from the catalogue, what is asked for, and how many are wanted at most, to the ids
    /// of what was found, best first. By default it is an [`Index`](toolkit::discovery::Index) of the tools that are served.
    ///
    /// It may block, as to ask a model: it runs where tools run.
    ///
    /// ```
    /// use toolkit::discovery::{Blend, Embedder, Index, Semantic};
    /// use toolkit::{Catalog, Dispatcher};
    /// use toolkit_mcp::server::Server;
    ///
    /// fn server(catalog: Catalog, model: impl Embedder + 'static) -> Result<Server, Box<dyn std::error::Error>> {
    ///     let tools = Index::of(catalog.latest()).snapshot();
    ///     let semantic = Semantic::new(model);
    ///     semantic.update(&tools)?;
    ///     let search = move |_: &Catalog, question: &str, limit: usize| {
    ///         let found = semantic.search(&tools, question, Blend::default(), limit);
    ///         // Without the model there are still the words.
    ///         let hits = found.unwrap_or_else(|_| tools.search(question, limit));
    ///         hits.into_iter().map(|hit| hit.summary.id.clone()).collect()
    ///     };
    ///     Ok(Server::builder(Dispatcher::new(catalog)?).search(search).build()?)
    /// }
    /// ```
    pub fn search(mut self, search: impl Fn(&Catalog, &str, usize) -> Vec<String> + Send + Sync + 'static) -> Self {
        self.search = Some(Box::new(search));
        self
    }

    /// What the host holds for a caller that nobody has verified, such as the one at the other end of a pipe. It is asked
    /// for each call of a tool that requires something.
    pub fn credentials(mut self, held: impl Fn(&Tool) -> Credentials + Send + Sync + 'static) -> Self {
        self.credentials = Some(Box::new(held));
        self
    }

    /// Builds the server.
    ///
    /// # Errors
    ///
    /// As for [`Server::new`].
    pub fn build(self) -> Result<Server, ServeError> {
        let metrics = Metrics::default();
        let served = Served::new(self.dispatcher, self.naming, &self.filter, &metrics)?;
        let mut meta = json_bytes(&json!({ "_meta": { "io.modelcontextprotocol/serverInfo": self.info } }));
        // As the first fields of an object: without its braces, and with a comma.
        meta.remove(0);
        meta.pop();
        meta.push(b',');
        let shared = Shared {
            served: RwLock::new(Arc::new(served)),
            changes: watch::Sender::new(0),
            naming: self.naming,
            filter: self.filter,
            info: self.info,
            instructions: self.instructions,
            meta,
            list_at_most: self.list_at_most,
            page_size: self.page_size,
            list_ttl: self.list_ttl.as_millis().try_into().unwrap_or(LIST_TTL_MS),
            is_incomplete: AtomicBool::new(false),
            has_empty_lists: self.has_empty_lists,
            call_timeout: self.call_timeout,
            calls: CallLimiter::new(self.concurrency),
            pool: ToolPool::shared(),
            max_result_bytes: self.max_result_bytes,
            shutdown_timeout: self.shutdown_timeout,
            search: self.search,
            credentials: self.credentials,
            running: Running::default(),
            metrics,
            shutdown: CancelToken::new(),
        };
        Ok(Server { shared: Arc::new(shared) })
    }
}

impl fmt::Debug for ServerBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerBuilder").field("info", &self.info).field("filter", &self.filter).finish_non_exhaustive()
    }
}
