//! First lesson: turning a function into a tool.
//!
//! A model reads the doc comment; the parameters are the arguments; the return value is the result. Everything else is
//! in the attribute. The function can still be called as a function.

use schemars::JsonSchema;
use serde::Serialize;
use toolkit::{ToolError, tool};

/// Adds two integers.
#[tool(
    namespace = "math",
    version = "1.0.0",
    tags = ["arithmetic"],
    category = "numbers",
    read_only,
    idempotent,
    open_world = false,
    examples = [r#"{"a": 2, "b": 3}"#]
)]
pub fn add(
    /// First addend.
    a: i64,
    /// Second addend.
    b: i64,
) -> Result<i64, ToolError> {
    a.checked_add(b).ok_or_else(|| ToolError::failed("the sum does not fit into 64 bits; use smaller numbers"))
}

/// Statistics of a list of numbers.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Description {
    /// Number of values.
    pub count: usize,
    /// Sum of the values.
    pub sum: f64,
    /// Smallest value.
    pub min: f64,
    /// Largest value.
    pub max: f64,
    /// Arithmetic mean.
    pub mean: f64,
    /// Median: the middle value, or the mean of the two middle values.
    pub median: f64,
    /// Standard deviation of the sample (divided by `count - 1`); absent for a single number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub standard_deviation: Option<f64>,
    /// The requested percentiles, in the requested order, by linear interpolation.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub percentiles: Vec<f64>,
}

/// Computes statistics of a list of numbers: sum, extremes, mean, median, standard deviation, and percentiles on
/// request.
#[tool(
    namespace = "math",
    version = "1.0.0",
    title = "Statistics of a list",
    tags = ["statistics"],
    category = "numbers",
    read_only,
    idempotent,
    open_world = false,
    aliases = ["math:statistics"],
    examples = [r#"{"numbers": [3, 1, 2], "percentiles": [90]}"#]
)]
pub fn describe_numbers(
    /// The numbers, in any order.
    #[schemars(length(min = 1, max = 100_000))]
    numbers: Vec<f64>,
    /// Percentiles to compute, each from 0 to 100.
    #[schemars(length(max = 100), inner(range(min = 0, max = 100)))]
    #[serde(default)]
    percentiles: Vec<f64>,
) -> Result<Description, ToolError> {
    let mut sorted = numbers;
    sorted.sort_by(f64::total_cmp);
    let count = sorted.len();
    let sum: f64 = sorted.iter().sum();
    let mean = sum / count as f64;
    let squares: f64 = sorted.iter().map(|number| (number - mean).powi(2)).sum();
    // JSON cannot represent infinity, so a result beyond the largest float is an error.
    if !squares.is_finite() || !sum.is_finite() {
        return Err(ToolError::failed(
            "the numbers are too large for their sum or spread to be computed; divide them all by the same factor",
        ));
    }
    Ok(Description {
        count,
        sum,
        min: sorted[0],
        max: sorted[count - 1],
        mean,
        median: percentile(&sorted, 50.0),
        standard_deviation: (count > 1).then(|| (squares / (count - 1) as f64).sqrt()),
        percentiles: percentiles.iter().map(|&rank| percentile(&sorted, rank)).collect(),
    })
}

/// Computes the mean of a list of numbers.
#[tool(
    namespace = "math",
    version = "1.0.0",
    category = "numbers",
    read_only,
    deprecated = "use `math:describe_numbers`"
)]
pub fn mean(
    /// The numbers.
    #[schemars(length(min = 1, max = 100_000))]
    numbers: Vec<f64>,
) -> Result<f64, ToolError> {
    describe_numbers(numbers, Vec::new()).map(|description| description.mean)
}

/// Requires that `sorted` is not empty and that `rank` is from 0 to 100.
fn percentile(sorted: &[f64], rank: f64) -> f64 {
    let place = rank / 100.0 * (sorted.len() - 1) as f64;
    let (below, above) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    below + (above - below) * place.fract()
}
