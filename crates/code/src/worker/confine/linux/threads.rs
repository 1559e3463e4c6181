//! The threads of the process.

use super::super::report::Report;

/// Returns an error if there are several threads. Landlock applies to the thread that requests it, and another one would
/// be ended by seccomp at any time.
pub(super) fn check(report: &mut Report) -> Result<(), String> {
    match std::fs::read_dir("/proc/self/task").map(Iterator::count) {
        Ok(1) => Ok(()),
        Ok(n) => {
            let reason = "`toolkit_code::worker::init()` must be called first in `main`";
            Err(format!("the process has {n} threads: {reason}"))
        }
        Err(error) => {
            report.lack(format!("/proc: the threads cannot be counted: {error}"));
            Ok(())
        }
    }
}
