//! A searchable index that can be changed, by changes that are applied as one version.

mod changes;
mod index_error;

use std::fmt;
use std::io::Read;
use std::sync::{Arc, PoisonError, RwLock};

use foldhash::quality::RandomState;

use self::changes::Changes;
pub use self::index_error::IndexError;
use super::bytes::OpenError;
use super::events::{Change, ChangeKind, Listeners, Subscription};
use super::hit::Hit;
use super::page::{CursorError, Page};
use super::query::Query;
use super::ranking::Ranking;
use super::record::Record;
use super::snapshot::Snapshot;
use super::state::State;
use super::{page, saved, segment};
use toolkit::tool::{Tool, ToolBackend};
use toolkit_runtime::Mutex;

/// A search index, to which tools can be added and removed concurrently.
///
/// Each change creates a new [`Snapshot`], which then replaces the current one. A search uses a single snapshot, so
/// that it neither waits for a change nor observes a part of one. Changes are serialized.
///
/// Tools are identified by their ids as they are displayed, so that each version of a tool in a namespace is a separate
/// tool; [`Catalog::latest`](toolkit::Catalog::latest) returns one version of each.
///
/// ```
/// # use toolkit::{Catalog, Tool};
/// # use toolkit_search::Index;
/// # let tool = |name, text| Tool::builder(name).namespace("mail").description(text).build();
/// let catalog = Catalog::new([tool("send", "Sends an email.")?, tool("list", "Lists the mails of a folder.")?])?;
/// let hits = Index::from_tools(&catalog).search("send an email", 5);
/// assert_eq!(hits[0].summary.id, "mail:send");
/// # Ok::<(), toolkit::catalog::Diagnostics>(())
/// ```
pub struct Index {
    /// Locked only while the pointer is copied or replaced.
    current: RwLock<Arc<Snapshot>>,
    writing: Mutex<()>,
    listeners: Listeners,
    /// The key of cursors, so that cursors of other indexes, also of earlier runs, are rejected.
    key: RandomState,
}

