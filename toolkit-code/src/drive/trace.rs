//! What a program did.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use toolkit::Content;

use crate::engine::{Printed, Shown, Step, Usage};
use crate::limits::Limits;
use crate::record::CallRecord;

/// What a program did until now. It is complete at each moment, since a run may be dropped.
#[derive(Default)]
pub(crate) struct Trace(Mutex<State>);

#[derive(Default)]
struct State {
    printed: Vec<Printed>,
    printed_bytes: u64,
    usage: Usage,
    /// The calls by id; a chain has several.
    calls: BTreeMap<u32, Vec<CallRecord>>,
    /// The tools of calls without an answer.
    running: BTreeMap<u32, String>,
    content: BTreeMap<u32, Vec<Content>>,
}

/// The parts of a trace, after the run.
pub(crate) struct Traced {
    pub(crate) printed: Vec<Printed>,
    pub(crate) usage: Usage,
    pub(crate) calls: Vec<CallRecord>,
    content: BTreeMap<u32, Vec<Content>>,
}

impl Trace {
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

    pub(super) fn started(&self, id: u32, tool: &str) {
        self.state().running.insert(id, tool.to_owned());
    }

    pub(super) fn finished(&self, id: u32, calls: Vec<CallRecord>, content: Vec<Content>) {
        let mut state = self.state();
        state.running.remove(&id);
        state.calls.insert(id, calls);
        if !content.is_empty() {
            state.content.insert(id, content);
        }
    }

    /// Returns the tools of calls without an answer, for a message.
    pub(super) fn running(&self) -> String {
        let state = self.state();
        let names: Vec<String> = state.running.values().take(5).map(|name| format!("`{name}`")).collect();
        names.join(", ")
    }

    pub(crate) fn into_parts(self) -> Traced {
        let state = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        let calls = state.calls.into_values().flatten().collect();
        Traced { printed: state.printed, usage: state.usage, calls, content: state.content }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Traced {
    /// Returns the blocks that the program showed, each once. References to blocks that do not exist are ignored.
    pub(crate) fn shown(&self, shown: &[Shown]) -> Vec<Content> {
        let mut seen = Vec::new();
        let mut blocks = Vec::new();
        for shown in shown {
            let block = self.content.get(&shown.call).and_then(|blocks| blocks.get(shown.block as usize));
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
