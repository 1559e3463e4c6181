//! The reply to a request: messages while it is answered, and then a response.

use serde_json::value::RawValue;
use toolkit::call::ErrorKind;
use toolkit_mcp::{Code, RpcError};

/// Receives the messages of a request that precede its response: progress, log messages, parts of the result, and
/// questions. Each transport has one.
pub(super) trait MessageSink: Send {
    /// Sends a message. Waits while the client does not read.
    fn send(&mut self, message: Vec<u8>) -> impl Future<Output = ()> + Send;
}

/// Drops all messages, for a client that can receive only a response.
pub(super) struct NoMessages;

impl MessageSink for NoMessages {
    async fn send(&mut self, _: Vec<u8>) {}
}

/// A response.
pub(super) struct Reply {
    pub(super) bytes: Vec<u8>,
    /// The error of the tool, also of one that the result describes.
    pub(super) failure: Option<ErrorKind>,
    /// The code of a response that is an error of JSON-RPC.
    pub(super) code: Option<Code>,
    /// True if the request is invalid independently of the tool, so that HTTP responds with `400`.
    pub(super) is_bad_request: bool,
    /// True if the client has cancelled the request and expects no response.
    pub(super) is_cancelled: bool,
}

impl Reply {
    pub(super) fn new(bytes: Vec<u8>) -> Self {
        Self { bytes, failure: None, code: None, is_bad_request: false, is_cancelled: false }
    }

    /// Creates the response to a request that is not begun.
    pub(super) fn rejection(id: Option<&RawValue>, error: &RpcError) -> Self {
        let (code, is_bad_request) = (Some(error.code), error.is_bad_request);
        Self { code, is_bad_request, ..Self::new(error.to_response(id)) }
    }

    /// Creates the reply to a request that the client has cancelled.
    pub(super) fn cancelled() -> Self {
        Self { is_cancelled: true, ..Self::new(Vec::new()) }
    }

    /// Returns the response to send. A cancelled request must not be answered, except over HTTP.
    pub(super) fn into_answer(self) -> Option<Vec<u8>> {
        (!self.is_cancelled).then_some(self.bytes)
    }
}
