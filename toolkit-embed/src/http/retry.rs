//! When a request is repeated.

use std::thread;
use std::time::{Duration, Instant, SystemTime};

/// The wait before the first repetition; it doubles each time.
const FIRST: Duration = Duration::from_millis(500);

/// It doubles up to this.
const LONGEST: Duration = Duration::from_secs(30);

/// The wait of those who are asked to wait for nothing, so that nobody is flooded.
const LEAST: Duration = Duration::from_millis(50);

/// As good as no limit, and within what a clock can say.
const YEAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// Waits between tries, which together end at a deadline.
pub(super) struct Retry {
    deadline: Instant,
    next: Duration,
}

impl Retry {
    pub(super) fn within(limit: Duration) -> Self {
        Self { deadline: Instant::now() + limit.min(YEAR), next: FIRST }
    }

    pub(super) fn left(&self) -> Duration {
        // Not zero, which a client may take for no limit at all.
        self.deadline.saturating_duration_since(Instant::now()).max(Duration::from_millis(1))
    }

    /// Waits as long as is asked for, or else longer each time; `false` at once where that is past the deadline.
    ///
    /// What is not asked for is spread by half, so that those who failed together do not come again together.
    pub(super) fn wait(&mut self, asked: Option<Duration>) -> bool {
        let own = self.next.mul_f32(0.5 + fastrand::f32() / 2.0);
        self.next = self.next.saturating_mul(2).min(LONGEST);
        let wait = asked.map_or(own, |asked| asked.max(LEAST));
        let fits = wait < self.deadline.saturating_duration_since(Instant::now());
        if fits {
            thread::sleep(wait);
        }
        fits
    }
}

/// How long to wait, by `Retry-After`: seconds, or a date (RFC 9110, section 10.2.3).
pub(super) fn retry_after(value: &str) -> Option<Duration> {
    let value = value.trim();
    let until = |date: SystemTime| date.duration_since(SystemTime::now()).unwrap_or_default();
    let seconds = value.parse().ok().map(Duration::from_secs);
    seconds.or_else(|| httpdate::parse_http_date(value).ok().map(until))
}
