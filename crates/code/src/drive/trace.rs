//! The trace of a run, and the memory of what runs keep.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use toolkit::call::ErrorKind;
use toolkit::{Content, ToolError};
use toolkit_runtime::{BudgetExceeded, BudgetShare, Mutex, SharedBudget};

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
    /// Creates the trace of a run for a caller, or for one that has no other runs.
    pub(crate) fn new(total: &TotalBytes, caller: Option<&str>) -> Self {
        Self { state: Mutex::default(), budget: Budget(Mutex::new(total.share(caller.map(Arc::from)))) }
    }

    /// Takes the printed lines and the usage of a step. The engine bounds the output; the other side of a pipe may not.
    pub(super) fn advance(&self, step: &mut Step, limits: &Limits) {
        let mut state = self.state.lock();
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
        self.state.lock().running.insert(call.id, (Arc::clone(call), at));
    }

    /// Records the end of a call.
    pub(super) fn stopped(&self, id: u32) {
        self.state.lock().running.remove(&id);
    }

    pub(super) fn answered(&self, entry: JournalEntry) {
        self.state.lock().entries.push(entry);
    }

    /// Returns the tools of calls without an answer, for a message.
    pub(super) fn running(&self) -> String {
        let state = self.state.lock();
        let names = state.running.values().take(5).map(|(call, _)| format!("`{}`", call.request.name()));
        let names: Vec<String> = names.collect();
        names.join(", ")
    }

    /// Writes the journal of the program until now. Returns `None` if it is longer than `max` bytes.
    pub(crate) fn journal(&self, program: &Program, max: usize) -> Option<String> {
        Journal::write(program, &self.state.lock().entries, max)
    }

    /// Takes the parts, and leaves an empty trace.
    pub(crate) fn take(&self) -> Traced {
        let TraceState { printed, usage, entries, running, .. } = std::mem::take(&mut *self.state.lock());
        Traced { printed, usage, entries, running: running.into_values().collect() }
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

/// The memory that all runs of a host keep, in bytes. Each caller has a share.
pub(crate) type TotalBytes = SharedBudget<Arc<str>>;

pub(crate) fn total_bytes(limits: &Limits) -> TotalBytes {
    SharedBudget::new(limits.kept_bytes.saturating_mul(N_RUNS))
}

/// The memory that a run keeps. It is released on drop.
pub(super) struct Budget(Mutex<BudgetShare<Arc<str>>>);

/// The reason why a run may not keep more.
#[derive(Clone, Copy)]
pub(super) enum Exceeded {
    /// The run exceeds its limit, in bytes.
    Run(u64),
    /// The runs of its caller exceed their share.
    Share(BudgetExceeded),
}

impl Budget {
    /// Returns the memory that is left to the run, in bytes.
    pub(super) fn left(&self, limits: &Limits) -> usize {
        let left = limits.kept_bytes.saturating_sub(self.0.lock().n_units());
        usize::try_from(left).unwrap_or(usize::MAX)
    }

    /// Reserves memory.
    pub(super) fn reserve(&self, n_bytes: usize, limits: &Limits) -> Result<(), Exceeded> {
        let (mut share, n_bytes) = (self.0.lock(), n_bytes as u64);
        if share.n_units().saturating_add(n_bytes) > limits.kept_bytes {
            return Err(Exceeded::Run(limits.kept_bytes));
        }
        share.grow(n_bytes).map_err(Exceeded::Share)
    }

    /// Adds memory that an earlier run was allowed to keep: at most what is [left](Self::left).
    pub(super) fn add(&self, n_bytes: usize) {
        self.0.lock().grow_beyond(n_bytes as u64);
    }
}

impl Exceeded {
    fn message(self) -> String {
        match self {
            Self::Run(max) => format!(
                "the arguments and results of the program's calls exceed {max} bytes together (`kept_bytes`); fetch and \
                 send less, for example with filters, or split the work into several programs"
            ),
            Self::Share(BudgetExceeded { held, max, .. }) => format!(
                "the programs of this caller that run now keep {held} bytes of arguments and results, the share of one \
                 caller of the {max} bytes of all; try again later"
            ),
        }
    }
}

impl From<Exceeded> for ToolError {
    fn from(exceeded: Exceeded) -> Self {
        let kind = match exceeded {
            Exceeded::Run(_) => ErrorKind::ResultTooLarge,
            Exceeded::Share(_) => ErrorKind::Overloaded,
        };
        Self::new(kind, exceeded.message())
    }
}

impl From<Exceeded> for Failure {
    fn from(exceeded: Exceeded) -> Self {
        Self::new(FailureKind::Size, exceeded.message())
    }
}
