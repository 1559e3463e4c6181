//! A bounded heap of the best tools.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::sync::Arc;

use crate::record::Record;

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
    pub(super) fn least(&self) -> u32 {
        if self.heap.len() < self.limit { 0 } else { self.heap.peek().map_or(0, |worst| worst.score) }
    }

    #[inline]
    pub(super) fn offer(&mut self, found: Found<'s>) {
        if self.heap.len() < self.limit {
            self.heap.push(found);
        } else if let Some(mut worst) = self.heap.peek_mut()
            && found < *worst
        {
            *worst = found;
        }
    }

    /// Returns the tools, the best first.
    pub(super) fn into_sorted(self) -> Vec<Found<'s>> {
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
