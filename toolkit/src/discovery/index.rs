//! The index that changes, one snapshot after another.

mod changes;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use foldhash::quality::RandomState;

use self::changes::Changes;
use super::error::IndexError;
use super::events::{Change, ChangeKind, Listeners, Subscription};
use super::hit::Hit;
use super::page::{self, InvalidCursor, Page};
use super::query::Query;
use super::ranking::Ranking;
use super::record::Record;
use super::segment;
use super::snapshot::Snapshot;
use crate::tool::{Tool, ToolBackend};

/// Tools that can be searched, and that come and go.
///
/// Every change makes a new [`Snapshot`] and then puts it in the place of the last one. Who searches has a snapshot, and
/// so never waits for a change nor sees half of one. Changes wait for one another.
///
/// A tool is known by its id as it is printed, so that each version of a tool in a namespace is a tool of its own;
/// [`Catalog::latest`](crate::Catalog::latest) gives one version of each.
///
/// ```
/// # use toolkit::{Catalog, Tool, discovery::Index};
/// # let tool = |name, text| Tool::builder(name).namespace("mail").description(text).build();
/// let catalog = Catalog::new([tool("send", "Sends an email.")?, tool("list", "Lists the mails of a folder.")?])?;
/// let hits = Index::of(&catalog).search("send an email", 5);
/// assert_eq!(hits[0].summary.id, "mail:send");
/// # Ok::<(), toolkit::catalog::Diagnostics>(())
/// ```
pub struct Index {
    /// Locked for no longer than it takes to copy a pointer.
    current: RwLock<Arc<Snapshot>>,
    writing: Mutex<()>,
    listeners: Listeners,
    /// Cursors of another index, or of this one in an earlier life, do not have it.
    key: RandomState,
}

impl Index {
    /// An index without tools.
    #[must_use]
    pub fn new() -> Self {
        Self::ranked([], Ranking::default())
    }

