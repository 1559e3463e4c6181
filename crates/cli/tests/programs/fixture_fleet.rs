//! The command line of a program with the tools of the worker that `toolkit-nats` is tested with. With a URL instead of a
//! command, it is that worker.

use std::process::ExitCode;

#[path = "../../../nats/tests/programs/fixture_nats.rs"]
mod worker;

fn main() -> ExitCode {
    match std::env::args().nth(1) {
        Some(url) if url.contains("://") => worker::main().map_or_else(
            |error| {
                eprintln!("{error}");
                ExitCode::FAILURE
            },
            |()| ExitCode::SUCCESS,
        ),
        _ => toolkit_cli::program!().main(),
    }
}
