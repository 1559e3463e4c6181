//! The load of a pool: the number of its threads that use a core.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

/// The file `/proc/PID/task/TID/stat`, which holds the state of a thread on Linux.
pub(super) struct ThreadStat(PathBuf);

impl ThreadStat {
    /// Returns the file of the current thread, or `None` where the system has no such file. Such threads count as
    /// waiting.
    pub(super) fn of_this_thread() -> Option<Self> {
        let thread = std::fs::read_link("/proc/thread-self").ok()?;
        Some(Self(PathBuf::from("/proc").join(thread).join("stat")))
    }

    fn is_running(&self) -> bool {
        // The format is `TID (name) STATE …`. A name never contains `") "`, since this crate sets it.
        let stat = std::fs::read_to_string(&self.0).unwrap_or_default();
        stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('R'))
    }
}

/// Counts the threads that are runnable, at most the number of cores.
pub(super) fn n_running(stats: &[Arc<ThreadStat>]) -> usize {
    stats.iter().filter(|stat| stat.is_running()).take(n_cores()).count()
}

pub(super) fn n_cores() -> usize {
    static N_CORES: OnceLock<usize> = OnceLock::new();
    *N_CORES.get_or_init(|| std::thread::available_parallelism().map_or(2, usize::from))
}
