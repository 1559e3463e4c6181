//! The parameters of a call of a tool.

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::outgoing::Request;

/// The parameters of a call.
pub(super) struct CallParams {
    pub(super) name: String,
    pub(super) arguments: Box<RawValue>,
    /// The answers of the user, and the state of the call that asked.
    pub(super) responses: Option<Map<String, Value>>,
    pub(super) state: Option<String>,
}

impl CallParams {
    pub(super) fn request(&self) -> Request {
        let mut request = Request::about("tools/call", "name", &self.name).with("arguments", &self.arguments);
        if let Some(responses) = &self.responses {
            request = request.with("inputResponses", responses);
        }
        match &self.state {
            Some(state) => request.with("requestState", state),
            None => request,
        }
    }
}
