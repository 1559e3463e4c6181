//! One `tools/call` request.
//!
//! The tool runs on a thread for tools, where it may block, or over stdio on the thread that has read the call. Everything
//! else runs on the threads that do I/O: waiting for a permit, timeouts, cancellation and progress notifications. Only a large
//! body is parsed on a thread for tools, too.
//!
//! | stage | job |
//! | --- | --- |
//! | `begin` | reads what the request declares, registers it for cancellation, and builds the context of the tool |
//! | `running` | waits for a permit, starts the tool, sends its messages, measures the deadlines and observes cancellation; dropping it cancels the call and ends its registration |
//! | `run` | the part on a thread for tools: the tool, and its result as a response |
//! | `ask` | questions of the tool to the user of the client, during which the call gives its permit back |
//! | `task` | runs a call to its response (`answer`, `events`), or turns it into a task |

mod ask;
mod begin;
mod run;
mod running;
mod task;

use std::sync::Arc;
use std::time::Duration;

use serde_json::value::RawValue;
use tokio::sync::SetOnce;
use tokio::sync::mpsc::Sender;
use toolkit::call::{LogLevel, Progress};
use toolkit::mcp::Revision;
use toolkit::stream::Chunk;
use toolkit::{Arguments, CancelToken, Context, Tool};
use toolkit_mcp::{Code, RpcError};
#[cfg(feature = "http")]
use toolkit_runtime::BodyCharge;
use tracing::Span;

use self::ask::PermitSlot;
pub(super) use self::begin::{Target, begin, credentials, declares_tasks, missing_extension};
pub(super) use self::task::{answer, events};
use super::ask::{Modes, OpenQuestions, Rounds};
use super::observe::Observed;
use super::peer::{Peer, Registered};
use super::served::{ServedTool, ServedTools};
use super::state::Shared;
use super::tasks::LiveTask;

/// A call that is ready to run.
pub(super) struct Call {
    pub(super) shared: Arc<Shared>,
    pub(super) served: Arc<ServedTools>,
    pub(super) nth: usize,
    /// True if `call_tool` calls the tool, so that the result has to name it.
    pub(super) is_found: bool,
    pub(super) arguments: Arguments<'static>,
    pub(super) id: Box<RawValue>,
    pub(super) revision: Revision,
    pub(super) context: Context,
    /// Cancels the call; the context holds the same token.
    pub(super) cancel: CancelToken,
    pub(super) registered: Option<Registered>,
    /// True if the client can cancel the call by the id of its request.
    pub(super) is_cancellable: bool,
    pub(super) progress_token: Option<Box<RawValue>>,
    /// The way in which the client receives the parts of the result.
    pub(super) chunks: ChunkSettings,
    /// The level from which on the client receives log messages.
    pub(super) log_level: Option<LogLevel>,
    pub(super) asks: Asks,
    /// The terms on which the call may become a task.
    pub(super) task: Option<TaskOffer>,
    pub(super) span: Span,
    /// `None` once the call runs.
    pub(super) observed: Option<Observed>,
    /// Holds the permit of a call that may ask its user.
    pub(super) permit: Option<PermitSlot>,
    /// The share of the message in the memory budget of request bodies.
    #[cfg(feature = "http")]
    pub(super) charge: std::sync::Mutex<Option<BodyCharge>>,
}

/// The way in which a call asks the user of its client.
pub(super) enum Asks {
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
pub(super) struct StreamAsks {
    pub(super) session: Box<str>,
    pub(super) modes: Modes,
    pub(super) questions: OpenQuestions,
    /// Cancelled when the client can send no more answers.
    pub(super) end: Option<CancelToken>,
}

/// Creates the error for `requestState` that does not continue the call. It does not contain the reason, which would help
/// to forge one.
pub(super) fn invalid_state() -> RpcError {
    RpcError::new(Code::InvalidParams, "`requestState` is not a state of this call, or has expired")
}

impl Call {
    /// Returns true if the client expects messages while the call runs.
    pub(super) fn sends_messages(&self) -> bool {
        self.progress_token.is_some() || self.log_level.is_some() || matches!(self.asks, Asks::Stream(_))
    }

