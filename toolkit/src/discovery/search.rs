//! Finding the tools that answer best.
//!
//! Words are looked up from the rarest to the commonest, and what each adds to a tool is summed up in a table. As soon
//! as tools that have none of the words so far cannot become one of the best any more, only those are followed that
//! still can.
//!
//! Scores are summed up in whole [`UNIT`]s, so that the order of summation changes nothing: a tool has the same score in
//! whichever part of the index it is, and equal tools are ranked by their ids.

mod top;

use std::cell::RefCell;

pub(super) use self::top::{Found, Top};
use super::asked::Asked;
use super::part::{Part, idf};
use super::query::Filter;
use super::segment::Posting;
use super::snapshot::Snapshot;

/// One, as a score.
pub(super) const UNIT: f32 = 65_536.0;

/// Shares of a name may add up to a little more than all of it.
const ROUNDING: f32 = 64.0;

/// A word in one part of the index.
struct Scan<'s> {
    postings: &'s [Posting],
    /// What the word is worth as it is written, as a stem, and in a name.
    word: f32,
    stem: f32,
    name: f32,
    /// No tool gets more for it, its name aside.
    most: u32,
}

/// What a length costs.
#[derive(Clone, Copy)]
pub(super) struct Norm {
    fixed: f32,
    per_word: f32,
}

impl Norm {
    pub(super) fn of(snapshot: &Snapshot) -> Self {
        let ranking = &snapshot.ranking;
        let average = snapshot.total_length as f32 / snapshot.n_tools.max(1) as f32;
        let per_word = if average > 0.0 { ranking.k1 * ranking.b / average } else { 0.0 };
        Self { fixed: ranking.k1 * (1.0 - ranking.b), per_word }
    }

    /// How much of what a word is worth at most a tool gets for it.
    #[inline]
    pub(super) fn part(self, frequency: u16, length: u16) -> f32 {
        let frequency = f32::from(frequency);
        frequency / (frequency + (self.fixed + self.per_word * f32::from(length)))
    }
}

/// The best tools of all parts.
pub(super) fn search<'s>(snapshot: &'s Snapshot, asked: &Asked, filter: &Filter, limit: usize) -> Vec<Found<'s>> {
    let limit = limit.min(snapshot.n_tools);
    if limit == 0 {
        return Vec::new();
    }
    let mut top = Top::new(limit);
    // Taken out, so that a search within a search, or after a panic, finds a table of its own.
    let mut table = TABLE.with(|table| std::mem::take(&mut *table.borrow_mut()));
    let norm = Norm::of(snapshot);
    for part in &snapshot.parts {
        let scans = scans_of(snapshot, part, asked);
        if !scans.is_empty() {
            table.search(part, &scans, norm, snapshot.ranking.name_match, filter, &mut top);
        }
    }
    TABLE.with(|kept| *kept.borrow_mut() = table);
    top.into_sorted()
}

fn scans_of<'s>(snapshot: &Snapshot, part: &'s Part, asked: &Asked) -> Vec<Scan<'s>> {
    let (segment, ranking) = (&*part.segment, &snapshot.ranking);
    let worth = |count: u32| idf(snapshot.n_tools, count) * UNIT;
    let mut scans: Vec<Scan<'s>> = Vec::with_capacity(asked.words.len() + asked.stems.len());
    for (word, factor) in &asked.words {
        if let Some(idx) = segment.words.find(word) {
            let word = factor * worth(part.word_count(idx)) * (ranking.k1 + 1.0);
            scans.push(Scan {
                postings: segment.postings(segment.words.get(idx)),
                word,
                stem: 0.0,
                name: 0.0,
                most: 0,
            });
        }
    }
    for (stem, factor) in &asked.stems {
        let Some(idx) = segment.stems.find(stem) else { continue };
        let worth = factor * worth(part.stem_count(idx));
        let stem = ranking.stems * worth * (ranking.k1 + 1.0);
        let name = ranking.name_match * worth;
        if stem <= 0.0 && name <= 0.0 {
            continue;
        }
        let postings = segment.postings(segment.stems.get(idx));
        // A stem of one form is read together with it.
        match scans.iter_mut().find(|scan| std::ptr::eq(scan.postings, postings)) {
            Some(scan) => (scan.stem, scan.name) = (stem, name),
            None => scans.push(Scan { postings, word: 0.0, stem, name, most: 0 }),
        }
    }
    for scan in &mut scans {
        scan.most = (scan.word as u32).saturating_add(scan.stem as u32).saturating_add(1);
    }
    scans.sort_by_key(|scan| std::cmp::Reverse(scan.most));
    scans
}

