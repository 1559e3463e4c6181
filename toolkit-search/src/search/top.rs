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
    pub(crate) record: &'s Arc<Record>,
}

impl<'s> Top<'s> {
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit, heap: BinaryHeap::new() }
    }

    pub(super) fn limit(&self) -> usize {
        self.limit
    }

    /// Returns the minimum score of the best tools.
    pub(super) fn least(&self) -> u32 {
        if self.heap.len() < self.limit { 0 } else { self.heap.peek().map_or(0, |worst| worst.score) }
    }

    #[inline]
    pub(super) fn offer(&mut self, score: u32, record: impl FnOnce() -> &'s Arc<Record>) {
        if score == 0 || score < self.least() {
            return;
        }
        let found = Found { score, record: record() };
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
        other.score.cmp(&self.score).then_with(|| self.record.id().cmp(other.record.id()))
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

    use super::Top;
    use crate::record::Record;

    #[test]
    fn the_best_tools_stay_and_ties_are_in_the_order_of_ids() {
        let record = |name: &str| {
            let json = format!(r#"{{"name": "{name}", "description": "Adds.", "inputSchema": {{"type": "object"}}}}"#);
            Arc::new(Record::new(Tool::from_json(json).unwrap(), Vec::new()))
        };
        let records: Vec<_> = ["e", "b", "d", "a", "c"].map(record).to_vec();
        let mut top = Top::new(3);
        for (score, record) in [2, 5, 2, 2, 0].into_iter().zip(&records) {
            top.offer(score, || record);
        }
        let names: Vec<_> = top.into_sorted().iter().map(|found| found.record.id().to_string()).collect();
        assert_eq!(names, ["b", "a", "d"]);
    }
}
