//! `cargo toolkit`: the command line of `toolkit-cli` for a package without a binary.
//!
//! It generates, builds and runs a program that links the library. The program is in the target directory of the workspace
//! and shares its build.
#![forbid(unsafe_code)]

mod command;
mod metadata;
mod package;
mod program;

use std::ffi::OsString;
use std::io::Write;
use std::process::{Command, ExitCode};

use self::package::Package;

/// The exit code of an invalid command line, as in the generated program.
const USAGE: u8 = 2;
/// The exit code of a failed build.
const FAILED: u8 = 1;

fn main() -> ExitCode {
    let mut words: Vec<OsString> = std::env::args_os().collect();
    // cargo runs `cargo-toolkit toolkit …`; users may run `cargo-toolkit …`.
    if words.get(1).is_some_and(|word| word == "toolkit") {
        words.remove(1);
    }
    let matches = match command::program().try_get_matches_from(words) {
        Ok(matches) => matches,
        Err(error) => {
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { USAGE } else { 0 });
        }
    };
    let package = match Package::find(&matches) {
        Ok(package) => package,
        Err(message) => return fail(&message, USAGE),
    };
    let executable = match program::build(&package, &matches) {
        Ok(executable) => executable,
        Err(message) => return fail(&message, FAILED),
    };
    let mut command = Command::new(executable);
    command.args(command::command_and_arguments(&matches)).env("TOOLKIT_PROGRAM", "cargo toolkit");
    replace_process(command)
}

/// Replaces this process with `command`, which then handles Ctrl-C and sets the exit code.
#[cfg(unix)]
fn replace_process(mut command: Command) -> ExitCode {
    use std::os::unix::process::CommandExt;

    let error = command.exec();
    fail(&format!("cannot run the program: {error}"), FAILED)
}

/// Runs `command` and returns its exit code.
#[cfg(not(unix))]
fn replace_process(mut command: Command) -> ExitCode {
    let code = command.status().ok().and_then(|status| status.code());
    let code = code.and_then(|code| u8::try_from(code).ok());
    code.map_or(ExitCode::FAILURE, ExitCode::from)
}

fn fail(message: &str, code: u8) -> ExitCode {
    // Errors while writing to stderr cannot be reported.
    let _ = writeln!(anstream::stderr(), "error: {message}");
    ExitCode::from(code)
}
