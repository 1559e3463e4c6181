//! A segment with its mutable state.

use std::sync::Arc;

use super::fields::ToolWords;
use super::record::Record;
use super::segment::{self, BLOCK_LEN, Segment, Terms};

/// A segment with its live tools, and the frequencies of its words in the whole index.
///
/// Clones share all data, which is copied before a change.
#[derive(Clone)]
pub(super) struct Part {
    pub(super) segment: Arc<Segment>,
    /// One bit for each removed tool; empty if none has been removed.
    removed: Arc<Vec<u64>>,
    n_live: usize,
    /// The number of tools in the index with each word, and with each stem, of the segment.
    word_counts: Arc<Vec<u32>>,
    stem_counts: Arc<Vec<u32>>,
    /// For each tool in the order of the lists, the reciprocal of the total `idf` of its name.
    pub(super) name_shares: Arc<[f32]>,
    /// The maximum of `name_shares` in each block of the lists of names.
    pub(super) share_bounds: Arc<[f32]>,
}

impl Part {
    /// Creates a part, and updates the counts of the others.
    pub(super) fn new(segment: Segment, others: &mut [Part]) -> Self {
        let mut part = Self::from_segment(segment);
        let Self { segment, word_counts, stem_counts, .. } = &mut part;
        let (words, stems): (TermsOf, TermsOf) = (|segment| &segment.words, |segment| &segment.stems);
        count(segment, words, Arc::<Vec<u32>>::make_mut(word_counts), others, |part| &mut part.word_counts);
        count(segment, stems, Arc::<Vec<u32>>::make_mut(stem_counts), others, |part| &mut part.stem_counts);
        part
    }

    pub(super) fn empty() -> Self {
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
    pub(super) fn merge(a: &Self, b: &Self) -> Self {
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
    pub(super) fn subtract(&mut self, tool: &ToolWords) {
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
    pub(super) fn remove(&mut self, tool: usize) -> u16 {
        let removed = Arc::make_mut(&mut self.removed);
        removed.resize(self.segment.records.len().div_ceil(64), 0);
        removed[tool / 64] |= 1 << (tool % 64);
        self.n_live -= 1;
        self.segment.order.length_of(tool)
    }

    /// Computes [`Part::name_shares`] and their bounds.
    pub(super) fn weigh_names(&mut self, n_tools: usize) {
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

    pub(super) fn word_count(&self, idx: u32) -> u32 {
        self.word_counts[idx as usize]
    }

    pub(super) fn stem_count(&self, idx: u32) -> u32 {
        self.stem_counts[idx as usize]
    }

    pub(super) fn n_live(&self) -> usize {
        self.n_live
    }

    pub(super) fn has_removed(&self) -> bool {
        !self.removed.is_empty()
    }

    pub(super) fn is_mostly_removed(&self) -> bool {
        self.n_live * 2 < self.segment.records.len()
    }

    #[inline]
    pub(super) fn is_live(&self, tool: usize) -> bool {
        self.removed.get(tool / 64).is_none_or(|bits| bits & (1 << (tool % 64)) == 0)
    }

    pub(super) fn total_length(&self) -> u64 {
        self.segment.order.lengths.iter().map(|length| u64::from(*length)).sum()
    }

    pub(super) fn find(&self, id: &str) -> Option<usize> {
        self.segment.find(id).filter(|tool| self.is_live(*tool))
    }

    pub(super) fn record(&self, tool: usize) -> &Arc<Record> {
        &self.segment.records[tool]
    }

    pub(super) fn records(&self) -> impl Iterator<Item = &Arc<Record>> {
        let live = self.segment.records.iter().enumerate().filter(|(tool, _)| self.is_live(*tool));
        live.map(|(_, record)| record)
    }
}

/// Returns the inverse document frequency of a word that `count` of `n_tools` tools have.
pub(super) fn idf(n_tools: usize, count: u32) -> f32 {
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
