//! The progress of work: one line on stderr, which is replaced until the work ends. Nothing is written unless stderr is a
//! terminal.

use std::io::{self, IsTerminal, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use toolkit::call::Progress;

use crate::style::{cut, one_line};

/// The least time between two lines, since a tool may report a million steps.
pub(crate) const INTERVAL: Duration = Duration::from_millis(100);

/// The columns of a bar.
const BAR: usize = 30;

/// Moves to the start of the line and removes it.
const REMOVE: &str = "\r\u{1b}[2K";

/// A line that shows the progress of work, from its first report to its end.
#[derive(Clone, Default)]
pub(crate) struct Meter(Arc<Mutex<MeterLine>>);

#[derive(Default)]
struct MeterLine {
    text: String,
    /// Time at which the line was last written. `None` while it is not shown.
    written: Option<Instant>,
    /// True if `text` is not shown yet.
    is_changed: bool,
    is_finished: bool,
}

impl Meter {
    /// Returns the progress listener of a call.
    pub(crate) fn listener(&self) -> impl Fn(Progress) + Send + Sync + 'static {
        let meter = self.clone();
        move |progress| meter.set(&described(&progress))
    }

    /// Changes the line. It is written at once, or by [`Meter::update`] if it was written a moment ago.
    pub(crate) fn set(&self, text: &str) {
        let mut line = self.line();
        line.is_changed |= line.text != text;
        text.clone_into(&mut line.text);
        if line.written.is_none_or(|written| written.elapsed() >= INTERVAL) {
            line.write();
        }
    }

    /// Writes the line if it has changed.
    pub(crate) fn update(&self) {
        self.line().write();
    }

    /// Runs `show` while the line is removed.
    pub(crate) fn suspended<T>(&self, show: impl FnOnce() -> T) -> T {
        let mut line = self.line();
        let was_shown = line.remove();
        let shown = show();
        line.is_changed |= was_shown;
        line.write();
        shown
    }

    /// Removes the line for good.
    pub(crate) fn finish(&self) {
        let mut line = self.line();
        line.remove();
        line.is_finished = true;
    }

    fn line(&self) -> MutexGuard<'_, MeterLine> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl MeterLine {
    fn write(&mut self) {
        if !self.is_changed || self.is_finished || !io::stderr().is_terminal() {
            return;
        }
        let columns = terminal_size::terminal_size_of(io::stderr()).map_or(80, |(width, _)| usize::from(width.0));
        let _ = write!(io::stderr(), "{REMOVE}{}", cut(&self.text, columns.saturating_sub(1)));
        (self.written, self.is_changed) = (Some(Instant::now()), false);
    }

    /// Removes the line from the terminal. Returns true if it was shown.
    fn remove(&mut self) -> bool {
        let is_shown = self.written.take().is_some();
        if is_shown {
            let _ = write!(io::stderr(), "{REMOVE}");
        }
        is_shown
    }
}

/// Returns a bar if the total is known, and otherwise what is done.
fn described(progress: &Progress) -> String {
    let message = one_line(&progress.message);
    match progress.total.filter(|total| total.is_finite() && *total > 0.0) {
        Some(total) => {
            // A cast of a float saturates, and converts NaN to 0.
            let fraction = (progress.done / total).clamp(0.0, 1.0);
            let n_full = (fraction * BAR as f64) as usize;
            let bar = "█".repeat(n_full) + &"░".repeat(BAR - n_full);
            format!("{bar} {:>3}%  {message}", (fraction * 100.0) as u64)
        }
        None => format!("{}  {message}", progress.done),
    }
}
