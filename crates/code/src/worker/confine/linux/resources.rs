//! Resource limits.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::super::super::super::guarantee::Guarantee;
use super::super::super::super::limits::Limits;
use super::super::super::needs::{cpu_seconds, memory_bytes};
use super::super::report::Report;

/// The address space of the worker itself in bytes, if it cannot be read.
const TYPICAL_SIZE: u64 = 64 << 20;
/// The stack in bytes, which grows up to this limit.
const STACK: u64 = 8 << 20;

/// Limits the resources of this process.
pub(super) fn limit(limits: &Limits, report: &mut Report) {
    let memory = size().saturating_add(memory_bytes(limits));
    // The signal at the lower limit shows the reason for the end. The one at the higher limit cannot be handled.
    let seconds = cpu_seconds(limits);
    let wanted = [
        (Resource::As, memory, memory, "address space", Some(Guarantee::Memory)),
        (Resource::Cpu, seconds, seconds.saturating_add(1), "processor time", Some(Guarantee::Cpu)),
        (Resource::Core, 0, 0, "core dumps", None),
        (Resource::Fsize, 0, 0, "file sizes", None),
        (Resource::Memlock, 0, 0, "locked memory", None),
        (Resource::Msgqueue, 0, 0, "message queues", None),
        (Resource::Nofile, 3, 3, "descriptors", None),
        (Resource::Nproc, 0, 0, "processes", None),
        (Resource::Stack, STACK, STACK, "stack", None),
    ];
    for (resource, soft, hard, name, guarantee) in wanted {
        // A lower limit of the host remains.
        let existing = getrlimit(resource);
        let lower = |wanted: u64, existing: Option<u64>| Some(existing.map_or(wanted, |existing| wanted.min(existing)));
        let new = Rlimit { current: lower(soft, existing.current), maximum: lower(hard, existing.maximum) };
        match setrlimit(resource, new) {
            Ok(()) => report.add(guarantee),
            Err(error) => report.lack(format!("limit of {name}: {error}")),
        }
    }
}

/// Returns the size of the address space in bytes.
fn size() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let kilobytes =
        status.lines().find_map(|line| line.strip_prefix("VmSize:")?.trim().strip_suffix(" kB")?.parse().ok());
    kilobytes.map_or(TYPICAL_SIZE, |kilobytes: u64| kilobytes << 10)
}
