//! The tools whose calls have stalled on a thread of a server lately.

use std::collections::BTreeMap;
use std::sync::MutexGuard;

use crate::mutex::Mutex;

/// The number of stalls in a row after which as many calls are handed over as after more of them.
const MAX_STALLS: u32 = 5;

/// The tools whose last call on a thread of a server has stalled, by their numbers.
#[derive(Default)]
pub(super) struct SlowTools(BTreeMap<u64, SlowTool>);

/// A tool that runs on the threads for tools for some calls: one after it has stalled, and twice as many each time that it
/// stalls again at once. A thread that only waits for a core looks like a tool that blocks, but not often in a row.
#[derive(Default)]
struct SlowTool {
    n_stalls: u32,
    /// The number of calls that are still to be handed over.
    n_left: u32,
}

/// Returns the tools of all servers of this process.
pub(super) fn slow_tools() -> MutexGuard<'static, SlowTools> {
    static TOOLS: Mutex<SlowTools> = Mutex::new(SlowTools(BTreeMap::new()));
    TOOLS.lock()
}

impl SlowTools {
    /// Returns true if the next call of a tool belongs on the threads for tools, and counts it.
    pub(super) fn hands_over(&mut self, tool: u64) -> bool {
        let Some(slow) = self.0.get_mut(&tool).filter(|slow| slow.n_left > 0) else { return false };
        slow.n_left -= 1;
        true
    }

    /// Returns the number of stalls in a row.
    pub(super) fn n_stalls(&self, tool: u64) -> u32 {
        self.0.get(&tool).map_or(0, |slow| slow.n_stalls)
    }

    /// Counts a call that has stalled.
    pub(super) fn add(&mut self, tool: u64) {
        let slow = self.0.entry(tool).or_default();
        slow.n_stalls = slow.n_stalls.saturating_add(1);
        slow.n_left = 1 << (slow.n_stalls.min(MAX_STALLS) - 1);
    }

    /// Removes a tool whose call has ended, unless a call has stalled since there were `n_stalls`.
    pub(super) fn remove(&mut self, tool: u64, n_stalls: u32) {
        if self.n_stalls(tool) == n_stalls {
            self.0.remove(&tool);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::SlowTools;

    /// Returns the number of calls that are handed over before one is not.
    fn n_handed_over(tools: &mut SlowTools) -> usize {
        std::iter::from_fn(|| tools.hands_over(7).then_some(())).count()
    }

    #[test]
    fn each_stall_in_a_row_hands_over_twice_as_many_calls() {
        let mut tools = SlowTools::default();
        let handed_over = [0; 6].map(|_| {
            tools.add(7);
            n_handed_over(&mut tools)
        });
        assert_eq!(handed_over, [1, 2, 4, 8, 16, 16]);
        assert!(!tools.hands_over(8));
    }

    #[test]
    fn a_call_that_has_not_stalled_ends_the_row() {
        let mut tools = SlowTools::default();
        for _ in 0..3 {
            let n_stalls = tools.n_stalls(7);
            tools.add(7);
            tools.remove(7, n_stalls);
        }
        assert_eq!(n_handed_over(&mut tools), 4, "calls that have stalled end, too");
        tools.remove(7, tools.n_stalls(7));
        tools.add(7);
        assert_eq!(n_handed_over(&mut tools), 1);
    }
}
