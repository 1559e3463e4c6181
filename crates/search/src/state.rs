//! The state of an index: the parts that are searched, each a segment with its mutable state, and the next state after a change.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::ranking::{Fractions, Norm, Ranking};
use crate::record::Record;
use crate::segment::{self, BLOCK_LEN, Segment, Terms};
use crate::words::{ToolWords, stem};

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
        self.parts.retain(|part| part.n_live > 0);
        let is_wasteful = |older: &Part, newer: &Part| {
            newer.n_live * GROWTH >= older.n_live || older.is_mostly_removed() || newer.is_mostly_removed()
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

/// A segment with its live tools, and the frequencies of its words in the whole index.
///
/// Clones share all data, which is copied before a change.
#[derive(Clone)]
pub(crate) struct Part {
    pub(crate) segment: Arc<Segment>,
    /// One bit for each removed tool; empty if none has been removed.
    removed: Arc<Vec<u64>>,
    pub(crate) n_live: usize,
    /// The number of tools in the index with each word, and with each stem, of the segment.
    word_counts: Arc<Vec<u32>>,
    stem_counts: Arc<Vec<u32>>,
    /// For each tool in the order of the lists, the reciprocal of the total `idf` of its name.
    pub(crate) name_shares: Arc<[f32]>,
    /// The maximum of `name_shares` in each block of the lists of names.
    pub(crate) share_bounds: Arc<[f32]>,
}

impl Part {
    /// Creates a part, and updates the counts of the others.
    pub(crate) fn new(segment: Segment, others: &mut [Part]) -> Self {
        let mut part = Self::from_segment(segment);
        let Self { segment, word_counts, stem_counts, .. } = &mut part;
        let (words, stems): (TermsOf, TermsOf) = (|segment| &segment.words, |segment| &segment.stems);
        count(segment, words, Arc::<Vec<u32>>::make_mut(word_counts), others, |part| &mut part.word_counts);
        count(segment, stems, Arc::<Vec<u32>>::make_mut(stem_counts), others, |part| &mut part.stem_counts);
        part
    }

    pub(crate) fn empty() -> Self {
        Self::from_segment(segment::build(Vec::new(), &Default::default()))
    }

    fn from_segment(segment: Segment) -> Self {
        Self {
            n_live: segment.records.len(),
            removed: Arc::default(),
            word_counts: Arc::new(vec![0; segment.words.len()]),
            stem_counts: Arc::new(vec![0; segment.stems.len()]),
            name_shares: Arc::default(),
            share_bounds: Arc::default(),
            segment: Arc::new(segment),
        }
    }

    /// Merges two parts, without removed tools.
    pub(crate) fn merge(a: &Self, b: &Self) -> Self {
        let sides = [a, b];
        let segment = segment::merge([&a.segment, &b.segment], |side, doc| sides[side].is_live(doc));
        let mut merged = Self::from_segment(segment);
        let Self { segment, word_counts, stem_counts, .. } = &mut merged;
        let counted = |terms: &Terms, count: fn(&Self, &str) -> Option<u32>| {
            let counts = terms.iter().map(|(text, _)| sides.iter().find_map(|side| count(side, text)));
            Arc::new(counts.map(Option::unwrap_or_default).collect())
        };
        *word_counts = counted(&segment.words, |side, text| Some(side.word_count(side.segment.words.find(text)?)));
        *stem_counts = counted(&segment.stems, |side, text| Some(side.stem_count(side.segment.stems.find(text)?)));
        merged
    }

    /// Subtracts the words of a removed tool from the counts.
    pub(crate) fn subtract(&mut self, tool: &ToolWords) {
        let Self { segment, word_counts, stem_counts, .. } = self;
        let pairs = [(&segment.words, &tool.words, word_counts), (&segment.stems, &tool.stems, stem_counts)];
        for (terms, texts, counts) in pairs {
            let found: Vec<u32> = texts.iter().filter_map(|text| terms.find(text)).collect();
            if !found.is_empty() {
                let counts = Arc::make_mut(counts);
                // The counts of a forged file may be too low.
                found.into_iter().for_each(|idx| counts[idx as usize] = counts[idx as usize].saturating_sub(1));
            }
        }
    }

    /// Marks a tool as removed, and returns its number of words.
    pub(crate) fn remove(&mut self, tool: usize) -> u16 {
        let removed = Arc::make_mut(&mut self.removed);
        removed.resize(self.segment.records.len().div_ceil(64), 0);
        removed[tool / 64] |= 1 << (tool % 64);
        self.n_live -= 1;
        self.segment.order.length_of(tool)
    }

    /// Computes [`Part::name_shares`] and their bounds.
    pub(crate) fn weigh_names(&mut self, n_tools: usize) {
        let Self { segment, stem_counts, .. } = self;
        // The stems are sorted by text, so that the sum of a name's weights does not depend on the segment.
        let spans = segment.name_stems.iter().map(|stem| (*stem, segment.stems.get(*stem).named));
        let mut shares = vec![0.0_f32; segment.records.len()];
        for (stem, span) in spans.clone() {
            let weight = idf(n_tools, stem_counts[stem as usize]);
            segment.named.get(span).docs.iter().for_each(|doc| shares[*doc as usize] += weight);
        }
        shares.iter_mut().for_each(|whole| *whole = if *whole > 0.0 { whole.recip() } else { 0.0 });

        let mut bounds = vec![0.0_f32; segment.named.n_blocks()];
        for (_, span) in spans {
            let blocks = segment.named.get(span).docs.chunks(BLOCK_LEN);
            for (bound, docs) in bounds[span.blocks()].iter_mut().zip(blocks) {
                *bound = docs.iter().fold(0.0, |most, doc| most.max(shares[*doc as usize]));
            }
        }
        (self.name_shares, self.share_bounds) = (shares.into(), bounds.into());
    }

    pub(crate) fn word_count(&self, idx: u32) -> u32 {
        self.word_counts[idx as usize]
    }

    pub(crate) fn stem_count(&self, idx: u32) -> u32 {
        self.stem_counts[idx as usize]
    }

    pub(crate) fn has_removed(&self) -> bool {
        !self.removed.is_empty()
    }

    pub(crate) fn is_mostly_removed(&self) -> bool {
        self.n_live * 2 < self.segment.records.len()
    }

    #[inline]
    pub(crate) fn is_live(&self, tool: usize) -> bool {
        self.removed.get(tool / 64).is_none_or(|bits| bits & (1 << (tool % 64)) == 0)
    }

    pub(crate) fn total_length(&self) -> u64 {
        self.segment.order.lengths.iter().map(|length| u64::from(*length)).sum()
    }

    pub(crate) fn find(&self, id: &str) -> Option<usize> {
        self.segment.find(id).filter(|tool| self.is_live(*tool))
    }

    pub(crate) fn record(&self, tool: usize) -> &Arc<Record> {
        &self.segment.records[tool]
    }

    pub(crate) fn records(&self) -> impl Iterator<Item = &Arc<Record>> {
        let live = self.segment.records.iter().enumerate().filter(|(tool, _)| self.is_live(*tool));
        live.map(|(_, record)| record)
    }
}

/// Returns the inverse document frequency of a word that `count` of `n_tools` tools have.
pub(crate) fn idf(n_tools: usize, count: u32) -> f32 {
    let (n_tools, count) = (n_tools as f32, count as f32);
    ((n_tools - count + 0.5) / (count + 0.5)).ln_1p()
}

type TermsOf = fn(&Segment) -> &Terms;

/// Counts the terms of a new segment, and updates the counts of `others`.
fn count(
    segment: &Segment,
    of: TermsOf,
    counts: &mut [u32],
    others: &mut [Part],
    of_part: fn(&mut Part) -> &mut Arc<Vec<u32>>,
) {
    for ((_, term), count) in of(segment).iter().zip(&mut *counts) {
        *count = u32::try_from(term.n_docs()).unwrap_or(u32::MAX);
    }
    for other in others {
        let segment_of_other = Arc::clone(&other.segment);
        let other_counts = of_part(other);
        for ((text, term), count) in of(segment).iter().zip(&mut *counts) {
            let Some(idx) = of(&segment_of_other).find(text) else { continue };
            let n_new = term.n_docs() as u32;
            let total = &mut Arc::make_mut(other_counts)[idx as usize];
            *total += n_new;
            *count = *total;
        }
    }
}
