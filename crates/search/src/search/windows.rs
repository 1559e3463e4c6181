//! Scoring of tools in windows.

use super::scan::Scores;
use super::scan::{Bound, Scan};

/// The number of tools in the first window. Each window is twice as large as the previous one.
const FIRST_WINDOW: usize = 2048;

/// The number of tools that are scored before the first window.
const SAMPLE: usize = 96;

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
    pub(super) fn search(
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
pub(super) struct Limit {
    /// The maximum score of a name, which the terms share.
    pub(super) names: u32,
    /// The minimum score of the best tools so far; 0 if there are fewer than `n_best`.
    pub(super) least: u32,
    /// The number of best tools.
    pub(super) n_best: usize,
}

impl Limit {
    /// Returns true if a tool can become one of the best with at most the scores of `more`.
    #[inline]
    fn can_reach(self, score: u32, more: Sum) -> bool {
        u64::from(score) + more.text + more.names.min(self.names.into()) >= u64::from(self.least)
    }
}
