//! The state of an index: the parts that are searched, and the next state after a change.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::fields::ToolWords;
use super::part::Part;
use super::ranking::Ranking;
use super::ranking::{Fractions, Norm};
use super::record::Record;
use super::segment::{self, Segment};
use super::words::stem;

/// An immutable state of an index.
pub(super) struct State {
    pub(super) version: u64,
    pub(super) ranking: Ranking,
    /// The parts from the oldest to the newest; each has several times as many tools as the next.
    pub(super) parts: Vec<Part>,
    pub(super) n_tools: usize,
    /// The number of words of all tools.
    pub(super) total_length: u64,
    /// The number of tools of each namespace; the empty one contains the tools without a namespace.
    pub(super) namespaces: Arc<BTreeMap<String, usize>>,
    pub(super) fractions: Fractions,
}

/// A part is merged with the previous one unless that has more than this many times its tools. Each tool is then moved
/// only a few times, and there are only few parts to search.
const GROWTH: usize = 4;

impl State {
    pub(super) fn empty(ranking: Ranking) -> Self {
        let namespaces = Arc::new(BTreeMap::new());
        Self {
            version: 0,
            ranking,
            parts: Vec::new(),
            n_tools: 0,
            total_length: 0,
            namespaces,
            fractions: Fractions::new(),
        }
    }

    /// Creates the first version of an index with the tools of a segment.
    pub(super) fn from_segment(segment: Segment, ranking: Ranking) -> Self {
        let mut first = Self::empty(ranking);
        if !segment.records.is_empty() {
            first.version = 1;
            first.add(segment);
            first.weigh_names();
        }
        first
    }

    /// Returns all live tools in one segment.
    pub(super) fn whole(&self) -> Arc<Segment> {
        match &self.parts[..] {
            [only] if !only.has_removed() => Arc::clone(&only.segment),
            parts => parts.iter().fold(Part::empty(), |whole, part| Part::merge(&whole, part)).segment,
        }
    }

    /// Returns the next version, without some tools and with others.
    ///
    /// The counts of words stay exact, so that results do not depend on the history of the index.
    pub(super) fn with(&self, removed: &[&str], mut added: Vec<Arc<Record>>) -> Self {
        let mut next = Self {
            version: self.version + 1,
            ranking: self.ranking,
            parts: self.parts.clone(),
            n_tools: self.n_tools,
            total_length: self.total_length,
            namespaces: Arc::clone(&self.namespaces),
            fractions: Fractions::new(),
        };
        removed.iter().for_each(|id| next.remove(id));
        if !added.is_empty() {
            added.sort_by(|a, b| a.cmp_by_id(b));
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
        let words = ToolWords::new(&record.read_only_tool(), &self.ranking.weights);
        self.parts.iter_mut().for_each(|part| part.subtract(&words));
        self.total_length -= u64::from(self.parts[at].remove(doc));
        self.n_tools -= 1;
        let namespaces = Arc::make_mut(&mut self.namespaces);
        let namespace = record.namespace();
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
            let namespace = record.namespace();
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
            newer.n_live() * GROWTH >= older.n_live() || older.is_mostly_removed() || newer.is_mostly_removed()
        };
        while let Some(at) = self.parts.windows(2).rposition(|pair| is_wasteful(&pair[0], &pair[1])) {
            let merged = Part::merge(&self.parts[at], &self.parts[at + 1]);
            self.parts.splice(at..at + 2, [merged]);
        }
        if let [only] = &mut self.parts[..]
            && only.is_mostly_removed()
        {
            *only = Part::merge(only, &Part::empty());
        }
    }

    fn weigh_names(&mut self) {
        let n_tools = self.n_tools;
        self.parts.iter_mut().for_each(|part| part.weigh_names(n_tools));
    }

    /// Returns the length normalization.
    pub(super) fn norm(&self) -> Norm<'_> {
        let average = self.total_length as f32 / self.n_tools.max(1) as f32;
        Norm::new(&self.ranking, average, &self.fractions)
    }

    /// Returns the stem of a word if any tool has the word or another form of it.
    pub(super) fn stem_of_known(&self, word: &str) -> Option<String> {
        // The stem of an indexed word is stored.
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

    /// Returns all tools in the order of their ids.
    pub(super) fn records(&self) -> impl Iterator<Item = &Arc<Record>> {
        let mut parts: Vec<_> = self.parts.iter().map(|part| part.records()).collect();
        let mut heads: Vec<_> = parts.iter_mut().map(Iterator::next).collect();
        std::iter::from_fn(move || {
            let heads_left = heads.iter().enumerate().filter_map(|(at, head)| Some((head.as_deref()?, at)));
            let (_, first) = heads_left.min_by(|(a, _), (b, _)| a.cmp_by_id(b))?;
            std::mem::replace(&mut heads[first], parts[first].next())
        })
    }
}
