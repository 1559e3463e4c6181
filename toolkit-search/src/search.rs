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

mod scan;
mod scans;
mod scores;
mod top;
mod windows;

use std::cell::RefCell;

use self::scans::scans_of;
pub(super) use self::top::{Found, Top};
use self::windows::{Limit, Table};
use super::parsed_query::ParsedQuery;
use super::query::{Filter, Query};
use super::segment::Order;
use super::state::State;

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
fn best<'s>(state: &'s State, query: &ParsedQuery, filter: &Filter, limit: usize) -> Vec<Found<'s>> {
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
        let scans = scans_of(state, part, query, norm);
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
