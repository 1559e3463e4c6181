//! Cost of a call for a tool server, over HTTP and over pipes: `cargo bench -p toolkit-benches --bench servers`, or
//! `benches/benches/servers/run`, which installs the libraries of other languages first. With `-- --busy` it measures only what
//! users feel: the server beside rmcp and a floor, on an idle machine and beside processes that compute; with `-- --clients` only
//! proxies, and the clients of a server.
//!
//! Each server is a separate process that this one starts, and does the same work: it takes `{"a": 1, "b": 2}`, adds,
//! and responds with the sum as data and as text. The servers in Rust also answer calls of `search`, with 153 bytes of
//! arguments and 238 of data. The same client calls all of them.

mod busy;
mod clients;
mod cores;
mod http;
mod payload;
mod pipe;
mod process;
mod rows;
mod serve;
mod table;
#[path = "../dispatch/tools.rs"]
#[expect(dead_code, reason = "`batch` and rejected calls are measured in `dispatch`")]
mod tools;

use std::process::ExitCode;
use std::time::Duration;

use toolkit_plot::results::Recorder;

use self::clients::Caller;
use self::cores::Cores;
use self::http::{Http, Revision};
use self::payload::{ADD, Payload, SEARCH};
use self::pipe::Pipe;
use self::table::Pace;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [command, name, transport, tool] = &arguments[..]
        && command == "serve"
    {
        serve::serve(name, transport, tool);
        return ExitCode::SUCCESS;
    }
    if arguments == [busy::COMPUTE] {
        busy::compute();
        return ExitCode::SUCCESS;
    }
    let is_quick = arguments.iter().any(|argument| argument == "--quick");
    let pace = if is_quick {
        Pace { n_rounds: 1, turn: Duration::from_millis(100) }
    } else {
        Pace { n_rounds: 9, turn: Duration::from_millis(600) }
    };
    let part = ["--busy", "--clients"].into_iter().find(|part| arguments.iter().any(|argument| argument == part));
    let mut run = Recorder::new(match part {
        Some("--busy") => "cargo bench -p toolkit-benches --bench servers -- --busy",
        Some(_) => "cargo bench -p toolkit-benches --bench servers -- --clients",
        None => "benches/benches/servers/run",
    });
    let recorder = &mut run;
    println!("load average before: {}", load_average());
    match part {
        Some("--busy") => busy(recorder, pace),
        Some(_) => clients(recorder, pace),
        None => {
            busy(recorder, pace);
            clients(recorder, pace);
            quiet(recorder, pace);
        }
    }
    println!("\nload average after: {}", load_average());
    match run.finish() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cannot write the results: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Measures servers beside processes that compute.
fn busy(recorder: &mut Recorder, pace: Pace) {
    let http = |row: &rows::Row| Http::start(row, Cores::all(), Revision::V2026_07_28, ADD);
    busy::print(recorder, "HTTP, busy", &rows::busy("axum"), pace, http);
    busy::print(recorder, "pipes, busy", &rows::busy("loop"), pace, |row| Pipe::start(row, Cores::all(), ADD));
}

/// Measures proxies, and the clients of a server, with all cores for everyone.
fn clients(recorder: &mut Recorder, pace: Pace) {
    table::print(recorder, "proxies over pipes", rows::proxied(), pace, |row| Pipe::start(row, Cores::all(), ADD));
    table::print(recorder, "clients over HTTP", rows::clients(), pace, |row| Caller::start(row, &rows::CALLED));
}

/// Measures all servers on a core of their own.
fn quiet(recorder: &mut Recorder, pace: Pace) {
    let cores = Cores::share();
    println!("\n{cores}");
    let (before, now) = (Revision::V2025_11_25, Revision::V2026_07_28);
    let http = |revision, payload: Payload| move |row: &rows::Row| Http::start(row, cores, revision, payload);
    let pipe = |payload: Payload| move |row: &rows::Row| Pipe::start(row, cores, payload);
    table::print(recorder, "HTTP, 2026-07-28", rows::http(now), pace, http(now, ADD));
    table::print(recorder, "HTTP, 2026-07-28, `search`", rows::of_rust(rows::http(now)), pace, http(now, SEARCH));
    table::print(recorder, "HTTP, 2025-11-25", rows::http(before), pace, http(before, ADD));
    table::print(recorder, "pipes, 2025-11-25", rows::pipe(), pace, pipe(ADD));
    table::print(recorder, "pipes, 2025-11-25, `search`", rows::of_rust(rows::pipe()), pace, pipe(SEARCH));
}

/// The load of the machine, over one, five and fifteen minutes, for readers of the tables.
fn load_average() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().take(3).collect::<Vec<_>>().join(" ")
}
