//! `cargo toolkit`: the command line of `toolkit-cli` for a package that has only a library.
//!
//! It writes a program that links the library and calls [`toolkit_cli::main`], builds it, and becomes it. The program
//! lives under the target directory of the workspace and shares its build.
#![forbid(unsafe_code)]

mod command;
mod metadata;
mod package;
mod program;
mod workspace;

use std::ffi::OsString;
use std::io::Write;
use std::process::{Command, ExitCode};

use self::package::Package;

/// What a wrong command line exits with, as in the program that is run in the end.
const USAGE: u8 = 2;
/// What a package that does not build exits with.
const FAILED: u8 = 1;

fn main() -> ExitCode {
    let mut words: Vec<OsString> = std::env::args_os().collect();
    // cargo runs `cargo-toolkit toolkit …`; by hand it is `cargo-toolkit …`.
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
        Err(message) => return refuse(&message, USAGE),
    };
    let executable = match program::build(&package, &matches) {
        Ok(executable) => executable,
        Err(message) => return refuse(&message, FAILED),
    };
    let mut command = Command::new(executable);
    command.args(command::passed_on(&matches)).env("TOOLKIT_PROGRAM", "cargo toolkit");
    become_it(command)
}

/// Runs `command` in place of this process, so that Ctrl-C and the exit code are its own.
#[cfg(unix)]
fn become_it(mut command: Command) -> ExitCode {
    use std::os::unix::process::CommandExt;

    let error = command.exec();
    refuse(&format!("cannot run the program: {error}"), FAILED)
}

/// Runs `command`, and exits as it does.
#[cfg(not(unix))]
fn become_it(mut command: Command) -> ExitCode {
    let code = command.status().ok().and_then(|status| status.code());
    let code = code.and_then(|code| u8::try_from(code).ok());
    code.map_or(ExitCode::FAILURE, ExitCode::from)
}

fn refuse(message: &str, code: u8) -> ExitCode {
    // Where stderr is gone there is nobody to tell.
    let _ = writeln!(anstream::stderr(), "error: {message}");
    ExitCode::from(code)
}