    /// Returns the approximate size of the arguments in memory.
    pub(super) fn argument_bytes(&self) -> usize {
        match &self.arguments {
            Arguments::Json(json) => json.len(),
            _ => 0,
        }
    }

    pub(super) fn entry(&self) -> &ServedTool {
        &self.served.entries[self.nth]
    }

    pub(super) fn tool(&self) -> &Tool {
        self.served.tool(self.entry())
    }
}

/// The task of a call, once it has become one.
type TaskSlot = Arc<SetOnce<Arc<LiveTask>>>;

/// The terms on which a call may become a task.
pub(super) struct TaskOffer {
    /// The identity of the caller.
    owner: Option<String>,
    /// The name of the caller for limits.
    caller: String,
    ttl: Duration,
    /// True if the client has requested the task, which it does before revision 2026-07-28. Later, the server decides.
    is_requested: bool,
    /// The ways in which the client can ask its user.
    modes: Modes,
    slot: TaskSlot,
}

impl TaskOffer {
    pub(super) fn new(peer: Peer<'_>, ttl: Duration, is_requested: bool, modes: Modes) -> Self {
        let owner = peer.identity();
        let caller = peer.name(peer.session.unwrap_or_default());
        Self { owner, caller, ttl, is_requested, modes, slot: TaskSlot::default() }
    }

    fn slot(&self) -> &TaskSlot {
        &self.slot
    }
}

/// A message that a tool sends to the client while it runs.
#[derive(Debug)]
enum CallMessage {
    Progress(Progress),
    /// A part of the result.
    Chunk(Chunk),
    /// The call still waits for its user.
    Waiting,
    /// A log notification.
    Log(Vec<u8>),
    /// A complete JSON-RPC message.
    Request(Vec<u8>),
}

/// An event of a call.
pub(super) enum CallEvent {
    /// A notification or request, which precedes the response.
    Message(Vec<u8>),
    /// The outcome, which is the last event.
    Response(CallResponse),
}

/// Messages, and then a response.
pub(super) trait Events: Send + 'static {
    /// Waits for the next event. Do not call it again after the response. Dropping the future loses no event.
    fn next(&mut self) -> impl Future<Output = CallEvent> + Send;

    /// Waits for the response without sending messages.
    fn response(&mut self) -> impl Future<Output = CallResponse> + Send {
        async {
            loop {
                if let CallEvent::Response(response) = self.next().await {
                    return response;
                }
            }
        }
    }
}

/// The outcome of a call.
pub(super) struct CallResponse {
    /// The response.
    pub(super) bytes: Vec<u8>,
    /// True if the request is invalid independently of the tool, so that HTTP responds with `400`.
    pub(super) is_bad_request: bool,
    /// True if the client has cancelled the call and expects no response.
    pub(super) is_cancelled: bool,
}

impl CallResponse {
    /// Returns the response to send. A cancelled request must not be answered, except over HTTP.
    pub(super) fn into_answer(self) -> Option<Vec<u8>> {
        (!self.is_cancelled).then_some(self.bytes)
    }
}

/// The way in which a client receives the parts of a result.
#[derive(Debug)]
pub(super) struct ChunkSettings {
    is_wanted: bool,
    /// `None` if the client receives the whole result only.
    receiver: Option<Sender<CallMessage>>,
}

impl ChunkSettings {
    pub(super) fn new(is_wanted: bool) -> Self {
        Self { is_wanted, receiver: None }
    }

    /// Sends the parts as messages, if the client wants them.
    fn send_to(&mut self, messages: &Sender<CallMessage>) {
        self.receiver = self.is_wanted.then(|| messages.clone());
    }

    fn receiver(&self) -> Option<&Sender<CallMessage>> {
        self.receiver.as_ref()
    }
}
