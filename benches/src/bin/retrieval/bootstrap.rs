//! Confidence intervals of differences.

use crate::measures::Measures;

/// The number of bootstrap resamples.
const DRAWS: usize = 10_000;

/// Returns the mean of paired differences, and the interval that contains 95 % of the means of resamples of the same
/// size, drawn with replacement. The same differences give the same interval.
fn interval(differences: &[f64]) -> (f64, f64, f64) {
    let n = differences.len().max(1);
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut draw = || {
        // xorshift64*, which is sufficient to resample questions.
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        (state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % n
    };
    let mut means: Vec<f64> = (0..DRAWS).map(|_| (0..n).map(|_| differences[draw()]).sum::<f64>() / n as f64).collect();
    means.sort_by(f64::total_cmp);
    let at = |share: f64| means[(share * (DRAWS - 1) as f64).round() as usize];
    (differences.iter().sum::<f64>() / n as f64, at(0.025), at(0.975))
}

/// Returns the gain in nDCG@10 over other results for the same questions, with its interval.
pub(crate) fn gain(measured: &[Measures], over: &[Measures]) -> String {
    let gains: Vec<f64> = measured.iter().zip(over).map(|(a, b)| a.ndcg - b.ndcg).collect();
    if gains.iter().all(|gain| *gain == 0.0) {
        return String::new();
    }
    let (mean, low, high) = interval(&gains);
    format!("{mean:+.3} [{low:+.3}, {high:+.3}]")
}
