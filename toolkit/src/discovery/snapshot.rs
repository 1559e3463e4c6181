//! The index at one moment.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::part::Part;
use super::ranking::Ranking;
use super::record::Record;
use super::segment::{self, Segment};
use super::summary::Summary;
use super::words::stem;
use super::words_of::WordsOf;
use crate::tool::{Tool, ToolBackend};

/// The index at one moment: it never changes, and costs nothing to share.
///
/// Every answer of one snapshot is about the same tools, whatever is registered meanwhile.
pub struct Snapshot {
    pub(super) version: u64,
    pub(super) ranking: Ranking,
    /// From the oldest to the newest; each has several times the tools of the next.
    pub(super) parts: Vec<Part>,
    pub(super) n_tools: usize,
    /// Of all tools together, in words.
    pub(super) total_length: u64,
    /// How many tools each namespace has; the empty one is that of tools without.
    pub(super) namespaces: Arc<BTreeMap<String, usize>>,
}

/// A part is merged with the one before it when it has more than one tool for so many of the other's: then a tool is
/// moved a few times at most, and there are few parts to search.
const GROWTH: usize = 4;

impl Snapshot {
    pub(super) fn empty(ranking: Ranking) -> Self {
        let namespaces = Arc::new(BTreeMap::new());
        Self { version: 0, ranking, parts: Vec::new(), n_tools: 0, total_length: 0, namespaces }
    }

    /// The index of these tools, as its first version.
    pub(super) fn of(segment: Segment, ranking: Ranking) -> Self {
        let mut first = Self::empty(ranking);
        if !segment.records.is_empty() {
            first.version = 1;
            first.add(segment);
            first.weigh_names();
        }
        first
    }

    /// All tools that are there, in one segment.
    pub(super) fn whole(&self) -> Arc<Segment> {
        match &self.parts[..] {
            [only] if !only.has_dead() => Arc::clone(&only.segment),
            parts => parts.iter().fold(Part::none(), |whole, part| Part::merge(&whole, part)).segment,
        }
    }

    /// The index without some tools and with others, as the next version.
    ///
    /// Counts of words are exact afterwards, so that the answers are those of an index that was built anew.
    pub(super) fn with(&self, removed: &[&str], mut added: Vec<Arc<Record>>) -> Self {
        let mut next = Self {
            version: self.version + 1,
            ranking: self.ranking,
            parts: self.parts.clone(),
            n_tools: self.n_tools,
            total_length: self.total_length,
            namespaces: Arc::clone(&self.namespaces),
        };
        removed.iter().for_each(|id| next.remove(id));
        if !added.is_empty() {
            added.sort_by(|a, b| a.id().cmp(b.id()));
            next.add(segment::build(added, &self.ranking.weights));
        }
        next.compact();
        next.weigh_names();
        next
    }

    fn remove(&mut self, id: &str) {
        let found = self.parts.iter().enumerate().find_map(|(at, part)| Some((at, part.find(id)?)));
        let Some((at, doc)) = found else {
            return;
        };
        let record = Arc::clone(self.parts[at].record(doc));
        let words = WordsOf::tool(&record.tool.read_only(), &self.ranking.weights);
        self.parts.iter_mut().for_each(|part| part.forget(&words));
        self.total_length -= u64::from(self.parts[at].kill(doc));
        self.n_tools -= 1;
        let namespaces = Arc::make_mut(&mut self.namespaces);
        let namespace = record.summary.namespace.as_deref().unwrap_or_default();
        if let Some(n_tools) = namespaces.get_mut(namespace) {
            *n_tools -= 1;
            if *n_tools == 0 {
                namespaces.remove(namespace);
            }
        }
    }

    fn add(&mut self, segment: Segment) {
        let namespaces = Arc::make_mut(&mut self.namespaces);
        for record in &segment.records {
            let namespace = record.summary.namespace.as_deref().unwrap_or_default();
            match namespaces.get_mut(namespace) {
                Some(n_tools) => *n_tools += 1,
                None => _ = namespaces.insert(namespace.to_owned(), 1),
            }
        }
        self.n_tools += segment.records.len();
        let part = Part::new(segment, &mut self.parts);
        self.total_length += part.total_length();
        self.parts.push(part);
    }

