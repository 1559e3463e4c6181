//! Delays between retries.

use std::thread;
use std::time::{Duration, Instant, SystemTime};

/// The delay before the first retry; it doubles each time.
const FIRST: Duration = Duration::from_millis(500);

/// The maximum delay.
const LONGEST: Duration = Duration::from_secs(30);

/// The minimum delay, for endpoints that request a retry without a delay.
const LEAST: Duration = Duration::from_millis(50);

/// The maximum timeout, which does not overflow the clock.
const YEAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// The delays of a sequence of attempts with a common deadline.
pub(super) struct Retry {
    deadline: Instant,
    next: Duration,
}

impl Retry {
    pub(super) fn new(limit: Duration) -> Self {
        Self { deadline: Instant::now() + limit.min(YEAR), next: FIRST }
    }

    pub(super) fn left(&self) -> Duration {
        // Not zero, since some clients interpret zero as no limit.
        self.deadline.saturating_duration_since(Instant::now()).max(Duration::from_millis(1))
    }

    /// Waits for `requested`, or else for an exponentially growing delay. Returns `false` immediately if the deadline is
    /// earlier.
    ///
    /// The latter has a jitter of up to one half, so that clients that failed together do not retry together.
    pub(super) fn wait(&mut self, requested: Option<Duration>) -> bool {
        let own = self.next.mul_f32(0.5 + fastrand::f32() / 2.0);
        self.next = self.next.saturating_mul(2).min(LONGEST);
        let wait = requested.map_or(own, |requested| requested.max(LEAST));
        let fits = wait < self.deadline.saturating_duration_since(Instant::now());
        if fits {
            thread::sleep(wait);
        }
        fits
    }
}

/// Parses `Retry-After`: seconds or a date (RFC 9110, section 10.2.3).
pub(super) fn retry_after(value: &str) -> Option<Duration> {
    let value = value.trim();
    let until = |date: SystemTime| date.duration_since(SystemTime::now()).unwrap_or_default();
    let seconds = value.parse().ok().map(Duration::from_secs);
    seconds.or_else(|| httpdate::parse_http_date(value).ok().map(until))
}
