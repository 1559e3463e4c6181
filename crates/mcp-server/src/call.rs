//! One `tools/call` request.
//!
//! The tool begins on the thread that has read the call, which another one replaces if the tool blocks, and goes on on a thread for
//! tools; that of a mounted server begins there. Everything else runs on the threads that do I/O: waiting for a permit, timeouts,
//! cancellation and progress notifications. Only a large body is parsed on a thread for tools, too.
//!
//! | module | part |
//! | --- | --- |
//! | `begin` | reads what the request declares, registers it for cancellation, and connects the context of the tool with the client |
//! | `run` | from the permit to the response, in one function |
//! | `tool` | the part on a thread for tools: the tool, and its result as a response |
//! | `shorten` | the text of a result that is longer than its tool declares |
//! | `messages` | the events of a running tool as messages to the client |
//! | `early_end` | what ends a call before its tool does |
//! | `watch` | the metrics of a call, and the end of its audit line, which `observe` writes |
//! | `ask`, `permit_slot` | questions of the tool to the user of the client, during which the call gives its permit back |
//! | `offer`, `task` | calls that may become tasks |

mod ask;
mod begin;
mod early_end;
mod messages;
mod offer;
mod permit_slot;
mod run;
mod shorten;
mod task;
mod tool;
mod watch;

use std::sync::Arc;

use serde_json::value::RawValue;
use tokio::sync::mpsc::{Receiver, Sender};
use toolkit::call::LogLevel;
use toolkit::mcp::Revision;
use toolkit::{Arguments, CancelToken, Context, Tool};
use toolkit_mcp::{Code, RpcError};
#[cfg(feature = "http")]
use toolkit_runtime::BodyCharge;
use tracing::Span;

pub(super) use self::begin::{CallTarget, begin, credentials};
use self::messages::CallEvent;
use self::offer::TaskOffer;
pub(super) use self::offer::{declares_tasks, missing_extension};
use self::permit_slot::PermitSlot;
pub(super) use self::run::run;
use super::ask::{Modes, OpenQuestions, Rounds};
use super::observe::Observed;
use super::peer::Registered;
use super::served::{ServedTool, ServedTools};
use super::state::ServerState;

/// A call that is ready to run.
pub(super) struct Call {
    shared: Arc<ServerState>,
    served: Arc<ServedTools>,
    /// The position of the tool in the list of served tools.
    nth: usize,
    /// True if `call_tool` calls the tool, so that the result has to name it.
    is_found: bool,
    arguments: Arguments<'static>,
    id: Box<RawValue>,
    revision: Revision,
    context: Context,
    /// Cancels the call; the context holds the same token.
    cancel: CancelToken,
    /// True if the client can cancel the call by the id of its request.
    is_cancellable: bool,
    progress_token: Option<Box<RawValue>>,
    /// The level from which on the client receives log messages.
    log_level: Option<LogLevel>,
    asks: Asks,
    /// The terms on which the call may become a task.
    task: Option<TaskOffer>,
    span: Span,
    /// `None` once the call runs, like the next two.
    registered: Option<Registered>,
    observed: Option<Observed>,
    /// The events of the tool, if the client receives messages.
    events: Option<Receiver<CallEvent>>,
    /// The receiver of the parts of the result, if the client wants them.
    chunks: Option<Sender<CallEvent>>,
    /// Holds the permit of a call that may ask its user.
    permit: Option<PermitSlot>,
    /// The share of the message in the memory budget of request bodies.
    #[cfg(feature = "http")]
    pub(super) charge: toolkit_runtime::Mutex<Option<BodyCharge>>,
}

/// The way in which a call asks the user of its client.
enum Asks {
    /// The client cannot ask its user, or the asker of the context has taken the settings.
    Never,
    /// By requests, which are sent while the call runs, before revision 2026-07-28.
    Stream(StreamAsks),
    /// By ending the call, which the client repeats.
    Rounds(Rounds),
}

impl Asks {
    /// Takes the settings of a call that asks by requests.
    fn take_stream(&mut self) -> Option<StreamAsks> {
        match std::mem::replace(self, Asks::Never) {
            Asks::Stream(asks) => Some(asks),
            other => {
                *self = other;
                None
            }
        }
    }
}

/// The settings of a call that asks by requests.
struct StreamAsks {
    session: Box<str>,
    modes: Modes,
    questions: OpenQuestions,
    /// Cancelled when the client can send no more answers.
    end: Option<CancelToken>,
}

/// Creates the error for `requestState` that does not continue the call. It does not contain the reason, which would help
/// to forge one.
fn invalid_state() -> RpcError {
    RpcError::new(Code::InvalidParams, "`requestState` is not a state of this call, or has expired")
}

impl Call {
    /// Returns true if there is something that the client could receive before the response.
    fn has_messages(&self) -> bool {
        self.progress_token.is_some() || self.log_level.is_some() || matches!(self.asks, Asks::Stream(_))
    }

    /// Returns true once the call has become a task.
    fn is_task(&self) -> bool {
        self.task.as_ref().is_some_and(TaskOffer::is_accepted)
    }

    /// Returns the approximate size of the arguments in memory.
    fn argument_bytes(&self) -> usize {
        match &self.arguments {
            Arguments::Json(json) => json.len(),
            _ => 0,
        }
    }

    fn entry(&self) -> &ServedTool {
        &self.served.entries[self.nth]
    }

    fn tool(&self) -> &Tool {
        self.served.tool(self.entry())
    }
}
