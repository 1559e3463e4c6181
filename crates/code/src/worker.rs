//! Workers: processes that confine themselves and then run one program.
//!
//! A worker is the program of the host, started again, or a binary of its own such as `toolkit-code-worker` in a
//! container. It speaks the [protocol](crate::wire) on its standard streams. Before it reads a byte of the program, it
//! gives up what it does not need: on Linux, all files, connections, processes, threads and system calls other than those
//! for reading its input, writing its output and managing its memory.
//!
//! | module | part |
//! |---|---|
//! | this one | takes turns with the host, by lines |
//! | `confine` | gives up everything else: on Linux inherited descriptors, files by Landlock, resources by limits, and system calls by seccomp. It reports what was given up, and knows the resources that a worker needs |

mod confine;

use std::io::{self, BufRead, Read, Write};
use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use toolkit::call::BoxError;

pub(crate) use self::confine::{cpu_seconds, memory_bytes};
use crate::engine::{Done, Engine, State, Step};
use crate::failure::{Failure, FailureKind};
use crate::limits::Limits;
use crate::wire::{self, GREETING_BYTES, Hello, ToHost, ToWorker, WireError};

/// The argument with which a program becomes a worker. It is not an environment variable, which children inherit.
pub(crate) const ARGUMENT: &str = "--toolkit-code-worker";
/// The last argument after a worker has started itself again without environment.
const WITHOUT_ENVIRONMENT: &str = "--without-environment";

/// True after [`init`] returned.
static IS_HOST: AtomicBool = AtomicBool::new(false);

/// Runs a worker for JavaScript if this process was started as one, and returns otherwise.
///
/// Call it first in `main`, before arguments are read and threads are started: in a worker it never returns. Without it,
/// [`Process`](crate::sandbox::Process) cannot start this program as a worker, and does not try.
///
/// # Examples
///
/// ```
/// use std::process::ExitCode;
///
/// fn main() -> ExitCode {
///     toolkit_code::worker::init();
///     // The program of the host follows.
///     ExitCode::SUCCESS
/// }
/// ```
#[cfg(feature = "javascript")]
pub fn init() {
    if std::env::args_os().nth(1).is_some_and(|argument| argument == ARGUMENT) {
        run(super::engine::JavaScript::new);
    }
    IS_HOST.store(true, Ordering::Release);
}

/// Runs a worker with an engine: the whole `main` of a program that is only a worker.
///
/// The engine is created before the process is confined. Its flag to stop is never set, since the host ends the process.
///
/// # Examples
///
/// ```no_run
/// # #[cfg(feature = "javascript")]
/// fn main() {
///     toolkit_code::worker::run(toolkit_code::engine::JavaScript::new)
/// }
/// # #[cfg(not(feature = "javascript"))]
/// # fn main() {}
/// ```
pub fn run<E: Engine>(engine: impl FnOnce(Limits, Arc<AtomicBool>) -> E) -> ! {
    drop_environment();
    let status = match serve(engine) {
        Ok(()) => 0,
        Err(error) => {
            // The host may be gone, and then nothing is left to do.
            let _ = send_line(&ToHost::Error(error.to_string()), GREETING_BYTES);
            2
        }
    };
    process::exit(status)
}

/// Returns true if [`init`] was called in this process.
pub(crate) fn is_host() -> bool {
    IS_HOST.load(Ordering::Acquire)
}

/// Starts this process again without its environment, which cannot be removed from the memory of a process. If that
/// fails, the worker does not claim that there is none.
fn drop_environment() {
    let was_tried = std::env::args_os().next_back().is_some_and(|argument| argument == WITHOUT_ENVIRONMENT);
    if was_tried || std::env::vars_os().next().is_none() {
        return;
    }
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt;

        if let Ok(program) = std::env::current_exe() {
            // It only returns in case of an error.
            let arguments = std::env::args_os().skip(1);
            let _ = process::Command::new(program).args(arguments).arg(WITHOUT_ENVIRONMENT).env_clear().exec();
        }
    }
}

/// Confines this process and runs one program. Returns when it is done, or when the host has closed the input.
fn serve<E: Engine>(engine: impl FnOnce(Limits, Arc<AtomicBool>) -> E) -> Result<(), BoxError> {
    let report = confine::begin();
    let Some(line) = receive(GREETING_BYTES)? else { return Ok(()) };
    wire::check_version(&line)?;
    let ToWorker::Hello(Hello { limits, .. }) = wire::decode(&line)? else { return Err(out_of_turn("hello")) };
    // Engines may read files of their platform at first. This one knows nothing of the program yet.
    let mut engine = engine(limits, Arc::new(AtomicBool::new(false)));
    let ready = confine::complete(report, &limits)?;
    send_line(&ToHost::Ready(ready), GREETING_BYTES)?;

    let max = wire::max_line(&limits);
    let mut is_started = false;
    while let Some(line) = receive(max)? {
        let step = match wire::decode(&line)? {
            ToWorker::Start(program) if !is_started => engine.start(&program),
            ToWorker::Resume(answers) if is_started => {
                drop(line);
                engine.resume(answers)
            }
            _ => return Err(out_of_turn(if is_started { "resume" } else { "start" })),
        };
        is_started = true;
        if send(step, max)? {
            break;
        }
    }
    Ok(())
}

/// Writes a step, or a failure if it is too long for a line. Returns true if the program is done.
fn send(step: Step, max: usize) -> Result<bool, WireError> {
    let (is_done, usage) = (matches!(step.state, State::Done(_)), step.usage);
    match send_line(&ToHost::Step(Box::new(step)), max) {
        Err(WireError::TooLong(_)) => {
            let message = format!("the calls that wait for an answer at the same time exceed {max} bytes of JSON");
            let outcome = Err(Failure::new(FailureKind::Size, message));
            let state = State::Done(Done { outcome, shown: Vec::new() });
            send_line(&ToHost::Step(Box::new(Step { printed: Vec::new(), state, usage })), max)?;
            Ok(true)
        }
        sent => sent.map(|()| is_done),
    }
}

/// Reads a line of at most `max` bytes; `None` at the end of the input.
fn receive(max: usize) -> Result<Option<Vec<u8>>, WireError> {
    let mut line = Vec::new();
    let limit = u64::try_from(max).unwrap_or(u64::MAX);
    let read = io::stdin().lock().take(limit).read_until(b'\n', &mut line);
    read.map_err(WireError::Io)?;
    match line.last() {
        None => Ok(None),
        Some(b'\n') => Ok(Some(line)),
        Some(_) if line.len() == max => Err(WireError::TooLong(max)),
        Some(_) => Err(WireError::Invalid("the last line has no end".to_owned())),
    }
}

/// Writes a message as a line of at most `max` bytes.
fn send_line(message: &ToHost, max: usize) -> Result<(), WireError> {
    let line = wire::encode(message, max)?;
    let mut output = io::stdout().lock();
    let written = output.write_all(&line).and_then(|()| output.flush());
    written.map_err(WireError::Io)
}

fn out_of_turn(expected: &str) -> BoxError {
    WireError::Invalid(format!("expected `{expected}`")).into()
}
