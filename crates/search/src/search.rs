//! The search for the best tools.
//!
//! The tools of a part are searched in windows, in the order of their lengths. In each window, bounds of the scores
//! divide the lists of the query: a tool that is only in lists of low scores cannot become one of the best, and is not
//! looked at. The tools in the other lists are scored, except in blocks whose bound shows that none of them can become
//! one of the best, and the remaining lists are only read at those tools that can. A sample of the lists with the
//! highest scores is a first limit, and the windows grow, since the best tools of the first windows are a high limit for
//! the rest.
//!
//! Scores are integers in [`UNIT`]s, so that they do not depend on the order of addition: a tool has the same score in
//! every part of the index, and tools with equal scores are ordered by id. Pruning is exact, as bounds are integers of
//! the same kind.

use std::cell::RefCell;
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::sync::Arc;

use crate::query::{Filter, ParsedQuery, Query, Word};
use crate::ranking::Norm;
use crate::record::Record;
use crate::scan::{Bound, Gain, Scan, Scores};
use crate::segment::{Order, Term};
use crate::state::{Part, State, idf};

/// The score 1.
pub(super) const UNIT: f32 = 65_536.0;

thread_local! {
    static TABLE: RefCell<Table> = RefCell::default();
}

/// Returns the `limit` tools that match a query best; see [`Snapshot::search`](super::Snapshot::search).
pub(super) fn search<'s>(state: &'s State, query: &Query<'_>, limit: usize) -> Vec<Found<'s>> {
    if query.text().trim().is_empty() {
        let matching = state.records().filter(|record| query.filter.matches(record));
        return matching.take(limit).map(|record| Found { score: 0, place: (0, 0), record }).collect();
    }
    best(state, &ParsedQuery::new(query.text(), state), &query.filter, limit)
}

/// Returns the best tools of all parts.
pub(super) fn best<'s>(state: &'s State, query: &ParsedQuery, filter: &Filter, limit: usize) -> Vec<Found<'s>> {
    let limit = limit.min(state.n_tools);
    if limit == 0 {
        return Vec::new();
    }
    let mut top = Top::new(limit);
    // Taken out of the cell, so that a nested search, or one after a panic, uses a table of its own.
    let mut table = TABLE.with(|table| std::mem::take(&mut *table.borrow_mut()));
    let norm = state.norm();
    // The shares of a name add up to 1, apart from rounding.
    let factor = query.words.iter().map(|word| word.factor).fold(0.0, f32::max);
    let max_of_names = (state.ranking.name_match * factor * UNIT * 1.001) as u32 + 1_000;
    for (nth, part) in (0..).zip(&state.parts) {
        let scans = scans_of(state, part, &query.words, norm);
        let accepts_all = !part.has_removed() && filter.is_empty();
        let Order { lengths, tools, .. } = &part.segment.order;
        let matches = |doc: u32| {
            let tool = tools[doc as usize] as usize;
            accepts_all || (part.is_live(tool) && filter.matches(part.record(tool)))
        };
        let limit = Limit { names: max_of_names, least: top.least(), n_best: limit };
        table.search(scans, lengths, limit, matches, |doc, score| {
            let tool = tools[doc as usize];
            top.offer(Found { score, place: (nth, tool), record: part.record(tool as usize) });
            top.least()
        });
    }
    TABLE.with(|kept| *kept.borrow_mut() = table);
    top.into_sorted()
}

/// Returns the nonempty lists of words in a part: for each word and each stem, the tools with it in their names, and the
/// others.
pub(super) fn scans_of<'s, 'w>(
    state: &'s State,
    part: &'s Part,
    query: impl IntoIterator<Item = &'w Word>,
    norm: Norm<'s>,
) -> Vec<Scan<'s>> {
    let (segment, ranking) = (&*part.segment, &state.ranking);
    let worth = |count: u32| idf(state.n_tools, count) * UNIT;
    let units = |worth: f32| (worth * (ranking.k1 + 1.0)) as u64;
    let query = query.into_iter();
    let n_words = query.size_hint().1.unwrap_or_default();
    let mut scans: Vec<Scan<'s>> = Vec::with_capacity(2 * n_words);
    let mut stems: Vec<u32> = Vec::with_capacity(n_words);
    let mut n_terms = 0;
    let mut add = |term: &Term, gain: Gain| {
        let (named, others) = (segment.named.get(term.named), segment.others.get(term.others));
        if !named.docs.is_empty() {
            let bounds = &part.share_bounds[term.named.blocks()];
            scans.push(Scan::new(named, n_terms, gain, norm, &part.name_shares, bounds));
        }
        if !others.docs.is_empty() && gain.has_text {
            scans.push(Scan::new(others, n_terms, Gain { bonus: 0.0, ..gain }, norm, &[], &[]));
        }
        n_terms += 1;
    };
    for word in query {
        let found = segment.words.find(&word.text).map(|idx| (idx, segment.words.get(idx)));
        let stem = match found {
            Some((_, term)) => Some(term.partner),
            None => segment.stems.find(&word.stem),
        };
        let stem = stem.filter(|stem| {
            let is_new = !stems.contains(stem);
            stems.push(*stem);
            is_new && (ranking.stems > 0.0 || ranking.name_match > 0.0)
        });
        let mut of_word = found.map(|(idx, term)| {
            let word = units(word.factor * worth(part.word_count(idx)));
            (term, Gain { has_text: true, word, stem: 0, bonus: 0.0 })
        });
        if let Some(stem) = stem {
            let term = segment.stems.get(stem);
            let worth = word.factor * worth(part.stem_count(stem));
            let (units, bonus) = (units(ranking.stems * worth), ranking.name_match * worth);
            match &mut of_word {
                // A stem with a single form shares its lists, which are read once.
                Some((word, gain)) if word.named == term.named && word.others == term.others => {
                    (gain.stem, gain.bonus) = (units, bonus);
                }
                _ => add(term, Gain { has_text: units > 0, word: 0, stem: units, bonus }),
            }
        }
        if let Some((term, gain)) = of_word {
            add(term, gain);
        }
    }
    scans
}

