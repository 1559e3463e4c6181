//! The capabilities that this client declares.

use rmcp::ClientHandler;
use rmcp::model::{ClientCapabilities, ClientConfig, Implementation};

/// Declares no capabilities, so that servers do not request sampling or user input.
///
/// Notifications do not arrive here; see [`Screen`](super::screen::Screen).
#[derive(Clone, Copy)]
pub(super) struct Handler;

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        let this_program = Implementation::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), this_program)
    }
}