    fn compact(&mut self) {
        self.parts.retain(|part| part.n_live() > 0);
        let is_wasteful = |older: &Part, newer: &Part| {
            newer.n_live() * GROWTH >= older.n_live() || older.is_mostly_dead() || newer.is_mostly_dead()
        };
        while let Some(at) = self.parts.windows(2).rposition(|pair| is_wasteful(&pair[0], &pair[1])) {
            let merged = Part::merge(&self.parts[at], &self.parts[at + 1]);
            self.parts.splice(at..at + 2, [merged]);
        }
        if let [only] = &mut self.parts[..]
            && only.is_mostly_dead()
        {
            *only = Part::merge(only, &Part::none());
        }
    }

    fn weigh_names(&mut self) {
        let n_tools = self.n_tools;
        self.parts.iter_mut().for_each(|part| part.weigh_names(n_tools));
    }

    /// Raised by one with every change.
    #[must_use]
    pub fn version(&self) -> u64 {
        self.version
    }

    /// How many tools there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.n_tools
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.n_tools == 0
    }

    /// What the answers are ranked by.
    #[must_use]
    pub fn ranking(&self) -> &Ranking {
        &self.ranking
    }

    /// The tool of this id, and what runs it first: a function of this process, or else a provider, or else an MCP
    /// server.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<(&Tool, &ToolBackend)> {
        let record = self.record(id)?;
        let rank = |backend: &&ToolBackend| match backend {
            ToolBackend::Local { .. } => 0,
            ToolBackend::Provider { .. } => 1,
            ToolBackend::Mcp { .. } => 2,
        };
        Some((record.tool.sound()?, record.backends.iter().min_by_key(rank)?))
    }

    /// All that runs a tool, in the order of registration; empty where there is no such tool.
    #[must_use]
    pub fn backends(&self, id: &str) -> &[ToolBackend] {
        self.record(id).map_or(&[], |record| &record.backends)
    }

    /// What is said of a tool in short.
    #[must_use]
    pub fn summary(&self, id: &str) -> Option<&Summary> {
        self.record(id).map(|record| &*record.summary)
    }

    /// The namespaces that have tools, in ascending order; the empty one is that of tools without.
    pub fn namespaces(&self) -> impl Iterator<Item = &str> {
        self.namespaces.keys().map(String::as_str)
    }

    /// The stem of a word, if some tool has the word or one with its stem.
    pub(super) fn stem_of_known(&self, word: &str) -> Option<String> {
        // Where the word is known its stem is too, and need not be worked out.
        let known = self.parts.iter().find_map(|part| {
            let idx = part.segment.words.find(word).filter(|idx| part.word_count(*idx) > 0)?;
            Some(part.segment.stems.text(part.segment.words.get(idx).partner).to_owned())
        });
        known.or_else(|| {
            let stem = stem(word);
            let has_stem = |part: &Part| part.segment.stems.find(&stem).is_some_and(|idx| part.stem_count(idx) > 0);
            (self.ranking.stems > 0.0 && self.parts.iter().any(has_stem)).then(|| stem.into_owned())
        })
    }

    pub(super) fn record(&self, id: &str) -> Option<&Arc<Record>> {
        self.parts.iter().find_map(|part| Some(part.record(part.find(id)?)))
    }

    /// All tools, in the order of their ids.
    pub(super) fn records(&self) -> impl Iterator<Item = &Arc<Record>> {
        let mut parts: Vec<_> = self.parts.iter().map(|part| part.records()).collect();
        let mut heads: Vec<_> = parts.iter_mut().map(Iterator::next).collect();
        std::iter::from_fn(move || {
            let ids = heads.iter().enumerate().filter_map(|(at, head)| Some((head.as_ref()?.id(), at)));
            let (_, first) = ids.min()?;
            std::mem::replace(&mut heads[first], parts[first].next())
        })
    }
}

impl std::fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Snapshot").field("version", &self.version).field("tools", &self.n_tools).finish_non_exhaustive()
    }
}
