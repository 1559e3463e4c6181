//! The search for the best tools.
//!
//! Name matches are scored first. Then the postings of each word are added to a table of scores, from the word with the
//! highest score to that with the lowest. In a block of postings whose bound shows that a tool without any of the words
//! so far cannot become one of the best, only the tools with earlier words are added to. As soon as this holds for all
//! remaining words, only the tools that still can become one of the best are followed.
//!
//! Scores are integers in [`UNIT`]s, so that they do not depend on the order of addition: a tool has the same score in
//! every part of the index, and tools with equal scores are ordered by id.

mod top;

use std::cell::RefCell;

pub(super) use self::top::{Found, Top};
use super::norm::{Norm, ONE};
use super::parsed_query::ParsedQuery;
use super::part::{Part, idf};
use super::query::{Filter, Query};
use super::segment::{Block, Posting, Postings};
use super::snapshot::Snapshot;

/// The score 1.
pub(super) const UNIT: f32 = 65_536.0;

/// A word of the query in a part of the index.
struct Scan<'s> {
    postings: Postings<'s>,
    /// The maximum score of the word and of its stem for any tool, in units.
    word: u64,
    stem: u64,
    /// The maximum score of the word for a tool of this part.
    most: u32,
}

/// A stem of the query in the names of a part, with its score.
struct Named<'s> {
    docs: &'s [u32],
    worth: f32,
}

impl Snapshot {
    pub(super) fn found(&self, query: &Query<'_>, limit: usize) -> Vec<Found<'_>> {
        if query.text().trim().is_empty() {
            let matching = self.records().filter(|record| query.filter.matches(record));
            return matching.take(limit).map(|record| Found { score: 0, record }).collect();
        }
        search(self, &ParsedQuery::new(query.text(), self), &query.filter, limit)
    }
}

/// Returns the best tools of all parts.
fn search<'s>(snapshot: &'s Snapshot, query: &ParsedQuery, filter: &Filter, limit: usize) -> Vec<Found<'s>> {
    let limit = limit.min(snapshot.n_tools);
    if limit == 0 {
        return Vec::new();
    }
    let mut top = Top::new(limit);
    // Taken out of the cell, so that a nested search, or one after a panic, uses a table of its own.
    let mut table = TABLE.with(|table| std::mem::take(&mut *table.borrow_mut()));
    let norm = snapshot.norm();
    for part in &snapshot.parts {
        let (scans, named) = scans_of(snapshot, part, query, norm);
        if !scans.is_empty() {
            table.search(part, &scans, &named, norm, filter, &mut top);
        }
    }
    TABLE.with(|kept| *kept.borrow_mut() = table);
    top.into_sorted()
}

fn scans_of<'s>(
    snapshot: &Snapshot,
    part: &'s Part,
    query: &ParsedQuery,
    norm: Norm<'_>,
) -> (Vec<Scan<'s>>, Vec<Named<'s>>) {
    let (segment, ranking) = (&*part.segment, &snapshot.ranking);
    let worth = |count: u32| idf(snapshot.n_tools, count) * UNIT;
    let units = |worth: f32| (worth * (ranking.k1 + 1.0)) as u64;
    let mut scans: Vec<Scan<'s>> = Vec::with_capacity(2 * query.words.len());
    let mut named = Vec::with_capacity(query.words.len());
    let mut stems: Vec<u32> = Vec::with_capacity(query.words.len());
    for word in &query.words {
        let mut stem = None;
        if let Some(idx) = segment.words.find(&word.text) {
            let term = segment.words.get(idx);
            let units = units(word.factor * worth(part.word_count(idx)));
            scans.push(Scan { postings: segment.blocks(term), word: units, stem: 0, most: 0 });
            stem = Some(term.partner);
        }
        if ranking.stems == 0.0 && ranking.name_match == 0.0 {
            continue;
        }
        let stem = stem.or_else(|| segment.stems.find(&word.stem)).filter(|stem| !stems.contains(stem));
        let Some(stem) = stem else { continue };
        stems.push(stem);
        let worth = word.factor * worth(part.stem_count(stem));
        named.push(Named { docs: segment.named(stem), worth: ranking.name_match * worth });
        let postings = segment.blocks(segment.stems.get(stem));
        let units = units(ranking.stems * worth);
        // A stem with a single form shares its postings, which are read once.
        match scans.iter_mut().find(|scan| std::ptr::eq(scan.postings.all(), postings.all())) {
            Some(scan) => scan.stem = units,
            None if units > 0 => scans.push(Scan { postings, word: 0, stem: units, most: 0 }),
            None => {}
        }
    }
    for scan in &mut scans {
        scan.most = scan.postings.bounds().map(|block| scan.bound(block, norm)).max().unwrap_or_default();
    }
    scans.sort_by_key(|scan| std::cmp::Reverse(scan.most));
    (scans, named)
}

thread_local! {
    static TABLE: RefCell<Table> = RefCell::default();
}

/// The scores by tool, all zero between searches.
#[derive(Default)]
struct Table {
    scores: Vec<u32>,
    /// The tools with a nonzero score.
    found: Vec<u32>,
    /// The highest score.
    best: u32,
    sorted: Vec<u32>,
}

