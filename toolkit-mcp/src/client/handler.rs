//! The capabilities that this client declares, and the responses to requests of servers.
#![expect(deprecated, reason = "SEP-2577 deprecates sampling and roots, which earlier servers request")]

use rmcp::ClientHandler;
use rmcp::model::{
    ClientCapabilities, ClientConfig, CreateMessageRequestParams, CreateMessageResult, ElicitRequestParams,
    ElicitResult, ErrorCode, ErrorData, Implementation, ListRootsResult,
};
use rmcp::service::{RequestContext, RoleClient};

/// Declares no capabilities, and rejects requests that require one.
///
/// Some servers send such requests anyway and wait for the response, so that each request needs one. `rmcp` answers
/// `ping`, and all methods that it does not know, with the error `-32601`.
///
/// Notifications do not arrive here; see [`Screen`](super::screen::Screen).
#[derive(Clone, Copy)]
pub(super) struct Handler;

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        let this_program = Implementation::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), this_program)
    }

    async fn create_message(
        &self,
        _: CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        Err(unsupported("sampling"))
    }

    // The default of `rmcp` is an empty list, which a server would take for a restriction to no directory.
    async fn list_roots(&self, _: RequestContext<RoleClient>) -> Result<ListRootsResult, ErrorData> {
        Err(unsupported("roots"))
    }

    // The default of `rmcp` is `decline`, which a server would take for the decision of a user.
    async fn create_elicitation(
        &self,
        _: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        Err(unsupported("elicitation"))
    }
}

fn unsupported(capability: &str) -> ErrorData {
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, format!("this client does not support {capability}"), None)
}
