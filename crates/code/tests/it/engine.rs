//! The engine for JavaScript, through the trait that all engines implement.

mod calls;
mod clock;
mod forms;
mod known;
mod limits;
mod repeat;
mod types;
mod values;

use std::sync::Arc;

use test_support::programs::{Ended, program, run_to_end, small_limits};
use toolkit_code::engine::JavaScript;

/// Returns an engine with small limits.
fn engine() -> JavaScript {
    JavaScript::new(small_limits(), Arc::default())
}

/// Runs a program to its end.
fn run(code: &str) -> Ended {
    run_to_end(&mut engine(), &program(code))
}