impl Table {
    fn search<'s>(
        &mut self,
        part: &'s Part,
        scans: &[Scan<'_>],
        named: &[Named<'_>],
        norm: Norm<'_>,
        filter: &Filter,
        top: &mut Top<'s>,
    ) {
        let n_docs = part.segment.records.len();
        if self.scores.len() < n_docs {
            self.scores.resize(n_docs, 0);
        }
        let accepts_all = !part.has_removed() && filter.is_empty();
        let matches =
            |doc: u32| accepts_all || (part.is_live(doc as usize) && filter.matches(part.record(doc as usize)));
        // Names first: they have few postings, and their scores have no useful bound.
        for Named { docs, worth } in named.iter().filter(|named| named.worth > 0.0) {
            for doc in *docs {
                self.add(*doc, (worth * part.name_shares[*doc as usize]) as u32, matches);
            }
        }
        let mut to_come = scans.iter().fold(0_u32, |sum, scan| sum.saturating_add(scan.most));
        for (idx, scan) in scans.iter().enumerate() {
            let rest = to_come.saturating_sub(scan.most);
            // Only computed if more postings are left than tools were found, and some of them may be skipped.
            let is_worthwhile = scan.postings.all().len() > self.found.len() && rest < self.best.max(top.least());
            let least = if is_worthwhile { self.least_of(top) } else { 0 };
            if to_come < least {
                self.follow(&scans[idx..], to_come, least, norm);
                break;
            }
            for (block, postings) in scan.postings.blocks() {
                let takes_new = least <= rest || scan.bound(block, norm).saturating_add(rest) >= least;
                for posting in postings {
                    if takes_new || self.scores[posting.doc as usize] > 0 {
                        self.add(posting.doc, scan.gain(posting, norm), matches);
                    }
                }
            }
            to_come = rest;
        }
        self.best = 0;
        for doc in self.found.drain(..) {
            let score = std::mem::take(&mut self.scores[doc as usize]);
            top.offer(score, || part.record(doc as usize));
        }
    }

    #[inline]
    fn add(&mut self, doc: u32, gain: u32, matches: impl Fn(u32) -> bool) {
        let score = &mut self.scores[doc as usize];
        if *score == 0 {
            if !matches(doc) {
                return;
            }
            self.found.push(doc);
        }
        // A word that every tool has adds almost nothing, but it is a match.
        *score = score.saturating_add(gain.max(1));
        self.best = self.best.max(*score);
    }

    /// Returns the minimum score of the best tools.
    fn least_of(&mut self, top: &Top<'_>) -> u32 {
        if self.found.len() < top.limit() {
            return top.least();
        }
        self.sorted.clear();
        self.sorted.extend(self.found.iter().map(|doc| self.scores[*doc as usize]));
        let (_, least, _) = self.sorted.select_nth_unstable_by(top.limit() - 1, |a, b| b.cmp(a));
        top.least().max(*least)
    }

    /// Adds the remaining words to those tools only that can still reach `least`.
    fn follow(&mut self, scans: &[Scan<'_>], to_come: u32, least: u32, norm: Norm<'_>) {
        let Self { scores, found, .. } = self;
        found.retain(|doc| {
            let score = &mut scores[*doc as usize];
            let can_reach = score.saturating_add(to_come) >= least;
            if !can_reach {
                *score = 0;
            }
            can_reach
        });
        found.sort_unstable();
        for scan in scans {
            let mut rest = scan.postings.all();
            for doc in &*found {
                rest = &rest[gallop(rest, *doc)..];
                match rest.first() {
                    Some(posting) if posting.doc == *doc => {
                        let score = &mut scores[*doc as usize];
                        *score = score.saturating_add(scan.gain(posting, norm).max(1));
                    }
                    Some(_) => {}
                    None => break,
                }
            }
        }
    }
}

impl Scan<'_> {
    /// Returns a bound of the scores in a block.
    #[inline]
    fn bound(&self, block: Block, norm: Norm<'_>) -> u32 {
        // A float may round a larger fraction to a smaller number. A match has at least the score 1.
        self.share(norm.fixed(block.max_frequency, block.min_length) + 4).max(1)
    }

    /// Returns the score of a tool for the word.
    #[inline]
    fn gain(&self, posting: &Posting, norm: Norm<'_>) -> u32 {
        self.share(norm.fixed(posting.frequency(), posting.length))
    }

    /// Returns a fixed-point fraction of the maximum score.
    #[inline]
    fn share(&self, part: u64) -> u32 {
        // Rounded separately, since word and stem may be separate scans in another segment.
        ((self.word * part) >> ONE).saturating_add((self.stem * part) >> ONE).min(u64::from(u32::MAX)) as u32
    }
}

/// Returns the number of postings before `doc`, by exponential search.
fn gallop(postings: &[Posting], doc: u32) -> usize {
    let mut step = 1;
    while step < postings.len() && postings[step].doc < doc {
        step *= 2;
    }
    let start = step / 2;
    let end = postings.len().min(step + 1);
    start + postings[start..end].partition_point(|posting| posting.doc < doc)
}
