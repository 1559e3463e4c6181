//! One `tools/call`, from what was asked to what is answered.
//!
//! A call has two sides. The tool runs on a thread for tools, where it may do what it wants. Everything else stays on the
//! threads that do I/O: waiting for a permit, timeouts, cancellation, and what the client is sent.

mod run;
mod watch;

use std::future::pending;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde_json::value::RawValue;
use tokio::sync::mpsc::{Receiver, channel};
use tokio::time::Instant;
use toolkit::adapter::mcp::Revision;
use toolkit::call::{ErrorKind, Progress};
use toolkit::{Arguments, CancelToken, Context, ToolError};
use toolkit_http::{BodyCharge, CallPermit, Overloaded, Task};
use tracing::Span;

use self::run::Ended;
use self::watch::Watch;
use super::Shared;
use super::reply::notification;
use super::running::Registered;
use super::served::{Offer, Served};

/// A call that is ready to run.
pub(super) struct Call<'m> {
    pub(super) shared: Arc<Shared>,
    pub(super) served: Arc<Served>,
    pub(super) nth: usize,
    pub(super) arguments: Arguments<'m>,
    pub(super) id: Box<RawValue>,
    pub(super) revision: Revision,
    pub(super) context: Context,
    /// Cancels the call; its context has it.
    pub(super) cancel: CancelToken,
    pub(super) registered: Option<Registered>,
    pub(super) progress_token: Option<Box<RawValue>>,
    pub(super) span: Span,
    /// What its message holds of the memory for messages.
    pub(super) charge: Option<BodyCharge>,
}

/// What a call came to.
pub(super) struct Answer {
    /// The response.
    pub(super) bytes: Vec<u8>,
    /// Whether the fault is the request's, whatever the tool.
    pub(super) is_bad_request: bool,
    /// Whether the client has cancelled the call, and waits for no response.
    pub(super) is_cancelled: bool,
}

/// How many progress reports wait for a client that reads slowly. Later ones are dropped.
const MAX_REPORTS: usize = 64;

/// By how much a tool's own timeout may be exceeded before the server steps in: the tool may be one that lets the
/// dispatcher measure its time.
const SLACK: Duration = Duration::from_millis(100);

impl Call<'_> {
    pub(super) fn offer(&self) -> &Offer {
        &self.served.offers[self.nth]
    }

    /// The same call, independent of the message that it came in.
    pub(super) fn into_owned(self) -> Call<'static> {
        Call { arguments: self.arguments.into_owned(), ..self }
    }
}

impl Call<'static> {
    /// Runs the call.
    pub(super) async fn answer(self) -> Answer {
        let mut call = self.start(false);
        loop {
            if let CallEvent::Answer(answer) = call.next().await {
                return answer;
            }
        }
    }

    /// Runs the call, and reports its progress if the client has asked for that.
    pub(super) fn events(self) -> CallEvents {
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
        let watch = Watch::new(self.offer(), &self.shared);
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

/// A call that runs, as its client sees it. Dropping it cancels the call.
pub(super) struct CallEvents {
    call: Arc<Call<'static>>,
    watch: Watch,
    /// That of the server.
    deadline: Option<Instant>,
    /// That of the tool.
    own_deadline: Option<(Instant, Duration)>,
    step: Step,
    progress: Option<Receiver<Progress>>,
    /// How much was done at the last report: the next must say more.
    done: f64,
}

enum Step {
    New,
    Waits(Pin<Box<dyn Future<Output = Result<CallPermit, Overloaded>> + Send>>),
    Runs(Task<Ended>),
    /// The answer waits for progress that was reported before it.
    Ended(Box<Ended>),
    Answered,
}

/// What happens during a call.
pub(super) enum CallEvent {
    /// A notification.
    Progress(Vec<u8>),
    /// The end.
    Answer(Answer),
}

impl CallEvents {
    /// What happens next; not to be asked for again after the answer. What was waited for goes on being waited for when
    /// this is dropped and called again.
    pub(super) async fn next(&mut self) -> CallEvent {
        loop {
            let own = self.own_deadline.map(|(deadline, _)| deadline);
            let cancel = self.call.registered.as_ref().map(|_| self.call.cancel.clone());
            let deadline = self.deadline;
            let error = tokio::select! {
                biased;
                event = self.step() => match event {
                    Some(event) => return event,
                    // It runs now, and has a deadline of its own.
                    None => continue,
                },
                () = cancelled(cancel) => ToolError::cancelled(),
                () = reached(own) => self.tool_timed_out(),
                () = reached(deadline) => self.timed_out(),
            };
            return self.end(self.call.failed(error));
        }
    }

    /// Waits for what happens next; `None` when the call has begun to run.
    async fn step(&mut self) -> Option<CallEvent> {
        loop {
            match &mut self.step {
                Step::New => match self.call.shared.calls.try_acquire(&self.call.offer().id) {
                    Ok(permit) => return self.run(permit),
                    Err(_) => {
                        let call = Arc::clone(&self.call);
                        let wait = async move { call.shared.calls.acquire(&call.offer().id).await };
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
                    if let Step::Ended(ended) = std::mem::replace(&mut self.step, Step::Answered) {
                        return Some(self.end(*ended));
                    }
                }
                Step::Answered => pending().await,
            }
        }
    }

    fn run(&mut self, permit: CallPermit) -> Option<CallEvent> {
        let limit = self.call.own_timeout();
        self.own_deadline = limit.map(|limit| (Instant::now() + limit + SLACK, limit));
        self.step =
            Step::Runs(self.call.shared.pool.spawn(&self.call.offer().id, run::run(Arc::clone(&self.call), permit)));
        None
    }

    fn end(&mut self, ended: Ended) -> CallEvent {
        // What still runs is not waited for.
        self.step = Step::Answered;
        self.watch.ended(ended.failure);
        CallEvent::Answer(ended.answer)
    }

    fn timed_out(&self) -> ToolError {
        let (id, limit) = (&self.call.offer().id, self.call.shared.call_timeout.unwrap_or_default());
        ToolError::new(
            ErrorKind::TimedOut,
            format!("{id}: the call took longer than {limit:?}, the timeout of the server"),
        )
    }

    fn tool_timed_out(&self) -> ToolError {
        let (id, limit) = (&self.call.offer().id, self.own_deadline.map_or(Duration::ZERO, |(_, limit)| limit));
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
        // Progress that is none says nothing.
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
        // A tool that runs still is told that nobody waits for it.
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
