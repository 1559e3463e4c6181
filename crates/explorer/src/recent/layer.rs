//! The layer that records calls.

use std::sync::atomic::Ordering;
use std::task::{Context, Poll};
use std::time::Instant;

use toolkit::call::{BoxFuture, ErrorKind};
use toolkit::dispatch::Call;
use toolkit::{RunResult, ToolError};
use tower::{Layer, Service, ServiceExt};

use super::RecentCalls;
use super::record::Record;

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// The service of [`RecentCalls`].
#[derive(Clone, Debug)]
pub struct Recorded<S> {
    calls: RecentCalls,
    inner: S,
}

impl<S> Layer<S> for RecentCalls {
    type Service = Recorded<S>;

    fn layer(&self, inner: S) -> Recorded<S> {
        Recorded { calls: self.clone(), inner }
    }
}

impl<S> Service<Call> for Recorded<S>
where
    S: Service<Call, Response = RunResult> + Clone + Send + 'static,
    S::Future: Send,
    S::Error: Into<BoxError>,
{
    type Response = RunResult;
    type Error = ToolError;
    type Future = BoxFuture<'static, Result<RunResult, ToolError>>;

    /// Always ready, since the inner service is polled when the call starts.
    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), ToolError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, call: Call) -> Self::Future {
        let (calls, inner) = (self.calls.clone(), self.inner.clone());
        Box::pin(async move {
            let mut running = Running::new(calls, &call);
            let outcome = inner.oneshot(call).await.map_err(ToolError::internal);
            match &outcome {
                Ok(result) => running.end("ok", result.json().map_or(0, |json| json.len())),
                Err(error) => running.end(error.kind().name(), 0),
            }
            outcome
        })
    }
}

/// A call that runs. Dropping it records that it was cancelled.
struct Running {
    calls: RecentCalls,
    started: Instant,
    /// `None` after the end.
    record: Option<Record>,
}

impl Running {
    fn new(calls: RecentCalls, call: &Call) -> Self {
        let id = calls.shared.next_id.fetch_add(1, Ordering::Relaxed);
        let record = Record::new(id, call, calls.shared.omits_arguments.load(Ordering::Relaxed));
        calls.put(record.clone());
        Self { calls, started: Instant::now(), record: Some(record) }
    }

    fn end(&mut self, outcome: &'static str, bytes_out: usize) {
        if let Some(record) = self.record.take() {
            self.calls.put(record.ended(outcome, self.started.elapsed(), bytes_out));
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end(ErrorKind::Cancelled.name(), 0);
    }
}
