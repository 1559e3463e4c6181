//! A process that runs a command for as long as its parent lives, so that `dev` leaves no process behind, however it ends.
//!
//! The command and what it starts, such as the compilers of cargo, are in the process group of the guard. The guard sends
//! SIGTERM to the group when its stdin, a pipe of the parent, is closed.

use std::ffi::OsString;
use std::io;
use std::process::{Child, Command, ExitCode, Stdio};
use std::thread;

/// The first argument of a guard. The others are the command.
pub(crate) const OPTION: &str = "--guard";

/// Starts a command below a guard. The command ends when the stdin of the returned process is dropped.
pub(crate) fn spawn(command: &Command) -> io::Result<Child> {
    let mut guard = Command::new(std::env::current_exe()?);
    guard.arg(OPTION).arg(command.get_program()).args(command.get_args());
    if let Some(directory) = command.get_current_dir() {
        guard.current_dir(directory);
    }
    guard.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut guard, 0);
    guard.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()
}

/// Runs a command as a guard, and returns its exit code.
pub(crate) fn run(words: &[OsString]) -> ExitCode {
    let Some((program, arguments)) = words.split_first() else {
        return ExitCode::FAILURE;
    };
    let mut child = match Command::new(program).args(arguments).stdin(Stdio::null()).spawn() {
        Ok(child) => child,
        Err(error) => return crate::fail(&format!("cannot run {}: {error}", program.display()), crate::FAILED),
    };
    let id = child.id();
    thread::spawn(move || {
        let _ = io::copy(&mut io::stdin(), &mut io::sink());
        end(id);
    });
    let code = child.wait().ok().and_then(|status| status.code()).and_then(|code| u8::try_from(code).ok());
    code.map_or(ExitCode::FAILURE, ExitCode::from)
}

/// Ends the process group, with the guard itself.
#[cfg(unix)]
fn end(_child: u32) {
    let _ = rustix::process::kill_current_process_group(rustix::process::Signal::TERM);
}

/// Ends the command and what it has started.
#[cfg(not(unix))]
fn end(child: u32) {
    let _ = Command::new("taskkill").args(["/T", "/F", "/PID", &child.to_string()]).status();
}
