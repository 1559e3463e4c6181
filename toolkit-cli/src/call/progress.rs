//! A progress bar for tools that say how far they are.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use toolkit::call::Progress;

use crate::style::printable;

/// The bar's own steps: progress is a fraction of anything, and the bar counts in whole numbers.
const STEPS: u64 = 1000;

/// Shows progress on stderr, from the first report on; nothing where stderr is no terminal.
#[derive(Clone, Default)]
pub(super) struct Meter {
    bar: Arc<OnceLock<ProgressBar>>,
    /// A bar where the total is known, a spinner where it is not; changed when that changes.
    has_total: Arc<Mutex<Option<bool>>>,
}

impl Meter {
    /// What listens to a call.
    pub(super) fn listener(&self) -> impl Fn(Progress) + Send + Sync + 'static {
        let meter = self.clone();
        move |progress| meter.show(&progress)
    }

    /// Removes the bar.
    pub(super) fn finish(&self) {
        if let Some(bar) = self.bar.get() {
            bar.finish_and_clear();
        }
    }

    fn show(&self, progress: &Progress) {
        let bar = self.bar.get_or_init(|| ProgressBar::new(STEPS));
        // A report that comes after the end would draw the bar again.
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
                // A cast of a float saturates, and takes NaN for 0.
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
