//! Counts of instructions and system calls from valgrind.

use std::io;
use std::process::Command;

/// Returns true if valgrind is available.
pub(crate) fn is_possible() -> bool {
    Command::new("valgrind").arg("--version").output().is_ok_and(|output| output.status.success())
}

/// Counts the instructions of one call of a row: the difference between twice as many calls and as many, since
/// everything before the calls is the same.
///
/// # Errors
///
/// Returns an error if valgrind cannot be run, or its output contains no count.
pub(crate) fn instructions(row: &str, n_calls: u64) -> io::Result<f64> {
    per_call(n_calls, |n_calls| {
        let said = run(row, n_calls, &["--tool=callgrind", "--callgrind-out-file=/dev/null"])?;
        let count = said.lines().find_map(|line| line.split_once("Collected :")?.1.trim().parse().ok());
        count.ok_or_else(|| io::Error::other(format!("`{row}`: valgrind counted nothing:\n{said}")))
    })
    .map(f64::round)
}

/// Counts the system calls of one call of a row, like [`instructions`].
///
/// # Errors
///
/// Returns an error if valgrind cannot be run, or its output contains no system call.
pub(crate) fn system_calls(row: &str, n_calls: u64) -> io::Result<f64> {
    per_call(n_calls, |n_calls| {
        let said = run(row, n_calls, &["--tool=none", "--trace-syscalls=yes"])?;
        // The name precedes the arguments. A line with the result only has no name. Without valgrind, reading a clock is no
        // system call.
        let n_calls = said.matches(") sys_").count() - said.matches(") sys_clock_gettime").count();
        match n_calls {
            0 => Err(io::Error::other(format!("`{row}`: valgrind traced nothing:\n{said}"))),
            n_calls => Ok(n_calls as u64),
        }
    })
}

fn per_call(n_calls: u64, count: impl Fn(u64) -> io::Result<u64>) -> io::Result<f64> {
    let (once, twice) = (count(n_calls)?, count(2 * n_calls)?);
    Ok(twice.saturating_sub(once) as f64 / n_calls as f64)
}

/// Makes the calls of a row within valgrind, and returns its messages.
fn run(row: &str, n_calls: u64, tool: &[&str]) -> io::Result<String> {
    let program = std::env::current_exe()?;
    let output = Command::new("valgrind").args(tool).arg(program).args([row, &n_calls.to_string()]).output()?;
    Ok(String::from_utf8_lossy(&output.stderr).into_owned())
}
