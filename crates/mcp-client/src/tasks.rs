//! Tasks: calls whose results the client polls.
//!
//! In revision 2025-11-25 the client requests a task, reads its state with `tasks/get` and its result with
//! `tasks/result`, during which the server sends its questions. With the extension `io.modelcontextprotocol/tasks` of
//! revision 2026-07-28 the server decides that a call becomes a task, `tasks/get` returns its questions and its result,
//! and `tasks/update` sends the answers.
//!
//! A task outlives the connection. If that is lost, the client reconnects and goes on polling.
//!
//! | module | contains |
//! | --- | --- |
//! | `request` | the requests about tasks |
//! | `create`, `guard` | creation and cancellation |
//! | `requester` | the requests about one task, over the current connection |
//! | `waiting`, `answers` | polling: the reported state, and answers to its questions |

mod answers;
mod create;
mod guard;
mod request;
mod requester;
mod waiting;

use std::sync::Arc;
use std::time::Duration;

use tokio::time::sleep;
use toolkit::backend::BackendCall;
use toolkit::call::ErrorKind;
use toolkit::tool::TaskSupport;
use toolkit::{Tool, ToolError};

use self::create::CreatedTask;
pub(super) use self::create::{create, created_task};
pub(super) use self::request::request_of_call;
use self::requester::{Requester, TaskFailure};
use self::waiting::{MIN_INTERVAL, TaskWaiting, check_id};
use super::backoff::Backoff;
use super::caller::Listener;
use super::connection::Connection;
use super::link::Link;
use super::questions::RunningCall;
use super::raw::Raw;

/// The maximum number of consecutive attempts that fail since the server cannot be reached.
const MAX_LOST: usize = 10;

/// The maximum wait between two such attempts.
const MAX_PAUSE: Duration = Duration::from_secs(30);

/// Waits until a task has ended, and returns the result of the call.
///
/// Dropping the future cancels the task. So does an error, unless the task has ended.
pub(super) async fn finish(
    link: &Link,
    call: &BackendCall<'_>,
    connection: Arc<Connection>,
    running: Option<RunningCall>,
    listener: &Arc<Listener>,
    created: CreatedTask,
) -> Result<Raw, ToolError> {
    check_id(&created.id).map_err(|how| link.remote.invalid_response(how))?;
    let _counted = link.count_task();
    let requester = Requester::new(link, call.context(), connection, running, created);
    let mut waiting = TaskWaiting::new(requester, listener);
    let mut backoff = Backoff::default();
    let mut n_lost = 0;
    // Short, so that a fast tool takes little longer as a task.
    sleep(MIN_INTERVAL).await;
    loop {
        match waiting.step().await {
            Ok(Some(result)) => return Ok(result),
            Ok(None) => {
                (n_lost, backoff) = (0, Backoff::default());
                waiting.pause().await;
            }
            Err(TaskFailure::Lost(error)) if n_lost < MAX_LOST => {
                link.check_stopped()?;
                n_lost += 1;
                backoff.record_failure();
                let pause = error.retry_after().or(backoff.left()).unwrap_or_default();
                sleep(pause.clamp(MIN_INTERVAL, MAX_PAUSE)).await;
            }
            Err(TaskFailure::Lost(error)) => {
                let message = format!("{error}; the task of this call may still run");
                return Err(ToolError::new(ErrorKind::OutcomeUnknown, message).caused_by(error));
            }
            Err(TaskFailure::Final(error)) => return Err(error),
        }
    }
}

/// Returns true if the client requests a task for a call of this tool, in revision 2025-11-25.
///
/// It does so for optional tasks too. A call that is one request ends with the connection, and proxies and servers
/// limit its time, often to a minute; a task outlives both. A fast tool takes little longer: the first waits are short,
/// and status notifications end them.
pub(super) fn is_supported_by(tool: &Tool) -> bool {
    tool.task_support() != TaskSupport::Forbidden
}
