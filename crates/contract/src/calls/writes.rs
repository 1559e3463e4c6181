//! The bytes that a call writes, as Linux counts them; elsewhere nothing is counted.
//!
//! A synchronous tool has a thread of its own, whose writes to files, pipes and terminals are counted. An async tool
//! shares its threads, so that only the bytes are counted which the whole process writes to a disk. Writes of 8 bytes
//! are how threads wake each other (`eventfd`), and do not count.

use std::fs;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

/// The size of a write by which one thread wakes another.
const WAKE_BYTES: u64 = 8;

/// The counters of a thread or process.
struct Counters {
    /// Bytes passed to `write` and the like.
    written: u64,
    /// Calls of `write` and the like.
    n_writes: u64,
    /// Bytes written to a disk.
    to_disk: u64,
}

impl Counters {
    fn read(path: &str) -> Option<Self> {
        let text = fs::read_to_string(path).ok()?;
        let value = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))?;
            line.parse().ok()
        };
        Some(Self { written: value("wchar")?, n_writes: value("syscw")?, to_disk: value("write_bytes")? })
    }

    fn of_thread() -> Option<Self> {
        Self::read("/proc/thread-self/io")
    }
}

/// Counts the writes of one call.
#[derive(Clone)]
pub(super) struct Writes(Sender<()>);

/// The time after the end of a call within which the threads that ran it have counted what they wrote.
const COUNTING: Duration = Duration::from_secs(1);

impl Writes {
    /// Creates the counter, and a receiver of a message for each thread that wrote.
    pub(super) fn new() -> (Self, Receiver<()>) {
        let (sender, receiver) = channel();
        (Self(sender), receiver)
    }

    /// Runs synchronous work, and notes whether its thread wrote.
    pub(super) fn of_thread(&self, work: impl FnOnce()) {
        let before = Counters::of_thread();
        work();
        if let (Some(before), Some(after)) = (before, Counters::of_thread()) {
            let (bytes, n) = (after.written - before.written, after.n_writes - before.n_writes);
            if bytes != n * WAKE_BYTES {
                // The receiver is gone if the call exceeded its time limit.
                let _ = self.0.send(());
            }
        }
    }

    /// Runs a call, and notes whether the process wrote to a disk.
    pub(super) fn of_process<T>(self, call: impl FnOnce() -> T) -> T {
        // A log that goes to a file is written at any time.
        let is_file = |path: &&str| fs::metadata(path).is_ok_and(|metadata| metadata.is_file());
        let logs = ["/proc/self/fd/1", "/proc/self/fd/2"].iter().any(is_file);
        let before = (!logs).then(|| Counters::read("/proc/self/io")).flatten();
        let outcome = call();
        if let (Some(before), Some(after)) = (before, Counters::read("/proc/self/io"))
            && after.to_disk > before.to_disk
        {
            let _ = self.0.send(());
        }
        outcome
    }
}

/// Returns true if a call that ended has written, as soon as its threads have counted.
pub(super) fn has_written(notes: &Receiver<()>) -> bool {
    notes.recv_timeout(COUNTING).is_ok()
}
