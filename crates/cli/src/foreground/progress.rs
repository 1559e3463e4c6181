//! A progress bar for tools that report progress.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use toolkit::call::Progress;

use crate::style::printable;

/// The length of the bar, which counts in integers, while progress is a float in any unit.
const STEPS: u64 = 1000;

/// A progress bar on stderr, which appears with the first report. It is hidden if stderr is not a terminal.
#[derive(Clone, Default)]
pub(super) struct Meter {
    bar: Arc<OnceLock<ProgressBar>>,
    /// True while a bar is shown, false while a spinner is shown because the total is unknown.
    has_total: Arc<Mutex<Option<bool>>>,
}

impl Meter {
    /// Returns the progress listener of a call.
    pub(super) fn listener(&self) -> impl Fn(Progress) + Send + Sync + 'static {
        let meter = self.clone();
        move |progress| meter.show(&progress)
    }

    /// Runs `show` while the bar is hidden.
    pub(super) fn suspended<T>(&self, show: impl FnOnce() -> T) -> T {
        match self.bar.get() {
            Some(bar) if !bar.is_finished() => bar.suspend(show),
            _ => show(),
        }
    }

    /// Removes the bar.
    pub(super) fn finish(&self) {
        if let Some(bar) = self.bar.get() {
            bar.finish_and_clear();
        }
    }

    fn show(&self, progress: &Progress) {
        let bar = self.bar.get_or_init(|| ProgressBar::new(STEPS));
        // A report after the end of the call would draw the bar again.
        if bar.is_finished() {
            return;
        }
        let total = progress.total.filter(|total| total.is_finite() && *total > 0.0);
        let mut has_total = self.has_total.lock().unwrap_or_else(PoisonError::into_inner);
        if *has_total != Some(total.is_some()) {
            *has_total = Some(total.is_some());
            bar.set_style(style(total.is_some()));
            bar.enable_steady_tick(Duration::from_millis(120));
        }
        drop(has_total);
        match total {
            Some(total) => {
                // A cast of a float saturates, and converts NaN to 0.
                let fraction = (progress.done / total).clamp(0.0, 1.0);
                bar.set_position((fraction * STEPS as f64) as u64);
            }
            None => bar.set_prefix(format!("{}", progress.done)),
        }
        let line = progress.message.split_whitespace().collect::<Vec<_>>().join(" ");
        bar.set_message(printable(&line).into_owned());
    }
}

fn style(has_total: bool) -> ProgressStyle {
    let template = if has_total { "{bar:30} {percent:>3}%  {wide_msg}" } else { "{spinner} {prefix}  {wide_msg}" };
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}
