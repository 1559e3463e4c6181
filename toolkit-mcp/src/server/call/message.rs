//! Messages of a running call.

use toolkit::call::Progress;

/// A message that a tool sends to the client while it runs.
pub(in crate::server::call) enum CallMessage {
    Progress(Progress),
    /// The call still waits for its user.
    Waiting,
    /// A log notification.
    Log(Vec<u8>),
    /// A complete JSON-RPC message.
    Request(Vec<u8>),
}
