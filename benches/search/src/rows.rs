//! The measurements of each search library, in turns.

use std::error::Error;
use std::hint::black_box;
use std::time::{Duration, Instant};

use cpu_time::ProcessTime;
use toolkit_plot::results::Table;

use crate::MEMORY;
use crate::corpus::Corpus;

/// The number of results of a query.
pub(crate) const LIMIT: usize = 10;
/// The number of repetitions of each query, whose median counts, since the machine is shared.
const ROUNDS: usize = 15;
/// The time above which a query is repeated less often.
const LONG: Duration = Duration::from_millis(20);
/// The number of times that each index is built, whose minimum counts.
const BUILDS: usize = 3;
/// The columns of the recorded table.
pub(crate) const COLUMNS: [&str; 8] =
    ["tools", "build_cpu_ms", "bytes", "max_bytes", "p50_us", "ratio", "p99_us", "update_us"];

/// A search library with an index of a corpus.
pub(crate) trait Searcher {
    /// Returns the number of results for the question at this index.
    fn search(&self, question: usize) -> usize;

    /// Replaces the tool at this index; returns `false` if that is not supported.
    fn update(&self, corpus: &Corpus, place: usize) -> bool;
}

type Build = fn(&Corpus) -> Result<Box<dyn Searcher>, Box<dyn Error>>;

/// Measurements of a search library.
pub(crate) struct Row {
    name: &'static str,
    build: Build,
    built: Option<Box<dyn Searcher>>,
    /// Processor time of all threads, since more threads get more time on a busy machine.
    time: Duration,
    /// Memory in bytes, after the build and at most during the build.
    memory: (usize, usize),
    /// The time of each query, in µs.
    times: Vec<f64>,
    update: Option<f64>,
}

impl Row {
    pub(crate) fn of(name: &'static str, build: Build) -> Self {
        Self { name, build, built: None, time: Duration::MAX, memory: (0, 0), times: Vec::new(), update: None }
    }

    fn build(&mut self, corpus: &Corpus) -> Result<(), Box<dyn Error>> {
        self.built = None;
        MEMORY.reset_peak_usage();
        let before = MEMORY.current_usage();
        let start = ProcessTime::now();
        self.built = Some((self.build)(corpus)?);
        self.time = self.time.min(start.elapsed());
        let of_all = |bytes: usize| bytes.saturating_sub(before);
        self.memory = (of_all(MEMORY.current_usage()), of_all(MEMORY.peak_usage()));
        Ok(())
    }

    fn percentile(&self, percent: usize) -> f64 {
        let mut times = self.times.clone();
        times.sort_by(f64::total_cmp);
        times[times.len() * percent / 100]
    }
}

/// Builds all indexes repeatedly, and then runs each question on all of them.
pub(crate) fn measure(rows: &mut [Row], corpus: &Corpus) -> Result<(), Box<dyn Error>> {
    for _ in 0..BUILDS {
        for row in &mut *rows {
            row.build(corpus)?;
        }
    }
    for question in 0..corpus.questions.len() {
        for row in &mut *rows {
            let searcher = row.built.as_deref().ok_or("it was not built")?;
            row.times.push(median_of(|| _ = black_box(searcher.search(question))));
        }
    }
    for row in rows {
        let searcher = row.built.as_deref().ok_or("it was not built")?;
        let mut times = Vec::new();
        for place in (0..corpus.tools.len()).step_by(corpus.tools.len().div_ceil(100)) {
            let start = Instant::now();
            if searcher.update(corpus, place) {
                times.push(micros(start.elapsed()));
            }
        }
        times.sort_by(f64::total_cmp);
        row.update = times.get(times.len() / 2).copied();
    }
    Ok(())
}

fn median_of(search: impl Fn()) -> f64 {
    let begin = Instant::now();
    let mut times = Vec::with_capacity(ROUNDS);
    while times.len() < ROUNDS && (times.is_empty() || begin.elapsed() < LONG) {
        let start = Instant::now();
        search();
        times.push(micros(start.elapsed()));
    }
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Prints the head of a table; `tools` describes the tools.
pub(crate) fn print_head(tools: &str) {
    println!(
        "| {tools} | | build, CPU ms | memory (at most), MB | query p50, µs | of tantivy's | p99, µs | update of one, µs |"
    );
    println!("|---:|---|---:|---:|---:|---:|---:|---:|");
}

pub(crate) fn print(rows: &[Row], size: usize) {
    let first = rows[0].percentile(50);
    for row in rows {
        let (p50, p99) = (row.percentile(50), row.percentile(99));
        let megabytes = |bytes: usize| bytes as f64 / 1e6;
        println!(
            "| {size} | {} | {:.1} | {:.1} ({:.1}) | {p50:.1} | {:.2} | {p99:.1} | {} |",
            row.name,
            micros(row.time) / 1e3,
            megabytes(row.memory.0),
            megabytes(row.memory.1),
            p50 / first,
            row.update.map(|update| format!("{update:.0}")).unwrap_or_default()
        );
    }
}

/// Adds the rows to a table with the columns [`COLUMNS`].
pub(crate) fn record(table: &mut Table, rows: &[Row], size: usize) {
    let first = rows[0].percentile(50);
    for row in rows {
        let p50 = row.percentile(50);
        let (bytes, max_bytes) = row.memory;
        let values = [size as f64, micros(row.time) / 1e3, bytes as f64, max_bytes as f64, p50, p50 / first];
        let values = values.into_iter().chain([row.percentile(99)]).map(Some).chain([row.update]);
        table.row(row.name, values);
    }
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}
