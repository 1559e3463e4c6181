//! Scoring of tools in windows.

use super::scan::{Bound, Scan};
use super::scores::Scores;

/// The number of tools in the first window. Each window is twice as large as the previous one.
const FIRST_WINDOW: usize = 192;

/// The scores of the tools in a window.
#[derive(Default)]
pub(super) struct Table {
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
    ///
    /// `names` is the maximum score of a name, which the terms share.
    pub(super) fn search(
        &mut self,
        mut scans: Vec<Scan<'_>>,
        lengths: &[u16],
        names: u32,
        mut least: u32,
        mut offer: impl FnMut(u32, u32) -> u32,
    ) {
        let n_docs = lengths.len();
        self.scores.make_room(n_docs);
        let n_terms = scans.iter().map(|scan| scan.term + 1).max().unwrap_or(0);
        let (mut start, mut size) = (0, FIRST_WINDOW);
        while start < n_docs && !scans.is_empty() {
            let end = n_docs.min(start + size);
            scans.retain_mut(|scan| scan.enter(end as u32));
            scans.sort_unstable_by_key(|scan| scan.bound.text.saturating_add(scan.bound.name));
            let limit = Limit { names, least };
            let n_skipped = self.divide(&scans, n_terms, limit);
            if n_skipped < scans.len() {
                self.score(&scans, n_skipped, lengths, limit, start..end);
                for &(doc, score) in &self.found {
                    if score >= least {
                        least = offer(doc, score);
                    }
                }
            }
            (start, size) = (end, size * 2);
        }
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
    /// The maximum score of a name.
    names: u32,
    /// The minimum score of the best tools.
    least: u32,
}

impl Limit {
    /// Returns true if a tool can become one of the best with at most the scores of `more`.
    #[inline]
    fn can_reach(self, score: u32, more: Sum) -> bool {
        u64::from(score) + more.text + more.names.min(self.names.into()) >= u64::from(self.least)
    }
}
