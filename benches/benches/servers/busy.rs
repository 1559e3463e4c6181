//! Servers beside processes that compute, with all cores for everyone: most servers run on the machine of a developer.

use std::io::{Read, stdin};
use std::process::{Child, Command, Stdio};

use toolkit_benches::measure::Sorted;
use toolkit_plot::results::{Recorder, Table};

use crate::process::Turn;
use crate::rows::Row;
use crate::table::{Client, IN_FLIGHT, Pace, short};

/// The argument that starts a process that computes.
pub(crate) const COMPUTE: &str = "compute";

/// The numbers of computing processes.
const COMPUTING: [usize; 4] = [0, 1, 2, 4];

/// The columns of the recorded table: the figure of the first server, that of another, and the ratio of the first to the second.
const COLUMNS: [&str; 5] = ["own", "other", "ratio", "ratio_p10", "ratio_p90"];

/// The name of a figure, and the function that reads it.
type Figure = (&'static str, fn(&Turn) -> f64);

/// The figures of a turn. Of all of them, less is better.
const FIGURES: [Figure; 4] = [
    ("p50", |turn| turn.p50),
    ("p99", |turn| turn.p99),
    ("time a call", |turn| 1e6 / turn.calls_a_second),
    ("processor", |turn| turn.processor),
];

/// Prints and records the measurements of servers, and the ratios of the first to each other one: medians of the rounds, and of
/// the ratios within a round.
pub(crate) fn print<C: Client>(
    recorder: &mut Recorder,
    title: &str,
    rows: &[Row],
    pace: Pace,
    start: impl Fn(&Row) -> C,
) {
    let mut clients: Vec<C> = rows.iter().map(start).collect();
    for client in &mut clients {
        client.turn(IN_FLIGHT[1], pace.turn);
    }
    let names = FIGURES.map(|(name, _)| name).join(" | ");
    println!("\n| {title}: computing processes | in flight | server | {names}, in µs | ratio to it: {names} |");
    println!("|---:|---:|---|{}", "---:|".repeat(2 * FIGURES.len()));
    let mut table = Table::new(title, &COLUMNS);
    for n_computing in COMPUTING {
        let _computing: Vec<Computing> = (0..n_computing).map(|_| Computing::start()).collect();
        for n_in_flight in IN_FLIGHT {
            let mut turns: Vec<Vec<Turn>> = rows.iter().map(|_| Vec::new()).collect();
            for _ in 0..pace.n_rounds {
                for (turns, client) in std::iter::zip(&mut turns, &mut clients) {
                    turns.push(client.turn(n_in_flight, pace.turn));
                }
            }
            for (row, other) in std::iter::zip(rows, &turns) {
                let own = &turns[0];
                let mut cells = [const { String::new() }; 2 * FIGURES.len()];
                for (nth, (figure, of)) in FIGURES.into_iter().enumerate() {
                    let median = |turns: &[Turn]| Sorted::of(turns.iter().map(of)).at(0.5);
                    let ratios = Sorted::of(std::iter::zip(own, other).map(|(own, other)| of(own) / of(other)));
                    let [ratio, low, high] = [0.5, 0.1, 0.9].map(|quantile| ratios.at(quantile));
                    cells[nth] = short(median(other));
                    cells[FIGURES.len() + nth] = format!("{ratio:.2} ({low:.2}–{high:.2})");
                    if !std::ptr::eq(own, other) {
                        let name =
                            format!("{n_computing} computing, {n_in_flight} in flight, {figure}, to {}", row.name);
                        table.row(&name, [median(own), median(other), ratio, low, high].map(Some));
                    }
                }
                println!("| {n_computing} | {n_in_flight} | {} | {} |", row.name, cells.join(" | "));
            }
        }
    }
    recorder.add(table);
}

/// A process that computes, until it is dropped.
struct Computing(Child);

impl Computing {
    fn start() -> Self {
        let program = std::env::current_exe().expect("the program is a file");
        let child = Command::new(program).arg(COMPUTE).stdin(Stdio::piped()).spawn();
        Self(child.expect("this program starts"))
    }
}

impl Drop for Computing {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Computes until stdin ends, so also when the process that has started this one is killed.
pub(crate) fn compute() {
    std::thread::spawn(|| {
        loop {
            std::hint::spin_loop();
        }
    });
    let _ = stdin().read(&mut [0]);
}