thread_local! {
    static TABLE: RefCell<Table> = RefCell::default();
}

/// Scores by tool, all zero between searches.
#[derive(Default)]
struct Table {
    scores: Vec<u32>,
    /// The tools whose score is not zero.
    found: Vec<u32>,
    sorted: Vec<u32>,
}

impl Table {
    fn search<'s>(
        &mut self,
        part: &'s Part,
        scans: &[Scan<'_>],
        norm: Norm,
        name_match: f32,
        filter: &Filter,
        top: &mut Top<'s>,
    ) {
        let n_docs = part.segment.records.len();
        if self.scores.len() < n_docs {
            self.scores.resize(n_docs, 0);
        }
        let admits = |doc: usize| part.is_live(doc) && filter.admits(part.record(doc));
        let is_open = !part.has_dead() && filter.is_open();
        let shares = &*part.name_shares;

        // What tools can still get; a name is asked for once.
        let names = if scans.iter().any(|scan| scan.name > 0.0) { name_match * UNIT + ROUNDING } else { 0.0 };
        let mut to_come = scans.iter().fold(names as u32, |sum, scan| sum.saturating_add(scan.most));
        let mut best = 0;
        for (idx, scan) in scans.iter().enumerate() {
            if to_come < best.max(top.least()) && scan.postings.len() > self.found.len() {
                let least = self.least_of(top);
                if to_come < least {
                    self.follow(&scans[idx..], to_come, least, norm, shares);
                    break;
                }
            }
            to_come = to_come.saturating_sub(scan.most);
            for posting in scan.postings {
                let doc = posting.doc as usize;
                let score = &mut self.scores[doc];
                if *score == 0 {
                    if !is_open && !admits(doc) {
                        continue;
                    }
                    self.found.push(posting.doc);
                }
                *score = score.saturating_add(scan.gain(posting, norm, shares));
                best = best.max(*score);
            }
        }
        for doc in self.found.drain(..) {
            let score = std::mem::take(&mut self.scores[doc as usize]);
            top.offer(score, || part.record(doc as usize));
        }
    }

    /// What a tool must reach at least to be among the best.
    fn least_of(&mut self, top: &Top<'_>) -> u32 {
        if self.found.len() < top.limit() {
            return top.least();
        }
        self.sorted.clear();
        self.sorted.extend(self.found.iter().map(|doc| self.scores[*doc as usize]));
        let (_, least, _) = self.sorted.select_nth_unstable_by(top.limit() - 1, |a, b| b.cmp(a));
        top.least().max(*least)
    }

    /// Looks the rest of the words up for those tools only that can still reach `least`.
    fn follow(&mut self, scans: &[Scan<'_>], to_come: u32, least: u32, norm: Norm, shares: &[f32]) {
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
            let mut rest = scan.postings;
            for doc in &*found {
                rest = &rest[gallop(rest, *doc)..];
                match rest.first() {
                    Some(posting) if posting.doc == *doc => {
                        let score = &mut scores[*doc as usize];
                        *score = score.saturating_add(scan.gain(posting, norm, shares));
                    }
                    Some(_) => {}
                    None => break,
                }
            }
        }
    }
}

impl Scan<'_> {
    /// What a tool gets for having the word.
    #[inline]
    fn gain(&self, posting: &Posting, norm: Norm, shares: &[f32]) -> u32 {
        let part = norm.part(posting.frequency(), posting.length);
        let mut gain = (self.word * part) as u32 + (self.stem * part) as u32;
        if self.name > 0.0 && posting.is_in_name() {
            gain += (self.name * shares[posting.doc as usize]) as u32;
        }
        // A word that every tool has is worth next to nothing, but it was found.
        gain.max(1)
    }
}

/// How many postings stand before `doc`, which is likely to be near.
fn gallop(postings: &[Posting], doc: u32) -> usize {
    let mut step = 1;
    while step < postings.len() && postings[step].doc < doc {
        step *= 2;
    }
    let start = step / 2;
    let end = postings.len().min(step + 1);
    start + postings[start..end].partition_point(|posting| posting.doc < doc)
}
