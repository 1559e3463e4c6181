//! Waiting for the end of a task, by its state as the server reports it.

use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{sleep, timeout};
use toolkit::ToolError;
use toolkit::call::ErrorKind;
use toolkit_mcp::Code;

use super::answers::Answers;
use super::request;
use super::requester::{Requester, TaskFailure};
use crate::caller::Listener;
use crate::failure::{Failure, ServerError};
use crate::peer::PeerAnswer;
use crate::raw::Raw;
use crate::remote::{Remote, timed_out};
use crate::task_watch::TaskWatch;
use crate::texts::{followed, shortened, text_of};

/// The maximum number of responses to `tasks/result` before the end of the task.
const MAX_EARLY: usize = 10;

/// The state of waiting for a task.
pub(super) struct TaskWaiting<'c> {
    requester: Requester<'c>,
    listener: &'c Arc<Listener>,
    watch: Arc<TaskWatch>,
    /// The interval that the server has suggested.
    interval: Duration,
    /// The next wait, if it is shorter. It doubles each time, so that a fast tool does not take the whole interval.
    wait: Duration,
    has_ended: bool,
    answers: Answers,
    /// The number of responses to `tasks/result` before the end of the task.
    n_early: usize,
}

impl<'c> TaskWaiting<'c> {
    pub(super) fn new(requester: Requester<'c>, listener: &'c Arc<Listener>) -> Self {
        let watch = Arc::new(TaskWatch::new(&requester.id));
        let (interval, wait, answers) = (MIN_INTERVAL, MIN_INTERVAL, Answers::default());
        Self { requester, listener, watch, interval, wait, has_ended: false, answers, n_early: 0 }
    }

    /// Requests the state of the task and acts on it. Returns the result of the call, or `None` if the task has not
    /// ended.
    pub(super) async fn step(&mut self) -> Result<Option<Raw>, TaskFailure> {
        self.requester.connect().await?;
        self.send_answers().await?;
        let mut snapshot = self.get().await?;
        match snapshot.status {
            Status::Working => Ok(None),
            Status::Cancelled => Err(self.canceled()),
            status if self.requester.connection.is_legacy() => self.read_result(status.is_terminal()).await,
            Status::InputRequired => {
                let asking = self.answers.ask(self.remote(), self.requester.context, &snapshot);
                asking.await.map_err(TaskFailure::Final)?;
                self.send_answers().await.map(|()| None)
            }
            Status::Completed => {
                let result = snapshot.fields.remove("result").unwrap_or_else(|| Raw::from("null".to_owned()));
                self.complete(result)
            }
            Status::Failed => {
                self.requester.has_ended();
                Err(TaskFailure::Final(match snapshot.fields.remove("error").filter(|error| error.get() != "null") {
                    Some(error) => self.remote().convert(&ServerError::read(&error)),
                    None => self.remote().invalid_response("with a failed task without an error"),
                }))
            }
        }
    }

    /// Waits until the state should be requested again: until the server has announced a change, or for the interval
    /// that the server has suggested.
    pub(super) async fn pause(&mut self) {
        self.wait = (2 * self.wait).min(self.interval);
        sleep(MIN_INTERVAL).await;
        let _ = timeout(self.wait.saturating_sub(MIN_INTERVAL), self.watch.changed()).await;
    }

    fn remote(&self) -> &'c Remote {
        self.requester.remote()
    }

    /// Requests the state of the task.
    async fn get(&mut self) -> Result<Snapshot, TaskFailure> {
        let mut request = request::about("tasks/get", &self.requester.id);
        request.task = Some(Arc::clone(&self.watch));
        let response = self.requester.ask(request).await?.map_err(|error| {
            TaskFailure::Final(match error.has_code(Code::InvalidParams) {
                true => {
                    self.requester.has_ended();
                    let remote = self.remote();
                    let message = format!(
                        "{remote} no longer has the task of this call, which may have had effects; the server was \
                         restarted, or the task has expired"
                    );
                    ToolError::new(ErrorKind::OutcomeUnknown, message).caused_by(error.message)
                }
                false => self.remote().convert(&error),
            })
        })?;
        let snapshot = Snapshot::parse(&self.requester.id, &response);
        let snapshot = snapshot.map_err(|how| TaskFailure::Final(self.remote().invalid_response(how)))?;
        if self.has_ended && !snapshot.status.is_terminal() {
            return Err(TaskFailure::Final(
                self.remote().invalid_response("with a task that runs again after its end"),
            ));
        }
        self.has_ended = snapshot.status.is_terminal();
        self.interval = snapshot.interval;
        if let Some(message) = &snapshot.message {
            self.listener.report_status(message);
        }
        Ok(snapshot)
    }

    /// Requests the result, in revision 2025-11-25. The server sends the questions of the task while this request is
    /// open. Returns `None` if the server does not wait for the end of the task.
    async fn read_result(&mut self, has_ended: bool) -> Result<Option<Raw>, TaskFailure> {
        let (connection, mut has_ended) = (Arc::clone(&self.requester.connection), has_ended);
        let request = request::about("tasks/result", &self.requester.id).from(self.requester.caller()?);
        let mut result = pin!(connection.ask(request));
        loop {
            let limit = self.remote().limits.start;
            let pause = async {
                match has_ended {
                    true => sleep(limit).await,
                    false => self.pause().await,
                }
            };
            tokio::select! {
                biased;
                answer = &mut result => return self.read(answer, has_ended).await,
                () = pause => {}
            }
            if has_ended {
                return Err(TaskFailure::Lost(timed_out(self.remote(), limit)));
            }
            match self.get().await?.status {
                Status::Cancelled => return Err(self.canceled()),
                status => has_ended = status.is_terminal(),
            }
        }
    }

    async fn read(&mut self, answer: PeerAnswer, has_ended: bool) -> Result<Option<Raw>, TaskFailure> {
        match answer {
            Ok(result) => self.complete(result),
            Err(Failure::Rpc(error)) => {
                self.n_early += 1;
                if has_ended {
                    self.requester.has_ended();
                } else if self.n_early <= MAX_EARLY {
                    return Ok(None);
                }
                Err(TaskFailure::Final(self.remote().convert(&error)))
            }
            Err(failure) => Err(self.requester.failed(failure).await),
        }
    }

    /// Sends the answers of the user, if there are any, until the server confirms them.
    async fn send_answers(&mut self) -> Result<(), TaskFailure> {
        let Some(responses) = &self.answers.unsent else {
            return Ok(());
        };
        let request = request::about("tasks/update", &self.requester.id).with("inputResponses", responses);
        self.requester.ask(request).await?.map_err(|error| {
            let message = format!("{} rejected the answers of the user", self.remote());
            TaskFailure::Final(ToolError::failed(followed(&message, &text_of(&error))))
        })?;
        self.answers.unsent = None;
        Ok(())
    }

    /// Ends with the result of the call.
    fn complete(&mut self, result: Raw) -> Result<Option<Raw>, TaskFailure> {
        self.requester.has_ended();
        match result.text_field("resultType").as_deref() {
            None | Some("complete") => Ok(Some(result)),
            Some(_) => Err(TaskFailure::Final(self.remote().invalid_response("with an incomplete result of a task"))),
        }
    }

    fn canceled(&mut self) -> TaskFailure {
        self.requester.has_ended();
        TaskFailure::Final(ToolError::failed(format!("{} canceled the task of this call", self.remote())))
    }
}

