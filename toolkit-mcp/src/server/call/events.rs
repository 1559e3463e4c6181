//! The events of a running call: progress notifications, and then the answer.

use std::future::pending;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde_json::value::RawValue;
use tokio::sync::mpsc::{Receiver, channel};
use tokio::time::Instant;
use toolkit::call::{ErrorKind, Progress};
use toolkit::{CancelToken, ToolError};
use toolkit_http::{CallPermit, Overloaded, Task};

use super::run::{Ended, run};
use super::watch::Watch;
use super::{Call, CallResponse};
use crate::server::reply::notification;

/// The number of progress reports in the queue of a slow client. Further reports are dropped.
const MAX_REPORTS: usize = 64;

/// The time by which a tool's own timeout may be exceeded before the server ends the call. The dispatcher may measure
/// the same timeout, and its error is more precise.
const SLACK: Duration = Duration::from_millis(100);

impl Call<'static> {
    /// Runs the call without progress notifications.
    pub(in crate::server) async fn answer(self) -> CallResponse {
        let mut call = self.start(false);
        loop {
            if let CallEvent::Response(answer) = call.next().await {
                return answer;
            }
        }
    }

    /// Starts the call, with progress notifications if the client has sent a progress token.
    pub(in crate::server) fn events(self) -> CallEvents {
        let reports = self.progress_token.is_some();
        self.start(reports)
    }

    fn start(mut self, reports: bool) -> CallEvents {
        let progress = reports.then(|| {
            let (sender, receiver) = channel(MAX_REPORTS);
            let context = std::mem::take(&mut self.context);
            self.context = context.on_progress(move |progress| drop(sender.try_send(progress)));
            receiver
        });
        let watch = Watch::new(self.entry(), &self.shared);
        let deadline = self.shared.call_timeout.map(|limit| Instant::now() + limit);
        CallEvents {
            call: Arc::new(self),
            watch,
            deadline,
            own_deadline: None,
            step: Step::New,
            progress,
            done: f64::NEG_INFINITY,
        }
    }
}

/// The events of a running call. Dropping it cancels the call.
pub(in crate::server) struct CallEvents {
    call: Arc<Call<'static>>,
    watch: Watch,
    /// The deadline of the server.
    deadline: Option<Instant>,
    /// The deadline of the tool, and the timeout it was computed from.
    own_deadline: Option<(Instant, Duration)>,
    step: Step,
    progress: Option<Receiver<Progress>>,
    /// The last progress that was sent. Progress must increase with each notification.
    done: f64,
}

enum Step {
    New,
    Waits(Pin<Box<dyn Future<Output = Result<CallPermit, Overloaded>> + Send>>),
    Runs(Task<Ended>),
    /// The call has ended. Queued progress is sent before its response.
    Ended(Box<Ended>),
    Finished,
}

/// An event of a call.
pub(in crate::server) enum CallEvent {
    /// A notification with progress.
    Progress(Vec<u8>),
    /// The outcome, which is the last event.
    Response(CallResponse),
}

impl CallEvents {
    /// Waits for the next event. Do not call it again after the response. Dropping the future loses no event.
    pub(in crate::server) async fn next(&mut self) -> CallEvent {
        loop {
            let own = self.own_deadline.map(|(deadline, _)| deadline);
            let cancel = self.call.registered.as_ref().map(|_| self.call.cancel.clone());
            let deadline = self.deadline;
            let error = tokio::select! {
                biased;
                event = self.step() => match event {
                    Some(event) => return event,
                    // The tool runs now and has a deadline of its own.
                    None => continue,
                },
                () = cancelled(cancel) => ToolError::cancelled(),
                () = reached(own) => self.tool_timed_out(),
                () = reached(deadline) => self.timed_out(),
            };
            return self.end(self.call.failed(error));
        }
    }

    /// Advances the call. Returns `None` when the tool has started.
    async fn step(&mut self) -> Option<CallEvent> {
        loop {
            match &mut self.step {
                Step::New => match self.call.shared.calls.try_acquire(&self.call.entry().id) {
                    Ok(permit) => return self.run(permit),
                    Err(_) => {
                        let call = Arc::clone(&self.call);
                        let wait = async move { call.shared.calls.acquire(&call.entry().id).await };
                        self.step = Step::Waits(Box::pin(wait));
                    }
                },
                Step::Waits(permit) => match permit.await {
                    Ok(permit) => return self.run(permit),
                    Err(error) => {
                        let error = ToolError::new(ErrorKind::Overloaded, error.to_string());
                        return Some(self.end(self.call.failed(error)));
                    }
                },
                Step::Runs(task) => {
                    let reported = async {
                        match &mut self.progress {
                            Some(progress) => progress.recv().await,
                            None => pending().await,
                        }
                    };
                    tokio::select! {
                        biased;
                        Some(progress) = reported => {
                            if let Some(event) = self.report(&progress) {
                                return Some(event);
                            }
                        }
                        ended = task => {
                            let ended = ended.unwrap_or_else(|panicked| self.call.failed(ToolError::internal(panicked)));
                            self.step = Step::Ended(Box::new(ended));
                        }
                    }
                }
                Step::Ended(_) => {
                    while let Some(Ok(progress)) = self.progress.as_mut().map(Receiver::try_recv) {
                        if let Some(event) = self.report(&progress) {
                            return Some(event);
                        }
                    }
                    if let Step::Ended(ended) = std::mem::replace(&mut self.step, Step::Finished) {
                        return Some(self.end(*ended));
                    }
                }
                Step::Finished => pending().await,
            }
        }
    }

    fn run(&mut self, permit: CallPermit) -> Option<CallEvent> {
        let limit = self.call.own_timeout();
        self.own_deadline = limit.map(|limit| (Instant::now() + limit + SLACK, limit));
        self.step = Step::Runs(self.call.shared.pool.spawn(&self.call.entry().id, run(Arc::clone(&self.call), permit)));
        None
    }

    fn end(&mut self, ended: Ended) -> CallEvent {
        // Dropping the task cancels a tool that still runs.
        self.step = Step::Finished;
        self.watch.ended(ended.failure);
        CallEvent::Response(ended.response)
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

    fn report(&mut self, progress: &Progress) -> Option<CallEvent> {
        #[derive(Serialize)]
        struct Params<'p> {
            #[serde(rename = "progressToken")]
            token: Option<&'p RawValue>,
            #[serde(flatten)]
            progress: &'p Progress,
        }
        // The protocol requires that progress increases.
        if progress.done <= self.done {
            return None;
        }
        self.done = progress.done;
        let token = self.call.progress_token.as_deref();
        Some(CallEvent::Progress(notification("notifications/progress", &Params { token, progress })))
    }
}

impl Drop for CallEvents {
    fn drop(&mut self) {
        // Tools that observe the token can stop early.
        self.call.cancel.cancel();
    }
}

async fn cancelled(token: Option<CancelToken>) {
    match token {
        Some(token) => token.cancelled().await,
        None => pending().await,
    }
}

async fn reached(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => pending().await,
    }
}
