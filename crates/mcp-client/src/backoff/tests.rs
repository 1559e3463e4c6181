use tokio::time::advance;

use super::*;

#[tokio::test(start_paused = true)]
async fn the_wait_doubles_with_each_failure_up_to_half_a_minute() {
    let mut backoff = Backoff::default();
    assert_eq!((backoff.left(), backoff.not_before), (None, None));
    for expected in [250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000] {
        backoff.record_failure();
        assert_eq!(backoff.left(), Some(Duration::from_millis(expected)));
        assert_eq!(backoff.not_before, Some(Instant::now() + Duration::from_millis(expected)));
    }
    for _ in 0..100 {
        backoff.record_failure();
    }
    advance(LONGEST - Duration::from_millis(1)).await;
    assert_eq!(backoff.left(), Some(Duration::from_millis(1)));
    advance(Duration::from_millis(1)).await;
    assert_eq!(backoff.left(), None);
    backoff.reset();
    backoff.record_failure();
    assert_eq!(backoff.left(), Some(FIRST));
}

#[tokio::test(start_paused = true)]
async fn a_success_soon_after_another_one_does_not_start_anew() {
    let mut backoff = Backoff::default();
    for (n_before, rested, expected) in [(2, 0, 250), (1, 300, 1_000), (0, 301, 250), (1, 1, 1_000)] {
        for _ in 0..n_before {
            backoff.record_failure();
        }
        advance(Duration::from_secs(rested)).await;
        backoff.record_success();
        assert_eq!(backoff.left(), None);
        backoff.record_failure();
        assert_eq!(backoff.left(), Some(Duration::from_millis(expected)), "{n_before} {rested}");
    }
}
