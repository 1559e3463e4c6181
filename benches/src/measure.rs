//! Rows that run in turns.
//!
//! All rows of a table run in each round, so that other load on the machine affects them equally. A ratio is computed
//! within a round, and the table contains the median of the rounds, which is reproducible where absolute times are not.

use std::fmt;
use std::hint::black_box;
use std::time::{Duration, Instant};

use tokio::runtime::Runtime;
use toolkit_plot::results::{Recorder, Table as ResultTable};

use crate::allocations;

const ROUNDS: usize = 41;
const TURN: Duration = Duration::from_millis(2);
/// The columns of the recorded table.
pub const COLUMNS: [&str; 5] = ["ns", "ratio", "ratio_p10", "ratio_p90", "allocations"];

/// Implementations of the same work; the first is the reference of the ratios.
pub struct Table<'a> {
    title: String,
    rows: Vec<Row<'a>>,
}

struct Row<'a> {
    name: &'a str,
    checked: &'a str,
    repeat: Box<dyn Fn(u32) + 'a>,
}

impl<'a> Table<'a> {
    /// Creates a table without rows.
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), rows: Vec::new() }
    }

    /// Adds an implementation; `checked` names the parts that it checks against the schemas.
    pub fn row<T>(&mut self, name: &'a str, checked: &'a str, call: impl Fn() -> T + 'a) {
        let repeat = move |n_calls| {
            for _ in 0..n_calls {
                black_box(call());
            }
        };
        self.rows.push(Row { name, checked, repeat: Box::new(repeat) });
    }

    /// Adds an asynchronous implementation. The runtime is entered once for all calls of a turn.
    pub fn row_async<T>(
        &mut self,
        name: &'a str,
        checked: &'a str,
        runtime: &'a Runtime,
        call: impl AsyncFn() -> T + 'a,
    ) {
        let repeat = move |n_calls| {
            runtime.block_on(async {
                for _ in 0..n_calls {
                    black_box(call().await);
                }
            });
        };
        self.rows.push(Row { name, checked, repeat: Box::new(repeat) });
    }

    /// Runs the rows in turns.
    #[must_use]
    pub fn measure(&self) -> Measured<'_> {
        let n_calls: Vec<u32> = self.rows.iter().map(calls_in_a_turn).collect();
        let mut nanos = vec![Vec::with_capacity(ROUNDS); self.rows.len()];
        for _ in 0..ROUNDS {
            for ((row, &n_calls), nanos) in self.rows.iter().zip(&n_calls).zip(&mut nanos) {
                let start = Instant::now();
                (row.repeat)(n_calls);
                nanos.push(start.elapsed().as_nanos() as f64 / f64::from(n_calls));
            }
        }
        Measured { table: self, nanos }
    }
}

fn calls_in_a_turn(row: &Row<'_>) -> u32 {
    // The first call may build schemas, which takes as long as a turn.
    (row.repeat)(1);
    let mut n_calls = 1;
    loop {
        let start = Instant::now();
        (row.repeat)(n_calls);
        let taken = start.elapsed();
        if taken > TURN / 4 {
            let calls = f64::from(n_calls) * TURN.as_secs_f64() / taken.as_secs_f64();
            return (calls as u32).max(1);
        }
        n_calls *= 2;
    }
}

/// The measurements, formatted as a Markdown table.
pub struct Measured<'a> {
    table: &'a Table<'a>,
    nanos: Vec<Vec<f64>>,
}

impl Measured<'_> {
    /// Formats the first two rows on one line: the title, the median of each, the ratio.
    #[must_use]
    pub fn pair(&self) -> String {
        let [first, second] = [0, 1].map(|row| nanoseconds(Sorted::of(self.nanos[row].iter().copied()).at(0.5)));
        format!("| {} | {first} | {second} | {} |", self.table.title, self.ratio(1))
    }

    /// Prints the table, and records it.
    pub fn report(&self, recorder: &mut Recorder) {
        println!("{self}");
        let mut table = ResultTable::new(self.table.title.clone(), &COLUMNS);
        for (row, values) in self.table.rows.iter().zip(self.values()) {
            table.row(row.name, values.map(Some));
        }
        recorder.add(table);
    }

    /// Returns the values of each row, in the order of [`COLUMNS`].
    pub fn values(&self) -> impl Iterator<Item = [f64; COLUMNS.len()]> {
        self.table.rows.iter().enumerate().map(|(idx, row)| {
            let nanos = Sorted::of(self.nanos[idx].iter().copied()).at(0.5);
            let ratios = self.ratios(idx);
            [nanos, ratios.at(0.5), ratios.at(0.1), ratios.at(0.9), allocations_of(row) as f64]
        })
    }

    fn ratios(&self, row: usize) -> Sorted {
        Sorted::of(self.nanos[row].iter().zip(&self.nanos[0]).map(|(nanos, first)| nanos / first))
    }

    fn ratio(&self, row: usize) -> String {
        let ratios = self.ratios(row);
        format!("{:.2} ({:.2}–{:.2})", ratios.at(0.5), ratios.at(0.1), ratios.at(0.9))
    }
}

impl fmt::Display for Measured<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Table { title, rows } = self.table;
        writeln!(f, "| {title} | checked | median ns | ratio (p10–p90) | allocations |")?;
        writeln!(f, "|---|---|---:|---:|---:|")?;
        for (idx, row) in rows.iter().enumerate() {
            let Row { name, checked, .. } = row;
            let median = nanoseconds(Sorted::of(self.nanos[idx].iter().copied()).at(0.5));
            writeln!(f, "| {name} | {checked} | {median} | {} | {} |", self.ratio(idx), allocations_of(row))?;
        }
        Ok(())
    }
}

/// Formats short times with one decimal.
fn nanoseconds(nanos: f64) -> String {
    if nanos < 100.0 { format!("{nanos:.1}") } else { format!("{nanos:.0}") }
}

/// Allocations of one call, without those of entering a runtime.
fn allocations_of(row: &Row<'_>) -> u64 {
    const CALLS: u32 = 16;
    let of = |n_calls| {
        let before = allocations::count();
        (row.repeat)(n_calls);
        allocations::count() - before
    };
    (of(1 + CALLS) - of(1)) / u64::from(CALLS)
}

/// Numbers in ascending order.
#[derive(Debug)]
pub struct Sorted(Vec<f64>);

impl Sorted {
    /// Sorts the numbers.
    pub fn of(numbers: impl IntoIterator<Item = f64>) -> Self {
        let mut numbers: Vec<f64> = numbers.into_iter().collect();
        numbers.sort_by(f64::total_cmp);
        Self(numbers)
    }

    /// Returns the smallest number that is not exceeded by the fraction `quantile` of them.
    ///
    /// # Panics
    ///
    /// Panics if there are no numbers.
    #[must_use]
    pub fn at(&self, quantile: f64) -> f64 {
        let last = self.0.len() - 1;
        self.0[(last as f64 * quantile).round() as usize]
    }
}
