//! What ends a call before its tool does.
//!
//! | cause | how the call learns of it |
//! | --- | --- |
//! | `notifications/cancelled` | the registration by the id of the request is cancelled |
//! | the session or the pipe has ended | all registrations of the session are cancelled |
//! | the client has closed its connection | the transport drops the future of the call |
//! | the server shuts down | running calls finish; after the shutdown timeout, the transport drops them |
//! | the timeout of the server or of the tool | the deadlines below |
//! | a question to the user ends the round | the future of the tool completes, see `tool` |
//! | the call becomes a task | it loses its registration and the deadline of the server, and runs on, see `task` |
//!
//! All of them cancel the token in the context of the tool, except for the last one.

use std::future::pending;
use std::time::Duration;

use tokio::time::{Instant, sleep};
use toolkit::ToolError;
use toolkit::call::ErrorKind;

use super::Call;
use crate::peer::cancelled_by;

/// The time by which a tool's own timeout may be exceeded before the server ends the call. The dispatcher may measure
/// the same timeout, and its error is more precise.
const SLACK: Duration = Duration::from_millis(100);

/// The least time by which an open question extends a deadline.
const MIN_EXTENSION: Duration = Duration::from_millis(20);

/// The causes that end a call early. Dropping this cancels the tool.
pub(super) struct EarlyEnd<'c> {
    call: &'c Call,
    /// The deadline of the server.
    deadline: Option<Instant>,
    /// The deadline of the tool, and the timeout it was computed from. `None` before the tool has started.
    own_deadline: Option<(Instant, Duration)>,
}

impl<'c> EarlyEnd<'c> {
    pub(super) fn new(call: &'c Call, started: Instant) -> Self {
        let deadline = call.shared.call_timeout.map(|limit| started + limit);
        Self { call, deadline, own_deadline: None }
    }

    /// Starts the timeout of the tool.
    pub(super) fn tool_starts(&mut self) {
        let limit = self.call.served.prepared(self.call.entry()).timeout();
        self.own_deadline = limit.map(|limit| (Instant::now() + limit + SLACK, limit));
    }

    /// Waits until the call must end, and returns the error.
    pub(super) async fn next(&mut self) -> ToolError {
        loop {
            // The time that the user takes to answer does not count.
            let asking = self.call.context.time_asking();
            // A task has a time to live.
            let deadline = self.deadline.filter(|_| !self.call.is_task());
            let own = self.own_deadline.map(|(deadline, _)| deadline);
            let is_own = own.is_some_and(|own| deadline.is_none_or(|deadline| own <= deadline));
            let first = if is_own { own } else { deadline }.map(|deadline| deadline + asking);
            let cancel = self.call.is_cancellable.then(|| self.call.cancel.clone());
            tokio::select! {
                biased;
                () = cancelled_by(cancel) => return ToolError::cancelled(),
                () = reached(first) => {}
            }
            if self.call.context.time_asking() > asking {
                // The deadline moves while a question is open.
                Box::pin(sleep(MIN_EXTENSION)).await;
            } else if is_own {
                return self.tool_timed_out();
            } else if !self.call.is_task() {
                return self.timed_out();
            }
        }
    }

    fn timed_out(&self) -> ToolError {
        let (id, limit) = (&self.call.entry().id, self.call.shared.call_timeout.unwrap_or_default());
        ToolError::new(
            ErrorKind::TimedOut,
            format!("{id}: the call took longer than {limit:?}, the timeout of the server"),
        )
    }

    fn tool_timed_out(&self) -> ToolError {
        let (id, limit) = (&self.call.entry().id, self.own_deadline.map_or(Duration::ZERO, |(_, limit)| limit));
        ToolError::new(ErrorKind::TimedOut, format!("{id}: the tool took longer than {limit:?}"))
    }
}

impl Drop for EarlyEnd<'_> {
    fn drop(&mut self) {
        // Tools that observe the token can stop early.
        self.call.cancel.cancel();
    }
}

/// Waits until a time. Never returns without one.
pub(super) async fn reached(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => pending().await,
    }
}
