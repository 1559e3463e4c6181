//! Messages of a running call.

use toolkit::call::Progress;
use toolkit::stream::Chunk;

/// A message that a tool sends to the client while it runs.
#[derive(Debug)]
pub(in crate::server::call) enum CallMessage {
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
