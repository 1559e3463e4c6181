//! The events of a call.

/// An event of a call.
pub(in crate::server) enum CallEvent {
    /// A notification or request, which precedes the response.
    Message(Vec<u8>),
    /// The outcome, which is the last event.
    Response(CallResponse),
}

/// Messages, and then a response.
pub(in crate::server) trait Events: Send + 'static {
    /// Waits for the first event for a few milliseconds, without a timer of its own. Returns `None` afterwards.
    fn early(&mut self) -> impl Future<Output = Option<CallEvent>> + Send {
        std::future::ready(None)
    }

    /// Waits for the next event. Do not call it again after the response. Dropping the future loses no event.
    fn next(&mut self) -> impl Future<Output = CallEvent> + Send;
}

/// The outcome of a call.
pub(in crate::server) struct CallResponse {
    /// The response.
    pub(in crate::server) bytes: Vec<u8>,
    /// True if the request is invalid independently of the tool, so that HTTP responds with `400`.
    pub(in crate::server) is_bad_request: bool,
    /// True if the client has cancelled the call and expects no response.
    pub(in crate::server) is_cancelled: bool,
}