impl Index {
    /// Creates an empty index.
    ///
    /// ```
    /// use toolkit::Tool;
    /// use toolkit_search::Index;
    /// use toolkit::tool::ToolBackend;
    ///
    /// let index = Index::new();
    /// index.register(Tool::builder("send").build()?, ToolBackend::mcp("mail")?)?;
    /// assert_eq!(index.snapshot().len(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn new() -> Self {
        Self::with_ranking([], Ranking::default())
    }

    /// Creates an index of functions of this program, such as those of a catalog. Each has a local backend with its id
    /// as the name. Of several tools with the same id, only the last is kept.
    pub fn from_tools<'t>(tools: impl IntoIterator<Item = &'t Tool>) -> Self {
        Self::with_ranking(tools, Ranking::default())
    }

    /// Creates an index like [`Index::from_tools`], with the given ranking.
    ///
    /// ```
    /// use toolkit::Tool;
    /// use toolkit_search::{Index, Ranking};
    ///
    /// let tools = [Tool::builder("send").description("Sends an email.").build()?];
    /// let index = Index::with_ranking(&tools, Ranking::plain());
    /// assert!(index.search("emails", 5).is_empty(), "plain BM25 does not stem words");
    /// # Ok::<(), toolkit::catalog::Diagnostics>(())
    /// ```
    pub fn with_ranking<'t>(tools: impl IntoIterator<Item = &'t Tool>, ranking: Ranking) -> Self {
        let ranking = ranking.clamped();
        let mut tools: Vec<(String, &Tool)> = tools.into_iter().map(|tool| (tool.id().to_string(), tool)).collect();
        tools.reverse();
        tools.sort_by(|(a, _), (b, _)| a.cmp(b));
        tools.dedup_by(|(later, _), (kept, _)| later == kept);
        let records = tools.into_iter().map(|(_, tool)| Arc::new(Record::local(tool.clone()))).collect();
        Self::from_state(State::from_segment(segment::build(records, &ranking.weights), ranking))
    }

    /// Opens a saved index, which behaves exactly like an index of the same tools that was built.
    ///
    /// The file is checked, and takes memory in proportion to its size; limit the reader if necessary. The checksum
    /// detects accidental damage only. The source of the file has to be trusted like that of a list of tools: a forged
    /// file can contain search results that differ from the tools.
    ///
    /// Tools that were functions are only descriptions in the opened index; call them by their ids.
    ///
    /// # Errors
    ///
    /// Returns an error if the file is not an index, has another format or label, or is damaged, or if the reader
    /// fails.
    pub fn open(label: &str, mut from: impl Read) -> Result<Self, OpenError> {
        Ok(Self::from_state(saved::open(label, &mut from)?))
    }

    fn from_state(state: State) -> Self {
        Self {
            current: RwLock::new(Arc::new(Snapshot { state })),
            writing: Mutex::new(()),
            listeners: Listeners::default(),
            key: RandomState::default(),
        }
    }

    /// Returns the current state of the index, which later changes do not affect.
    #[must_use]
    pub fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Searches the current snapshot; see [`Snapshot::search`].
    #[must_use]
    pub fn search<'q>(&self, query: impl Into<Query<'q>>, limit: usize) -> Vec<Hit> {
        self.snapshot().search(query, limit)
    }

    /// Returns a page of at most `limit` hits, starting at `cursor` or at the best hit.
    ///
    /// ```
    /// use toolkit::Tool;
    /// use toolkit_search::Index;
    ///
    /// let mail = |name| Tool::builder(name).description("Sends an email.").build();
    /// let index = Index::from_tools(&[mail("a")?, mail("b")?]);
    /// let first = index.page("email", 1, None)?;
    /// let second = index.page("email", 1, first.next_cursor.as_deref())?;
    /// assert_eq!((second.items.len(), second.next_cursor), (1, None));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if `limit` is zero, if the cursor is not from a page of the same query, or if the index has
    /// changed since.
    pub fn page<'q>(
        &self,
        query: impl Into<Query<'q>>,
        limit: usize,
        cursor: Option<&str>,
    ) -> Result<Page<Hit>, CursorError> {
        let (query, snapshot) = (query.into(), self.snapshot());
        page::paginate(&self.key, ("search", &query), snapshot.version(), limit, cursor, |most| {
            snapshot.search(query.clone(), most)
        })
    }

    /// Returns the namespaces in ascending order. The empty namespace contains the tools without one.
    #[must_use]
    pub fn namespaces(&self) -> Vec<String> {
        self.snapshot().namespaces().map(str::to_owned).collect()
    }

    /// Returns a page of the namespaces.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Index::page`].
    pub fn namespaces_page(&self, limit: usize, cursor: Option<&str>) -> Result<Page<String>, CursorError> {
        let snapshot = self.snapshot();
        page::paginate(&self.key, "namespaces", snapshot.version(), limit, cursor, |most| {
            snapshot.namespaces().take(most).map(str::to_owned).collect()
        })
    }

    /// Adds a tool, or adds a backend to an existing tool.
    ///
    /// # Errors
    ///
    /// Returns an error if the index has a tool with the same id and another definition. [`Index::update`] replaces it.
    pub fn register(&self, tool: Tool, backend: ToolBackend) -> Result<(), IndexError> {
        self.register_all([(tool, backend)]).map_err(|mut errors| errors.swap_remove(0))
    }

    /// Adds tools like [`Index::register`], either all of them in one version of the index or none.
    ///
    /// # Errors
    ///
    /// Returns an error for each tool that cannot be added.
    pub fn register_all(&self, tools: impl IntoIterator<Item = (Tool, ToolBackend)>) -> Result<(), Vec<IndexError>> {
        let tools: Vec<(Tool, ToolBackend)> = tools.into_iter().collect();
        self.change(|changes| {
            let mut errors = Vec::new();
            for (tool, backend) in tools {
                errors.extend(changes.register(tool, backend).err());
            }
            if errors.is_empty() { Ok(()) } else { Err(errors) }
        })
    }

    /// Adds the tools of an MCP server.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Index::register_all`], or an error if the name of the server is empty.
    pub fn register_server(
        &self,
        server_name: &str,
        tools: impl IntoIterator<Item = Tool>,
    ) -> Result<(), Vec<IndexError>> {
        let backend = ToolBackend::mcp(server_name).map_err(|error| vec![IndexError::Backend(error)])?;
        self.register_all(tools.into_iter().map(|tool| (tool, backend.clone())))
    }

    /// Replaces the tool with the same id, and keeps its backends.
    ///
    /// # Errors
    ///
    /// Returns an error if no tool has this id.
    pub fn update(&self, tool: Tool) -> Result<(), IndexError> {
        self.change(|changes| {
            let known = changes.known(&tool.id().to_string())?;
            let backends = known.backends().into();
            changes.put(ChangeKind::Updated, None, Record::new(tool, backends));
            Ok(())
        })
    }

    /// Removes a backend of a tool. A tool without backends is removed.
    ///
    /// # Errors
    ///
    /// Returns an error if no tool has this id, or if the backend does not run it.
    pub fn unregister(&self, id: &str, backend: &ToolBackend) -> Result<(), IndexError> {
        self.change(|changes| changes.unregister(id, backend))
    }

    /// Removes a tool with all its backends.
    ///
    /// # Errors
    ///
    /// Returns an error if no tool has this id.
    pub fn unregister_tool(&self, id: &str) -> Result<(), IndexError> {
        self.change(|changes| {
            changes.known(id)?;
            changes.remove(id, None);
            Ok(())
        })
    }

    /// Removes the tools of a namespace, and returns their number. The empty namespace contains the tools without one.
    pub fn unregister_namespace(&self, namespace: &str) -> usize {
        let Ok(n_tools) = self.change(|changes| {
            let query = Query::new("").namespace(namespace);
            let ids = changes.ids(&query);
            ids.iter().for_each(|id| changes.remove(id, None));
            Ok::<_, std::convert::Infallible>(ids.len())
        });
        n_tools
    }

    /// Removes a backend, such as a disconnected MCP server, from all its tools, and returns the number of tools that
    /// it ran.
    pub fn unregister_backend(&self, backend: &ToolBackend) -> usize {
        let Ok(n_tools) = self.change(|changes| {
            let query = Query::new("").backend(backend.clone());
            let ids = changes.ids(&query);
            for id in &ids {
                // The query has just returned these ids.
                let _ = changes.unregister(id, backend);
            }
            Ok::<_, std::convert::Infallible>(ids.len())
        });
        n_tools
    }

    /// Increments the version, which invalidates cursors and notifies listeners, without another change.
    pub fn refresh(&self) {
        let Ok(()) = self.change(|changes| {
            changes.refresh();
            Ok::<_, std::convert::Infallible>(())
        });
    }

    /// Calls `listener` after each change, once for each changed tool, until the subscription is dropped.
    ///
    /// Listeners are called in the order of subscription, by the thread that makes the change. The new snapshot is
    /// current by then, and no lock is held, so that a listener may search and change the index. Two concurrent changes
    /// may be reported in any order; [`Change::version`] contains their order.
    ///
    /// ```
    /// use std::sync::mpsc;
    /// use toolkit::Tool;
    /// use toolkit_search::{ChangeKind, Index};
    /// use toolkit::tool::ToolBackend;
    ///
    /// let index = Index::new();
    /// let (sender, changes) = mpsc::channel();
    /// let _subscription = index.on_change(move |change| sender.send(change.kind).unwrap());
    /// index.register(Tool::builder("send").build()?, ToolBackend::mcp("mail")?)?;
    /// assert_eq!(changes.recv()?, ChangeKind::Registered);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn on_change(&self, listener: impl Fn(&Change) + Send + Sync + 'static) -> Subscription {
        self.listeners.add(Arc::new(listener))
    }

    /// Applies the changes that `edit` collects as one version, unless it fails or collects none.
    fn change<T, E>(&self, edit: impl FnOnce(&mut Changes) -> Result<T, E>) -> Result<T, E> {
        let turn = self.writing.lock();
        let mut changes = Changes::new(self.snapshot());
        let done = edit(&mut changes)?;
        if changes.is_empty() {
            return Ok(done);
        }
        let (next, list) = changes.finish();
        let before = {
            let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
            std::mem::replace(&mut *current, Arc::new(Snapshot { state: next }))
        };
        drop(turn);
        // Dropped without a lock, since it may be large.
        drop(before);
        self.listeners.notify(&list);
        Ok(done)
    }
}

impl Default for Index {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Index {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Index").field(&self.snapshot()).finish()
    }
}
