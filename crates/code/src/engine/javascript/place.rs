//! Places in the text that QuickJS runs.

/// The name of the program in stack traces.
pub(super) const FILE: &str = "program.js";

/// A place in the text that QuickJS runs: the line and the byte in it, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) line: u32,
    pub(super) column: u32,
}

impl Place {
    /// Returns the innermost place of the program in a stack trace.
    pub(super) fn in_stack(stack: &str) -> Option<Self> {
        stack.lines().find_map(|frame| {
            let (_, place) = frame.rsplit_once(FILE)?;
            let mut numbers = place.trim_end_matches(')').split(':').skip(1).map(str::parse);
            Some(Self { line: numbers.next()?.ok()?, column: numbers.next()?.ok()? })
        })
    }
}