/// The best tools so far.
pub(crate) struct Top<'s> {
    limit: usize,
    /// A heap with the worst of them on top.
    heap: BinaryHeap<Found<'s>>,
}

/// A tool with its score.
#[derive(Clone, Copy)]
pub(crate) struct Found<'s> {
    pub(crate) score: u32,
    /// The number of the part, and the position of the tool in the order of the ids.
    pub(crate) place: (u32, u32),
    pub(crate) record: &'s Arc<Record>,
}

impl<'s> Top<'s> {
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit, heap: BinaryHeap::new() }
    }

    /// Returns the minimum score of the best tools; 0 if there are fewer than the limit.
    #[inline]
    fn least(&self) -> u32 {
        if self.heap.len() < self.limit { 0 } else { self.heap.peek().map_or(0, |worst| worst.score) }
    }

    #[inline]
    fn offer(&mut self, found: Found<'s>) {
        if self.heap.len() < self.limit {
            self.heap.push(found);
        } else if let Some(mut worst) = self.heap.peek_mut()
            && found < *worst
        {
            *worst = found;
        }
    }

    /// Returns the tools, the best first.
    fn into_sorted(self) -> Vec<Found<'s>> {
        self.heap.into_sorted_vec()
    }
}

/// Better tools are less: a higher score, or with equal scores a lesser id.
impl Ord for Found<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        other.score.cmp(&self.score).then_with(|| match self.place.0 == other.place.0 {
            // Cheaper than a comparison of texts.
            true => self.place.1.cmp(&other.place.1),
            false => self.record.cmp_by_id(other.record),
        })
    }
}

impl PartialOrd for Found<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Found<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Found<'_> {}

/// The number of tools in the first window. Each window is twice as large as the previous one.
const FIRST_WINDOW: usize = 2048;

/// The number of tools that are scored before the first window.
const SAMPLE: usize = 96;

/// The scores of the tools in a window.
#[derive(Default)]
struct Table {
    scores: Scores,
    /// The tools that can become one of the best, with their scores so far.
    found: Vec<(u32, u32)>,
    /// The maximum score of each term in the window.
    of_terms: Vec<Bound>,
    /// By list, in ascending order of the bounds: the maximum score of a tool that is only in the lists before it.
    before: Vec<Before>,
}

/// The maximum score of a tool in the lists before a list.
#[derive(Clone, Copy)]
struct Before {
    all: Sum,
    /// Without the other list of the same term.
    other_terms: Sum,
}

/// A sum of bounds.
#[derive(Clone, Copy, Default)]
struct Sum {
    text: u64,
    names: u64,
}

impl Table {
    /// Calls `offer` with all tools whose scores are at least `least`. It returns the next value of `least`.
    fn search(
        &mut self,
        mut scans: Vec<Scan<'_>>,
        lengths: &[u16],
        Limit { names, mut least, n_best }: Limit,
        matches: impl Fn(u32) -> bool,
        mut offer: impl FnMut(u32, u32) -> u32,
    ) {
        let n_docs = lengths.len();
        self.scores.make_room(n_docs);
        let n_terms = scans.iter().map(|scan| scan.term + 1).max().unwrap_or(0);
        least = least.max(self.sample(&mut scans, lengths, n_best, &matches));
        let (mut start, mut size) = (0, FIRST_WINDOW);
        while start < n_docs && !scans.is_empty() {
            let end = n_docs.min(start + size);
            scans.retain_mut(|scan| scan.enter(end as u32));
            scans.sort_unstable_by_key(|scan| scan.bound.text.saturating_add(scan.bound.name));
            let limit = Limit { names, least, n_best };
            let n_skipped = self.divide(&scans, n_terms, limit);
            if n_skipped < scans.len() {
                self.score(&scans, n_skipped, lengths, limit, start..end);
                for &(doc, score) in &self.found {
                    if score >= least && matches(doc) {
                        least = least.max(offer(doc, score));
                    }
                }
            }
            (start, size) = (end, size * 2);
        }
    }

