//! Programs that call the tools of a dispatcher.

mod calls;
mod limits;
mod paused;
mod real;
mod run_code;
mod tools;

use serde_json::Value;
use toolkit::Dispatcher;
use toolkit_code::sandbox::Inline;
use toolkit_code::{CodeMode, Execution, Limits, Program};

/// Returns code mode for the tools of this program, with programs in this process.
fn code() -> CodeMode {
    CodeMode::new(Dispatcher::new(tools::catalog()).unwrap(), Inline::javascript())
}

/// Runs a program.
async fn run(program: &str) -> Execution {
    within(&code(), Limits::default(), program).await
}

/// Runs a program within limits.
async fn within(code: &CodeMode, limits: Limits, program: &str) -> Execution {
    code.clone().limits(limits).run(Program::javascript(program)).await.unwrap()
}

/// Runs a program that must not fail, and returns its value.
async fn value(program: &str) -> Value {
    let execution = run(program).await;
    assert!(execution.failure().is_none(), "{program}: {execution:?}");
    execution.value()
}
