//! The decision whether to send a request again, and when.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use crate::reply::{Reply, StopReason};
use toolkit_runtime::retry_after;

/// Decides which requests to send again, and when.
///
/// Each method returns the time to wait before the same request is sent again, or `None` if it should not be. The time
/// doubles from half a second to eight with each attempt, less a random part of up to a quarter, and is at least what the
/// server states. A reply that can be used starts the count again.
///
/// ```
/// use std::time::Duration;
/// use toolkit_providers::request::RequestRetry;
///
/// let mut retry = RequestRetry::new(2);
/// let headers = |name: &str| (name == "retry-after").then_some("3");
/// assert_eq!(retry.after_response(429, headers), Some(Duration::from_secs(3)));
/// assert!(retry.after_response(529, |_| None).is_some());
/// assert_eq!(retry.after_response(503, |_| None), None); // the third response in a row
/// assert_eq!(retry.after_response(400, |_| None), None); // the same request would fail again
/// ```
#[derive(Clone, Debug)]
pub struct RequestRetry {
    max_retries: u32,
    n_retries: u32,
}

/// The first time to wait, and the longest one that no server has stated.
const DELAYS: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(8));

/// The longest time to wait that a server may state. If it states a longer one, nothing is sent again.
const MAX_DELAY: Duration = Duration::from_secs(60);

impl RequestRetry {
    /// Creates a count of the requests that are sent again one after the other.
    #[must_use]
    pub fn new(max_retries: u32) -> Self {
        Self { max_retries, n_retries: 0 }
    }

    /// Returns the time to wait after a response with a status and headers, if it is one of an overload or of another
    /// temporary failure: 408, 409, 429, 500 and above, or what `x-should-retry` states. `header` returns the value of a
    /// header, by its name in lowercase.
    pub fn after_response<'h>(&mut self, status: u16, header: impl Fn(&str) -> Option<&'h str>) -> Option<Duration> {
        let should_retry = match header("x-should-retry") {
            Some("true") => true,
            Some("false") => false,
            _ => matches!(status, 408 | 409 | 429 | 500..),
        };
        if status < 400 || !should_retry {
            return None;
        }
        let millis = header("retry-after-ms").and_then(|millis| millis.trim().parse::<f64>().ok());
        let millis = millis.and_then(|millis| Duration::try_from_secs_f64(millis / 1000.0).ok());
        self.delay(millis.or_else(|| header("retry-after").and_then(retry_after)).unwrap_or_default())
    }

    /// Returns the time to wait after a request that could not be sent, or a response that could not be read.
    pub fn after_failure(&mut self) -> Option<Duration> {
        self.delay(Duration::ZERO)
    }

    /// Returns the time to wait after a reply with an error of the provider, with a call that it could not read, or whose
    /// stream ended early. No call of such a reply has run. A reply that ended at the limit of tokens is not one of
    /// them: send the request with a higher limit.
    pub fn after_reply(&mut self, reply: &Reply) -> Option<Duration> {
        match reply.stop_reason() {
            StopReason::Failed(_) => self.delay(Duration::ZERO),
            StopReason::Truncated if reply.ended_early() => self.delay(Duration::ZERO),
            // The next attempt may write the call correctly, which is not a matter of time.
            StopReason::Malformed(_) => {
                self.delay(Duration::ZERO).filter(|_| self.n_retries == 1).map(|_| Duration::ZERO)
            }
            StopReason::ToolCalls | StopReason::End | StopReason::Paused => {
                self.n_retries = 0;
                None
            }
            _ => None,
        }
    }

    fn delay(&mut self, at_least: Duration) -> Option<Duration> {
        if self.n_retries >= self.max_retries || at_least > MAX_DELAY {
            return None;
        }
        let (first, longest) = DELAYS;
        let delay = first.saturating_mul(2_u32.saturating_pow(self.n_retries)).min(longest);
        self.n_retries += 1;
        // Requests that failed together are not sent again together.
        let random = RandomState::new().hash_one(self.n_retries) as f64 / u64::MAX as f64;
        Some(delay.mul_f64(1.0 - random / 4.0).max(at_least))
    }
}
