//! One `tools/call` request.
//!
//! The tool runs on a thread of the tool pool, where it may block. Everything else runs on the threads that do I/O:
//! waiting for a permit, timeouts, cancellation and progress notifications.

mod ask;
mod events;
mod listen;
mod message;
mod permit;
mod run;
mod watch;

use std::sync::Arc;

use serde_json::value::RawValue;
use toolkit::call::LogLevel;
use toolkit::mcp::Revision;
use toolkit::{Arguments, CancelToken, Context, Tool};
use toolkit_http::BodyCharge;
use tracing::Span;

pub(super) use self::events::{CallEvent, CallEvents};
use self::permit::PermitSlot;
use super::ask::{Modes, Rounds};
use super::reply::{Code, RpcError};
use super::running::Registered;
use super::served::{ServedTool, ServedTools};
use super::state::Shared;

/// A call that is ready to run.
pub(super) struct Call<'m> {
    pub(super) shared: Arc<Shared>,
    pub(super) served: Arc<ServedTools>,
    pub(super) nth: usize,
    pub(super) arguments: Arguments<'m>,
    pub(super) id: Box<RawValue>,
    pub(super) revision: Revision,
    pub(super) context: Context,
    /// Cancels the call; the context holds the same token.
    pub(super) cancel: CancelToken,
    pub(super) registered: Option<Registered>,
    pub(super) progress_token: Option<Box<RawValue>>,
    /// The level from which on the client receives log messages.
    pub(super) log_level: Option<LogLevel>,
    pub(super) asks: Asks,
    pub(super) span: Span,
    /// Holds the permit of a call that may ask its user.
    pub(super) permit: Option<PermitSlot>,
    /// The share of the message in the memory budget of request bodies.
    pub(super) charge: Option<BodyCharge>,
}

/// The way in which a call asks the user of its client.
pub(super) enum Asks {
    /// The client cannot ask its user.
    Never,
    /// By requests, which are sent while the call runs, before revision 2026-07-28.
    Stream { session: Box<str>, modes: Modes },
    /// By ending the call, which the client repeats.
    Rounds(Rounds),
}

/// Creates the error for `requestState` that does not continue the call. It does not contain the reason, which would help
/// to forge one.
pub(super) fn invalid_state() -> RpcError {
    RpcError::new(Code::InvalidParams, "`requestState` is not a state of this call, or has expired")
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

impl Call<'_> {
    /// Returns true if the client expects messages while the call runs.
    pub(super) fn sends_messages(&self) -> bool {
        self.progress_token.is_some() || self.log_level.is_some() || matches!(self.asks, Asks::Stream { .. })
    }

    pub(super) fn entry(&self) -> &ServedTool {
        &self.served.entries[self.nth]
    }

    pub(super) fn tool(&self) -> &Tool {
        self.served.tool(self.entry())
    }

    /// Copies the arguments, so that the call does not borrow from its message.
    pub(super) fn into_owned(self) -> Call<'static> {
        Call { arguments: self.arguments.into_owned(), ..self }
    }
}
