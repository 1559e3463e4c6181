//! The trace of a run, and the memory of what runs keep.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use toolkit::call::ErrorKind;
use toolkit::{Content, ToolError};

use crate::engine::{Call, Printed, Shown, Step, Usage};
use crate::execution::CallRecord;
use crate::failure::{Failure, FailureKind};
use crate::journal::{Journal, JournalEntry};
use crate::limits::Limits;
use crate::program::Program;

/// The trace of a run until now. It is complete at each moment, since a run may be dropped.
pub(crate) struct Trace {
    state: Mutex<TraceState>,
    /// The memory of the requests and the answers.
    pub(super) budget: Budget,
}

#[derive(Default)]
struct TraceState {
    printed: Vec<Printed>,
    printed_bytes: u64,
    usage: Usage,
    /// The answered calls, in the order of the answers.
    entries: Vec<JournalEntry>,
    /// The calls without an answer, with the time of their start.
    running: BTreeMap<u32, (Arc<Call>, Duration)>,
}

/// The parts of a trace, after the run.
pub(crate) struct Traced {
    pub(crate) printed: Vec<Printed>,
    pub(crate) usage: Usage,
    /// In the order of the answers.
    pub(crate) entries: Vec<JournalEntry>,
    /// The calls that had no answer at the end, with the time of their start.
    running: Vec<(Arc<Call>, Duration)>,
}

impl Trace {
    pub(crate) fn new(total: Total) -> Self {
        Self { state: Mutex::default(), budget: Budget::new(total) }
    }

    /// Takes the printed lines and the usage of a step. The engine bounds the output; the other side of a pipe may not.
    pub(super) fn advance(&self, step: &mut Step, limits: &Limits) {
        let mut state = self.state();
        state.usage = step.usage;
        for printed in step.printed.drain(..) {
            // The engine's note about dropped output follows the last text.
            if state.printed_bytes > limits.output_bytes + 1024 {
                break;
            }
            state.printed_bytes += printed.text.len() as u64 + 1;
            state.printed.push(printed);
        }
    }

    /// Records the start of a call, at this time of the run.
    pub(super) fn started(&self, call: &Arc<Call>, at: Duration) {
        self.state().running.insert(call.id, (Arc::clone(call), at));
    }

    /// Records the end of a call.
    pub(super) fn stopped(&self, id: u32) {
        self.state().running.remove(&id);
    }

    pub(super) fn answered(&self, entry: JournalEntry) {
        self.state().entries.push(entry);
    }

    /// Returns the tools of calls without an answer, for a message.
    pub(super) fn running(&self) -> String {
        let state = self.state();
        let names = state.running.values().take(5).map(|(call, _)| format!("`{}`", call.request.name()));
        let names: Vec<String> = names.collect();
        names.join(", ")
    }

    /// Writes the journal of the program until now. Returns `None` if it is longer than `max` bytes.
    pub(crate) fn journal(&self, program: &Program, max: usize) -> Option<String> {
        Journal::write(program, &self.state().entries, max)
    }

    /// Takes the parts, and leaves an empty trace.
    pub(crate) fn take(&self) -> Traced {
        let TraceState { printed, usage, entries, running, .. } = std::mem::take(&mut *self.state());
        Traced { printed, usage, entries, running: running.into_values().collect() }
    }

    fn state(&self) -> MutexGuard<'_, TraceState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Traced {
    /// Returns the calls in the order in which the program made them.
    pub(crate) fn into_calls(self) -> Vec<CallRecord> {
        let answered = self.entries.into_iter().map(|entry| (entry.answer.id, entry.into_calls()));
        let running = self.running.into_iter().map(|(call, at)| {
            let unfinished = CallRecord::unfinished(&call, at);
            (call.id, unfinished.into_iter().collect())
        });
        let mut calls: Vec<(u32, Vec<CallRecord>)> = answered.chain(running).collect();
        calls.sort_by_key(|(id, _)| *id);
        calls.into_iter().flat_map(|(_, calls)| calls).collect()
    }

    /// Returns the blocks that the program showed, each once. References to blocks that do not exist are ignored.
    pub(crate) fn shown(&self, shown: &[Shown]) -> Vec<Content> {
        let mut seen: Vec<Shown> = Vec::new();
        let mut blocks = Vec::new();
        for shown in shown {
            let entry = self.entries.iter().find(|entry| entry.answer.id == shown.call);
            let block = entry.and_then(|entry| entry.content.get(shown.block as usize));
            if let Some(block) = block
                && !seen.contains(shown)
            {
                seen.push(*shown);
                blocks.push(block.clone());
            }
        }
        blocks
    }
}

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
