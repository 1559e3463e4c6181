use std::time::{Duration, Instant};

use super::{Bucket, MAX_CLIENTS, Rate};

#[test]
fn a_client_may_send_as_many_requests_at_once_as_its_bucket_holds() {
    for (at_once, expected) in [(0, 1), (1, 1), (3, 3)] {
        let rate = Rate::new(1, at_once);
        let taken = std::iter::from_fn(|| rate.take("one").ok()).take(100).count();
        assert_eq!(taken, expected, "at once {at_once}");
        let wait = rate.take("one").unwrap_err();
        assert!(Duration::from_millis(900) < wait && wait <= Duration::from_secs(1), "{wait:?}");
        assert!(rate.take("other").is_ok());
    }
    // No rate is one request in a second.
    let none = Rate::new(0, 1);
    none.take("one").unwrap();
    assert!(none.take("one").unwrap_err() <= Duration::from_secs(1));
}

#[test]
fn a_bucket_fills_with_the_rate_up_to_its_size() {
    let rate = Rate::new(10, 4);
    let now = Instant::now();
    for (left, rested_ms, expected) in
        [(0.0, 0, 0.0), (0.0, 100, 1.0), (1.5, 200, 3.5), (1.0, 300, 4.0), (0.0, 10_000, 4.0)]
    {
        let bucket = Bucket { left, at: now };
        let found = rate.left(&bucket, now + Duration::from_millis(rested_ms));
        assert!((found - expected).abs() < 1e-6, "{left} after {rested_ms} ms: {found}");
    }
    // A bucket of the future has not rested.
    assert_eq!(rate.left(&Bucket { left: 2.0, at: now + Duration::from_secs(1) }, now), 2.0);
    for _ in 0..4 {
        rate.take("one").unwrap();
    }
    assert!(rate.take("one").unwrap_err() <= Duration::from_millis(100));
}

#[test]
fn clients_beyond_the_limit_wait_unless_others_have_rested() {
    let rate = Rate::new(1, 2);
    for n in 0..MAX_CLIENTS {
        rate.take(&n.to_string()).unwrap();
    }
    assert_eq!(rate.take("new"), Err(Duration::from_secs(1)));
    rate.take("0").unwrap();
    let long_ago = Instant::now().checked_sub(Duration::from_secs(10)).unwrap();
    rate.buckets.lock().get_mut("1").unwrap().at = long_ago;
    rate.take("new").unwrap();
    let buckets = rate.buckets.lock();
    assert!(buckets.len() == MAX_CLIENTS && !buckets.contains_key("1"));
}
