//! A call that is ready to run.

use std::sync::{Arc, Mutex};

use serde_json::value::RawValue;
use toolkit::call::LogLevel;
use toolkit::mcp::Revision;
use toolkit::{Arguments, CancelToken, Context, Tool};
use toolkit_http::BodyCharge;
use tracing::Span;

use super::chunks::ChunkSettings;
use super::offer::TaskOffer;
use super::permit::PermitSlot;
use crate::server::ask::{Modes, OpenQuestions, Rounds};
use crate::server::reply::{Code, RpcError};
use crate::server::running::Registered;
use crate::server::served::{ServedTool, ServedTools};
use crate::server::state::Shared;

/// A call that is ready to run.
pub(in crate::server) struct Call<'m> {
    pub(in crate::server) shared: Arc<Shared>,
    pub(in crate::server) served: Arc<ServedTools>,
    pub(in crate::server) nth: usize,
    pub(in crate::server) arguments: Arguments<'m>,
    pub(in crate::server) id: Box<RawValue>,
    pub(in crate::server) revision: Revision,
    pub(in crate::server) context: Context,
    /// Cancels the call; the context holds the same token.
    pub(in crate::server) cancel: CancelToken,
    pub(in crate::server) registered: Option<Registered>,
    /// True if the client can cancel the call by the id of its request.
    pub(in crate::server) is_cancellable: bool,
    pub(in crate::server) progress_token: Option<Box<RawValue>>,
    /// The way in which the client receives the parts of the result.
    pub(in crate::server) chunks: ChunkSettings,
    /// The level from which on the client receives log messages.
    pub(in crate::server) log_level: Option<LogLevel>,
    pub(in crate::server) asks: Asks,
    /// The terms on which the call may become a task.
    pub(in crate::server) task: Option<TaskOffer>,
    pub(in crate::server) span: Span,
    /// Holds the permit of a call that may ask its user.
    pub(in crate::server) permit: Option<PermitSlot>,
    /// The share of the message in the memory budget of request bodies.
    pub(in crate::server) charge: Mutex<Option<BodyCharge>>,
}

/// The way in which a call asks the user of its client.
pub(in crate::server) enum Asks {
    /// The client cannot ask its user, or the asker of the context has taken the settings.
    Never,
    /// By requests, which are sent while the call runs, before revision 2026-07-28.
    Stream(StreamAsks),
    /// By ending the call, which the client repeats.
    Rounds(Rounds),
}

impl Asks {
    /// Takes the settings of a call that asks by requests.
    pub(super) fn take_stream(&mut self) -> Option<StreamAsks> {
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
pub(in crate::server) struct StreamAsks {
    pub(in crate::server) session: Box<str>,
    pub(in crate::server) modes: Modes,
    pub(in crate::server) questions: OpenQuestions,
    /// Cancelled when the client can send no more answers.
    pub(in crate::server) end: Option<CancelToken>,
}

/// Creates the error for `requestState` that does not continue the call. It does not contain the reason, which would help
/// to forge one.
pub(in crate::server) fn invalid_state() -> RpcError {
    RpcError::new(Code::InvalidParams, "`requestState` is not a state of this call, or has expired")
}

impl Call<'_> {
    /// Returns true if the client expects messages while the call runs.
    pub(in crate::server) fn sends_messages(&self) -> bool {
        self.progress_token.is_some() || self.log_level.is_some() || matches!(self.asks, Asks::Stream(_))
    }

    /// Returns the approximate size of the arguments in memory.
    pub(in crate::server) fn argument_bytes(&self) -> usize {
        match &self.arguments {
            Arguments::Json(json) => json.len(),
            _ => 0,
        }
    }

    pub(in crate::server) fn entry(&self) -> &ServedTool {
        &self.served.entries[self.nth]
    }

    pub(in crate::server) fn tool(&self) -> &Tool {
        self.served.tool(self.entry())
    }

    /// Copies the arguments, so that the call does not borrow from its message.
    pub(in crate::server) fn into_owned(self) -> Call<'static> {
        Call { arguments: self.arguments.into_owned(), ..self }
    }
}
