//! JavaScript, run by QuickJS.
//!
//! | module | part |
//! |---|---|
//! | `machine` | runs a program |
//! | `prelude.js` | what a program finds beside the language; it captures every function before the program can replace it. `build.rs` compiles it to bytecode |
//! | `host` | what the prelude reaches: the names of tools, requests, the output, random numbers |
//! | `source` | the text of a program in one of three forms, the names by which it calls tools, and its steps and time |
//! | `types` | the types of a program in TypeScript, which are erased |
//! | `value` | values as JSON |
//! | `errors` | the end of a program: its value, or one of its errors, with a place and a hint |

mod errors;
mod host;
mod machine;
mod source;
mod types;
mod value;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use self::machine::Machine;
use crate::engine::{Answer, Done, Engine, State, Step, Usage};
use crate::failure::{Failure, FailureKind};
use crate::limits::Limits;
use crate::program::Program;

/// An engine for JavaScript: ECMAScript 2023 and later, in strict mode, without modules. The types of a program in
/// TypeScript are erased; `enum`, `namespace` and parameters that declare members are errors.
///
/// A program is the body of an asynchronous function, or statements of which the last one has the value, or one
/// function, the default export of a module, or a function `main` that it does not call: the function gets the globals
/// that its parameters name. A Markdown fence and the text around it are ignored. What it returns is written as JSON: `undefined` is
/// `null`, a `Map` with texts as keys is an object, a `Set` an array, a `Date` its ISO text, and a promise its value.
/// A program that returns nothing has the value of the global `__out`.
///
/// Its globals are those of the language, and:
///
/// | name | result |
/// |---|---|
/// | `tools.NAMESPACE.NAME(args)`, `call(id, args)` | a promise of the result of a tool, or a rejection with a `ToolError` |
/// | `chain(steps)` | a promise of the result of a [chain](toolkit_backends::Chain) |
/// | `search(words, limit)`, `namespaces()`, `describe(...ids)`, `examples(id, max)` | promises of what is known about tools |
/// | `content(result)`, `show(result)` | the blocks of content beside a result; shows them to the model |
/// | `structuredClone`, `btoa`, `atob`, `TextEncoder`, `TextDecoder` | as on other platforms |
/// | `sleep(ms)`, `setTimeout(f, ms)`, `clearTimeout(timer)` | pauses, which the host measures |
/// | `console.log(…)`, `print(…)` and others | nothing; the line is printed |
///
/// A `ToolError` has the fields `kind`, `tool`, `retryable`, `violations` and `message`. Calls that nothing awaits are
/// waited for before the program ends; pauses are not.
///
/// A run can be repeated: time passes only with answers, random numbers come from [`Program::seed`], the local time is
/// UTC, and nothing observes the collector or other threads. The same program with the same answers, in the order in
/// which they were given, makes the same calls, prints the same lines, and takes the same number of steps.
///
/// QuickJS is written in C, and some of its functions run for long without a poll: a program that must not be able to
/// harm its host belongs into a [process](crate::sandbox::Process).
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
///
/// use serde_json::value::RawValue;
/// use toolkit_code::engine::{Answer, Engine, JavaScript, Request, State};
/// use toolkit_code::{Limits, Program};
///
/// let mut program = Program::javascript("return 2 * await tools.math.add({ a: 1, b: 2 })");
/// program.functions.insert("math.add".to_owned(), "math:add".to_owned());
/// let mut engine = JavaScript::new(Limits::default(), Arc::default());
///
/// let State::Waiting(calls) = engine.start(&program).state else { panic!() };
/// let Request::RunTool { id, args } = &calls[0].request else { panic!() };
/// assert_eq!((&**id, args.get()), ("math:add", r#"{"a":1,"b":2}"#));
///
/// let three = RawValue::from_string("3".to_owned())?;
/// let answer = Answer { id: calls[0].id, at: program.started_at, outcome: Ok(three), content: None };
/// let State::Done(done) = engine.resume(vec![answer]).state else { panic!() };
/// assert_eq!(done.outcome.unwrap().get(), "6");
/// # Ok::<(), serde_json::Error>(())
/// ```
pub struct JavaScript {
    /// Prepared before the program is known, since that takes longer than most programs.
    machine: Result<Machine, Failure>,
    is_started: bool,
}

impl JavaScript {
    /// Creates an engine for one program. The program ends with
    /// [`FailureKind::Cancelled`](crate::FailureKind::Cancelled) soon after another thread has set `stop`.
    ///
    /// The engine is prepared here and not when the program starts, so that a waiting engine starts fast. Its thread needs a
    /// stack of 2 MiB.
    #[must_use]
    pub fn new(limits: Limits, stop: Arc<AtomicBool>) -> Self {
        Self { machine: Machine::new(limits, stop), is_started: false }
    }
}

impl Engine for JavaScript {
    fn start(&mut self, program: &Program) -> Step {
        match &mut self.machine {
            Ok(_) if self.is_started => not_running(),
            Ok(machine) => {
                self.is_started = true;
                machine.start(program)
            }
            Err(failure) => ended(failure.clone()),
        }
    }

    fn resume(&mut self, answers: Vec<Answer>) -> Step {
        match &mut self.machine {
            Ok(machine) if self.is_started && !machine.is_done => machine.resume(answers),
            _ => not_running(),
        }
    }
}

fn not_running() -> Step {
    ended(Failure::new(FailureKind::Exception, "an engine runs one program, and none is running"))
}

fn ended(failure: Failure) -> Step {
    Step {
        printed: Vec::new(),
        state: State::Done(Done { outcome: Err(failure), shown: Vec::new() }),
        usage: Usage::default(),
    }
}
