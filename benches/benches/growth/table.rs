//! A table of costs with a column for each size.

use toolkit_plot::results::{Recorder, Table};

/// Costs of the same work at several sizes.
pub(crate) struct Growth {
    title: String,
    /// The unit of the sizes, such as `bytes`.
    unit: &'static str,
    points: Vec<Point>,
}

struct Point {
    row: String,
    size: usize,
    cost: Cost,
}

/// The cost of one operation, or of one unit of it, such as a byte.
#[derive(Clone, Copy, Default)]
pub(crate) struct Cost {
    pub(crate) nanos: f64,
    /// The median, the 10th and the 90th percentile of the ratios to the reference at the same size.
    pub(crate) ratio: Option<[f64; 3]>,
    pub(crate) allocations: Option<f64>,
    /// The memory that is in use in the middle of the operation.
    pub(crate) memory_bytes: Option<f64>,
}

impl Cost {
    /// Divides the values of [`Measured::values`](toolkit_benches::measure::Measured::values) by a number of units.
    pub(crate) fn per(n_units: usize, [nanos, ratio, low, high, allocations]: [f64; 5]) -> Self {
        let n_units = n_units as f64;
        Self {
            nanos: nanos / n_units,
            ratio: Some([ratio, low, high]),
            allocations: Some(allocations / n_units),
            memory_bytes: None,
        }
    }
}

impl Growth {
    pub(crate) fn new(title: impl Into<String>, unit: &'static str) -> Self {
        Self { title: title.into(), unit, points: Vec::new() }
    }

    pub(crate) fn add(&mut self, row: impl Into<String>, size: usize, cost: Cost) {
        self.points.push(Point { row: row.into(), size, cost });
    }

    /// Prints the table, and records it.
    pub(crate) fn report(self, recorder: &mut Recorder) {
        let Self { title, unit, points } = self;
        let (mut sizes, mut rows): (Vec<usize>, Vec<&str>) = (Vec::new(), Vec::new());
        for Point { row, size, .. } in &points {
            if !sizes.contains(size) {
                sizes.push(*size);
            }
            if !rows.contains(&&**row) {
                rows.push(row);
            }
        }
        let headings: Vec<String> = sizes.iter().map(|size| thousands(*size)).collect();
        println!("| {title}: {unit} | {} | last / first |", headings.join(" | "));
        println!("|---|{}---:|", "---:|".repeat(sizes.len()));
        for row in rows {
            let costs: Vec<Cost> = points.iter().filter(|point| point.row == row).map(|point| point.cost).collect();
            print(row, &costs, |cost| Some(cost.nanos), time);
            print(&format!("{row}: memory"), &costs, |cost| cost.memory_bytes, |bytes| format!("{bytes:.0} B"));
            // The reference is 1.00 at each size.
            if costs.iter().any(|cost| cost.ratio.is_some_and(|[ratio, ..]| ratio != 1.0)) {
                let cells: Vec<String> = costs.iter().filter_map(|cost| cost.ratio).map(range).collect();
                println!("| {row}: ratio (p10–p90) | {} |  |", cells.join(" | "));
            }
        }
        println!();
        let columns = [unit, "ns", "ratio", "ratio_p10", "ratio_p90", "allocations", "memory_bytes"];
        let mut table = Table::new(title, &columns);
        for Point { row, size, cost } in points {
            let [ratio, low, high] = cost.ratio.map_or([None; 3], |ratio| ratio.map(Some));
            let size = size as f64;
            table.row(row, [Some(size), Some(cost.nanos), ratio, low, high, cost.allocations, cost.memory_bytes]);
        }
        recorder.add(table);
    }
}

/// Prints one value of all sizes, if it was measured.
fn print(name: &str, costs: &[Cost], value: impl Fn(&Cost) -> Option<f64>, format: impl Fn(f64) -> String) {
    let values: Vec<f64> = costs.iter().filter_map(value).collect();
    if let [first, .., last] = values[..] {
        let cells: Vec<String> = values.iter().copied().map(format).collect();
        println!("| {name} | {} | {:.2} |", cells.join(" | "), last / first);
    }
}

fn range([ratio, low, high]: [f64; 3]) -> String {
    format!("{ratio:.2} ({low:.2}–{high:.2})")
}

/// Formats a time with three digits.
fn time(nanos: f64) -> String {
    let (value, unit) = match nanos {
        1e6.. => (nanos / 1e6, "ms"),
        1e3.. => (nanos / 1e3, "µs"),
        _ => (nanos, "ns"),
    };
    match value {
        100.0.. => format!("{value:.0} {unit}"),
        10.0.. => format!("{value:.1} {unit}"),
        _ => format!("{value:.2} {unit}"),
    }
}

/// Formats an integer with a comma after every three digits from the right.
fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> = digits.as_bytes().rchunks(3).rev().filter_map(|group| str::from_utf8(group).ok()).collect();
    groups.join(",")
}
