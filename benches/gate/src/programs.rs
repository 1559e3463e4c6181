//! Programs of models, in this process.

use std::sync::Arc;

use toolkit::Dispatcher;
use toolkit_code::engine::{Engine, JavaScript, Step};
use toolkit_code::sandbox::Inline;
use toolkit_code::{CodeMode, Limits, Program};

/// Evaluates a number with the engine alone.
pub(crate) fn floor() -> i32 {
    let runtime = rquickjs::Runtime::new().expect("there is memory");
    let context = rquickjs::Context::full(&runtime).expect("there is memory");
    context.with(|ctx| ctx.eval("1")).expect("it is a number")
}

/// Runs the program that returns this number.
pub(crate) fn program() -> Step {
    JavaScript::new(Limits::default(), Arc::default()).start(&Program::javascript("return 1"))
}

/// Runs one program with this number of calls.
pub(crate) async fn calls(dispatcher: &Dispatcher, n_calls: usize) {
    let limits = Limits::default().calls(u32::try_from(n_calls).expect("it is small"));
    let code = CodeMode::new(dispatcher.clone(), Inline::javascript()).limits(limits);
    let program = format!("for (let i = 0; i < {n_calls}; i++) await call('add_async', {{ a: 17, b: 25 }})");
    let execution = code.run(Program::javascript(program)).await.expect("the sandbox opens");
    assert!(execution.failure().is_none(), "{:?}", execution.failure());
}