    /// An index of functions of this program, such as those of a catalogue, each run by the local backend that is named
    /// by its id. Of tools with one id the last is kept.
    pub fn of<'t>(tools: impl IntoIterator<Item = &'t Tool>) -> Self {
        Self::ranked(tools, Ranking::default())
    }

    /// As [`Index::of`], with a ranking of the caller's.
    pub fn ranked<'t>(tools: impl IntoIterator<Item = &'t Tool>, ranking: Ranking) -> Self {
        let ranking = ranking.sound();
        let records = tools.into_iter().map(|tool| Record::new(tool.clone(), vec![local(tool)]));
        let mut records: Vec<Arc<Record>> = records.map(Arc::new).collect();
        records.reverse();
        records.sort_by(|a, b| a.id().cmp(b.id()));
        records.dedup_by(|later, kept| later.id() == kept.id());
        Self::starting_with(Snapshot::of(segment::build(records, &ranking.weights), ranking))
    }

    pub(super) fn starting_with(first: Snapshot) -> Self {
        Self {
            current: RwLock::new(Arc::new(first)),
            writing: Mutex::new(()),
            listeners: Listeners::default(),
            key: RandomState::default(),
        }
    }

    /// The index as it is now. It stays as it is, whatever is registered later.
    #[must_use]
    pub fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// The tools that answer best: see [`Snapshot::search`].
    #[must_use]
    pub fn search<'q>(&self, query: impl Into<Query<'q>>, limit: usize) -> Vec<Hit> {
        self.snapshot().search(query, limit)
    }

    /// An answer page by page: at most `limit` hits, from where `cursor` says on, or from the best on.
    ///
    /// # Errors
    ///
    /// `limit` is zero, or the cursor is not the last page's of this question, or the index has changed since.
    pub fn page<'q>(
        &self,
        query: impl Into<Query<'q>>,
        limit: usize,
        cursor: Option<&str>,
    ) -> Result<Page<Hit>, InvalidCursor> {
        let (query, snapshot) = (query.into(), self.snapshot());
        page::of(&self.key, ("search", &query), snapshot.version(), limit, cursor, |most| {
            snapshot.search(query.clone(), most)
        })
    }

    /// The namespaces that have tools, in ascending order; the empty one is that of tools without.
    #[must_use]
    pub fn namespaces(&self) -> Vec<String> {
        self.snapshot().namespaces().map(str::to_owned).collect()
    }

    /// The namespaces page by page.
    ///
    /// # Errors
    ///
    /// As for [`Index::page`].
    pub fn namespaces_page(&self, limit: usize, cursor: Option<&str>) -> Result<Page<String>, InvalidCursor> {
        let snapshot = self.snapshot();
        page::of(&self.key, "namespaces", snapshot.version(), limit, cursor, |most| {
            snapshot.namespaces().take(most).map(str::to_owned).collect()
        })
    }

    /// Adds a tool, or to a known tool what else runs it.
    ///
    /// # Errors
    ///
    /// A tool of this id is known and says something else of itself; [`Index::update`] replaces it.
    pub fn register(&self, tool: Tool, backend: ToolBackend) -> Result<(), IndexError> {
        self.register_all([(tool, backend)]).map_err(|mut errors| errors.swap_remove(0))
    }

    /// Adds tools as [`Index::register`] does, all in one version, or none of them.
    ///
    /// # Errors
    ///
    /// One for each tool that cannot be added.
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

    /// Adds the tools that an MCP server published.
    ///
    /// # Errors
    ///
    /// As for [`Index::register_all`]; or the server has no name.
    pub fn register_server(
        &self,
        server_name: &str,
        tools: impl IntoIterator<Item = Tool>,
    ) -> Result<(), Vec<IndexError>> {
        let backend = ToolBackend::mcp(server_name).map_err(|error| vec![IndexError::Backend(error)])?;
        self.register_all(tools.into_iter().map(|tool| (tool, backend.clone())))
    }

    /// Puts a tool in the place of the one with its id; what runs it stays.
    ///
    /// # Errors
    ///
    /// No tool has this id.
    pub fn update(&self, tool: Tool) -> Result<(), IndexError> {
        self.change(|changes| {
            let known = changes.known(&tool.id().to_string())?;
            changes.put(ChangeKind::Updated, None, Record::new(tool, known.backends.clone()));
            Ok(())
        })
    }

    /// Takes from a tool what runs it; where nothing else does, the tool goes with it.
    ///
    /// # Errors
    ///
    /// No tool has this id, or this does not run it.
    pub fn unregister(&self, id: &str, backend: &ToolBackend) -> Result<(), IndexError> {
        self.change(|changes| changes.unregister(id, backend))
    }

    /// Takes a tool out, whatever runs it.
    ///
    /// # Errors
    ///
    /// No tool has this id.
    pub fn unregister_tool(&self, id: &str) -> Result<(), IndexError> {
        self.change(|changes| {
            changes.known(id)?;
            changes.remove(id, None);
            Ok(())
        })
    }

    /// Takes the tools of a namespace out, and says how many they were; the empty one is that of tools without.
    pub fn unregister_namespace(&self, namespace: &str) -> usize {
        let Ok(n_tools) = self.change(|changes| {
            let query = Query::new("").namespace(namespace);
            let ids = changes.ids(&query);
            ids.iter().for_each(|id| changes.remove(id, None));
            Ok::<_, std::convert::Infallible>(ids.len())
        });
        n_tools
    }

    /// Takes from every tool what runs it, such as an MCP server that went away, and says how many tools it ran.
    pub fn unregister_backend(&self, backend: &ToolBackend) -> usize {
        let Ok(n_tools) = self.change(|changes| {
            let query = Query::new("").backend(backend.clone());
            let ids = changes.ids(&query);
            for id in &ids {
                // They were just found to be run by it.
                let _ = changes.unregister(id, backend);
            }
            Ok::<_, std::convert::Infallible>(ids.len())
        });
        n_tools
    }

    /// Raises the version, so that cursors are refused and listeners look again.
    pub fn refresh(&self) {
        let Ok(()) = self.change(|changes| {
            changes.refresh();
            Ok::<_, std::convert::Infallible>(())
        });
    }

    /// Calls `listener` after every change, once for each tool changed, until the subscription is dropped.
    ///
    /// Listeners are called in the order of subscription, by whoever makes the change, when the new snapshot is there
    /// already and nothing is locked: a listener may search, and change the index. Of two changes made at once either
    /// may be told first; [`Change::version`] has their order.
    pub fn on_change(&self, listener: impl Fn(&Change) + Send + Sync + 'static) -> Subscription {
        self.listeners.add(Arc::new(listener))
    }

    /// Makes the next version of what `edit` collects, unless it fails or collects nothing.
    fn change<T, E>(&self, edit: impl FnOnce(&mut Changes) -> Result<T, E>) -> Result<T, E> {
        let turn: MutexGuard<'_, ()> = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut changes = Changes::of(self.snapshot());
        let done = edit(&mut changes)?;
        if changes.is_empty() {
            return Ok(done);
        }
        let (next, list) = changes.finish();
        let before = {
            let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
            std::mem::replace(&mut *current, Arc::new(next))
        };
        drop(turn);
        // Not while anything is locked: it may be large.
        drop(before);
        self.listeners.tell(&list);
        Ok(done)
    }
}

fn local(tool: &Tool) -> ToolBackend {
    // Only a name that is refused everywhere else is empty.
    let named = ToolBackend::local(tool.id().to_string()).or_else(|_| ToolBackend::local("?"));
    named.expect("the name is not empty")
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
