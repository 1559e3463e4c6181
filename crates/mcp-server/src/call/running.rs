//! A running call: its progress notifications and other messages, its deadlines, and then its response.

use std::collections::BTreeMap;
use std::future::pending;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde_json::value::RawValue;
use tokio::sync::mpsc::Receiver;
use tokio::time::{Instant, sleep};
use toolkit::ToolError;
use toolkit::call::{ErrorKind, Progress};
use toolkit::stream::Chunk;
use toolkit_mcp::{Code, notification};
use toolkit_runtime::{CallPermit, Overloaded, Task, collected, spawn_tool};

use super::ask::listen;
use super::run::{CHUNK, Ended, failed, own_timeout, run};
use super::{Asks, Call, CallEvent, CallMessage, Events};
use crate::metrics::{CallMetrics, GaugeGuard};
use crate::observe::Observed;
use crate::peer::{Registered, cancelled_by};
use crate::served::ServedTool;
use crate::state::Shared;
use crate::tasks::LiveTask;

/// The time by which a tool's own timeout may be exceeded before the server ends the call. The dispatcher may measure
/// the same timeout, and its error is more precise.
const SLACK: Duration = Duration::from_millis(100);

/// The least time by which an open question extends a deadline.
const MIN_EXTENSION: Duration = Duration::from_millis(20);

/// The least time between a progress notification and one that reports that the call waits.
const MIN_WAITING: Duration = Duration::from_secs(10);

/// The increase of the progress of a call that waits, relative to the progress.
const WAITING_STEP: f64 = 1e-6;

/// A running call. Dropping it cancels the call.
pub(super) struct RunningCall {
    call: Arc<Call>,
    /// The registration by the id of the request. A task has none.
    registered: Option<Registered>,
    watch: Watch,
    /// The deadline of the server.
    deadline: Option<Instant>,
    /// The deadline of the tool, and the timeout it was computed from. `None` before the tool has started.
    own_deadline: Option<(Instant, Duration)>,
    step: Step,
    messages: Option<Receiver<CallMessage>>,
    /// The last progress that was sent. Progress must increase with each notification.
    done: f64,
    total: Option<f64>,
    reported_at: Option<Instant>,
    /// The message of the last progress.
    last_message: String,
}

enum Step {
    New,
    Waits(Pin<Box<dyn Future<Output = Result<CallPermit, Overloaded>> + Send>>),
    Runs(Task<Ended>),
    /// The call has ended. Queued progress is sent before its response.
    Ended(Box<Ended>),
    Finished,
}

impl RunningCall {
    /// Starts a call.
    pub(super) fn start(mut call: Arc<Call>, sends_messages: bool) -> Self {
        let own = Arc::get_mut(&mut call).expect("a call has one owner until it runs");
        let messages = (sends_messages || own.task.is_some()).then(|| listen(own));
        if let (Asks::Rounds(rounds), None) = (&own.asks, &own.task) {
            own.context = std::mem::take(&mut own.context).with_asker(rounds.asker());
        }
        let registered = own.registered.take();
        own.is_cancellable = registered.is_some();
        let observed = own.observed.take();
        let now = Instant::now();
        let watch = Watch::new(call.entry(), &call.shared, observed, now);
        let deadline = call.shared.call_timeout.map(|limit| now + limit);
        Self {
            call,
            registered,
            watch,
            deadline,
            own_deadline: None,
            step: Step::New,
            messages,
            done: f64::NEG_INFINITY,
            total: None,
            reported_at: None,
            last_message: String::new(),
        }
    }

    pub(super) fn call(&self) -> &Arc<Call> {
        &self.call
    }

