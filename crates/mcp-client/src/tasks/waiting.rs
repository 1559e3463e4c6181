//! Waiting for the end of a task.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{ErrorCode, ErrorData, GetExtensions};
use rmcp::service::ServiceError;
use serde_json::Value;
use tokio::time::{sleep, timeout};
use toolkit::ToolError;
use toolkit::call::ErrorKind;

use super::request;
use super::requester::{Failure, Requester};
use super::snapshot::{Answers, MIN_INTERVAL, Snapshot, Status};
use crate::list::timed_out;
use crate::listener::Listener;
use crate::remote::Remote;
use crate::screen::TaskWatch;
use crate::texts::{followed, text_of};
use crate::verbatim;

/// The maximum number of responses to `tasks/result` before the end of the task.
const MAX_EARLY: usize = 10;

/// The state of waiting for a task.
pub(super) struct Waiting<'c> {
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

impl<'c> Waiting<'c> {
    pub(super) fn new(requester: Requester<'c>, listener: &'c Arc<Listener>) -> Self {
        let watch = Arc::new(TaskWatch::new(requester.id()));
        let (interval, wait, answers) = (MIN_INTERVAL, MIN_INTERVAL, Answers::default());
        Self { requester, listener, watch, interval, wait, has_ended: false, answers, n_early: 0 }
    }

    /// Requests the state of the task and acts on it. Returns the result of the call, or `None` if the task has not
    /// ended.
    pub(super) async fn step(&mut self) -> Result<Option<Value>, Failure> {
        self.requester.connect().await?;
        self.send_answers().await?;
        let mut snapshot = self.get().await?;
        match snapshot.status {
            Status::Working => Ok(None),
            Status::Cancelled => Err(self.canceled()),
            status if self.requester.connection().is_legacy() => self.read_result(status.is_terminal()).await,
            Status::InputRequired => {
                let asking = self.answers.ask(self.remote(), self.requester.context(), &snapshot);
                asking.await.map_err(Failure::Final)?;
                self.send_answers().await.map(|()| None)
            }
            Status::Completed => {
                let result = verbatim::part(&mut snapshot.fields, "result").unwrap_or_default();
                self.complete(result)
            }
            Status::Failed => {
                self.requester.has_ended();
                let error = snapshot.fields.remove("error").map(verbatim::error).unwrap_or_default();
                Err(Failure::Final(match serde_json::from_value::<ErrorData>(error) {
                    Ok(error) => self.remote().convert(&error),
                    Err(_) => self.remote().invalid_response("with a failed task without an error"),
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
    async fn get(&mut self) -> Result<Snapshot, Failure> {
        let mut request = request::get(self.requester.id());
        request.extensions_mut().insert(Arc::clone(&self.watch));
        let response = self.requester.ask(request).await?.map_err(|error| {
            Failure::Final(match error.code {
                ErrorCode::INVALID_PARAMS => {
                    self.requester.has_ended();
                    let remote = self.remote();
                    let message = format!(
                        "{remote} no longer has the task of this call, which may have had effects; the server was \
                         restarted, or the task has expired"
                    );
                    ToolError::new(ErrorKind::OutcomeUnknown, message).caused_by(error.message.into_owned())
                }
                _ => self.remote().convert(&error),
            })
        })?;
        let snapshot = Snapshot::parse(self.requester.id(), response);
        let snapshot = snapshot.map_err(|how| Failure::Final(self.remote().invalid_response(how)))?;
        if self.has_ended && !snapshot.status.is_terminal() {
            return Err(Failure::Final(self.remote().invalid_response("with a task that runs again after its end")));
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
    async fn read_result(&mut self, has_ended: bool) -> Result<Option<Value>, Failure> {
        let (connection, mut has_ended) = (Arc::clone(self.requester.connection()), has_ended);
        let caller = self.requester.caller()?;
        let mut result = pin!(connection.ask(request::result(self.requester.id()), caller, None));
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
                return Err(Failure::Lost(timed_out(self.remote(), limit)));
            }
            match self.get().await?.status {
                Status::Cancelled => return Err(self.canceled()),
                status => has_ended = status.is_terminal(),
            }
        }
    }

    async fn read(&mut self, answer: Result<Value, ServiceError>, has_ended: bool) -> Result<Option<Value>, Failure> {
        match answer {
            Ok(result) => self.complete(result),
            Err(ServiceError::McpError(error)) => {
                self.n_early += 1;
                if has_ended {
                    self.requester.has_ended();
                } else if self.n_early <= MAX_EARLY {
                    return Ok(None);
                }
                Err(Failure::Final(self.remote().convert(&error)))
            }
            Err(error) => Err(self.requester.failed(error).await),
        }
    }

    /// Sends the answers of the user, if there are any, until the server confirms them.
    async fn send_answers(&mut self) -> Result<(), Failure> {
        let Some(responses) = self.answers.unsent() else {
            return Ok(());
        };
        self.requester.ask(request::update(self.requester.id(), responses)).await?.map_err(|error| {
            let message = format!("{} rejected the answers of the user", self.remote());
            Failure::Final(ToolError::failed(followed(&message, &text_of(&error))))
        })?;
        self.answers.are_sent();
        Ok(())
    }

    /// Ends with the result of the call.
    fn complete(&mut self, result: Value) -> Result<Option<Value>, Failure> {
        self.requester.has_ended();
        match result.get("resultType").and_then(Value::as_str) {
            None | Some("complete") => Ok(Some(result)),
            Some(_) => Err(Failure::Final(self.remote().invalid_response("with an incomplete result of a task"))),
        }
    }

    fn canceled(&mut self) -> Failure {
        self.requester.has_ended();
        Failure::Final(ToolError::failed(format!("{} canceled the task of this call", self.remote())))
    }
}
