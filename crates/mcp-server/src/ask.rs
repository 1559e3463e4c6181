//! Questions of tools to the user of the client (elicitation).
//!
//! Up to revision 2025-11-25 the server sends a request, and the call waits for its response (`requests`). Revision
//! 2026-07-28 has no requests of servers: the call ends with `input_required`, and the client repeats it with the
//! answers (`rounds`). What the server has to remember in between is sealed into `requestState` (`state`), so that any
//! server with the same key continues the call.
//!
//! | module | contains |
//! | --- | --- |
//! | `elicitation`, `plain_form` | questions and answers in the format of MCP |
//! | `modes` | the questions that a client can show |
//! | `requests`, `limits` | requests of the server, and the limits of calls that wait |
//! | `rounds` | calls that end with questions and are repeated |
//! | `state`, `used_states` | sealed states, and those that were used |
//! | `keys` | the keys that seal them, of which a server without the feature `ask` has none |

mod elicitation;
#[cfg(feature = "ask")]
mod keys;
mod limits;
mod modes;
mod plain_form;
mod requests;
mod rounds;
mod state;
mod used_states;

use toolkit::ToolError;

use self::elicitation::elicitation;
pub(super) use self::elicitation::{parse_answer, request};
pub(super) use self::keys::Keys;
#[cfg(not(feature = "ask"))]
pub(super) use self::keys::StateKey;
#[cfg(feature = "ask")]
pub use self::keys::{StateKey, WeakKeyError};
pub(super) use self::limits::{OpenQuestions, WaitingCalls};
pub(super) use self::modes::Modes;
pub(super) use self::plain_form::plain;
pub(super) use self::requests::{OpenRequest, OpenRequests};
pub(super) use self::rounds::{RoundOutcome, Rounds};
pub(super) use self::state::{Sealing, UsedRecord};
pub(super) use self::used_states::UsedInMemory;
#[cfg(feature = "ask")]
pub use self::used_states::UsedStates;

/// The maximum number of questions of a call.
pub(super) const MAX_QUESTIONS: usize = 10;

/// Creates the error of a call that asks too much.
pub(super) fn too_many() -> ToolError {
    ToolError::failed(format!("a call can ask at most {MAX_QUESTIONS} questions"))
}

#[cfg(not(feature = "ask"))]
mod keys {
    /// A key, of which there are none.
    #[derive(Clone, Debug)]
    pub(crate) enum StateKey {}

    /// The keys of a server.
    #[derive(Clone, Debug)]
    pub(crate) struct Keys;

    impl Keys {
        pub(crate) fn new(_: Vec<StateKey>) -> Self {
            Self
        }

        pub(super) fn seal(&self, _: &[u8], _: &[u8]) -> Option<String> {
            None
        }

        pub(super) fn open(&self, _: &str, _: &[u8]) -> Option<Vec<u8>> {
            None
        }
    }
}
