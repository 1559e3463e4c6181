//! The capabilities that this client declares, and the responses to requests of servers.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

use serde_json::value::RawValue;
use serde_json::{Value, json};
use toolkit::Context;
use toolkit_mcp::{Code, RpcError, UI_EXTENSION};

use super::{RELATED_TASK, RunningCall, RunningCalls, address_policy, question_of, result_of};
use crate::address_policy::AddressPolicy;
use crate::raw::{Raw, raw_value};
use crate::remote::Remote;
use crate::server_info::ui;

/// The users of the calls that run on a connection.
#[derive(Clone)]
pub(crate) struct Users {
    /// The name of the server.
    pub(super) server: Arc<str>,
    addresses: AddressPolicy,
    /// The calls whose users may be asked, or `None` if the host does not allow it.
    pub(super) calls: Option<RunningCalls>,
    /// True if the refusal of a request was logged.
    has_refused: Arc<AtomicBool>,
}

impl Users {
    /// Creates the users of a new connection.
    pub(crate) fn of(remote: &Remote) -> Self {
        Self {
            server: Arc::clone(&remote.name),
            addresses: address_policy(remote),
            calls: remote.may_ask.then(RunningCalls::default),
            has_refused: Arc::default(),
        }
    }

    /// Creates users that a server may not ask.
    #[cfg(test)]
    pub(crate) fn of_server(name: &str) -> Self {
        let addresses = AddressPolicy::new(reqwest::Url::parse("http://localhost").unwrap(), false);
        Self { server: name.into(), addresses, calls: None, has_refused: Arc::default() }
    }

    /// Registers a call whose user the server may ask by a request.
    pub(crate) fn running_call(&self, context: &Context) -> Option<RunningCall> {
        self.calls.as_ref().map(|calls| calls.add(context))
    }

    /// Returns the capabilities of this client: that pages are passed on to a host, and that users can be asked, if the host
    /// allows it.
    pub(crate) fn capabilities(&self) -> &'static RawValue {
        static WITHOUT_QUESTIONS: LazyLock<Box<RawValue>> =
            LazyLock::new(|| raw_value(&json!({ "extensions": { UI_EXTENSION: ui() } })));
        static WITH_QUESTIONS: LazyLock<Box<RawValue>> = LazyLock::new(|| {
            raw_value(&json!({ "extensions": { UI_EXTENSION: ui() }, "elicitation": { "form": {}, "url": {} } }))
        });
        if self.calls.is_some() { &WITH_QUESTIONS } else { &WITHOUT_QUESTIONS }
    }

    /// Refuses a request of the server, and logs the first one.
    pub(crate) fn refuse(&self, capability: &str) -> RpcError {
        if !self.has_refused.swap(true, Ordering::Relaxed) {
            tracing::warn!(server = &*self.server, "a request of the server is refused: {capability} is not supported");
        }
        unsupported(capability)
    }

    /// Asks a user with the parameters of `elicitation/create`, and returns the result.
    pub(crate) async fn ask(&self, params: Option<&Raw>) -> Result<Value, RpcError> {
        let Some(calls) = &self.calls else {
            return Err(self.refuse("elicitation"));
        };
        let invalid = |reason| RpcError::new(Code::InvalidParams, format!("the question is invalid: {reason}"));
        let params: Value = params.and_then(|params| params.parse().ok()).unwrap_or_default();
        let question = question_of(&self.server, &self.addresses, &params).map_err(invalid)?;
        let related = params.pointer("/_meta").and_then(|meta| meta.get(RELATED_TASK));
        let answer = calls.ask(&question, related.and_then(|task| task["taskId"].as_str())).await;
        let answer = answer.map_err(|reason| RpcError::new(Code::Internal, reason))?;
        // `decline` would be the decision of a user.
        let mut result = result_of(answer).ok_or_else(|| unsupported("elicitation for this call"))?;
        if let Some(task) = related {
            result["_meta"] = json!({ RELATED_TASK: task });
        }
        Ok(result)
    }
}

fn unsupported(capability: &str) -> RpcError {
    RpcError::new(Code::MethodNotFound, format!("this client does not support {capability}"))
}
