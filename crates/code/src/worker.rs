//! Workers: processes that confine themselves and then run one program.
//!
//! A worker is the program of the host, started again, or a binary of its own such as `toolkit-code-worker` in a
//! container. It speaks the [protocol](crate::wire) on its standard streams. Before it reads a byte of the program, it
//! gives up what it does not need: on Linux, all files, connections, processes, threads and system calls other than those
//! for reading its input, writing its output and managing its memory.
//!
//! | module | part |
//! |---|---|
//! | `serve` | takes turns with the host, by lines |
//! | `confine` | gives up everything else: on Linux inherited descriptors, files by Landlock, resources by limits, and system calls by seccomp (`calls`). It reports what was given up, and knows the resources that a worker needs |

mod confine;
mod serve;

use std::ffi::OsStr;
use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

pub(crate) use self::confine::{cpu_seconds, memory_bytes};
use super::engine::Engine;
use super::limits::Limits;

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
    init_with(super::engine::JavaScript::new);
}

/// Runs a worker with an engine if this process was started as one, and returns otherwise. See [`init`].
pub fn init_with<E: Engine>(engine: impl FnOnce(Limits, Arc<AtomicBool>) -> E) {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().as_deref() == Some(OsStr::new(ARGUMENT)) {
        run(engine);
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
    let status = match serve::serve(engine) {
        Ok(()) => 0,
        Err(error) => {
            // The host may be gone, and then nothing is left to do.
            let _ = serve::send_error(&error);
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
