//! The pauses between renewals of tokens that a server rejects before they expire.

use std::time::Duration;

use tokio::time::Instant;

const FIRST: Duration = Duration::from_secs(5);
const LONGEST: Duration = Duration::from_secs(300);
/// The time without rejections after which the pause starts over.
const RESET_AFTER: Duration = Duration::from_secs(600);

/// A backoff for a server that accepts each token only for a while. Its pause doubles with each renewal, so that such a
/// server cannot cause a request to the authorization server with each call.
#[derive(Default)]
pub(super) struct Rejections {
    n_renewals: u32,
    not_before: Option<Instant>,
}

impl Rejections {
    /// Returns the remaining pause.
    pub(super) fn left(&self) -> Option<Duration> {
        let left = self.not_before?.saturating_duration_since(Instant::now());
        (!left.is_zero()).then_some(left)
    }

    /// Records the renewal of a rejected token.
    pub(super) fn record(&mut self) {
        let now = Instant::now();
        if self.not_before.is_some_and(|at| now.saturating_duration_since(at) >= RESET_AFTER) {
            self.n_renewals = 0;
        }
        self.not_before = Some(now + FIRST.saturating_mul(1 << self.n_renewals.min(16)).min(LONGEST));
        self.n_renewals += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn each_rejection_doubles_the_pause_up_to_five_minutes() {
        let mut rejections = Rejections::default();
        assert_eq!(rejections.left(), None);
        let mut pauses = Vec::new();
        for _ in 0..8 {
            rejections.record();
            let left = rejections.left().expect("a pause has begun");
            pauses.push(left.as_secs());
            tokio::time::advance(left).await;
            assert_eq!(rejections.left(), None);
        }
        assert_eq!(pauses, [5, 10, 20, 40, 80, 160, 300, 300]);
        // Ten minutes without a rejection end the row.
        tokio::time::advance(RESET_AFTER - Duration::from_millis(1)).await;
        rejections.record();
        assert_eq!(rejections.left(), Some(LONGEST));
        tokio::time::advance(LONGEST + RESET_AFTER).await;
        rejections.record();
        assert_eq!(rejections.left(), Some(FIRST));
    }
}
