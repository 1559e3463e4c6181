//! Servers beside processes that compute, with all cores for everyone: most servers run on the machine of a developer.

use std::io::{Read, stdin};
use std::process::{Child, Command, Stdio};

use toolkit_benches::measure::Sorted;
use toolkit_plot::results::{Recorder, Table};

use crate::process::Turn;
use crate::rows::Row;
use crate::table::{Client, IN_FLIGHT, Pace, medians, short};

/// The argument that starts a process that computes.
pub(crate) const COMPUTE: &str = "compute";

/// The numbers of computing processes.
const COMPUTING: [usize; 4] = [0, 1, 2, 4];

const COLUMNS: [&str; 12] = [
    "p50_us",
    "p99_us",
    "calls_per_s",
    "cpu_us",
    "rmcp_p50_us",
    "rmcp_p99_us",
    "rmcp_calls_per_s",
    "rmcp_cpu_us",
    "p50_ratio",
    "p99_ratio",
    "calls_ratio",
    "cpu_ratio",
];

/// Prints and records the measurements of two servers, and the ratios of the first to the second: medians of the rounds, and of
/// the ratios within a round.
pub(crate) fn print<C: Client>(
    recorder: &mut Recorder,
    title: &str,
    rows: &[Row; 2],
    pace: Pace,
    start: impl Fn(&Row) -> C,
) {
    let mut clients = rows.each_ref().map(start);
    for client in &mut clients {
        client.turn(IN_FLIGHT[1], pace.turn);
    }
    let [own, other] =
        rows.each_ref().map(|row| format!("{}: p50 µs | p99 µs | calls a second | processor µs", row.name));
    println!("\n| {title}: computing processes | in flight | {own} | {other} | p50 | p99 | calls | processor |");
    println!("|{}", "---:|".repeat(14));
    let mut table = Table::new(title, &COLUMNS);
    for n_computing in COMPUTING {
        let _computing: Vec<Computing> = (0..n_computing).map(|_| Computing::start()).collect();
        for n_in_flight in IN_FLIGHT {
            let mut turns: [Vec<Turn>; 2] = Default::default();
            for _ in 0..pace.n_rounds {
                for (turns, client) in std::iter::zip(&mut turns, &mut clients) {
                    turns.push(client.turn(n_in_flight, pace.turn));
                }
            }
            let [own, other] = &turns;
            let ratios = FIGURES.map(|of| Sorted::of(std::iter::zip(own, other).map(|(a, b)| of(a) / of(b))).at(0.5));
            let figures = turns.each_ref().map(|turns| {
                let [calls, p50, p99, processor] = medians(turns);
                [p50, p99, calls, processor]
            });
            let cells = figures.map(|[p50, p99, calls, processor]| {
                format!("{} | {} | {calls:.0} | {}", short(p50), short(p99), short(processor))
            });
            let shown = ratios.map(|ratio| format!("{ratio:.2}"));
            println!("| {n_computing} | {n_in_flight} | {} | {} |", cells.join(" | "), shown.join(" | "));
            let name = format!("{n_computing} computing, {n_in_flight} in flight");
            table.row(&name, figures.into_iter().flatten().chain(ratios).map(Some));
        }
    }
    recorder.add(table);
}

const FIGURES: [fn(&Turn) -> f64; 4] =
    [|turn| turn.p50, |turn| turn.p99, |turn| turn.calls_a_second, |turn| turn.processor];

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
