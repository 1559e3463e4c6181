//! Counts the instructions of a call, and fails if a call takes more of them, relative to the floor, than the committed
//! limit.
//!
//! The same holds for the system calls of a server with one call in flight, among which are the switches between threads.
//!
//! Instruction counts are nearly the same in every run and on every machine with the same compiler, so a gate can rely on
//! them, while times vary. The floor is the work that no library can avoid: deserializing the arguments with serde, the
//! function, and serializing the result, without any check.

mod chains;
mod counted;
mod limits;
mod manifests;
#[path = "../../benches/dispatch/mcp.rs"]
mod mcp;
mod names;
mod programs;
mod rows;
mod search;
mod servers;
#[path = "../../benches/dispatch/tools.rs"]
mod tools;

use std::process::ExitCode;

use self::rows::Rows;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match &arguments[..] {
        [] => limits::hold(),
        [row, n_calls] => {
            let n_calls = n_calls.parse().expect("a number of calls");
            if !servers::repeat(row, n_calls) {
                Rows::new().repeat(row, n_calls);
            }
            ExitCode::SUCCESS
        }
        _ => {
            eprintln!("usage: toolkit-gate [ROW CALLS]");
            ExitCode::FAILURE
        }
    }
}
