//! Snapshots of an index.

use std::io::{self, Write};
use std::ops::Range;

use toolkit::tool::{Tool, ToolBackend};

use super::hit::Hit;
use super::query::Query;
use super::ranking::Ranking;
use super::saved;
use super::state::State;
use super::summary::Summary;
use crate::evidence::answers;
use crate::hit::{Explanation, explain, highlights};

/// An immutable state of an index, which is cheap to share.
///
/// All results of one snapshot are about the same tools, whatever is registered in the meantime.
///
/// ```
/// use toolkit::Tool;
/// use toolkit_search::Index;
///
/// let index = Index::from_tools(&[Tool::builder("send").build()?]);
/// let snapshot = index.snapshot();
/// index.unregister_tool("send")?;
/// assert!(snapshot.get("send").is_some() && index.snapshot().is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Snapshot {
    pub(super) state: State,
}

impl Snapshot {
    /// Returns the version, which each change increments.
    #[must_use]
    pub fn version(&self) -> u64 {
        self.state.version
    }

    /// Returns the number of tools.
    #[must_use]
    pub fn len(&self) -> usize {
        self.state.n_tools
    }

    /// Returns true if there are no tools.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.state.n_tools == 0
    }

    /// Returns the ranking of the results.
    #[must_use]
    pub fn ranking(&self) -> &Ranking {
        &self.state.ranking
    }

    /// Returns the tool with an id, and its preferred backend: a local function, or else a provider, or else an MCP
    /// server.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<(&Tool, &ToolBackend)> {
        let record = self.state.record(id)?;
        Some((record.valid_tool()?, record.backends().iter().min_by_key(|backend| backend.ranked_names().0)?))
    }

    /// Returns the backends of a tool in the order of registration; empty if there is no such tool.
    #[must_use]
    pub fn backends(&self, id: &str) -> &[ToolBackend] {
        self.state.record(id).map_or(&[], |record| record.backends())
    }

    /// Returns the summary of a tool.
    #[must_use]
    pub fn summary(&self, id: &str) -> Option<&Summary> {
        self.state.record(id).map(|record| &**record.summary())
    }

    /// Returns the namespaces in ascending order. The empty one contains the tools without a namespace.
    pub fn namespaces(&self) -> impl Iterator<Item = &str> {
        self.state.namespaces.keys().map(String::as_str)
    }

    /// Returns the `limit` tools that match a query best; equal ones in the order of their ids.
    ///
    /// A tool matches if it contains any word of the query. The result is empty if no tool answers the query, because even
    /// the best ones match only words such as "find" and "create"; see [`Ranking::threshold`]. A query without words
    /// matches all tools, in the order of their ids. A query of stop words only matches tools with such a name, if there
    /// are any. Only the first 16 KiB and 256 words of a query are used.
    ///
    /// ```
    /// use toolkit::Tool;
    /// use toolkit_search::Index;
    ///
    /// let send = Tool::builder("send").description("Sends an email.").build()?;
    /// let snapshot = Index::from_tools(&[send]).snapshot();
    /// assert_eq!(snapshot.search("email", 5)[0].summary.name, "send");
    /// # Ok::<(), toolkit::catalog::Diagnostics>(())
    /// ```
    #[must_use]
    pub fn search<'q>(&self, query: impl Into<Query<'q>>, limit: usize) -> Vec<Hit> {
        answers(&self.state, &query.into(), limit).into_iter().map(Hit::by_words).collect()
    }

    /// Explains the score of a tool for a query; `None` if there is no such tool or it does not match.
    ///
    /// Apart from rounding, the contributions add up to the score of [`Snapshot::search`].
    ///
    /// ```
    /// use toolkit::Tool;
    /// use toolkit_search::{Index, Match};
    ///
    /// let send = Tool::builder("send").description("Sends an email.").build()?;
    /// let explanation = Index::from_tools(&[send]).snapshot().explain("emails", "send").unwrap();
    /// assert_eq!((&*explanation.reasons[0].term, explanation.reasons[0].kind), ("email", Match::Stem));
    /// # Ok::<(), toolkit::catalog::Diagnostics>(())
    /// ```
    #[must_use]
    pub fn explain<'q>(&self, query: impl Into<Query<'q>>, id: &str) -> Option<Explanation> {
        explain(&self.state, &query.into(), id)
    }

    /// Returns the byte ranges of `text` that match the words of a query, in any form.
    ///
    /// ```
    /// use toolkit::Tool;
    /// use toolkit_search::Index;
    ///
    /// let text = "Sends an email.";
    /// let index = Index::from_tools(&[Tool::builder("send").description(text).build()?]);
    /// let ranges = index.snapshot().highlights("emails", text);
    /// assert_eq!(&text[ranges[0].clone()], "email");
    /// # Ok::<(), toolkit::catalog::Diagnostics>(())
    /// ```
    #[must_use]
    pub fn highlights<'q>(&self, query: impl Into<Query<'q>>, text: &str) -> Vec<Range<usize>> {
        highlights(&self.state, &query.into(), text)
    }

    /// Writes the index to a file, which [`Index::open`](super::Index::open) reads in a fraction of the time that building the index takes.
    ///
    /// The label identifies the content: for example the version of a catalog, the hash of a manifest, or the
    /// [`Fingerprint`](super::Fingerprint) of the tools. A file can only be opened with the same label. A function of
    /// this program is saved as its description.
    ///
    /// # Errors
    ///
    /// Returns the errors of the writer, or an error if the index exceeds 4 GiB, which is the size of many million
    /// tools.
    ///
    /// ```
    /// # use toolkit::Tool;
    /// # use toolkit_search::{Index, OpenError};
    /// # let tools = [Tool::builder("send").namespace("mail").description("Sends an email.").build()?];
    /// let mut file = Vec::new();
    /// Index::from_tools(&tools).snapshot().save("tools of 1.4.0", &mut file)?;
    ///
    /// let index = Index::open("tools of 1.4.0", &file[..])?;
    /// assert_eq!(index.search("email", 5)[0].summary.id, "mail:send");
    /// assert!(matches!(Index::open("tools of 1.5.0", &file[..]), Err(OpenError::Stale { .. })));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn save(&self, label: &str, mut to: impl Write) -> io::Result<()> {
        saved::save(&self.state, label, &mut to)
    }
}

toolkit::debug_fields!(it, Snapshot { version: it.state.version, tools: it.state.n_tools });
