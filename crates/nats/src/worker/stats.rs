//! Statistics of a worker.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use toolkit::call::ErrorKind;

/// The number and duration of calls, for `$SRV.STATS`.
#[derive(Default)]
pub(super) struct Stats {
    n_calls: AtomicU64,
    n_errors: AtomicU64,
    nanos: AtomicU64,
    last_error: Mutex<&'static str>,
}

impl Stats {
    pub(super) fn record(&self, took: Duration, error: Option<ErrorKind>) {
        self.n_calls.fetch_add(1, Ordering::Relaxed);
        self.nanos.fetch_add(took.as_nanos().try_into().unwrap_or(u64::MAX), Ordering::Relaxed);
        if let Some(error) = error {
            self.n_errors.fetch_add(1, Ordering::Relaxed);
            // The name of the kind contains nothing of the call.
            *self.last_error.lock().unwrap_or_else(PoisonError::into_inner) = error.name();
        }
    }

    /// Adds the statistics to the description of an endpoint.
    pub(super) fn write(&self, endpoint: &mut Value) {
        let [n_calls, n_errors, nanos] =
            [&self.n_calls, &self.n_errors, &self.nanos].map(|count| count.load(Ordering::Relaxed));
        endpoint["num_requests"] = json!(n_calls);
        endpoint["num_errors"] = json!(n_errors);
        endpoint["last_error"] = json!(*self.last_error.lock().unwrap_or_else(PoisonError::into_inner));
        endpoint["processing_time"] = json!(nanos);
        endpoint["average_processing_time"] = json!(nanos.checked_div(n_calls).unwrap_or(0));
    }
}
