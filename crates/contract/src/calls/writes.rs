//! The bytes that a call writes, as Linux counts them for each thread; elsewhere nothing is counted.

use std::fs;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

/// The size of a write by which one thread wakes another (`eventfd`). Such writes do not count.
const WAKE_BYTES: u64 = 8;

/// The time after the end of a call within which the threads that ran it have counted what they wrote.
const COUNTING: Duration = Duration::from_secs(1);

/// Counts what the threads of one call write.
#[derive(Clone)]
pub(super) struct Writes(Sender<()>);

impl Writes {
    /// Creates the counter, and a receiver of a message for each thread that wrote.
    pub(super) fn new() -> (Self, Receiver<()>) {
        let (sender, receiver) = channel();
        (Self(sender), receiver)
    }

    /// Runs a part of the call on the current thread.
    pub(super) fn during<T>(self, run: impl FnOnce() -> T) -> T {
        let before = written();
        let outcome = run();
        if let (Some((bytes, n_writes)), Some((bytes_before, n_before))) = (written(), before)
            && bytes - bytes_before != (n_writes - n_before) * WAKE_BYTES
        {
            // The receiver is gone if the call exceeded its time limit.
            let _ = self.0.send(());
        }
        outcome
    }
}

/// Returns true if a thread of a call that ended has written, as soon as all of them have counted.
pub(super) fn has_written(notes: &Receiver<()>) -> bool {
    notes.recv_timeout(COUNTING).is_ok()
}

/// Returns the bytes that the current thread has passed to `write` and its kind, and the number of these system calls.
fn written() -> Option<(u64, u64)> {
    let text = fs::read_to_string("/proc/thread-self/io").ok()?;
    let value = |name: &str| text.lines().find_map(|line| line.strip_prefix(name))?.parse().ok();
    Some((value("wchar: ")?, value("syscw: ")?))
}
