//! The resources that a worker needs.

use super::super::limits::Limits;
use super::super::wire;

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