    /// Ends everything that binds the call to its request, since it becomes a task. Returns false if the call is about to
    /// end.
    pub(super) fn leave_for(&mut self, task: &Arc<LiveTask>) -> bool {
        let Some(offer) = &self.call.task else { return false };
        if self.registered.is_some() && self.call.cancel.is_cancelled() {
            return false;
        }
        if let Asks::Rounds(rounds) = &self.call.asks
            && !rounds.leave()
        {
            return false;
        }
        if !self.last_message.is_empty() {
            task.report(&self.last_message);
        }
        let _ = offer.slot().set(Arc::clone(task));
        self.registered = None;
        // From now on, the arguments count as those of the task.
        #[cfg(feature = "http")]
        drop(self.call.charge.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take());
        // The task has a time to live.
        self.deadline = None;
        true
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
                        return Some(self.end(failed(&self.call, error)));
                    }
                },
                Step::Runs(task) => {
                    let message = async {
                        match &mut self.messages {
                            Some(messages) => messages.recv().await,
                            None => pending().await,
                        }
                    };
                    tokio::select! {
                        biased;
                        Some(message) = message => {
                            if let Some(event) = self.event(message) {
                                return Some(event);
                            }
                        }
                        ended = task => {
                            let ended = ended.unwrap_or_else(|panicked| failed(&self.call, ToolError::internal(panicked)));
                            self.step = Step::Ended(Box::new(ended));
                        }
                    }
                }
                Step::Ended(_) => {
                    while let Some(Ok(message)) = self.messages.as_mut().map(Receiver::try_recv) {
                        if let Some(event) = self.event(message) {
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
        let limit = own_timeout(&self.call);
        self.own_deadline = limit.map(|limit| (Instant::now() + limit + SLACK, limit));
        self.step = Step::Runs(spawn_tool(&self.call.entry().id, run(Arc::clone(&self.call), permit)));
        None
    }

    fn end(&mut self, ended: Ended) -> CallEvent {
        // Dropping the task cancels a tool that still runs.
        self.step = Step::Finished;
        self.watch.ended(ended.failure, ended.code);
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

    fn event(&mut self, message: CallMessage) -> Option<CallEvent> {
        match message {
            CallMessage::Progress(progress) => match self.call.task.as_ref().and_then(|offer| offer.slot().get()) {
                Some(task) => {
                    task.report(&progress.message);
                    None
                }
                None => {
                    self.last_message.clone_from(&progress.message);
                    self.report(&progress)
                }
            },
            CallMessage::Chunk(chunk) => self.send_chunk(&chunk),
            CallMessage::Waiting => self.report_waiting(),
            CallMessage::Log(bytes) | CallMessage::Request(bytes) => Some(CallEvent::Message(bytes)),
        }
    }

    /// Sends a part of the result, with an increase of the progress that is as small as possible.
    fn send_chunk(&mut self, chunk: &Chunk) -> Option<CallEvent> {
        #[derive(Serialize)]
        struct Params<'p> {
            #[serde(rename = "progressToken")]
            token: &'p RawValue,
            progress: f64,
            #[serde(skip_serializing_if = "Option::is_none")]
            total: Option<f64>,
            #[serde(rename = "_meta")]
            meta: BTreeMap<&'static str, &'p RawValue>,
        }
        let token = self.call.progress_token.as_deref()?;
        self.done = self.next_done();
        let meta = BTreeMap::from([(CHUNK, serde_json::from_str(chunk.json()).ok()?)]);
        let params = Params { token, progress: self.done, total: self.total, meta };
        Some(CallEvent::Message(notification("notifications/progress", &params)))
    }

    /// Returns a progress that is slightly larger than the last one.
    fn next_done(&self) -> f64 {
        let done = if self.done.is_finite() { self.done } else { 0.0 };
        done + WAITING_STEP * done.abs().max(1.0)
    }

    /// Reports the last progress again, with an increase that is as small as possible.
    fn report_waiting(&mut self) -> Option<CallEvent> {
        // Of several open questions, each sends a message.
        if self.reported_at.is_some_and(|at| at.elapsed() < MIN_WAITING) {
            return None;
        }
        self.report(&Progress::new(self.next_done(), self.total, "waiting for the answer of the user"))
    }

    fn report(&mut self, progress: &Progress) -> Option<CallEvent> {
        #[derive(Serialize)]
        struct Params<'p> {
            #[serde(rename = "progressToken")]
            token: Option<&'p RawValue>,
            #[serde(flatten)]
            progress: &'p Progress,
        }
        let token = Some(self.call.progress_token.as_deref()?);
        // The protocol requires that progress increases.
        if progress.done <= self.done {
            return None;
        }
        self.done = progress.done;
        self.total = progress.total;
        self.reported_at = Some(Instant::now());
        Some(CallEvent::Message(notification("notifications/progress", &Params { token, progress })))
    }
}

impl Events for RunningCall {
    async fn next(&mut self) -> CallEvent {
        loop {
            // The time that the user takes to answer does not count.
            let asking = self.call.context.time_asking();
            let own = self.own_deadline.map(|(deadline, _)| deadline);
            let is_own = own.is_some_and(|own| self.deadline.is_none_or(|deadline| own <= deadline));
            let deadline = if is_own { own } else { self.deadline }.map(|deadline| deadline + asking);
            let cancel = self.registered.as_ref().map(|_| self.call.cancel.clone());
            let error = tokio::select! {
                biased;
                event = self.step() => match event {
                    Some(event) => return event,
                    // The tool runs now and has a deadline of its own, which needs no timer if this thread runs it at once.
                    None => {
                        collected().await;
                        continue;
                    }
                },
                () = cancelled_by(cancel) => ToolError::cancelled(),
                () = reached(deadline) => match has_asked_since(Arc::clone(&self.call), asking).await {
                    true => continue,
                    false if is_own => self.tool_timed_out(),
                    false => self.timed_out(),
                },
            };
            return self.end(failed(&self.call, error));
        }
    }
}

impl Drop for RunningCall {
    fn drop(&mut self) {
        // Tools that observe the token can stop early.
        self.call.cancel.cancel();
    }
}

/// Returns true if the call has waited for its user for longer than `asking`, which extends its deadlines.
async fn has_asked_since(call: Arc<Call>, asking: Duration) -> bool {
    let has_asked = call.context.time_asking() > asking;
    if has_asked {
        // The deadline moves while a question is open.
        sleep(MIN_EXTENSION).await;
    }
    has_asked
}

pub(super) async fn reached(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => pending().await,
    }
}

/// Records the metrics of a call. A call that is dropped before its end counts as cancelled.
struct Watch {
    metrics: Arc<CallMetrics>,
    started: Instant,
    has_ended: bool,
    running: Option<GaugeGuard>,
    observed: Option<Observed>,
}

impl Watch {
    fn new(entry: &ServedTool, shared: &Shared, observed: Option<Observed>, started: Instant) -> Self {
        Self {
            metrics: Arc::clone(&entry.metrics),
            started,
            has_ended: false,
            running: Some(shared.metrics.running.increment()),
            observed,
        }
    }

    fn ended(&mut self, failure: Option<ErrorKind>, code: Option<Code>) {
        self.has_ended = true;
        self.running = None;
        self.metrics.record(failure, self.started.elapsed());
        if let Some(observed) = self.observed.take() {
            observed.end(failure, code);
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if !self.has_ended {
            self.ended(Some(ErrorKind::Cancelled), None);
        }
    }
}
