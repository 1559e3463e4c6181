//! Instruction counts from callgrind.

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
pub(crate) fn instructions(row: &str, n_calls: u64) -> io::Result<u64> {
    let once = all_instructions(row, n_calls)?;
    let twice = all_instructions(row, 2 * n_calls)?;
    Ok(twice.saturating_sub(once) / n_calls)
}

fn all_instructions(row: &str, n_calls: u64) -> io::Result<u64> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(std::env::current_exe()?)
        .args([row, &n_calls.to_string()])
        .output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    let count = said.lines().find_map(|line| line.split_once("Collected :")?.1.trim().parse().ok());
    count.ok_or_else(|| io::Error::other(format!("`{row}`: valgrind counted nothing:\n{said}")))
}
