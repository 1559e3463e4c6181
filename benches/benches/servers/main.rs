//! Cost of a call for a tool server, over HTTP and over pipes: `cargo bench -p toolkit-benches --bench servers`, or
//! `benches/benches/servers/run`, which installs the libraries of other languages first.
//!
//! Each server is a separate process that this one starts, and does the same work: it takes `{"a": 1, "b": 2}`, adds,
//! and responds with the sum as data and as text. The same client calls all of them.

mod cores;
mod http;
mod pipe;
mod process;
mod rows;
mod serve;
mod table;

use std::process::ExitCode;
use std::time::Duration;

use toolkit_plot::results::Recorder;

use self::cores::Cores;
use self::http::{Http, Revision};
use self::pipe::Pipe;
use self::table::Pace;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [command, name, transport] = &arguments[..]
        && command == "serve"
    {
        serve::serve(name, transport);
        return ExitCode::SUCCESS;
    }
    let is_quick = arguments.iter().any(|argument| argument == "--quick");
    let pace = if is_quick {
        Pace { n_rounds: 1, turn: Duration::from_millis(100) }
    } else {
        Pace { n_rounds: 9, turn: Duration::from_millis(600) }
    };
    let cores = Cores::share();
    println!("{cores}\n\nload average before: {}", load_average());
    let http = |revision| move |row: &rows::Row| Http::start(row, cores, revision);
    let mut recorder = Recorder::new("benches/benches/servers/run");
    table::print(
        &mut recorder,
        "HTTP, 2026-07-28",
        rows::http(Revision::V2026_07_28),
        pace,
        http(Revision::V2026_07_28),
    );
    table::print(
        &mut recorder,
        "HTTP, 2025-11-25",
        rows::http(Revision::V2025_11_25),
        pace,
        http(Revision::V2025_11_25),
    );
    table::print(&mut recorder, "pipes, 2025-11-25", rows::pipe(), pace, |row| Pipe::start(row, cores));
    println!("\nload average after: {}", load_average());
    match recorder.finish() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cannot write the results: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The load of the machine, over one, five and fifteen minutes, for readers of the tables.
fn load_average() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().take(3).collect::<Vec<_>>().join(" ")
}
