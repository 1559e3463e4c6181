//! The mapping of values to positions.

/// A linear or logarithmic axis.
pub(crate) struct Scale {
    min: f64,
    max: f64,
    is_log: bool,
    from: f64,
    to: f64,
}

impl Scale {
    /// Creates an axis from zero to at least the largest value.
    pub(crate) fn linear(values: impl IntoIterator<Item = f64>, from: f64, to: f64) -> Self {
        let max = values.into_iter().fold(0.0, f64::max);
        let step = step(max);
        Self { min: 0.0, max: (max / step).ceil() * step, is_log: false, from, to }
    }

    /// Creates an axis of whole decades around all values, which are positive.
    pub(crate) fn log(values: impl IntoIterator<Item = f64>, from: f64, to: f64) -> Self {
        let (mut min, mut max) = (f64::MAX, f64::MIN_POSITIVE);
        for value in values {
            (min, max) = (min.min(value), max.max(value));
        }
        let (min, max) = (10f64.powf(min.log10().floor()), 10f64.powf(max.log10().ceil()));
        Self { min, max: max.max(min * 10.0), is_log: true, from, to }
    }

    /// Returns the position of a value.
    pub(crate) fn at(&self, value: f64) -> f64 {
        let share = match self.is_log {
            true => (value / self.min).log10() / (self.max / self.min).log10(),
            false => (value - self.min) / (self.max - self.min),
        };
        self.from + share * (self.to - self.from)
    }

    /// Returns the values of the grid.
    pub(crate) fn ticks(&self) -> Vec<f64> {
        let mut ticks = Vec::new();
        let step = step(self.max);
        let mut tick = self.min;
        while tick <= self.max * 1.000_001 {
            ticks.push(tick);
            tick = if self.is_log { tick * 10.0 } else { tick + step };
        }
        ticks
    }
}

/// Returns a round distance of about five ticks.
fn step(max: f64) -> f64 {
    let rough = max / 5.0;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().find(|step| step * power >= rough);
    step.unwrap_or(10.0) * power
}

/// Formats a value with three digits.
pub(crate) fn exact(value: f64) -> String {
    match value {
        10_000.0.. => short(value),
        100.0.. => format!("{value:.0}"),
        10.0.. => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// Formats a value of an axis, without zeros at the end.
pub(crate) fn short(value: f64) -> String {
    let trimmed = |text: String| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    };
    match value {
        1_000_000.0.. => format!("{}M", trimmed(format!("{:.1}", value / 1e6))),
        10_000.0.. => format!("{}k", trimmed(format!("{:.0}", value / 1e3))),
        100.0.. => format!("{value:.0}"),
        10.0.. => trimmed(format!("{value:.1}")),
        _ => trimmed(format!("{value:.2}")),
    }
}
