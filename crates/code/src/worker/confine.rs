//! The confinement of a worker.

#[cfg(target_os = "linux")]
mod linux;
mod report;

use self::report::Report;
use super::super::guarantee::Guarantee;
use super::super::limits::Limits;
use super::super::wire::Ready;

/// Gives up what the process has inherited: its directory and its descriptors.
pub(super) fn begin() -> Report {
    // The engine counts both.
    let mut report = Report::new([Guarantee::Steps, Guarantee::Memory]);
    match std::env::vars_os().count() {
        0 => report.add([Guarantee::Environment]),
        n => report.lack(format!("environment: {n} variables are set")),
    }
    // A directory that is in use cannot be unmounted.
    if let Err(error) = std::env::set_current_dir("/") {
        report.lack(format!("working directory: {error}"));
    }
    #[cfg(target_os = "linux")]
    linux::close_inherited(&mut report);
    report
}

/// Gives up everything else that a worker does not need. Returns what the kernel has accepted, or why the state of the
/// process does not permit it.
pub(super) fn complete(mut report: Report, limits: &Limits) -> Result<Ready, String> {
    #[cfg(target_os = "linux")]
    linux::confine(limits, &mut report)?;
    #[cfg(not(target_os = "linux"))]
    {
        let _ = limits;
        report.lack("kernel: workers are confined on Linux only".to_owned());
    }
    Ok(report.into_ready())
}