    /// Returns the minimum score of the best tools in a sample, from the lists with the highest scores. The best of all
    /// tools have at least that score.
    fn sample(&mut self, scans: &mut [Scan<'_>], lengths: &[u16], n_best: usize, matches: impl Fn(u32) -> bool) -> u32 {
        if n_best > SAMPLE {
            return 0;
        }
        scans.iter_mut().for_each(Scan::bound_all);
        scans.sort_unstable_by_key(|scan| std::cmp::Reverse(scan.bound.text.saturating_add(scan.bound.name)));
        let Self { scores, found, .. } = self;
        let mut room = SAMPLE;
        for scan in &*scans {
            room -= scan.add_head(lengths, room, scores);
        }
        found.clear();
        scores.drain(0..lengths.len(), |doc, score| {
            if matches(doc) {
                found.push((doc, score));
            }
        });
        if found.len() < n_best {
            return 0;
        }
        let (_, (_, least), _) = found.select_nth_unstable_by(n_best - 1, |a, b| b.1.cmp(&a.1));
        *least
    }

    /// Returns the number of lists, in ascending order of their bounds, with tools that cannot become one of the best
    /// unless they are also in one of the others.
    fn divide(&mut self, scans: &[Scan<'_>], n_terms: usize, limit: Limit) -> usize {
        self.of_terms.clear();
        self.of_terms.resize(n_terms, Bound::default());
        self.before.clear();
        let mut all = Sum::default();
        let mut n_skipped = 0;
        for scan in scans {
            // A tool is in one of the two lists of a term.
            let of_term = &mut self.of_terms[scan.term];
            let other_terms =
                Sum { text: all.text - u64::from(of_term.text), names: all.names - u64::from(of_term.name) };
            self.before.push(Before { all, other_terms });
            *of_term = Bound { text: of_term.text.max(scan.bound.text), name: of_term.name.max(scan.bound.name) };
            all = other_terms.plus(*of_term);
            n_skipped += usize::from(!limit.can_reach(0, all));
        }
        n_skipped
    }

    /// Finds the tools in the window that can become one of the best, with their scores.
    fn score(
        &mut self,
        scans: &[Scan<'_>],
        n_skipped: usize,
        lengths: &[u16],
        limit: Limit,
        window: std::ops::Range<usize>,
    ) {
        let Self { scores, found, before, .. } = self;
        let (skipped, essential) = scans.split_at(n_skipped);
        // From the list with the highest scores, so that a list adds tools only where its own scores and those of the
        // lists before it suffice. Tools that were in one of the lists after it are there already.
        for (scan, before) in essential.iter().zip(&before[n_skipped..]).rev() {
            let adds = |block| limit.can_reach(0, before.other_terms.plus(block));
            scan.add_all(lengths, adds, scores);
        }
        found.clear();
        let rest = before.get(n_skipped).map_or(Sum::default(), |before| before.all);
        scores.drain(window, |doc, score| {
            if limit.can_reach(score, rest) {
                found.push((doc, score));
            }
        });
        for (scan, before) in skipped.iter().zip(&*before).rev() {
            scan.add_to(found, lengths);
            found.retain(|(_, score)| limit.can_reach(*score, before.all));
        }
    }
}

impl Sum {
    #[inline]
    fn plus(self, more: Bound) -> Self {
        Self { text: self.text + u64::from(more.text), names: self.names + u64::from(more.name) }
    }
}

/// The score that a tool needs.
#[derive(Clone, Copy)]
struct Limit {
    /// The maximum score of a name, which the terms share.
    names: u32,
    /// The minimum score of the best tools so far; 0 if there are fewer than `n_best`.
    least: u32,
    /// The number of best tools.
    n_best: usize,
}

impl Limit {
    /// Returns true if a tool can become one of the best with at most the scores of `more`.
    #[inline]
    fn can_reach(self, score: u32, more: Sum) -> bool {
        u64::from(score) + more.text + more.names.min(self.names.into()) >= u64::from(self.least)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use toolkit::Tool;

    use super::{Found, Top};
    use crate::record::Record;

    #[test]
    fn the_best_tools_stay_and_ties_are_in_the_order_of_ids() {
        let record = |name: &str| {
            let json = format!(r#"{{"name": "{name}", "description": "Adds.", "inputSchema": {{"type": "object"}}}}"#);
            Arc::new(Record::local(Tool::from_json(json).unwrap()))
        };
        let records: Vec<_> = ["e", "b", "d", "a", "c"].map(record).to_vec();
        let mut top = Top::new(3);
        for (nth, (score, record)) in (0..).zip([2, 5, 2, 2, 1].into_iter().zip(&records)) {
            top.offer(Found { score, place: (nth, 0), record });
        }
        let names: Vec<_> = top.into_sorted().iter().map(|found| found.record.id().to_string()).collect();
        assert_eq!(names, ["b", "a", "d"]);
    }
}
