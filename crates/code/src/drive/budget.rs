//! The memory of what runs keep.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use toolkit::ToolError;
use toolkit::call::ErrorKind;

use crate::failure::{Failure, FailureKind};
use crate::limits::Limits;

/// The memory that all runs of a host may keep together, in units of [`Limits::kept_bytes`].
const N_RUNS: u64 = 4;

/// The memory that all runs of a host keep, in bytes.
#[derive(Clone, Default)]
pub(crate) struct Total {
    kept: Arc<AtomicU64>,
    max: u64,
}

impl Total {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self { kept: Arc::default(), max: limits.kept_bytes.saturating_mul(N_RUNS) }
    }
}

/// The memory that a run keeps. It is released on drop.
pub(super) struct Budget {
    kept: AtomicU64,
    total: Total,
}

/// The reason why a run may not keep more.
#[derive(Clone, Copy)]
pub(super) enum Exceeded {
    /// The run exceeds its limit, in bytes.
    Run(u64),
    /// All runs together exceed theirs.
    Total,
}

impl Budget {
    pub(super) fn new(total: Total) -> Self {
        Self { kept: AtomicU64::new(0), total }
    }

    /// Returns the memory that is left to the run, in bytes.
    pub(super) fn left(&self, limits: &Limits) -> usize {
        let left = limits.kept_bytes.saturating_sub(self.kept.load(Ordering::Relaxed));
        usize::try_from(left).unwrap_or(usize::MAX)
    }

    /// Reserves memory.
    pub(super) fn reserve(&self, n_bytes: usize, limits: &Limits) -> Result<(), Exceeded> {
        let n_bytes = n_bytes as u64;
        let add = |max: u64| move |kept: u64| kept.checked_add(n_bytes).filter(|&kept| kept <= max);
        let reserved =
            |kept: &AtomicU64, max| kept.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add(max)).is_ok();
        if !reserved(&self.kept, limits.kept_bytes) {
            return Err(Exceeded::Run(limits.kept_bytes));
        }
        if !reserved(&self.total.kept, self.total.max) {
            self.kept.fetch_sub(n_bytes, Ordering::Relaxed);
            return Err(Exceeded::Total);
        }
        Ok(())
    }

    /// Adds memory that an earlier run was allowed to keep: at most what is [left](Self::left).
    pub(super) fn add(&self, n_bytes: usize) {
        self.kept.fetch_add(n_bytes as u64, Ordering::Relaxed);
        self.total.kept.fetch_add(n_bytes as u64, Ordering::Relaxed);
    }
}

impl Drop for Budget {
    fn drop(&mut self) {
        self.total.kept.fetch_sub(*self.kept.get_mut(), Ordering::Relaxed);
    }
}

impl Exceeded {
    fn message(self) -> String {
        match self {
            Self::Run(max) => format!(
                "the arguments and results of the program's calls exceed {max} bytes together (`kept_bytes`); fetch and \
                 send less, for example with filters, or split the work into several programs"
            ),
            Self::Total => "the programs that run now keep too many arguments and results; try again later".to_owned(),
        }
    }
}

impl From<Exceeded> for ToolError {
    fn from(exceeded: Exceeded) -> Self {
        let kind = match exceeded {
            Exceeded::Run(_) => ErrorKind::ResultTooLarge,
            Exceeded::Total => ErrorKind::Overloaded,
        };
        Self::new(kind, exceeded.message())
    }
}

impl From<Exceeded> for Failure {
    fn from(exceeded: Exceeded) -> Self {
        Self::new(FailureKind::Size, exceeded.message())
    }
}
