//! What a server of tools spends on a call, over HTTP and over pipes: `cargo bench -p toolkit-benches --bench servers`.
//!
//! Each server is a process of its own, started by this one, and does the same work: it takes `{"a": 1, "b": 2}`, adds,
//! and answers with the sum as data and as text. What is measured is the processor time of that process; the time of
//! whoever asks is not in it.

mod http;
mod load;
mod pipe;
mod servers;

use std::process::ExitCode;

use self::load::Spent;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [command, name] = &arguments[..]
        && command == "serve"
    {
        servers::serve(name);
        return ExitCode::SUCCESS;
    }
    let is_quick = arguments.iter().any(|argument| argument == "--quick");
    let (n_rounds, n_http, n_pipe) = if is_quick { (1, 2_000, 5_000) } else { (7, 40_000, 100_000) };
    table("HTTP, 8 connections", &["http-toolkit", "http-rmcp", "http-axum"], n_rounds, |name| {
        http::measure(name, n_http)
    });
    table("pipes, 64 in flight", &["pipe-toolkit", "pipe-rmcp", "pipe-loop"], n_rounds, |name| {
        pipe::measure(name, n_pipe)
    });
    ExitCode::SUCCESS
}

/// The servers take turns; each row is the median of its rounds.
fn table(title: &str, names: &[&str], n_rounds: usize, measure: impl Fn(&str) -> Spent) {
    println!("\n| {title} | processor µs a call | calls a second |\n|---|---:|---:|");
    let mut rounds: Vec<Vec<Spent>> = names.iter().map(|_| Vec::new()).collect();
    for _ in 0..n_rounds {
        for (spent, name) in std::iter::zip(&mut rounds, names) {
            spent.push(measure(name));
        }
    }
    for (name, spent) in std::iter::zip(names, &mut rounds) {
        let median = |of: fn(&Spent) -> f64| {
            let mut values: Vec<f64> = spent.iter().map(of).collect();
            values.sort_by(f64::total_cmp);
            values[values.len() / 2]
        };
        println!(
            "| {name} | {:.1} | {:.0} |",
            median(|spent| spent.micros_a_call),
            median(|spent| spent.calls_a_second)
        );
    }
}
