//! The rate limit of clients, with a token bucket for each. `auth` rejects a request beyond it (429, `Retry-After`).

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::time::{Duration, Instant};

use toolkit_runtime::Mutex;

/// The number of clients from which on full buckets are removed.
const MAX_CLIENTS: usize = 16 << 10;

/// A rate limiter.
#[derive(Debug)]
pub(super) struct Rate {
    per_second: f64,
    at_once: f64,
    buckets: Mutex<HashMap<String, Bucket>>,
}

#[derive(Clone, Copy, Debug)]
struct Bucket {
    left: f64,
    at: Instant,
}

impl Rate {
    pub(super) fn new(per_second: u32, at_once: u32) -> Self {
        Self { per_second: f64::from(per_second.max(1)), at_once: f64::from(at_once.max(1)), buckets: Mutex::default() }
    }

    /// Takes a token from the bucket of a client. If it is empty, returns the time until there is one.
    pub(super) fn take(&self, client: &str) -> Result<(), Duration> {
        let now = Instant::now();
        let mut buckets = self.buckets.lock();
        if buckets.len() >= MAX_CLIENTS && !buckets.contains_key(client) {
            buckets.retain(|_, bucket| self.left(bucket, now) < self.at_once);
            if buckets.len() >= MAX_CLIENTS {
                return Err(Duration::from_secs(1));
            }
        }
        let full = Bucket { left: self.at_once, at: now };
        let bucket = buckets.entry(client.to_owned()).or_insert(full);
        let left = self.left(bucket, now);
        if left < 1.0 {
            return Err(Duration::from_secs_f64((1.0 - left) / self.per_second));
        }
        *bucket = Bucket { left: left - 1.0, at: now };
        Ok(())
    }

    fn left(&self, bucket: &Bucket, now: Instant) -> f64 {
        let rested = now.saturating_duration_since(bucket.at).as_secs_f64();
        (bucket.left + rested * self.per_second).min(self.at_once)
    }
}
