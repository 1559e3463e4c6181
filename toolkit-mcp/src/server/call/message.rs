//! Messages of a running call.

use toolkit::call::Progress;

/// A message that a tool sends to the client while it runs.
pub(super) enum CallMessage {
    Progress(Progress),
    /// A log notification.
    Log(Vec<u8>),
    /// A complete JSON-RPC message.
    Request(Vec<u8>),
}
