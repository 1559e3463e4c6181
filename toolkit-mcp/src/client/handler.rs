//! The capabilities that this client declares.

use rmcp::ClientHandler;
use rmcp::model::{ClientCapabilities, ClientConfig, Implementation};

/// Declares that this client can do nothing for a server, so that none asks it for a model or for the user.
///
/// Notifications do not come here; see [`Screen`](super::screen::Screen).
#[derive(Clone, Copy)]
pub(super) struct Handler;

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        let this_program = Implementation::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), this_program)
    }
}
