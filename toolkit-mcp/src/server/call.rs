//! One `tools/call` request.
//!
//! The tool runs on a thread of the tool pool, where it may block. Everything else runs on the threads that do I/O:
//! waiting for a permit, timeouts, cancellation and progress notifications.

mod ask;
mod chunks;
mod event;
mod events;
mod listen;
mod message;
mod offer;
mod permit;
mod request;
mod run;
mod running;
mod task;
mod unattended;
mod watch;

pub(super) use self::chunks::ChunkSettings;
pub(super) use self::event::{CallEvent, CallResponse, Events};
pub(super) use self::offer::TaskOffer;
pub(super) use self::request::{Asks, Call, StreamAsks, invalid_state};
pub(super) use self::unattended::{Attendant, Respond, Unattended};
