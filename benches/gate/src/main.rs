//! Counts the instructions of a call, and fails where a call takes more of them, beside the floor, than is committed.
//!
//! Instructions are the same from run to run on any machine with the same compiler, so a gate can hold them where
//! times only swing. The floor is what no library can avoid: bytes to arguments by serde, the function, its result to
//! bytes by serde; nothing is checked there.

mod counted;
mod limits;
#[path = "../../benches/dispatch/mcp.rs"]
mod mcp;
mod rows;
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
            Rows::new().repeat(row, n_calls);
            ExitCode::SUCCESS
        }
        _ => {
            eprintln!("usage: toolkit-gate [ROW CALLS]");
            ExitCode::FAILURE
        }
    }
}
