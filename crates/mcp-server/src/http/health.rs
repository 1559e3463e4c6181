//! `GET /healthz`: whether requests can be sent here.

use std::time::{Duration, Instant};

use http::{Response, StatusCode};
use tokio::sync::Mutex;
use tokio::time::timeout;
use toolkit::backend::BackendState;
use toolkit::call::BoxFuture;

use super::response::{Body, text};
use crate::Server;

/// The error of a check.
pub(super) type CheckError = Box<dyn std::error::Error + Send + Sync>;

/// The time after which a check runs again. Everyone may ask for the health of a server, as often as they like.
const INTERVAL: Duration = Duration::from_secs(1);

/// The time after which a check has failed.
const TIMEOUT: Duration = Duration::from_secs(5);

/// A check of something that calls need, such as a database.
pub(super) struct HealthCheck {
    name: String,
    run: Box<dyn Fn() -> BoxFuture<'static, Result<(), CheckError>> + Send + Sync>,
    /// The time and the outcome of the last run. The lock is held during a run, so that there is one at a time.
    last: Mutex<Option<(Instant, bool)>>,
}

impl HealthCheck {
    pub(super) fn new(
        name: String,
        run: impl Fn() -> BoxFuture<'static, Result<(), CheckError>> + Send + Sync + 'static,
    ) -> Self {
        Self { name, run: Box::new(run), last: Mutex::default() }
    }

    async fn succeeds(&self) -> bool {
        let mut last = self.last.lock().await;
        if let Some((at, succeeded)) = *last
            && at.elapsed() < INTERVAL
        {
            return succeeded;
        }
        let succeeded = match timeout(TIMEOUT, (self.run)()).await {
            Ok(Ok(())) => true,
            Ok(Err(error)) => {
                tracing::warn!(check = self.name, %error, "a health check failed");
                false
            }
            Err(_) => {
                tracing::warn!(check = self.name, "a health check has not ended within {} s", TIMEOUT.as_secs());
                false
            }
        };
        *last = Some((Instant::now(), succeeded));
        succeeded
    }
}

/// Returns `ok`, or why requests should be sent elsewhere. Everyone may read it, so it contains no errors.
pub(super) async fn respond(server: &Server, checks: &[HealthCheck]) -> Response<Body> {
    if server.shared.draining.is_cancelled() {
        return text(StatusCode::SERVICE_UNAVAILABLE, "shutting down\n".to_owned());
    }
    let mut failed = Vec::new();
    for check in checks {
        if !check.succeeds().await {
            failed.push(&*check.name);
        }
    }
    match failed.is_empty() {
        true => text(StatusCode::OK, backends(server)),
        false => text(StatusCode::SERVICE_UNAVAILABLE, format!("failed: {}; see the log\n", failed.join(", "))),
    }
}

/// Returns `ok`, or how many backends are not ready.
fn backends(server: &Server) -> String {
    let backends = server.shared.proxied().map(|proxied| proxied.backends()).unwrap_or_default();
    match backends.iter().filter(|backend| backend.state != BackendState::Ready).count() {
        0 => "ok\n".to_owned(),
        n => format!("ok, {n} of {} servers not ready; see /status\n", backends.len()),
    }
}
