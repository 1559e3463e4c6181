//! Questions of tools to the user of the client (elicitation).
//!
//! Up to revision 2025-11-25 the server sends a request, and the call waits for its response (`requests`). Revision
//! 2026-07-28 has no requests of servers: the call ends with `input_required`, and the client repeats it with the
//! answers (`rounds`). What the server has to remember in between is sealed into `requestState` (`state`), so that any
//! server with the same key continues the call.

mod elicit;
mod modes;
mod plain;
mod requests;
mod rounds;
mod seal;
mod state;
mod used;
mod waiting;

use toolkit::ToolError;

pub(super) use self::elicit::{answer as parse_answer, request};
pub(super) use self::modes::Modes;
pub(super) use self::plain::plain;
pub(super) use self::requests::{OpenRequest, OpenRequests};
pub(super) use self::rounds::{Outcome, Rounds};
pub(super) use self::seal::Keys;
pub use self::seal::{StateKey, WeakKeyError};
pub(super) use self::state::{Sealing, UsedRecord};
pub(super) use self::used::UsedInMemory;
pub use self::used::UsedStates;
pub(super) use self::waiting::{OpenQuestions, WaitingCalls};

/// The maximum number of questions of a call.
pub(super) const MAX_QUESTIONS: usize = 10;

/// Creates the error of a call that asks too much.
pub(super) fn too_many() -> ToolError {
    ToolError::failed(format!("a call can ask at most {MAX_QUESTIONS} questions"))
}
