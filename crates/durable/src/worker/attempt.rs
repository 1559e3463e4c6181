//! One attempt to run a step.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use toolkit::call::{CancelToken, ErrorKind};
use toolkit::dispatch::BlockingThreads;
use toolkit::{Context, ToolError};
use toolkit_backends::chain::{StepCall, StepRun};
use toolkit_runtime::{run_tool, spawn_tool};

use super::asking::{Answered, Answers, End};
use super::shared::Shared;
use crate::record::{Attempt, Pause};

/// The inputs of an attempt.
#[derive(Clone)]
pub(super) struct Preparation {
    pub(super) shared: Arc<Shared>,
    pub(super) index: usize,
    pub(super) tool: Arc<str>,
    pub(super) args: Arc<Value>,
    pub(super) context: Context,
    pub(super) answers: Vec<Answered>,
    /// The reason to wait for a decision instead of running the tool.
    pub(super) instead: Option<Pause>,
}

impl Preparation {
    /// Calls the tool.
    ///
    /// # Errors
    ///
    /// Returns the errors of a tool that has certainly not started. All others are results, which are recorded.
    pub(super) async fn attempt(self) -> dbos::Result<Attempt, ToolError> {
        if let Some(pause) = self.instead {
            return Ok(Attempt::Paused(pause));
        }
        // Dropping the task drops the call.
        let name = Arc::clone(&self.tool);
        let ended = spawn_tool(&name, self.call()).await;
        let panicked = || {
            let result = Err(ToolError::new(ErrorKind::Panicked, "the tool failed with an internal error"));
            End::Completed(StepRun::new(result, Duration::ZERO))
        };
        match ended.unwrap_or_else(|_| panicked()) {
            End::Asked(question) => Ok(Attempt::Paused(Pause::from_question(&question))),
            End::Completed(StepRun { result: Err(error), .. }) if is_transient(&error) => {
                Err(dbos::Error::Application(error))
            }
            End::Completed(StepRun { result: Err(error), .. }) if error.kind() == ErrorKind::Pending => {
                Ok(Attempt::Paused(Pause::Pending { message: error.message().to_owned() }))
            }
            End::Completed(StepRun { result, duration, .. }) => Ok(Attempt::Done { result, duration }),
        }
    }

    /// Calls the tool on a thread where it may block.
    async fn call(self) -> End<StepRun> {
        let Self { shared, index, tool, args, context, answers, .. } = self;
        let name = Arc::clone(&tool);
        let threads = BlockingThreads::new(move |work| run_tool(&name, work));
        // Informs a tool that runs on although its call was dropped.
        let token = CancelToken::new();
        let _dropped = CancelOnDrop(token.clone());
        let asker = Answers::new(answers);
        let context = context.with(threads).with_cancel(token).with_asker(asker.clone());
        let call = StepCall::new(index, &tool, &args, context, &shared.dispatcher);
        asker.run(call.run()).await
    }
}

/// Returns true if the tool has not started, and may be called again.
pub(super) fn is_transient(error: &ToolError) -> bool {
    matches!(error.kind(), ErrorKind::Unavailable | ErrorKind::Overloaded)
}

struct CancelOnDrop(CancelToken);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}
