//! One `tools/call`, from what was asked to what is answered.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde_json::json;
use serde_json::value::RawValue;
use tokio::time::Instant;
use toolkit::adapter::mcp::{Revision, write_error, write_result};
use toolkit::call::{ErrorKind, Progress};
use toolkit::stream::{CallStream, Event};
use toolkit::{Arguments, Context, RunResult, ToolError};
use tracing::{Instrument, Span};

use super::Shared;
use super::metrics::{CallMetrics, Held};
use super::reply::{Code, Fault, notification, response};
use super::request::MissingCapability;
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
    pub(super) registered: Option<Registered>,
    pub(super) progress_token: Option<Box<RawValue>>,
    pub(super) span: Span,
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

impl Call<'_> {
    pub(super) fn offer(&self) -> &Offer {
        &self.served.offers[self.nth]
    }

    /// The same call, independent of the message that it came in.
    pub(super) fn into_owned(self) -> Call<'static> {
        Call { arguments: self.arguments.into_owned(), ..self }
    }

    /// Runs it.
    pub(super) async fn answer(self) -> Answer {
        let mut watch = Watch::over(self.offer(), &self.shared);
        let span = self.span.clone();
        let run = async {
            let _place = self.shared.places.acquire().await;
            let tool = self.served.dispatcher.prepared(&self.offer().id)?;
            tool.call_with(&self.context, self.borrowed()).await
        };
        // A span that nobody records is not worth the wrapping.
        let run = async {
            match span.is_disabled() {
                true => run.await,
                false => run.instrument(span).await,
            }
        };
        let outcome = match self.shared.call_timeout {
            Some(limit) => tokio::time::timeout(limit, run).await.unwrap_or_else(|_| Err(self.took_too_long(limit))),
            None => run.await,
        };
        watch.ended(&outcome);
        self.answered(outcome)
    }

    /// Runs it, and tells how far it has come.
    pub(super) fn events(self) -> CallEvents {
        let call = self.into_owned();
        let watch = Watch::over(call.offer(), &call.shared);
        let deadline = call.shared.call_timeout.map(|limit| Instant::now() + limit);
        CallEvents { call, watch, deadline, stream: None, done: f64::NEG_INFINITY }
    }

    fn borrowed(&self) -> Arguments<'_> {
        match &self.arguments {
            Arguments::Json(text) => Arguments::from(&**text),
            Arguments::Value(value) => Arguments::from(&**value),
        }
    }

    fn took_too_long(&self, limit: Duration) -> ToolError {
        let message =
            format!("{}: the call took longer than {limit:?}, which is as long as one may take", self.offer().id);
        ToolError::new(ErrorKind::TimedOut, message)
    }

    fn answered(&self, outcome: Result<RunResult, ToolError>) -> Answer {
        let is_cancelled = self.registered.as_ref().is_some_and(|registered| registered.token().is_cancelled());
        let result = match &outcome {
            Ok(result) => write_result(self.served.tool(self.offer()), result, self.revision),
            Err(error) => {
                if let Some(missing) = missing_capability(error) {
                    let fault = Fault::of_envelope(Code::MissingClientCapability, error.to_string());
                    let fault = fault.with_data(json!({ "requiredCapabilities": missing.required() }));
                    return Answer { bytes: fault.to_response(Some(&self.id)), is_bad_request: true, is_cancelled };
                }
                write_error(error, self.revision)
            }
        };
        let bytes = response(&self.id, self.shared.meta_of(self.revision), &result);
        Answer { bytes, is_bad_request: false, is_cancelled }
    }
}

fn missing_capability(error: &ToolError) -> Option<&MissingCapability> {
    std::error::Error::source(error)?.downcast_ref()
}

/// A call, and how far it has come.
pub(super) struct CallEvents {
    call: Call<'static>,
    watch: Watch,
    deadline: Option<Instant>,
    /// `None` before it has begun.
    stream: Option<CallStream>,
    /// How much was done at the last report: the next must say more.
    done: f64,
}

/// What happens during a call.
pub(super) enum CallEvent {
    /// A notification.
    Progress(Vec<u8>),
    /// The end.
    Answer(Answer),
}

impl CallEvents {
    /// What happens next; not to be asked for again after the answer.
    pub(super) async fn next(&mut self) -> CallEvent {
        let limit = self.call.shared.call_timeout.unwrap_or_default();
        let deadline = self.deadline;
        let over = async {
            match deadline {
                Some(deadline) => tokio::time::sleep_until(deadline).await,
                None => pending().await,
            }
        };
        tokio::select! {
            biased;
            event = self.next_in_time() => event,
            () = over => {
                let outcome = Err(self.call.took_too_long(limit));
                self.end(outcome)
            }
        }
    }

    async fn next_in_time(&mut self) -> CallEvent {
        if self.stream.is_none() {
            let place = Arc::clone(&self.call.shared.places).acquire_owned().await;
            self.watch.place = place.ok();
            let dispatcher = &self.call.served.dispatcher;
            let arguments = self.call.borrowed().into_owned();
            self.stream = Some(dispatcher.stream_with(&self.call.context, &self.call.offer().id, arguments));
        }
        loop {
            let stream = self.stream.as_mut().expect("it has begun");
            let event = stream.next().instrument(self.call.span.clone()).await;
            match event.map(|event| event.event) {
                Some(Event::Progress(progress)) if progress.done > self.done => {
                    self.done = progress.done;
                    return CallEvent::Progress(self.progress(&progress));
                }
                Some(Event::Done(result)) => return self.end(Ok(result)),
                Some(Event::Error(error)) => return self.end(Err(error)),
                None => return self.end(Err(ToolError::cancelled())),
                // The parts of a result come with the whole of it, and progress that is none says nothing.
                Some(_) => {}
            }
        }
    }

    fn end(&mut self, outcome: Result<RunResult, ToolError>) -> CallEvent {
        self.stream = None;
        self.watch.ended(&outcome);
        CallEvent::Answer(self.call.answered(outcome))
    }

    fn progress(&self, progress: &Progress) -> Vec<u8> {
        #[derive(Serialize)]
        struct Params<'p> {
            #[serde(rename = "progressToken")]
            token: Option<&'p RawValue>,
            #[serde(flatten)]
            progress: &'p Progress,
        }
        let token = self.call.progress_token.as_deref();
        notification("notifications/progress", &Params { token, progress })
    }
}

/// Counts a call, also one that is dropped before it ends.
struct Watch {
    metrics: Arc<CallMetrics>,
    started: std::time::Instant,
    has_ended: bool,
    place: Option<tokio::sync::OwnedSemaphorePermit>,
    _running: Held,
}

impl Watch {
    fn over(offer: &Offer, shared: &Shared) -> Self {
        Self {
            metrics: Arc::clone(&offer.metrics),
            started: std::time::Instant::now(),
            has_ended: false,
            place: None,
            _running: shared.metrics.running.hold(),
        }
    }

    fn ended<T>(&mut self, outcome: &Result<T, ToolError>) {
        self.has_ended = true;
        self.place = None;
        self.metrics.record(outcome, self.started.elapsed());
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if !self.has_ended {
            self.ended(&Err::<(), _>(ToolError::cancelled()));
        }
    }
}
