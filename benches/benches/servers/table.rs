//! Servers that run in turns, and a table of the measurements.

use std::time::Duration;

use toolkit_benches::measure::Sorted;
use toolkit_plot::results::{Recorder, Table};

use crate::process::Turn;
use crate::rows::Row;

/// Number and duration of the turns.
#[derive(Clone, Copy)]
pub(crate) struct Pace {
    pub(crate) n_rounds: usize,
    pub(crate) turn: Duration,
}

/// A running server and its client.
pub(crate) trait Client {
    /// Makes calls for the duration `time`, with the given number of calls in flight.
    fn turn(&mut self, n_in_flight: usize, time: Duration) -> Turn;
}

pub(crate) const IN_FLIGHT: [usize; 2] = [1, 64];

/// The columns of the recorded table; `1` and `64` are the calls in flight.
const COLUMNS: [&str; 11] = [
    "1_calls_per_s",
    "1_p50_us",
    "1_p99_us",
    "1_cpu_us",
    "64_calls_per_s",
    "64_p50_us",
    "64_p99_us",
    "64_cpu_us",
    "ratio",
    "ratio_p10",
    "ratio_p90",
];

/// Prints and records a table: the medians of the rounds, and of the ratios within a round.
pub(crate) fn print<C: Client>(
    recorder: &mut Recorder,
    title: &str,
    rows: Vec<Row>,
    pace: Pace,
    start: impl Fn(&Row) -> C,
) {
    let (rows, absent): (Vec<Row>, Vec<Row>) = rows.into_iter().partition(|row| row.program.is_there());
    let mut clients: Vec<C> = rows.iter().map(start).collect();
    // Lazily compiled code needs some calls before it is fast.
    for client in &mut clients {
        client.turn(IN_FLIGHT[1], 2 * pace.turn);
    }
    let mut turns: Vec<[Vec<Turn>; 2]> = rows.iter().map(|_| Default::default()).collect();
    for _ in 0..pace.n_rounds {
        for (turns, client) in std::iter::zip(&mut turns, &mut clients) {
            for (turns, n_in_flight) in std::iter::zip(turns, IN_FLIGHT) {
                turns.push(client.turn(n_in_flight, pace.turn));
            }
        }
    }
    let half = "calls a second | p50 µs | p99 µs | processor µs a call";
    println!("\n| {title} | checked | 1 in flight: {half} | 64 in flight: {half} | ratio (p10–p90) |");
    println!("|---|---|{}", "---:|".repeat(9));
    let mut table = Table::new(title, &COLUMNS);
    for (row, [one, many]) in std::iter::zip(&rows, &turns) {
        let ratios = ratios(many, &turns[0][1]);
        let ratios = [0.5, 0.1, 0.9].map(|quantile| ratios.at(quantile));
        let (one, many) = (medians(one), medians(many));
        let [ratio, low, high] = ratios;
        let (name, checked) = (row.name, row.checked);
        println!("| {name} | {checked} | {} | {} | {ratio:.2} ({low:.2}–{high:.2}) |", cells(one), cells(many));
        table.row(name, one.into_iter().chain(many).chain(ratios).map(Some));
    }
    recorder.add(table);
    if !absent.is_empty() {
        let names: Vec<&str> = absent.iter().map(|row| row.name).collect();
        println!("\nLeft out, since `benches/benches/servers/run` installs them: {}", names.join("; "));
    }
}

/// Returns the medians: calls a second, p50, p99 and processor time.
fn medians(turns: &[Turn]) -> [f64; 4] {
    let median = |of: fn(&Turn) -> f64| Sorted::of(turns.iter().map(of)).at(0.5);
    [
        median(|turn| turn.calls_a_second),
        median(|turn| turn.p50),
        median(|turn| turn.p99),
        median(|turn| turn.processor),
    ]
}

fn cells([calls, p50, p99, processor]: [f64; 4]) -> String {
    format!("{calls:.0} | {} | {} | {}", short(p50), short(p99), short(processor))
}

/// Ratios of the server's processor time to that of the first row, by round.
fn ratios(turns: &[Turn], first: &[Turn]) -> Sorted {
    Sorted::of(std::iter::zip(turns, first).map(|(turn, first)| turn.processor / first.processor))
}

/// Formats short times with one decimal.
pub(crate) fn short(micros: f64) -> String {
    if micros < 100.0 { format!("{micros:.1}") } else { format!("{micros:.0}") }
}
