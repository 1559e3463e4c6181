//! The capabilities that this client declares, and the responses to requests of servers.
#![expect(deprecated, reason = "SEP-2577 deprecates sampling and roots, which earlier servers request")]

use std::sync::Arc;

use rmcp::ClientHandler;
use rmcp::model::{
    ClientCapabilities, ClientConfig, CreateMessageRequestParams, CreateMessageResult, ElicitRequestParams,
    ElicitResult, ElicitationCapability, ErrorCode, ErrorData, FormElicitationCapability, Implementation,
    ListRootsResult, UrlElicitationCapability,
};
use rmcp::service::{RequestContext, RoleClient};
use serde_json::json;

use super::questions::{question_of, result_of};
use super::running_calls::{RELATED_TASK, RunningCalls};

/// Declares that users can be asked, if the host allows it, and no other capability. Rejects requests that require one.
///
/// Some servers send such requests anyway and wait for the response, so that each request needs one. `rmcp` answers
/// `ping`, and all methods that it does not know, with the error `-32601`.
///
/// Notifications do not arrive here; see [`Screen`](super::screen::Screen).
#[derive(Clone)]
pub(super) struct Handler {
    /// The name of the server.
    pub(super) server: Arc<str>,
    /// The calls whose users may be asked, or `None` if the host does not allow it.
    pub(super) calls: Option<RunningCalls>,
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        let this_program = Implementation::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"));
        let mut capabilities = ClientCapabilities::default();
        if self.calls.is_some() {
            let modes = ElicitationCapability::new().with_form(FormElicitationCapability::default());
            capabilities.elicitation = Some(modes.with_url(UrlElicitationCapability::default()));
        }
        ClientConfig::new(capabilities, this_program)
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
        params: ElicitRequestParams,
        request: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let Some(calls) = &self.calls else {
            return Err(unsupported("elicitation"));
        };
        let question = question_of(&self.server, params).map_err(|reason| {
            ErrorData::new(ErrorCode::INVALID_PARAMS, format!("the question is invalid: {reason}"), None)
        })?;
        let related = request.meta.get(RELATED_TASK);
        let answer = calls.ask(&question, related.and_then(|task| task["taskId"].as_str())).await;
        let answer = answer.map_err(|reason| ErrorData::new(ErrorCode::INTERNAL_ERROR, reason, None))?;
        let mut result = result_of(answer).ok_or_else(|| unsupported("elicitation for this call"))?;
        if let Some(task) = related {
            result["_meta"] = json!({ RELATED_TASK: task });
        }
        serde_json::from_value(result)
            .map_err(|error| ErrorData::new(ErrorCode::INTERNAL_ERROR, error.to_string(), None))
    }
}

fn unsupported(capability: &str) -> ErrorData {
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, format!("this client does not support {capability}"), None)
}
