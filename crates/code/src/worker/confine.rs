//! The confinement of a worker, and the resources that it needs.

#[cfg(target_os = "linux")]
mod linux;

use super::super::limits::Limits;
use super::super::wire::{self, Ready};
use crate::limits::{Enforced, Guarantee};

/// Gives up what the process has inherited: its directory and its descriptors.
pub(super) fn begin() -> Ready {
    // The engine counts both.
    let mut report = Ready::new([Guarantee::Steps, Guarantee::Memory].into_iter().collect());
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
pub(super) fn complete(mut report: Ready, limits: &Limits) -> Result<Ready, String> {
    #[cfg(target_os = "linux")]
    linux::confine(limits, &mut report)?;
    #[cfg(not(target_os = "linux"))]
    {
        let _ = limits;
        report.lack("kernel: workers are confined on Linux only".to_owned());
    }
    Ok(report)
}

impl Ready {
    /// Records what the kernel has accepted.
    fn add(&mut self, guarantees: impl IntoIterator<Item = Guarantee>) {
        let enforced = std::mem::take(&mut self.enforced);
        self.enforced = guarantees.into_iter().fold(enforced, Enforced::with);
    }

    /// Records what could not be enforced. The reason begins with the name of the mechanism.
    fn lack(&mut self, reason: String) {
        self.missing.push(reason);
    }

    /// Records a mechanism and its version.
    #[cfg(target_os = "linux")]
    fn detail(&mut self, name: &str, value: impl Into<String>) {
        self.details.insert(name.to_owned(), value.into());
    }
}

/// Returns the memory in bytes that a worker needs for a program with these limits, beside that of its binary.
pub(crate) fn memory_bytes(limits: &Limits) -> u64 {
    /// The memory of the worker itself, such as the stack and the fragments of its allocator.
    const HEAD_ROOM: u64 = 64 << 20;
    /// A message is a line, its parts, and what is handed to the engine.
    const N_COPIES: u64 = 3;
    let messages = (wire::max_line(limits) as u64).saturating_mul(N_COPIES);
    limits.memory_bytes.saturating_add(messages).saturating_add(HEAD_ROOM)
}

/// Returns the processor time in seconds after which the kernel ends a worker. The host measures the time of the program
/// more exactly; a part of the first second is that of the worker.
pub(crate) fn cpu_seconds(limits: &Limits) -> u64 {
    limits.run_time.as_secs().saturating_add(2)
}