/// The bounds of the time between two requests for the state of a task.
pub(super) const MIN_INTERVAL: Duration = Duration::from_millis(100);
const MAX_INTERVAL: Duration = Duration::from_secs(60);

/// The interval if the server does not suggest one.
const DEFAULT_INTERVAL: Duration = Duration::from_secs(1);

/// The maximum length of the id of a task in bytes. The client sends the id in a header of each request.
const MAX_ID_LEN: usize = 4096;

/// The state of a task.
pub(super) struct Snapshot {
    status: Status,
    /// The description of the status.
    message: Option<String>,
    /// The time until the state should be requested again.
    interval: Duration,
    /// The other fields, such as the result.
    pub(super) fields: BTreeMap<String, Raw>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Status {
    Working,
    InputRequired,
    Completed,
    Failed,
    Cancelled,
}

impl Status {
    /// Returns true if the task has ended.
    pub(super) fn is_terminal(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }
}

impl Snapshot {
    /// Reads the response to a request for the state of a task.
    ///
    /// # Errors
    ///
    /// Returns the reason why it is not the state of this task. It completes the sentence "The server responded …".
    fn parse(id: &str, response: &Raw) -> Result<Self, &'static str> {
        let fields = response.fields().ok_or("without the state of a task")?;
        let text = |name: &str| fields.get(name).and_then(Raw::text);
        if text("taskId").as_deref() != Some(id) {
            return Err("with the state of another task");
        }
        let status = match text("status").as_deref() {
            Some("working") => Status::Working,
            Some("input_required") => Status::InputRequired,
            Some("completed") => Status::Completed,
            Some("failed") => Status::Failed,
            Some("cancelled") => Status::Cancelled,
            _ => return Err("with an unknown status of a task"),
        };
        let message = text("statusMessage").filter(|message| !message.is_empty());
        let suggested = fields.get("pollIntervalMs").or_else(|| fields.get("pollInterval"));
        let interval = interval(suggested.and_then(|suggested| suggested.parse().ok()));
        Ok(Self { status, message: message.as_deref().map(shortened), interval, fields })
    }
}

/// Returns the suggested interval in milliseconds within the bounds.
fn interval(suggested: Option<f64>) -> Duration {
    let milliseconds = |bound: Duration| bound.as_secs_f64() * 1000.0;
    let suggested = suggested.unwrap_or(milliseconds(DEFAULT_INTERVAL));
    let bounded = suggested.clamp(milliseconds(MIN_INTERVAL), milliseconds(MAX_INTERVAL));
    Duration::from_secs_f64(bounded / 1000.0)
}

/// Checks the id of a new task.
///
/// # Errors
///
/// Returns the reason why it is rejected, which completes the sentence "The server responded …".
pub(super) fn check_id(id: &str) -> Result<(), &'static str> {
    match id.len() {
        0 => Err("with a task without an id"),
        1..=MAX_ID_LEN => Ok(()),
        _ => Err("with a task whose id has more than 4096 bytes"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_interval_is_between_a_tenth_of_a_second_and_a_minute() {
        for (suggested, milliseconds) in [
            (json!(5000), 5000),
            (json!(0), 100),
            (json!(-1e300), 100),
            (json!(99.5), 100),
            (json!(1e300), 60_000),
            (json!(u64::MAX), 60_000),
            (json!("5000"), 1000),
            (json!(null), 1000),
        ] {
            let interval = interval(serde_json::from_value(suggested.clone()).ok());
            assert_eq!(interval, Duration::from_millis(milliseconds), "{suggested}");
        }
        assert_eq!(interval(None), DEFAULT_INTERVAL);
    }
}
