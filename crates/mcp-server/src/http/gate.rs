//! Admission of requests: host and origin (`HostGuard` of `toolkit-runtime` decides), authentication and rate limit.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use http::request::Parts;
use http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use toolkit_mcp::Code;
use toolkit_runtime::{Connection, HostGuard};

use super::auth::{Auth, WELL_KNOWN};
use super::response::Rejection;
use crate::metrics::RejectReason;
use crate::request::Caller;

/// The checks that each request has to pass.
#[derive(Debug)]
pub(super) struct Gate {
    pub(super) guard: HostGuard,
    pub(super) auth: Auth,
    pub(super) rate: Option<Rate>,
    /// The number of requests that the guard has rejected.
    pub(super) n_rejected: AtomicU64,
}

impl Gate {
    /// Checks that the request is for this server and from an accepted origin.
    pub(super) fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Rejection> {
        self.guard.check(uri, headers).map_err(|why| {
            let (header, flag, method) = match why {
                toolkit_runtime::Rejection::Host => (header::HOST, "--allow-host", "Http::allow_host"),
                _ => (header::ORIGIN, "--allow-origin", "Http::allow_origin"),
            };
            let sent = headers.get(header).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
            let sent: String =
                sent.or_else(|| Some(uri.host()?.to_owned())).unwrap_or_default().chars().take(128).collect();
            let message = format!("{why}, `{}`; allow it with `{flag}` (`{method}`)", sent.escape_debug());
            // A flood of such requests does not flood the log.
            if (self.n_rejected.fetch_add(1, Ordering::Relaxed) + 1).is_power_of_two() {
                tracing::warn!("403 for a request: {message}");
            }
            Rejection::new(RejectReason::Origin, StatusCode::FORBIDDEN, message)
        })
    }

    /// Returns the protected resource metadata if the path requests it. It requires no token.
    pub(super) fn metadata(&self, path: &str) -> Option<Vec<u8>> {
        path.contains(WELL_KNOWN).then(|| self.auth.metadata())?
    }

    /// Authenticates the caller, and applies the rate limit.
    pub(super) async fn admit(
        &self,
        head: &Parts,
        connection: Option<&Connection>,
    ) -> Result<Option<Arc<Caller>>, Rejection> {
        let caller = self.auth.caller(head).await;
        if !matches!(caller, Ok(Some(_))) {
            keep_reserved(connection)?;
        }
        // Rejected requests count too, which slows down guessing of tokens.
        self.throttle(&caller, &head.headers, connection)?;
        caller
    }

    /// Applies the rate limit to a request that needs no token.
    pub(super) fn admit_everyone(&self, headers: &HeaderMap, connection: Option<&Connection>) -> Result<(), Rejection> {
        keep_reserved(connection)?;
        self.throttle(&Ok(None), headers, connection)
    }

    fn throttle(
        &self,
        caller: &Result<Option<Arc<Caller>>, Rejection>,
        headers: &HeaderMap,
        connection: Option<&Connection>,
    ) -> Result<(), Rejection> {
        let Some(rate) = &self.rate else {
            return Ok(());
        };
        let subject = caller.as_ref().ok().and_then(|caller| caller.as_ref()?.identity());
        let address: Option<IpAddr> = connection.map(|connection| connection.client(headers));
        let client = match (subject, address) {
            (Some(subject), _) => format!("subject {subject}"),
            (None, Some(address)) => format!("address {address}"),
            // Rejected clients do not share a bucket with authenticated ones.
            (None, None) if caller.is_err() => "unauthenticated".to_owned(),
            (None, None) => String::new(),
        };
        rate.take(&client).map_err(|wait| {
            let seconds = wait.as_secs_f64().ceil().max(1.0);
            let message = "rate limit reached; try again later";
            let rejection =
                Rejection::new(RejectReason::Rate, StatusCode::TOO_MANY_REQUESTS, message).with_code(Code::Internal);
            rejection.with_header(header::RETRY_AFTER, HeaderValue::from(seconds as u64))
        })
    }

    /// Returns true if pages of an origin may read responses.
    pub(super) fn is_read_by(&self, origin: &HeaderValue) -> bool {
        origin.to_str().is_ok_and(|origin| self.guard.accepts_origin(origin))
    }
}

/// Rejects a request of an unknown caller on a connection that is reserved for known ones.
fn keep_reserved(connection: Option<&Connection>) -> Result<(), Rejection> {
    if !connection.is_some_and(Connection::is_reserved) {
        return Ok(());
    }
    let message = "the limit of connections is reached; try again later";
    let rejection = Rejection::new(RejectReason::Overloaded, StatusCode::SERVICE_UNAVAILABLE, message);
    Err(rejection.with_code(Code::Internal).with_header(header::CONNECTION, HeaderValue::from_static("close")))
}

// The rate limit of clients, with a token bucket for each.

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
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
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
