//! The output of a program.

use std::cell::{Cell, RefCell};

use super::super::Printed;

/// The lines that a program printed, up to a limit.
pub(super) struct Output {
    limit: u64,
    size: Cell<u64>,
    dropped: Cell<u64>,
    lines: RefCell<Vec<Printed>>,
}

impl Output {
    pub(super) fn new(limit: u64) -> Self {
        Self { limit, size: Cell::new(0), dropped: Cell::new(0), lines: RefCell::default() }
    }

    /// Keeps a line, or the part of it that the limit allows.
    pub(super) fn print(&self, is_error: bool, mut text: String) {
        let left = self.limit.saturating_sub(self.size.get());
        // A line takes memory even if it is empty.
        let size = text.len() as u64 + 1;
        self.size.set(self.size.get().saturating_add(size));
        if size > left {
            let kept = text.floor_char_boundary(usize::try_from(left).unwrap_or(usize::MAX));
            self.dropped.set(self.dropped.get().saturating_add((text.len() - kept) as u64));
            if kept == 0 {
                return;
            }
            text.truncate(kept);
        }
        self.lines.borrow_mut().push(Printed { is_error, text });
    }

    /// Takes the lines since the last time.
    pub(super) fn take(&self) -> Vec<Printed> {
        self.lines.take()
    }

    /// Takes the last lines, with a note if others were dropped.
    pub(super) fn finish(&self) -> Vec<Printed> {
        let mut lines = self.take();
        if self.dropped.get() > 0 {
            let text =
                format!("[{} bytes of output were dropped: at most {} are kept]", self.dropped.get(), self.limit);
            lines.push(Printed { is_error: true, text });
        }
        lines
    }
}
