//! Measures of search quality.

/// Measures of one result list, or their average over many; all from 0 to 1.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Measures {
    /// Recall: the fraction of the right tools among the first 1, 3, 5 and 10.
    pub(crate) recall: [f64; 4],
    /// nDCG of the first ten, with binary relevance.
    pub(crate) ndcg: f64,
    /// 1 if any of the first five is right.
    pub(crate) hit5: f64,
    /// Reciprocal rank of the first right tool among the first ten.
    pub(crate) mrr: f64,
}

impl Measures {
    pub(crate) fn of(answer: &[usize], gold: &[usize]) -> Self {
        let is_right: Vec<bool> = answer.iter().map(|tool| gold.contains(tool)).collect();
        let n_right = |depth: usize| is_right.iter().take(depth).filter(|right| **right).count() as f64;
        let discount = |rank: usize| 1.0 / (rank as f64 + 2.0).log2();
        let gained: f64 =
            is_right.iter().enumerate().take(10).filter(|(_, right)| **right).map(|(rank, _)| discount(rank)).sum();
        let ideal: f64 = (0..gold.len().min(10)).map(discount).sum();
        Self {
            recall: [1, 3, 5, 10].map(|depth| n_right(depth) / gold.len().max(1) as f64),
            ndcg: if ideal > 0.0 { gained / ideal } else { 0.0 },
            hit5: f64::from(n_right(5) > 0.0),
            mrr: is_right.iter().position(|right| *right).map_or(0.0, |rank| 1.0 / (rank as f64 + 1.0)),
        }
    }

    pub(crate) fn mean(all: &[Self]) -> Self {
        let n = all.len().max(1) as f64;
        let mean = |of: &dyn Fn(&Self) -> f64| all.iter().map(of).sum::<f64>() / n;
        Self {
            recall: [0, 1, 2, 3].map(|depth| mean(&|one| one.recall[depth])),
            ndcg: mean(&|one| one.ndcg),
            hit5: mean(&|one| one.hit5),
            mrr: mean(&|one| one.mrr),
        }
    }
}
